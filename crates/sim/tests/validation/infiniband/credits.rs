//! What one lane of one link carries, by the room at its end and the length of its cable.

use rocelab_units::SimTime;

use super::{flow, link, network};
use crate::support::{Run, plan, run, try_plan};

/// Throughput, the same as an independent program computed.
struct Case {
    gbps: u64,
    metres: u64,
    /// From LRH to VCRC.
    packet: u64,
    blocks: u64,
    throughput: f64,
}

fn cases() -> Vec<Case> {
    let text = include_str!("../../data/infiniband/credits.csv");
    let lines = text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    let case = |line: &str| {
        let numbers: Vec<f64> = line.split(',').map(|one| one.parse().expect("a number")).collect();
        let whole = |place: usize| numbers[place].to_string().parse::<u64>().expect("it is whole");
        Case {
            gbps: whole(0),
            metres: whole(1),
            packet: whole(2),
            blocks: whole(3),
            throughput: numbers[4],
        }
    };
    lines.map(case).collect()
}

/// Two hosts and a link, with one flow of so many full packets in each of these directions.
fn two_hosts(case: &Case, packets: u64, directions: &[(&str, &str)], more: &str) -> String {
    let mtu = case.packet - 26; // LRH, BTH, ICRC and VCRC.
    let flows: Vec<_> = directions.iter().map(|(from, to)| flow(from, to, packets * mtu)).collect();
    let links = [link(("host-0", "host-1"), (case.gbps, case.metres))];
    format!(
        "[infiniband]\ndata_vls = 1\nvl_buffer = \"{}B\"\n{more}\n[roce]\npath_mtu = {mtu}\nack_interval = 64\n\
         ack_timeout = 0\n{}",
        case.blocks * 64,
        network("host-0..host-1", "", &links, &flows)
    )
}

/// Packet bytes a second [Gbit/s] of the first flow, between a quarter and three quarters of its run.
fn throughput(text: &str, case: &Case, packets: u64) -> f64 {
    let whole = run(text);
    let end = whole.flow_ends().iter().map(|end| end.finished.ps()).min().expect("it ends");
    let mut run = Run::new(plan(text));
    run.run_until(SimTime::from_ps(end / 4));
    let (from, before) = (run.simulation.progress().now, run.sent("host-0", 0));
    run.run_until(SimTime::from_ps(end / 4 * 3));
    let seconds = run.simulation.progress().now.since(from).as_secs_f64();
    // What is sent are data packets with their delimiters; flow control packets are 8 bytes each.
    let bytes = (run.sent("host-0", 0) - before) as f64;
    assert!(packets > 100, "a few packets more or less do not count");
    bytes * case.packet as f64 / (case.packet + 2) as f64 * 8.0 / seconds / 1e9
}

#[test]
fn throughput_is_what_the_loop_of_credits_allows() {
    let cases = cases();
    assert_eq!(cases.len(), 168);
    let mut worst: f64 = 0.0;
    for case in &cases {
        let packets = (400 * (case.blocks / case.packet.div_ceil(64))).max(2_000);
        let text = two_hosts(case, packets, &[("host-0", "host-1")], "");
        let run = run(&text);
        let finished = run.flow_ends()[0].finished.ps() as f64;
        // The last packet and its acknowledgement.
        let beside = case.packet as f64 * 8e3 / case.gbps as f64 + 1e4 * case.metres as f64;
        let found = (packets * case.packet) as f64 * 8e3 / (finished - beside);
        let off = (found - case.throughput).abs() / case.throughput;
        assert!(
            off < 0.02,
            "{} Gbit/s, {} m, {} blocks: {found} and not {}",
            case.gbps,
            case.metres,
            case.blocks,
            case.throughput
        );
        worst = worst.max(off);
    }
    println!("{} cases, at most {:.2} % off", cases.len(), worst * 100.0);
}

/// 200 Gbit/s, packets of 4122 bytes.
fn wide(metres: u64, blocks: u64) -> Case {
    Case { gbps: 200, metres, packet: 4122, blocks, throughput: 0.0 }
}

#[test]
fn no_more_than_2048_blocks_are_ahead_whatever_room_there_is() {
    // 31 packets of 65 blocks, on a loop of 2 km.
    let rates = [2015, 3000, 4095].map(|blocks| {
        let case = wide(2_000, blocks);
        throughput(&two_hosts(&case, 12_400, &[("host-0", "host-1")], ""), &case, 12_400)
    });
    for rate in rates {
        assert!((rate - 50.7).abs() < 0.5, "{rates:?}");
    }
}

#[test]
fn room_for_a_part_of_a_packet_is_no_room() {
    let rates = [65, 100, 129, 130].map(|blocks| {
        let case = wide(300, blocks);
        throughput(&two_hosts(&case, 2_000, &[("host-0", "host-1")], ""), &case, 2_000)
    });
    for (rate, expected) in rates.into_iter().zip([10.4, 10.4, 10.4, 20.8]) {
        assert!((rate - expected).abs() < 0.2, "{rates:?}");
    }
    let error = try_plan(&two_hosts(&wide(300, 64), 10, &[("host-0", "host-1")], ""));
    let error = error.expect_err("a packet of 65 blocks never goes").to_string();
    assert!(error.contains("infiniband.vl_buffer") && error.contains("4160B"), "{error}");
}

