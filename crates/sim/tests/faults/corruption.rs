//! Corrupted frames: changed bytes in captures, a right FCS, a wrong ICRC, and a NIC that drops
//! them.

use rocelab_wire::{crc_from_wire, fcs};

use crate::support::{Captured, TEN_PACKETS, capture, rule, run};

/// The scenario over each encapsulation, with and without a tag.
fn versions() -> Vec<String> {
    let with = |keys: &str| TEN_PACKETS.replace("ack_timeout", &format!("{keys}\nack_timeout"));
    [
        "version = 1",
        "version = 2",
        "version = 2\ntagging = \"tagged\"",
        "version = 2\nip = \"ipv6\"",
    ]
    .map(with)
    .to_vec()
}

/// Where two frames of one length differ, but for the FCS.
fn differences(a: &Captured, b: &Captured) -> Vec<usize> {
    assert_eq!(a.bytes.len(), b.bytes.len());
    (0..a.bytes.len() - 4).filter(|&place| a.bytes[place] != b.bytes[place]).collect()
}

#[test]
fn one_byte_changes_and_only_the_icrc_tells() {
    for version in versions() {
        for (part, icrc_differs) in [("payload", false), ("header", false), ("icrc", true)] {
            let keys = format!("action = \"corrupt\"\npart = \"{part}\"\nnth = 3");
            let text = format!("{version}{}", rule(&keys));
            let (_, _, intact) = capture(&version, "host-1");
            let (run, _, received) = capture(&text, "host-1");
            run.assert_complete();
            let (bad, good) = (&received[2], &intact[2]);
            let differing = differences(bad, good);
            assert_eq!(differing.len(), 1, "{part}: {differing:?}");
            assert_eq!(bad.frame().fcs_ok(), Some(true), "{part}");
            let sum = fcs(&bad.bytes[..bad.bytes.len() - 4]);
            let found = bad.bytes.last_chunk().copied().expect("an FCS");
            assert_eq!(crc_from_wire(found), sum, "{part}: as a broken switch makes it");
            assert!(!bad.frame().icrc_ok() && good.frame().icrc_ok(), "{part}");
            let place = differing[0];
            let end = bad.bytes.len() - 4;
            assert_eq!(place >= end - 4, icrc_differs, "{part}: byte {place} of {end}");
            let others = received.iter().filter(|captured| !captured.frame().icrc_ok());
            assert_eq!(others.count(), 1);
            assert_eq!((run.fault().1, run.drops("icrc"), run.totals().frames_dropped), (1, 1, 1));
            assert_eq!(run.counters().naks_sent.packets, 1);
        }
    }
}

#[test]
fn parts_are_where_they_say() {
    let place = |part: &str| {
        let keys = format!("action = \"corrupt\"\npart = \"{part}\"\nnth = 3");
        let (_, _, intact) = capture(TEN_PACKETS, "host-1");
        let (_, _, received) = capture(&format!("{TEN_PACKETS}{}", rule(&keys)), "host-1");
        differences(&received[2], &intact[2])[0]
    };
    // Ethernet 14, IPv4 20, UDP 8, and the PSN is the BTH's last 3 bytes of 12; a middle packet of
    // a WRITE has no other header.
    assert_eq!(place("header"), 14 + 20 + 8 + 11);
    assert_eq!(place("payload"), 14 + 20 + 8 + 12);
    assert_eq!(place("icrc"), 14 + 20 + 8 + 12 + 1024);
}

#[test]
fn bytes_change_on_the_link_and_not_before_it() {
    let keys = "action = \"corrupt\"\npart = \"icrc\"\nnth = 3";
    let text = format!("{TEN_PACKETS}{}", rule(keys));
    let (_, sent, _) = capture(&text, "host-0");
    assert!(sent.iter().all(|captured| captured.frame().icrc_ok()));
    let (_, _, at_switch) = capture(&text, "switch-0:0");
    let (_, beyond, _) = capture(&text, "switch-0:1");
    for seen in [&at_switch, &beyond] {
        let bad: Vec<bool> = seen.iter().map(|captured| !captured.frame().icrc_ok()).collect();
        assert!(bad[2] && bad.iter().filter(|bad| **bad).count() == 1, "{bad:?}");
    }
}

#[test]
fn frames_without_payload_have_none_to_corrupt() {
    let run = run(&format!("{TEN_PACKETS}[[faults]]\naction = \"corrupt\"\ncount = 1\n"));
    run.assert_complete();
    // Of all frames only the data, over two links. On each link direction the first one is changed,
    // which is the same one: the second change does not undo the first.
    let data = 10 + run.counters().retransmitted.packets;
    assert_eq!(run.fault(), (2 * data, 2));
    assert_eq!(run.drops("icrc"), 1);
}

#[test]
fn acknowledgements_have_an_icrc_too() {
    let keys = "[[faults]]\naction = \"corrupt\"\npart = \"header\"\nopcode = \"ack\"\nnth = 10\n\
                from = \"host-1\"\n";
    let run = run(&format!("{TEN_PACKETS}{keys}"));
    run.assert_complete();
    assert_eq!((run.drops("icrc"), run.counters().timeouts), (1, 1));
}

#[test]
fn a_copy_of_a_corrupted_frame_is_corrupted() {
    let corrupt = rule("action = \"corrupt\"\nnth = 10");
    let copy =
        "[[faults]]\naction = \"duplicate\"\nnth = 10\nfrom = \"switch-0\"\nto = \"host-1\"\n";
    let run = run(&format!("{TEN_PACKETS}{corrupt}{copy}"));
    run.assert_complete();
    assert_eq!((run.drops("icrc"), run.counters().duplicates), (2, 0));
}

#[test]
fn a_port_drops_what_comes_in_with_a_wrong_fcs() {
    for version in versions() {
        let text = format!("{version}{}", rule("action = \"corrupt\"\npart = \"fcs\"\nnth = 3"));
        let (run, _, received) = capture(&text, "host-1");
        run.assert_complete();
        // Nobody sees its bytes; what follows it comes twice, as far as it had been sent before the NAK.
        assert!(received.iter().all(|captured| captured.frame().fcs_ok() == Some(true)));
        assert!((10..=17).contains(&received.len()), "{}", received.len());
        assert_eq!((run.fault().1, run.drops("fcs_error"), run.totals().frames_dropped), (1, 1, 1));
    }
}
