//! What NCCL would choose, by its model computed here.

use rocelab_collective::{
    Algorithm, Choice, Cluster, Collective, Generation, Kind, Protocol, choose,
};

/// 16 channels of 20 GB/s, inside and between servers of 8.
fn h100() -> Cluster {
    Cluster {
        generation: Generation::Hopper,
        ranks_per_server: 8,
        channels: 16,
        intra_bandwidth: 20.0,
        inter_bandwidth: 20.0,
        nvlink: true,
        nvls: false,
        amd: false,
        pxn: true,
    }
}

fn chosen(cluster: &Cluster, kind: Kind, ranks: u32, bytes: u64) -> Choice {
    let collective = Collective::new(kind, ranks, bytes).expect("fits");
    let choice = choose(&collective, cluster).expect("fits");
    let schedule = choice.algorithm.schedule(&collective, &choice.options).expect("fits");
    assert!(schedule.lanes() > 0);
    choice
}

fn time(choice: &Choice, algorithm: Algorithm, protocol: Protocol) -> f64 {
    let mut estimates = choice.estimates.iter();
    let found = estimates.find(|one| (one.algorithm, one.protocol) == (algorithm, protocol));
    found.expect("it is estimated").microseconds
}

fn assert_close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-6 * wanted, "{found} {wanted}");
}

#[test]
fn a_large_all_reduce_in_one_server() {
    let bytes = (1_u64 << 30) as f64;
    let choice = chosen(&h100(), Kind::AllReduce, 8, 1 << 30);
    let ring = 8.4 + 14.0 * 3.4 + bytes / (1000.0 * 320.0 * 8.0 / 14.0);
    assert_close(time(&choice, Algorithm::Ring, Protocol::Simple), ring);
    let tree = 8.4 + 2.0 * 7.0 * 4.0 + bytes / (1000.0 * 320.0 * 0.92 / 2.0);
    assert_close(time(&choice, Algorithm::DoubleBinaryTree, Protocol::Simple), tree);
    let ll128 = 14.0 + 14.0 * 1.9 + bytes / (1000.0 * 320.0 * 0.92 * 8.0 / 14.0);
    assert_close(time(&choice, Algorithm::Ring, Protocol::Ll128), ll128);
    assert_eq!((choice.algorithm, choice.protocol), (Algorithm::Ring, Protocol::Simple));
    assert_eq!((choice.options.chunk, choice.options.slices), (Some(2 << 20), 2));
    assert_eq!((choice.options.channels, choice.window), (16, 4));
    assert!(
        choice.reason.starts_with("ring, simple: 5928.0 us; ring, ll128: "),
        "{}",
        choice.reason
    );
    assert!(choice.reason.ends_with("; 16 of 16 channels"), "{}", choice.reason);

    let choice = chosen(&Cluster { nvls: true, ..h100() }, Kind::AllReduce, 8, 1 << 30);
    assert_eq!(choice.algorithm, Algorithm::Nvls);
    assert_close(choice.estimates[0].microseconds, 25.0 + bytes / (1000.0 * 320.0 * 0.85));
}

/// 1 KiB: what counts is latency, and one channel is enough.
#[test]
fn a_small_all_reduce() {
    let choice = chosen(&h100(), Kind::AllReduce, 8, 1024);
    assert_eq!((choice.algorithm, choice.protocol), (Algorithm::Ring, Protocol::Ll));
    // LL has 141 GB/s at most, and half of the rate is 160.
    assert_close(
        choice.estimates[0].microseconds,
        6.6 + 14.0 * 0.6 + 1024.0 / (141_000.0 * 8.0 / 14.0),
    );
    assert_eq!(choice.options.channels, 1);
    // 8 ranks x 8 bytes x 512 threads: 32 KiB a channel.
    assert_eq!(chosen(&h100(), Kind::AllReduce, 8, 100 << 10).options.channels, 3);
}

