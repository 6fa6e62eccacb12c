//! What each action does to the frames that it picks.

use crate::support::{TEN_PACKETS, arrivals, observer, rule, run};

#[test]
fn without_rules_packets_arrive_in_order() {
    let (run, offsets, _) = arrivals(TEN_PACKETS);
    run.assert_complete();
    assert_eq!(offsets, (0..10).collect::<Vec<_>>());
    assert_eq!(run.faults(), []);
}

#[test]
fn a_dropped_packet_does_not_arrive() {
    let text = format!("{TEN_PACKETS}{}", rule("action = \"drop\"\nnth = 3"));
    let (run, offsets, _) = arrivals(&text);
    run.assert_complete();
    assert_eq!(offsets[..4], [0, 1, 3, 4]);
    assert_eq!(offsets.iter().filter(|&&offset| offset == 2).count(), 1, "sent again: {offsets:?}");
    assert_eq!((run.counters().naks_sent.packets, run.counters().timeouts), (1, 0));
    // Everything that host-0 sends crosses the link, and matches.
    let sent_again = run.counters().retransmitted.packets;
    assert!(sent_again > 0);
    assert_eq!(run.fault(), (10 + sent_again, 1));
    assert_eq!((run.drops("fault"), run.totals().frames_dropped), (1, 1));
}

#[test]
fn the_last_acknowledgement_is_waited_for_in_vain() {
    let lost = "[[faults]]\naction = \"drop\"\nfrom = \"host-1\"\nopcode = \"ack\"\nnth = 10\n";
    let run = run(&format!("{TEN_PACKETS}{lost}"));
    run.assert_complete();
    let counters = run.counters();
    assert_eq!((counters.timeouts, counters.retransmitted.packets), (1, 1));
    assert_eq!((counters.duplicates, counters.acks_sent.packets), (1, 11));
    assert_eq!(run.fault(), (11, 1));
}

#[test]
fn a_duplicate_arrives_right_behind() {
    let text = format!("{TEN_PACKETS}{}", rule("action = \"duplicate\"\nnth = 2"));
    let (run, offsets, _) = arrivals(&text);
    run.assert_complete();
    assert_eq!(offsets, [0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let counters = run.counters();
    assert_eq!((counters.duplicates, counters.retransmitted.packets), (1, 0));
    assert_eq!(run.fault(), (10, 1));
    // Ten packets, the copy, and an acknowledgement for each.
    let totals = run.totals();
    assert_eq!((totals.frames_created, totals.frames_delivered), (22, 22));
}

#[test]
fn a_copy_on_the_last_link_arrives_too() {
    let keys = "[[faults]]\naction = \"duplicate\"\nfrom = \"switch-0\"\nto = \"host-1\"\n";
    let (run, offsets, _) = arrivals(&format!("{TEN_PACKETS}{keys}"));
    run.assert_complete();
    let twice: Vec<u32> = (0..10).flat_map(|offset| [offset, offset]).collect();
    assert_eq!(offsets, twice);
    assert_eq!((run.fault(), run.counters().duplicates), ((10, 10), 10));
}

#[test]
fn the_first_rule_that_acts_is_the_only_one() {
    let rules = [
        rule("action = \"drop\"\nnth = 2"),
        rule("action = \"duplicate\"\nnth = 2"),
        observer("from = \"host-0\""),
    ];
    let (run, offsets, _) = arrivals(&format!("{TEN_PACKETS}{}", rules.concat()));
    run.assert_complete();
    // The second rule does not see what the first drops: its second frame is the third packet.
    assert_eq!(offsets[..4], [0, 2, 2, 3]);
    let counts = run.faults();
    let crossed = 10 + run.counters().retransmitted.packets;
    assert_eq!((counts[0].matched, counts[0].acted), (crossed, 1));
    assert_eq!((counts[1].matched, counts[1].acted), (crossed - 1, 1));
    assert_eq!((counts[2].matched, counts[2].acted), (crossed - 2, 0));
}

#[test]
fn pause_frames_can_be_lost() {
    let incast = "[topology.single-switch]\nhosts = 4\n\
        link = { rate = \"100Gbps\", cable = \"3m\" }\n[congestion_control.none]\n\
        [switch]\nbuffer = \"300KB\"\n[workload.incast]\nsenders = 3\nbytes = \"300KB\"\n";
    let paused = run(incast);
    paused.assert_complete();
    assert!(paused.totals().pauses > 0 && paused.totals().frames_dropped == 0);
    let lost = "[[faults]]\naction = \"drop\"\nopcode = \"PFC\"\nfrom = \"switch-0\"\n";
    let unpaused = run(&format!("{incast}{lost}"));
    let (matched, acted) = unpaused.fault();
    assert!(acted > 0 && acted == matched);
    assert_eq!((unpaused.totals().pauses, unpaused.drops("fault")), (0, acted));
    // What would have waited overflows the memory.
    assert!(unpaused.totals().frames_dropped > acted);
}

#[test]
fn pause_frames_are_left_alone_unless_they_are_named() {
    let incast = "[topology.single-switch]\nhosts = 4\n\
        link = { rate = \"100Gbps\", cable = \"3m\" }\n[congestion_control.none]\n\
        [switch]\nbuffer = \"300KB\"\n[workload.incast]\nsenders = 3\nbytes = \"300KB\"\n";
    let rules = [observer(""), observer("opcode = \"PFC\"")].concat();
    let run = run(&format!("{incast}{rules}"));
    run.assert_complete();
    let traversals = run.totals().traversals;
    let counts = run.faults();
    assert_eq!(counts[0].matched, traversals.data + traversals.ack);
    assert_eq!(counts[1].matched, traversals.control);
    assert!(counts[1].matched > 0);
}
