//! Channels, chunks and slices as NCCL has them.

use rocelab_collective::{
    Algorithm, Collective, Kind, Options, Protocol, Schedule, Step, check, execute,
};

fn cut(algorithm: Algorithm, collective: &Collective, channels: u32) -> Box<dyn Schedule> {
    let cut = Protocol::Simple.cut(algorithm, collective, channels).expect("NCCL has it");
    let options = Options { channels, ..Options::default() }.with_cut(cut);
    algorithm.schedule(collective, &options).expect("it fits")
}

/// Sizes of the messages that a rank sends in a lane, in order.
fn sizes(schedule: &dyn Schedule, rank: u32, lane: u32) -> Vec<u64> {
    let mut step = Step::default();
    let mut sizes = Vec::new();
    for number in 0..schedule.steps(rank, lane) {
        schedule.step(rank, lane, number, &mut step);
        sizes.extend(step.sends.iter().map(|one| one.bytes));
    }
    sizes
}

/// 4 MiB a channel are less than a loop of 8 chunks of 2 MiB: chunks have 512 KiB, slices half of that.
#[test]
fn a_ring_of_8_ranks_and_16_channels_sends_448_messages_of_256_kib() {
    let collective = Collective::new(Kind::AllReduce, 8, 64 << 20).expect("fits");
    let schedule = cut(Algorithm::Ring, &collective, 16);
    let all: Vec<_> = (0..16).flat_map(|lane| sizes(&*schedule, 3, lane)).collect();
    assert_eq!((all.len(), all.iter().all(|size| *size == 256 << 10)), (448, true));
    assert_eq!(schedule.largest_message(), 256 << 10);
}

/// Full loops have slices of 1 MiB. The last one has blocks of 100,000 bytes, and slices of half of that.
#[test]
fn the_last_loop_has_smaller_chunks() {
    let bytes = (2 << 20) * 2 + 200_000;
    let collective = Collective::new(Kind::AllReduce, 2, bytes).expect("fits");
    let schedule = cut(Algorithm::Ring, &collective, 1);
    let full = [1 << 20; 4];
    // Both are multiples of 16: 16 x ceil(100,000 / 32).
    let last = [50_000, 50_000, 50_000, 50_000];
    assert_eq!(sizes(&*schedule, 0, 0), [full, last].concat());
}

/// A block below 32 KiB goes in its first slice; the second one is empty, and sent.
#[test]
fn empty_slices_and_empty_blocks_are_sent() {
    let collective = Collective::new(Kind::AllReduce, 4, 40).expect("fits");
    let schedule = cut(Algorithm::Ring, &collective, 1);
    // 40 bytes of 4 ranks: ceil(10 to a multiple of 16), so that blocks have 16, 16, 8 and 0 bytes.
    assert_eq!(sizes(&*schedule, 0, 0), [0, 0, 8, 0, 16, 0, 16, 0, 0, 0, 8, 0]);
    check(&*schedule).expect("it is right");
}

/// Chunks follow each other: a chain of n ranks and k chunks has n - 2 + k rounds.
#[test]
fn a_chain_is_pipelined() {
    for (ranks, chunks) in [(2, 1), (5, 7), (8, 4)] {
        let collective = Collective::new(Kind::Broadcast, ranks, 512 * 1024 * chunks);
        let schedule = cut(Algorithm::Ring, &collective.expect("fits"), 1);
        let checked = execute(&*schedule, &mut |_| ()).expect("it is right");
        assert_eq!(checked.rounds, u64::from(ranks) - 2 + chunks);
    }
}

/// What NCCL's rounds are for 16 ranks in servers of 8, from rank 3: first in its group, then in the other one.
#[test]
fn sends_and_receives_go_in_the_order_of_nccl() {
    let collective = Collective::new(Kind::AllToAll, 16, 1600).expect("fits");
    let options = Options { ranks_per_server: 8, ..Options::default() };
    let schedule = Algorithm::NcclSendReceive.schedule(&collective, &options).expect("fits");
    let mut step = Step::default();
    let (mut peers, mut taken) = (Vec::new(), Vec::new());
    for number in 0..schedule.steps(3, 0) {
        schedule.step(3, 0, number, &mut step);
        peers.extend(step.sends.iter().map(|one| one.peer));
        taken.push(step.receives.len());
    }
    assert_eq!(peers, [4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10]);
    // Seven and eight at a time.
    assert_eq!(taken, [0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8]);
    // Groups of 1 where ranks are alone: 0, 1, 3, 6, 2 (10 mod 8), 7 (15 mod 8), 5 (21 mod 8), 4, and those below 5.
    let collective = Collective::new(Kind::AllToAll, 5, 500).expect("fits");
    let schedule = Algorithm::NcclSendReceive.schedule(&collective, &Options::default());
    let schedule = schedule.expect("fits");
    let connections: Vec<_> = (0..5)
        .filter_map(|number| {
            schedule.step(0, 0, number, &mut step);
            step.sends.first().map(|one| one.peer)
        })
        .collect();
    assert_eq!(connections, [1, 3, 2, 4]);
}

/// 512 KiB and more per channel have chunks of one step; less has smaller ones with LL128.
#[test]
fn chunks_of_trees() {
    let chunk = |protocol: Protocol, bytes| {
        let collective = Collective::new(Kind::AllReduce, 8, bytes).expect("fits");
        let cut = protocol.cut(Algorithm::DoubleBinaryTree, &collective, 1).expect("NCCL has it");
        assert_eq!((cut.slices, cut.window), (1, 8));
        cut.chunk
    };
    assert_eq!(chunk(Protocol::Simple, 1 << 30), 512 << 10);
    assert_eq!(chunk(Protocol::Ll, 1 << 30), 32 << 10);
    assert_eq!(chunk(Protocol::Ll128, 1 << 30), 576_000);
    assert_eq!(chunk(Protocol::Ll128, 64), 32 << 10);
}

/// Connections of PXN between servers are between equal places.
#[test]
fn pxn_crosses_between_equal_places_only() {
    let collective = Collective::new(Kind::AllToAll, 24, 24_000).expect("fits");
    let options = Options { ranks_per_server: 8, ..Options::default() };
    let schedule = Algorithm::Pxn.schedule(&collective, &options).expect("fits");
    let checked = check(&*schedule).expect("it is right");
    for (&(from, to), &(messages, bytes)) in &checked.pairs {
        assert!(from / 8 == to / 8 || from % 8 == to % 8, "{from} {to}");
        // Blocks of 1,000 bytes: for three servers inside, and of eight ranks between them.
        let wanted = if from / 8 == to / 8 { 3_000 } else { 8_000 };
        assert_eq!((messages, bytes), (1, wanted));
    }
    assert_eq!(checked.pairs.len(), 24 * (7 + 2));
}

/// A rank sends S once for the switch to add, and S/g as the head of its part; it receives as much.
#[test]
fn nvls_sends_each_part_once_more() {
    let collective = Collective::new(Kind::AllReduce, 8, 8_000).expect("fits");
    let options = Options { ranks_per_server: 8, ..Options::default() };
    let schedule = Algorithm::Nvls.schedule(&collective, &options).expect("fits");
    let checked = check(&*schedule).expect("it is right");
    assert_eq!(schedule.switches(), 1);
    for rank in 0..8 {
        assert_eq!(checked.pairs[&(rank, 8)].1, 9_000);
        assert_eq!(checked.pairs[&(8, rank)].1, 9_000);
    }
}