#[test]
fn trees_between_many_servers() {
    let choice = chosen(&h100(), Kind::AllReduce, 128, 64 << 10);
    assert_eq!((choice.algorithm, choice.protocol), (Algorithm::DoubleBinaryTree, Protocol::Ll));
    // A rate of 320 x 0.92 / 3.8 is above LL's 20.4 of more than two servers; half of that, and 0.6 of it for 64 KiB.
    let tree = 6.8 + 2.0 * (7.0 * 0.6 + 4.0 * 5.0) + 65_536.0 / (1000.0 * 20.4 / 2.0 * 0.6);
    assert_close(choice.estimates[0].microseconds, tree);
    // 254 steps, 30 between servers; posting takes 1 us, more than NVLink's 0.6.
    let ring = 6.6 + 224.0 + 30.0 * 2.7 + 65_536.0 / (1000.0 * 20.4 * 128.0 / 254.0);
    assert_close(time(&choice, Algorithm::Ring, Protocol::Ll), ring);
    // Two of NCCL's channels are one with both trees.
    assert_eq!(choice.options.channels, 8);
    let bytes = (1_u64 << 30) as f64;
    let large = chosen(&h100(), Kind::AllReduce, 128, 1 << 30);
    let ring = 1.4 * (8.4 + 224.0 * 3.4 + 30.0 * 14.0) + bytes / (1000.0 * 320.0 * 128.0 / 254.0);
    assert_close(time(&large, Algorithm::Ring, Protocol::Simple), ring);
}

#[test]
fn ll128_needs_machines_that_keep_its_lines_whole() {
    let has = |cluster: Cluster, ranks| {
        let choice = chosen(&cluster, Kind::AllGather, ranks, 1 << 20);
        choice.estimates.iter().any(|one| one.protocol == Protocol::Ll128)
    };
    let ampere = Cluster { generation: Generation::Ampere, ..h100() };
    assert!(has(h100(), 8) && has(h100(), 16) && has(ampere, 8));
    assert!(!has(ampere, 16) && !has(Cluster { nvlink: false, ..h100() }, 8));
}

#[test]
fn what_has_no_estimates_has_a_reason_too() {
    let of = |kind, ranks, bytes| {
        let choice = chosen(&h100(), kind, ranks, bytes);
        (choice.algorithm, choice.protocol, choice.reason)
    };
    assert_eq!(
        of(Kind::AllToAll, 64, 64 << 20),
        (
            Algorithm::Pxn,
            Protocol::Simple,
            "sends and receives, through the rank on the destination's rail; \
             simple for 1048576 bytes a message"
                .to_owned()
        )
    );
    assert_eq!(of(Kind::AllToAll, 8, 1 << 20).0, Algorithm::NcclSendReceive);
    assert_eq!(of(Kind::AllToAll, 8, 1 << 20).1, Protocol::Ll);
    assert_eq!(of(Kind::Barrier, 64, 0).0, Algorithm::Bruck);
    assert_eq!(of(Kind::SendReceive, 64, 1 << 30).0, Algorithm::Ring);
    assert_eq!(of(Kind::Gather, 64, 1 << 20).0, Algorithm::Linear);
    assert_eq!(of(Kind::Broadcast, 64, 1 << 20).0, Algorithm::Ring);
}

#[test]
fn a_cluster_that_does_not_fit() {
    let collective = Collective::new(Kind::AllReduce, 12, 12).expect("fits");
    let refused = |cluster: Cluster| choose(&collective, &cluster).expect_err("wrong").to_string();
    assert_eq!(
        refused(h100()),
        "ranks_per_server = 8: 12 ranks are no whole servers then; write a divisor of the ranks"
    );
    let slow = Cluster { inter_bandwidth: 0.0, ranks_per_server: 4, ..h100() };
    assert_eq!(refused(slow), "inter_bandwidth = 0: it is no bandwidth; write GB/s above 0");
}
