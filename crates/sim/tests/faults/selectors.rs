//! Which frames a rule picks.

use crate::support::{Run, TEN_PACKETS, arrivals, observer, plan, rule, run};

/// How many frames match each of some rules that do nothing.
fn matched(text: &str, rules: &[&str]) -> Vec<u64> {
    let rules: String = rules.iter().map(|keys| observer(keys)).collect();
    let run = run(&format!("{text}{rules}"));
    run.assert_complete();
    run.faults().iter().map(|counts| counts.matched).collect()
}

#[test]
fn links_by_their_ends_and_direction() {
    let rules = [
        "",
        "from = \"host-0\"",
        "to = \"host-0\"",
        "from = \"host-0\"\nto = \"switch-0\"",
        "from = \"switch-0\"",
        "to = \"switch-0\"",
    ];
    // Ten packets over two links, ten acknowledgements over two.
    assert_eq!(matched(TEN_PACKETS, &rules), [40, 10, 10, 10, 20, 20]);
}

#[test]
fn opcodes_by_name_and_class() {
    let text = TEN_PACKETS.replace("bytes", "verb = \"read\", bytes");
    let rules = [
        "opcode = \"RC_RDMA_READ_REQUEST\"\nfrom = \"host-0\"",
        "opcode = \"request\"",
        "opcode = \"response\"",
        "opcode = \"data\"",
        "opcode = [\"RC_RDMA_READ_RESPONSE_FIRST\", \"rc_rdma_read_response_last\"]",
        "opcode = \"ack\"",
    ];
    assert_eq!(matched(&text, &rules), [1, 2, 20, 20, 4, 0]);
    let rules = ["opcode = \"ack\"", "opcode = \"nak\"", "opcode = \"RC_RDMA_WRITE_MIDDLE\""];
    assert_eq!(matched(TEN_PACKETS, &rules), [20, 0, 16]);
}

#[test]
fn naks_among_acknowledgements() {
    let rules = [rule("action = \"drop\"\nnth = 3"), observer("opcode = \"nak\"")].concat();
    let run = run(&format!("{TEN_PACKETS}{rules}"));
    run.assert_complete();
    assert_eq!(run.faults()[1].matched, 2 * run.counters().naks_sent.packets);
}

/// Two flows of five and seven packets between the same hosts, one after the other.
const TWO_FLOWS: &str = "[topology.single-switch]\nhosts = 2\n\
     link = { rate = \"100Gbps\", cable = \"3m\" }\n[congestion_control.none]\n\
     [workload.flows]\nlist = [\n\
     { from = \"host-0\", to = \"host-1\", bytes = \"5KiB\" },\n\
     { from = \"host-0\", to = \"host-1\", bytes = \"7KiB\", start = \"50us\" },\n]\n";

#[test]
fn flows_in_both_directions_and_queue_pairs_in_one() {
    let plan = plan(TWO_FLOWS);
    assert_eq!((plan.flows[1].source_qpn, plan.flows[1].destination_qpn), (0x12, 0x12));
    let rules = [
        "flow = 0",
        "flow = 1",
        "flow = 1\nto = \"host-1\"",
        "dest_qp = 0x12\nto = \"host-1\"",
        "dest_qp = 0x11\nto = \"host-0\"",
        "dest_qp = 0x13",
    ];
    assert_eq!(matched(TWO_FLOWS, &rules), [20, 28, 7, 7, 5, 0]);
}

#[test]
fn packet_sequence_numbers_one_by_one_and_in_ranges() {
    let first = plan(TEN_PACKETS).flows[0].source_psn;
    let psn = |offset: u32| first.wrapping_add(offset) & 0x00ff_ffff;
    let one = format!("psn = {}\nopcode = \"data\"\nfrom = \"host-0\"", psn(4));
    let range = format!("psn = \"{}..{}\"\nfrom = \"host-0\"", psn(2), psn(5));
    let before = format!("psn = {}", psn(0x00ff_ffff));
    assert_eq!(matched(TEN_PACKETS, &[&one, &range, &before]), [1, 4, 0]);
    let lost = rule(&format!("action = \"drop\"\ncount = 1\npsn = {}", psn(4)));
    let (run, offsets, _) = arrivals(&format!("{TEN_PACKETS}{lost}"));
    run.assert_complete();
    assert_eq!(offsets[..6], [0, 1, 2, 3, 5, 6]);
    // Once lost, and once sent again.
    assert_eq!(run.fault(), (2, 1));
}

#[test]
fn a_time_window_holds_its_beginning_and_not_its_end() {
    // The fourth packet's last bit: four frames with preamble, start delimiter and three gaps, and
    // 3 m of cable. The first carries a RETH.
    let byte = 80;
    let length = |extension: u64| 14 + 20 + 8 + 12 + extension + 1024 + 4 + 4;
    let fourth = (length(16) + 3 * length(0) + 4 * 8 + 3 * 12) * byte + 15_000;
    let at = |keys: &str| format!("from = \"host-0\"\n{keys}");
    let rules = [
        at(&format!("after = \"{fourth}ps\"")),
        at(&format!("until = \"{fourth}ps\"")),
        at(&format!("after = \"{fourth}ps\"\nuntil = \"{}ps\"", fourth + 1)),
        at(&format!("after = \"{}ps\"", fourth + 1)),
    ];
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    assert_eq!(matched(TEN_PACKETS, &rules), [7, 3, 1, 6]);
}

/// What a rule on the packets from `host-0` did in a long WRITE.
fn long_write(keys: &str, extra: &str) -> Run {
    let text = TEN_PACKETS.replace("10KiB", "5000KiB");
    let run = run(&format!("{text}{}{extra}", rule(&format!("action = \"drop\"\n{keys}"))));
    run.assert_complete();
    run
}

#[test]
fn counts_are_exact() {
    let sent = |run: &Run| 5_000 + run.counters().retransmitted.packets;
    let run = long_write("every = 100", "");
    assert_eq!(run.fault(), (sent(&run), sent(&run) / 100));
    let run = long_write("every = 100\ncount = 7", "");
    assert_eq!(run.fault(), (sent(&run), 7));
    let run = long_write("count = 3", "");
    assert_eq!(run.fault(), (sent(&run), 3));
    let run = long_write("nth = 5001", "");
    assert_eq!(run.fault(), (5_000, 0));
    assert_eq!(run.counters().retransmitted.packets, 0);
}

#[test]
fn a_probability_has_dice_of_its_own() {
    let run = long_write("probability = 0.02", "");
    let (matched, acted) = run.fault();
    // Binomial: five standard deviations.
    let mean = matched as f64 * 0.02;
    assert!((acted as f64 - mean).abs() < 5.0 * (mean * 0.98).sqrt(), "{acted} of {matched}");
    let digest = |run: &Run| run.simulation.network().digest();
    let again = long_write("probability = 0.02", "");
    assert_eq!(digest(&again), digest(&run));
    // Another rule does not roll them.
    let watched = long_write("probability = 0.02", &observer(""));
    assert_eq!(digest(&watched), digest(&run), "an observer changes nothing");
    let named = long_write("probability = 0.02\nname = \"other\"", "");
    assert_ne!(digest(&named), digest(&run), "another name, other dice");
}
