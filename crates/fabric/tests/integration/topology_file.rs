//! Edge lists: what is read, and which errors are reported where.

use std::path::Path;

use proptest::prelude::*;
use rocelab_fabric::topology::{TopologyError, clos, file};
use rocelab_fabric::{NodeKind, Topology, TopologyConfig};
use rocelab_units::{Bandwidth, Duration};

fn read(text: &str) -> Result<Topology, TopologyError> {
    let folder = tempfile::tempdir().expect("a folder for the test");
    std::fs::write(folder.path().join("topology.txt"), text).expect("a file for the test");
    let parameters =
        file::Parameters { path: "topology.txt".into(), format: Default::default(), link: None };
    TopologyConfig::File(parameters).build(folder.path())
}

const GOOD: &str = "4 1 3\n3\n0 3 100Gbps 1000ns 0\n1 3 40Gb/s 0.001ms 0.25\n2 3 25000Mbps 2us 0\n";

#[test]
fn nodes_keep_their_ids_and_ports_the_order_of_the_lines() {
    let topology = read(GOOD).unwrap();
    assert_eq!(topology.describe_names(), "host-0 to host-2, switch-3");
    assert_eq!(topology.nodes[3].kind, NodeKind::Switch { tier: 1 });
    let link = &topology.links[1];
    assert_eq!((link.a, link.b), (1, 3));
    assert_eq!((link.rate, link.delay), (Bandwidth::from_gbps(40), Duration::from_us(1)));
    assert_eq!(link.loss, 0.25);
    assert_eq!(topology.port_by_name("switch-3:2"), Ok((3, 2)));
}

#[test]
fn switches_may_have_any_ids_and_take_several_lines() {
    let text = "\r\n5 3 4\r\n0 2\r\n 4\r\n0 2 1Gbps 1us 0\r\n0 1 1Gbps 1us 0\r\n2 3 1Gbps 1us 0\r\n2 4 1Gbps 1us 0\r\n";
    let topology = read(text).unwrap();
    assert!(topology.hosts().eq([1, 3]));
    let tier = |node: usize| topology.nodes[node].kind;
    assert_eq!(tier(0), NodeKind::Switch { tier: 1 });
    assert_eq!(tier(4), NodeKind::Switch { tier: 2 });
}

#[test]
fn notes_after_the_links_are_ignored_but_further_links_are_not() {
    let notes = "\nFirst line: total node #, switch node #, link #\n3 words are no link\n";
    assert!(read(&format!("{GOOD}{notes}")).is_ok());
    refuse(&format!("{GOOD}0 1 1Gbps 1us 0\n"), 6, 1, "counts 3 links");
}

/// Asserts that the text is refused at a place, with a message that contains `part`.
#[track_caller]
fn refuse(text: &str, line: usize, column: usize, part: &str) {
    let error = read(text).expect_err(text);
    let message = error.to_string();
    assert!(message.contains(part), "{message}");
    let TopologyError::File { path, line: at_line, column: at_column, .. } = error else {
        panic!("{message}")
    };
    assert_eq!((at_line, at_column), (line, column), "{message}");
    assert!(path.ends_with("topology.txt"));
}

/// The good text with one line in place of another.
fn with_line(number: usize, line: &str) -> String {
    let mut lines: Vec<_> = GOOD.lines().collect();
    lines[number - 1] = line;
    lines.join("\n")
}

