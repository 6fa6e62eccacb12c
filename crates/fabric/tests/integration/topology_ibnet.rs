//! Subnets of InfiniBand as `ibnetdiscover` prints them.

use std::path::Path;

use rocelab_fabric::topology::{LinkConfig, TopologyError, file};
use rocelab_fabric::{NodeKind, Topology};
use rocelab_units::{Bandwidth, Duration, Length};

/// Two leaf switches and a spine, with descriptions as real ones are.
const NET: &str = r#"
# Topology file
vendid=0x2c9
switchguid=0x2c90200410(2c90200410)
Switch	36 "S-0000002c90200410"		# "spine" enhanced port 0 lid 2 lmc 0
[17]	"S-0000002c90200420"[36]		# "MF0;leaf:SX6036/U1" lid 3 4xFDR
[18]	"S-0000002c90200430"[35]		# "MF0;leaf:SX6036/U1" lid 4 4xFDR

Switch	36 "S-0000002c90200420"		# "MF0;leaf:SX6036/U1" enhanced port 0 lid 3 lmc 0
[1]	"H-0000002c90300010"[1](2c90300011) 		# "node001 HCA-1" lid 1 2xHDR
[36]	"S-0000002c90200410"[17]		# "spine" lid 2 4xFDR

Switch	36 "S-0000002c90200430"		# "MF0;leaf:SX6036/U1" enhanced port 0 lid 4 lmc 0
[9]	"H-0000002c90300020"[2](2c90300022) 		# "node002" lid 5
[35]	"S-0000002c90200410"[18]		# "spine" lid 2 4xFDR

Ca	1 "H-0000002c90300010"		# "node001 HCA-1"
[1](2c90300011) 	"S-0000002c90200420"[1]		# lid 1 lmc 0 "leaf" lid 3 2xHDR

Ca	2 "H-0000002c90300020"		# "node002"
[2](2c90300022) 	"S-0000002c90200430"[9]		# lid 5 lmc 0 "leaf" lid 4
"#;

fn parameters() -> file::Parameters {
    let link = LinkConfig::with_cable(Bandwidth::from_gbps(100), Length::from_mm(3_000));
    file::Parameters { path: "net".into(), format: file::Format::Ibnet, link: Some(link) }
}

fn read(text: &str) -> Result<Topology, TopologyError> {
    parameters().parse_ibnet(text, Path::new("net"))
}

#[test]
fn nodes_cables_and_their_rates_are_those_of_the_file() {
    let topology = read(NET).expect("a subnet");
    let names: Vec<_> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
    let expected =
        ["spine", "S-0000002c90200420", "S-0000002c90200430", "H-0000002c90300010", "node002"];
    assert_eq!(names, expected, "descriptions that are no names, or of several nodes, are none");
    assert_eq!(topology.hosts().collect::<Vec<_>>(), [3, 4]);
    assert_eq!(topology.nodes[0].kind, NodeKind::Switch { tier: 2 });
    let links: Vec<_> =
        topology.links.iter().map(|link| (link.a, link.b, link.rate.bits_per_second())).collect();
    let fdr = 54_545_454_545;
    assert_eq!(
        links,
        [(0, 1, fdr), (0, 2, fdr), (1, 3, 100_000_000_000), (2, 4, 100_000_000_000)],
        "the last one has the rate of the scenario"
    );
    assert!(topology.links.iter().all(|link| link.delay == Duration::from_ns(15)));
    assert_eq!(topology.check(), Ok(()));
}

#[test]
fn ports_keep_their_numbers() {
    let topology = read(NET).expect("a subnet");
    let cabling = topology.cabling.expect("it is kept");
    let numbers = |node| (0..3).map_while(|port| cabling.number(node, port)).collect::<Vec<_>>();
    assert_eq!([0, 1, 2, 4].map(numbers), [vec![17, 18], vec![36, 1], vec![35, 9], vec![2]]);
    assert_eq!(
        (cabling.port(1, 36), cabling.port(1, 1), cabling.port(1, 2)),
        (Some(0), Some(1), None)
    );
}

/// The line, column and text of an error, and what it says.
fn error(text: &str) -> (usize, usize, String, String) {
    match read(text).expect_err("an error") {
        TopologyError::File { line, column, value, problem, .. } => (line, column, value, problem),
        other => panic!("{other}"),
    }
}

#[test]
fn what_cannot_be_simulated_is_told_with_its_place() {
    let router = "Switch 2 \"S1\"\n[1] \"R1\"[1]\nRt 1 \"R1\"\n";
    let what = "routers between subnets are not simulated".to_owned();
    assert_eq!(error(router), (3, 7, "R1".to_owned(), what));
    let two = "Switch 4 \"S1\"\n[1] \"H1\"[1]\n[2] \"H1\"[2]\nCa 2 \"H1\"\n";
    let what = "a host has one cable, and this channel adapter has 2".to_owned();
    assert_eq!(error(two), (4, 7, "H1".to_owned(), what));
    let hosts = "[1] \"H1\"[1]\n[2] \"H2\"[1]\nCa 1 \"H1\"\nCa 1 \"H2\"\n";
    let looped = format!("Switch 4 \"S1\"\n[3] \"S1\"[4]\n{hosts}");
    let what = "a cable from a switch to itself is not simulated".to_owned();
    assert_eq!(error(&looped), (2, 1, "[3]".to_owned(), what));
    let lone = format!("Switch 4 \"S1\"\n{hosts}Switch 4 \"S2\"\n");
    assert_eq!(error(&lone), (6, 11, "S2".to_owned(), "this switch has no cable".to_owned()));
    let speeds = format!("Switch 4 \"S1\"\n{hosts}").replace("\"H1\"[1]\n", "\"H1\"[1] # 1xXXX\n");
    let found = error(&speeds);
    assert_eq!((found.0, found.2.as_str()), (2, "1xXXX"), "{}", found.3);
    let apart = format!("Switch 4 \"S1\"\n{hosts}[1] \"S1\"[2] # 4xEDR\n")
        .replace("\"H2\"[1]\n", "\"H2\"[1] # 4xHDR\n");
    let found = error(&apart);
    assert!(found.0 == 3 && found.3.contains("4xEDR") && found.3.contains("4xHDR"), "{found:?}");
    let unknown = error("Switch 4 \"S1\"\n[1] \"H1\"[1]\n");
    assert_eq!((unknown.0, unknown.1, unknown.2.as_str()), (2, 6, "H1"), "{}", unknown.3);
    let without = file::Parameters { link: None, ..parameters() };
    let error = without.parse_ibnet(NET, Path::new("net")).expect_err("no length of cables");
    assert!(error.to_string().contains("link"), "{error}");
}

/// A description that is the identifier of another node.
#[test]
fn names_are_unique() {
    let text = "Switch 4 \"S-0000000000000001\" # \"a b\"\n[1] \"H1\"[1]\n[2] \"H2\"[1]\nCa 1 \"H1\" # \
                \"S-0000000000000001\"\nCa 1 \"H2\"\n";
    let topology = read(text).expect("a subnet");
    let mut names: Vec<_> = topology.nodes.iter().map(|node| node.name.clone()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 3, "{names:?}");
}
