//! `[[link]]`: the largest frame of a link, and bits that change on it.

use rocelab_sim::{Ending, Planning, Scenario};

use crate::support::{TEN_PACKETS, run};

/// The largest IP packet of ten packets of 1,024 bytes each: IPv4, UDP, BTH and RETH (of the first), payload, ICRC.
const LARGEST: u32 = 20 + 8 + 12 + 16 + 1_024 + 4;

fn with_mtu(mtu: u32) -> String {
    format!("{TEN_PACKETS}[[link]]\nports = [\"host-1\"]\nmtu = \"{mtu}B\"\n")
}

fn notes(text: &str) -> Vec<String> {
    let scenario =
        Scenario::parse(text, std::path::Path::new("links.toml"), &[]).expect("it parses");
    let plan = scenario.plan().expect("it plans");
    let notes = scenario.without_effect(&plan);
    notes.iter().map(ToString::to_string).filter(|note| note.contains("mtu")).collect()
}

#[test]
fn a_link_takes_frames_up_to_its_mtu() {
    run(&with_mtu(LARGEST)).assert_complete();
    // Only the first packet has a RETH. It never arrives: not at first, not after the NAK that the second one causes, and not
    // after seven timeouts.
    let short = run(&with_mtu(LARGEST - 1));
    assert_eq!(short.drops("mtu_exceeded"), 9);
    assert_eq!(short.totals().frames_dropped, 9);
    assert_eq!(short.simulation.network().flow_counts(), (0, 1, 1));
    // Acknowledgements are short.
    let shorter = run(&with_mtu(46 + 20));
    assert_eq!(shorter.totals().frames_dropped, 8 * 10);
}

#[test]
fn a_link_that_is_too_short_is_told_beforehand() {
    assert_eq!(notes(&with_mtu(2_000)), [""; 0]);
    let found = notes(&with_mtu(1_000));
    assert_eq!(found.len(), 1);
    for part in ["link[0].mtu", "longer ones than 1018 are dropped", "or a smaller `roce.path_mtu`"]
    {
        assert!(found[0].contains(part), "{found:?}");
    }
}

#[test]
fn flow_labels_choose_no_path_in_a_spanning_tree() {
    let told = |roce: &str| {
        let text = TEN_PACKETS.replace("[roce]", &format!("[roce]\n{roce}"));
        let scenario = Scenario::parse(&text, std::path::Path::new("labels.toml"), &[]);
        let scenario = scenario.expect("it parses");
        let notes = scenario.without_effect(&scenario.plan().expect("it plans"));
        notes.iter().any(|note| note.to_string().contains("roce.entropy"))
    };
    assert!(told("version = 1\nentropy = { list = [5] }"));
    assert!(!told("version = 1"));
}

#[test]
fn what_is_too_long_is_named_by_its_own_key() {
    let tcp = with_mtu(1_400).replace("[workload.flows]", "[workload.flows]\ntransport = \"tcp\"");
    let found = notes(&tcp);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("`tcp.mtu`") && !found[0].contains("path_mtu"), "{found:?}");
}

#[test]
fn a_later_table_holds_over_an_earlier_one() {
    let more = "[[link]]\nports = [\"all\"]\nmtu = \"9000B\"\n";
    let text = format!("{}{more}", with_mtu(1_000));
    assert_eq!(notes(&text), [""; 0]);
    run(&text).assert_complete();
}

/// A WRITE of a thousand packets over a link on which one bit of ten million changes: about one frame of a thousand.
#[test]
fn changed_bits_cost_frames_in_both_directions_and_nothing_is_lost() {
    for version in ["1", "2"] {
        let text = TEN_PACKETS
            .replace("10KiB", "20MiB")
            .replace("[roce]", &format!("[roce]\nversion = {version}"));
        let text = format!("{text}[[link]]\nports = [\"switch-0:*\"]\nbit_error_rate = 1e-7\n");
        let run = run(&text);
        run.assert_complete();
        assert!(run.ending == Ending::Finished);
        let (bad, crossed) = (run.drops("fcs_error"), run.totals().traversals);
        // Both links, data of about 1,100 bytes and acknowledgements of 64 to 90: 8 bits in ten million each.
        let bits = crossed.data as f64 * 1_100.0 * 8.0 + crossed.ack as f64 * 78.0 * 8.0;
        let expected = bits * 1e-7;
        assert!(
            (bad as f64 - expected).abs() < 6.0 * expected.sqrt() + 0.1 * expected,
            "{bad} {expected}"
        );
        assert_eq!(run.totals().frames_dropped, bad);
    }
}

/// What is passed over is told, where a rule names nothing that only RDMA has.
#[test]
fn rules_that_pass_over_other_frames_are_told() {
    let told = |rule: &str, transport: &str, roce: &str| {
        let text = TEN_PACKETS
            .replace("[roce]", &format!("[roce]\n{roce}"))
            .replace("[workload.flows]", &format!("[workload.flows]\n{transport}"));
        let text = format!("{text}[[faults]]\naction = \"drop\"\nprobability = 0.01\n{rule}\n");
        let scenario = Scenario::parse(&text, std::path::Path::new("rules.toml"), &[]);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        let notes = scenario.without_effect(&scenario.plan().expect("it plans"));
        let found = notes.iter().map(ToString::to_string).find(|note| note.contains("pass"));
        found.unwrap_or_default()
    };
    let (tcp, asks) = ("transport = \"tcp\"", "neighbours = {}");
    assert_eq!(told("", "", ""), "");
    for (rule, transport, roce, frames) in [
        ("", tcp, "", "frames of TCP pass"),
        ("", "", asks, "frames of ARP pass"),
        ("from = \"host-0\"", tcp, asks, "frames of TCP and ARP pass"),
        ("", "", "neighbours = {}\nip = \"ipv6\"", "frames of Neighbour Discovery pass"),
    ] {
        let note = told(rule, transport, roce);
        for part in ["faults[0]", "RDMA packets only", frames, "`bit_error_rate`"] {
            assert!(note.contains(part), "{part}: {note}");
        }
    }
    assert_eq!(told("opcode = \"data\"", tcp, asks), "");
    assert_eq!(told("dest_qp = 5", tcp, asks), "");
}