/// Flow control packets wait for the packet that is being sent the other way, if they go ahead of others.
#[test]
fn flow_control_packets_wait_for_data_the_other_way() {
    let directions = [("host-0", "host-1"), ("host-1", "host-0")];
    let rates = [1, 2, 3].map(|packets| {
        let case = wide(30, packets * 65);
        let text = two_hosts(&case, 3_000, &directions, "update_interval = \"0s\"");
        throughput(&text, &case, 3_000)
    });
    // Both directions are bound by the same loop, so that the link is never full: less than a packet of waiting.
    for (rate, (least, most)) in
        rates.into_iter().zip([(66.0, 71.5), (133.0, 143.0), (195.0, 200.1)])
    {
        assert!((least..=most).contains(&rate), "{rates:?}");
    }
}

#[test]
fn lanes_have_credits_of_their_own() {
    // One lane at 300 m and 4 packets has 41.7 Gbit/s; four lanes have four times that.
    let case = wide(300, 260);
    let list: Vec<_> = (0..4)
        .map(|level| {
            format!(
                "{{ from = \"host-0\", to = \"host-1\", bytes = \"{}B\", priority = {level} }}",
                1_500 * 4096
            )
        })
        .collect();
    let links = [link(("host-0", "host-1"), (case.gbps, case.metres))];
    let text = format!(
        "[infiniband]\ndata_vls = 4\nvl_buffer = \"{}B\"\n[infiniband.qos]\nhigh = []\nlow = [[0, 65], [1, 65], [2, 65], \
         [3, 65]]\n[roce]\npath_mtu = 4096\nack_interval = 64\nack_timeout = 0\n{}",
        case.blocks * 64,
        network("host-0..host-1", "", &links, &list)
    );
    let rate = throughput(&text, &case, 6_000);
    assert!((rate - 4.0 * 41.7).abs() < 2.0, "{rate}");
}

/// The room of `auto` fills a link both of whose directions are busy: flow control packets wait there for packets and for
/// `update_interval`.
#[test]
fn room_that_follows_from_the_link_fills_both_of_its_directions() {
    for (mtu, metres) in [(4096, 3), (4096, 300), (1024, 3), (1024, 30), (256, 30)] {
        let case = Case { gbps: 200, metres, packet: mtu + 26, blocks: 0, throughput: 0.0 };
        let rate = |directions: &[(&str, &str)]| {
            let text = two_hosts(&case, 20_000, directions, "");
            throughput(&text.replace("vl_buffer = \"0B\"", "vl_buffer = \"auto\""), &case, 20_000)
        };
        let one_way = rate(&[("host-0", "host-1")]);
        let two_way = rate(&[("host-0", "host-1"), ("host-1", "host-0")]);
        // Flow control packets and acknowledgements take their share.
        println!("{mtu} bytes, {metres} m: {one_way:.1} and {two_way:.1} Gbit/s");
        assert!(two_way > 0.96 * one_way, "{mtu} bytes, {metres} m: {one_way} and {two_way}");
    }
}

/// More memory than a lane may have ahead is told of as packets arrive, though nothing leaves.
#[test]
fn memory_above_2048_blocks_takes_packets_that_go_nowhere() {
    // Both senders fill the switch, whose port to their sink is slow.
    let links = [
        link(("host-0", "switch-0"), (200, 3)),
        link(("host-1", "switch-0"), (200, 3)),
        link(("host-2", "switch-0"), (1, 3)),
    ];
    let flows = [flow("host-0", "host-2", 400_000), flow("host-1", "host-2", 400_000)];
    let text = format!(
        "stop = \"60us\"\n[infiniband]\ndata_vls = 1\nvl_buffer = \"256KiB\"\n[roce]\npath_mtu = 4096\n{}",
        network("host-0..host-2", "switch-0", &links, &flows)
    );
    let run = run(&text);
    for host in ["host-0", "host-1"] {
        // 4096 blocks and what has left: 63 packets, and one or two in the adapter's port.
        let sent = run.sent(host, 0) / 4124;
        assert!((63..=66).contains(&sent), "{host} sent {sent} packets");
    }
}

/// Who loses flow control packets for long goes on once they arrive again.
#[test]
fn a_link_recovers_however_long_flow_control_packets_were_lost() {
    let faults = "[[faults]]\naction = \"drop\"\nopcode = \"flow-control\"\nuntil = \"1ms\"\n";
    let text = two_hosts(&wide(30, 260), 100, &[("host-0", "host-1")], "");
    let run = run(&format!("{text}{faults}"));
    let [end] = &run.flow_ends()[..] else { panic!("one flow") };
    let finished = end.finished.ps() / 1_000_000;
    assert!((1_000..1_100).contains(&finished), "{finished} us");
    assert_eq!(run.totals().frames_dropped, run.totals().drops.values().sum::<u64>());
}

/// What a fault delays on a link is lost as the link goes down: its ends count from zero afterwards.
#[test]
fn a_packet_that_is_late_does_not_outlive_its_link() {
    let links = [link(("host-0", "host-1"), (200, 30))];
    let more = "stop = \"100us\"\n[infiniband]\n[roce]\nack_timeout = 0\n[[faults]]\naction = \"delay\"\ndelay = \"20us\"\n\
         opcode = \"data\"\n[[failure]]\nkind = \"link-down\"\nport = \"host-0\"\nat = \"5us\"\nlasts = \"2us\"\n";
    let run = run(&format!(
        "{more}{}",
        network("host-0..host-1", "", &links, &[flow("host-0", "host-1", 3000)])
    ));
    assert_eq!(
        (run.totals().frames_dropped, run.flow_ends().len()),
        (3, 0),
        "{:?}",
        run.totals().drops
    );
}