#[test]
fn a_broken_file_is_refused_at_line_and_column() {
    refuse("", 1, 1, "a line with the numbers of nodes");
    refuse(&with_line(1, "4 1"), 1, 1, "2 words where 3 belong");
    refuse(&with_line(1, "4 one 3"), 1, 3, "invalid digit");
    refuse(&with_line(1, "-4 1 3"), 1, 1, "invalid digit");
    refuse(&with_line(1, "4 5 3"), 1, 3, "there are only 4 nodes");
    refuse(&with_line(1, "99999999 1 99999999"), 1, 1, "99999999 nodes are more than");
    refuse(&with_line(1, "9 1 3"), 1, 5, "9 nodes cannot be connected by 3 links");
    refuse(&with_line(2, "3 4"), 2, 3, "counts 1 switches");
    refuse(&with_line(2, "4"), 2, 1, "counts 4 nodes");
    refuse("4 2 3\n3 3\n", 2, 3, "listed before");
    refuse("4 2 3\n3\n", 2, 2, "the ids of the switches should follow");
    refuse(&with_line(4, "1 3 40Gbps 1us"), 4, 1, "has 4");
    refuse(&with_line(4, "1 7 40Gbps 1us 0"), 4, 3, "counts 4 nodes");
    refuse(&with_line(4, "1 3 40 1us 0"), 4, 5, "has no unit");
    refuse(&with_line(4, "1 3 40Gbps 1 0"), 4, 12, "has no unit");
    refuse(&with_line(4, "1 3 0Gbps 1us 0"), 4, 5, "rate is zero");
    refuse(&with_line(4, "1 3 40Gbps 5s 0"), 4, 12, "more than 1s");
    refuse(&with_line(4, "1 3 40Gbps 1us 2"), 4, 16, "not between 0 and 1");
    refuse(&with_line(4, "1 3 40Gbps 1us NaN"), 4, 16, "not between 0 and 1");
    refuse(&with_line(4, "3 3 40Gbps 1us 0"), 4, 3, "from a node to itself");
    refuse(&with_line(4, "1 2 40Gbps 1us 0"), 4, 3, "joins two hosts");
    refuse(&with_line(4, "  3 0 40Gbps 1us 0"), 4, 3, "line 3 has this link already");
    refuse(&with_line(5, ""), 4, 24, "link 3 of 3 should follow");
    refuse(
        "4 2 4\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n0 3 1Gbps 1us 0\n",
        6,
        1,
        "second link of `host-0`",
    );
    refuse(
        "5 3 4\n2 3 4\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n2 3 1Gbps 1us 0\n3 2 1Gbps 1us 0\n",
        6,
        1,
        "line 5 has this link already",
    );
    refuse(
        "6 4 5\n2 3 4 5\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n2 3 1Gbps 1us 0\n",
        5,
        16,
        "link 4 of 5",
    );
    refuse("2 2 1\n0 1\n0 1 1Gbps 1us 0\n", 1, 1, "at least 2 hosts");
    let isolated = "5 2 4\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n";
    refuse(&format!("{isolated}3 2 1Gbps 1us 0\n"), 6, 1, "already");
}

#[test]
fn nodes_without_links_and_separate_parts_are_refused() {
    let ring = "2 3 1Gbps 1us 0\n3 4 1Gbps 1us 0\n4 2 1Gbps 1us 0\n";
    refuse(
        &format!("6 3 5\n2 3 4\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n{ring}"),
        1,
        1,
        "`host-5` has no link",
    );
    let parts = format!(
        "8 5 7\n2 3 4 6 7\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n{ring}5 6 1Gbps 1us 0\n6 7 1Gbps 1us 0\n"
    );
    refuse(&parts, 8, 1, "no path between `host-0` and `host-5`");
}

#[test]
fn a_missing_file_is_named() {
    let parameters =
        file::Parameters { path: "none.txt".into(), format: Default::default(), link: None };
    let error = TopologyConfig::File(parameters).build(Path::new("/nowhere")).unwrap_err();
    let TopologyError::Unreadable { key, path, .. } = &error else { panic!("{error}") };
    assert_eq!((key.as_str(), path.as_path()), ("path", Path::new("/nowhere/none.txt")));
}

#[test]
fn the_generator_makes_the_reference_network_of_320_hosts() {
    let reference = "../../../shared/golden/hpcc-ns3/public/fat320-websearch-dcqcn/topology.txt";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(reference);
    if !path.exists() {
        println!("skipped: the reference data are not here");
        return;
    }
    let parameters = file::Parameters { path, format: Default::default(), link: None };
    let from_file = TopologyConfig::File(parameters).build(Path::new("")).unwrap();
    let hpcc = &<clos::Parameters as rocelab_fabric::topology::Generate>::examples()[0];
    let generated = TopologyConfig::Clos(hpcc.clone()).build(Path::new("")).unwrap();
    assert_eq!(generated.links, from_file.links, "even the numbering agrees");
    let kinds = |topology: &Topology| topology.nodes.iter().map(|n| n.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&generated), kinds(&from_file));
}

proptest! {
    #[test]
    fn no_text_is_a_panic(words in prop::collection::vec(0..WORDS.len(), 0..60)) {
        let text: Vec<_> = words.into_iter().map(|word| WORDS[word]).collect();
        if let Ok(topology) = read(&text.join(" ")) {
            prop_assert_eq!(topology.check(), Ok(()));
        }
    }

    #[test]
    fn a_changed_character_is_no_panic(at in 0..GOOD.len(), to in any::<char>()) {
        let mut text = GOOD.to_owned();
        text.replace_range(at..=at, to.encode_utf8(&mut [0; 4]));
        if let Ok(topology) = read(&text) {
            prop_assert_eq!(topology.check(), Ok(()));
        }
    }
}

/// Words from which edge lists and other texts are made.
const WORDS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "\n",
    "\n",
    "\n",
    "4 1 3\n",
    "3\n",
    "0 3 1Gbps 1us 0\n",
    "16777215",
    "67108864",
    "18446744073709551616",
    "-1",
    "1e9",
    "NaN",
    "0Gbps",
    "\u{feff}",
    "µs",
    "\u{85}",
];
