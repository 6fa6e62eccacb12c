//! Files that are read: what is understood, and what is told of errors.

use std::path::Path;

use rocelab_subnet::{
    Engine, Guid, NodeKind, Options, PortId, Subnet, Topology, dump, ibnetdiscover, lft_file,
    roots, route, sl_file,
};

use crate::topologies::{fat_tree, grid};

fn net(text: &str) -> Topology {
    ibnetdiscover::read(Path::new("net"), text).expect("topology")
}

/// The error of a text, in one line.
fn error(text: &str) -> String {
    let error = ibnetdiscover::read(Path::new("net"), text).expect_err("an error");
    assert!(!error.message().is_empty() && !error.help().is_empty());
    error.to_string()
}

/// As `ibnetdiscover` prints it.
const DISCOVERED: &str = "\
#
# Topology file: generated on Mon Nov 23 10:00:00 2026
#
# Initiated from node 0002c903000e0b72 port 0002c903000e0b73

vendid=0x2c9
devid=0xbd36
sysimgguid=0x2c9020041b3ab
switchguid=0x2c9020041b3a8(2c9020041b3a8)
Switch\t36 \"S-0002c9020041b3a8\"\t\t# \"leaf 1\" enhanced port 0 lid 3 lmc 0
[1]\t\"H-0002c903000e0b72\"[1](2c903000e0b73) \t\t# \"host-1 HCA-1\" lid 4 4xQDR
[2][ext 1]\t\"R-0002c903000e0c00\"[2][ext 7](2c903000e0c02) \t\t# \"router\" lid 5 4xQDR

vendid=0x2c9
devid=0x673c
sysimgguid=0x2c903000e0b75
caguid=0x2c903000e0b72
Ca\t2 \"H-0002c903000e0b72\"\t\t# \"host-1 HCA-1\"
[1](2c903000e0b73) \t\"S-0002c9020041b3a8\"[1]\t\t# lid 4 lmc 0 \"leaf 1\" lid 3 4xQDR

rtguid=0x2c903000e0c00
Rt\t2 \"R-0002c903000e0c00\"\t\t# \"router\"
[2](2c903000e0c05) \t\"S-0002c9020041b3a8\"[2]\t\t# lid 5 lmc 0
";

#[test]
fn the_output_of_ibnetdiscover_is_read() {
    let topology = net(DISCOVERED);
    let [switch, host, router] = topology.nodes() else { panic!("{topology:?}") };
    assert_eq!((switch.kind, switch.port_count()), (NodeKind::Switch, 36));
    assert_eq!((switch.name.as_str(), host.name.as_str()), ("leaf 1", "host-1 HCA-1"));
    assert_eq!(
        (switch.guid, switch.system),
        (Guid::new(0x2_c902_0041_b3a8), Guid::new(0x2_c902_0041_b3ab))
    );
    assert_eq!(host.port(1).map(|port| port.guid), Some(Guid::new(0x2_c903_000e_0b73)));
    assert_eq!(host.port(1).and_then(|port| port.peer), Some(PortId { node: 0, port: 1 }));
    assert_eq!((router.kind, router.system), (NodeKind::Router, router.guid));
    assert_eq!(router.port(2).map(|port| port.guid), Some(Guid::new(0x2_c903_000e_0c05)));

    let subnet = Subnet::new(topology, 0, 0).expect("subnet");
    let tables = route(&subnet, Engine::MinHop, &Options::default()).tables;
    let text = dump::Lfts { subnet: &subnet, tables: &tables.forwarding }.to_string();
    for line in [
        "Unicast lids [0-3] of switch Lid 1 guid 0x0002c9020041b3a8 ('leaf 1'):",
        "0x0001 000 # Switch portguid 0x0002c9020041b3a8: 'leaf 1'",
        "# Channel Adapter portguid 0x0002c903000e0b73: 'host-1 HCA-1'",
        "002 # Router portguid 0x0002c903000e0c05: 'router'",
    ] {
        assert!(text.contains(line), "no {line} in:\n{text}");
    }
}

#[test]
fn nodes_without_guids_get_those_of_ibsim() {
    let text = "Switch 8 \"S\"\n[1] \"A\"[2] w=4 s=10\n\nHca 2 \"A\"\n\nHca 1 \"B\"\n[1] \"S\"[2]\nswitch 4 \"T\"\n";
    let topology = net(text);
    let guids: Vec<u64> = topology.nodes().iter().map(|node| node.guid.number()).collect();
    assert_eq!(guids, [0x20_0000, 0x10_0000, 0x10_0003, 0x20_0001]);
    let host = &topology.nodes()[1];
    assert_eq!(host.port(2).map(|port| port.guid.number()), Some(0x10_0002));
    // Cables that one end says are cables.
    assert_eq!(host.port(2).and_then(|port| port.peer), Some(PortId { node: 0, port: 1 }));
    assert_eq!(
        topology.nodes()[0].port(2).and_then(|port| port.peer.map(|peer| peer.node)),
        Some(2)
    );
}

#[test]
fn errors_name_the_line_the_value_and_a_fix() {
    for (text, expected) in [
        ("", "net: has no node; begin with a line such as: Switch 36 \"S1\""),
        ("[1] \"A\"[1]", "net:1: [1] \"A\"[1]: is a cable of no node; "),
        ("Switch 300 \"S\"", "net:1: 300: is no number of ports; write a number from 1 to 254"),
        ("Switch 0 \"S\"", "net:1: 0: is no number of ports; "),
        ("\nSwitch 8 S", "net:2: S: is no identifier of a node; "),
        ("Switch 8 \"S", "net:1: \"S: `\"` is missing; add `\"`"),
        ("Swatch 8 \"S\"", "net:1: Swatch 8 \"S\": is no line of ibnetdiscover; "),
        ("Switch 8 \"S\"\nSwitch 8 \"S\"", "net:2: S: is the identifier of another node too; "),
        ("Switch 8 \"S\"\n[1] \"B\"[1]", "net:2: B: is no node of this file; add its section"),
        ("Switch 8 \"S\"\n[9] \"T\"[1]\nSwitch 8 \"T\"", "S has no port 9; name a port from 1 to"),
        ("Switch 8 \"S\"\n[0] \"T\"[1]\nSwitch 8 \"T\"", "S has no port 0; "),
        ("Switch 8 \"S\"\n[1] \"S\"[1]", "port 1 of S is connected to itself; name another port"),
        ("Switch 8 \"S\"\n[x] \"S\"[1]", "net:2: x: is no number of a port; "),
        ("Switch 8 \"S\"\n[1]", "net:2: [1]: does not say the node at the other end; "),
        ("Switch 8 \"S\"\n[1] \"T\"", "net:2: [1] \"T\": does not say the port at the other end; "),
        ("Switch 8 \"S\"\n[1] \"T\"[1] what", "net:2: what: is not understood; remove it"),
        ("switchguid=xyz", "net:1: xyz: is no GUID; write up to 16 hexadecimal digits"),
        ("colour=red", "net:1: colour: is no key of ibnetdiscover; write sysimgguid"),
        (
            "switchguid=0x1\nSwitch 8 \"S\"\nswitchguid=0x1\nSwitch 8 \"T\"",
            "net: S and T have the same GUID 0x0000000000000001; give each its own GUID",
        ),
        (
            "Switch 8 \"S\"\n[1] \"T\"[1]\nSwitch 8 \"T\"\n[2] \"S\"[1]",
            "port 1 of S is already connected to port 1 of T; remove one of the two cables",
        ),
    ] {
        let found = error(text);
        assert!(found.contains(expected), "{text:?}\n{found}\n{expected}");
    }
}

fn ring() -> Subnet {
    Subnet::new(grid(&[4], true), 0, 0).expect("subnet")
}

#[test]
fn roots_are_switches_by_guid() {
    let subnet = ring();
    let read = |text| roots::read(Path::new("roots"), text, &subnet);
    assert_eq!(read("# roots\n0x200002 third\n\n200000\n"), Ok(vec![2, 0]));
    for (text, expected) in [
        ("", "roots: names no root switch; "),
        ("\n0x100001", "roots:2: 0x100001: is the GUID of no switch of this subnet; "),
        ("S1", "roots:1: S1: is no GUID; "),
    ] {
        let error = read(text).expect_err("an error").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn service_levels_that_are_wrong_are_refused() {
    let subnet = ring();
    let adapters: Vec<u16> = subnet
        .end_ports()
        .iter()
        .filter(|one| one.kind == NodeKind::ChannelAdapter)
        .map(|one| one.lids.base)
        .collect();
    let lines = adapters.iter().flat_map(|from| adapters.iter().map(move |to| (from, to)));
    let right: String = lines.map(|(from, to)| format!("{from} {to} 1\n")).collect();
    let (a, b) = (adapters[0], adapters[1]);
    let same = std::collections::BTreeMap::new();
    let read = |text: &str| sl_file::read(Path::new("sl"), text, &subnet, &same, 8);
    assert!(read(&right).is_ok());
    assert!(read(&format!("# all\n{right}0x{a:04x} 0x{b:04x} 1\n")).is_ok());
    for (text, expected) in [
        (format!("x {b} 0"), "sl:1: x: is no LID; "),
        (format!("{a} 999 0"), "sl:1: 999: is the LID of no port of this subnet; "),
        (
            format!("{a} {b} 8"),
            "sl:1: 8: is no service level that is known here; write a service level from 0 to 7",
        ),
        (format!("{a} {b}"), "sl:1: is no service level that is known here; "),
        (format!("{a} {b} 1 2"), "sl:1: 2: is not understood; "),
        (format!("{a} {b} 1\n\n{a} {b} 2"), "sl:3: "),
        (String::new(), "sl: has no service level from LID "),
        (
            right.replacen(&format!("{a} {b} 1\n"), "", 1),
            &format!("sl: has no service level from LID {a} to LID {b}; "),
        ),
    ] {
        let error = read(&text).expect_err("an error").to_string();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    // The file's LIDs may be others.
    let moved = std::collections::BTreeMap::from([(500, a)]);
    let text = right.replace(&format!("{a} "), "500 ");
    let text: String = text.lines().map(|line| format!("{line}\n")).collect();
    let read = sl_file::read(Path::new("sl"), &text, &subnet, &moved, 8);
    assert!(read.is_ok(), "{read:?}");
}

#[test]
fn tables_of_another_subnet_are_refused() {
    let subnet = ring();
    let header = "Unicast lids [0-8] of switch Lid 1 guid 0x200000 ('S0'):\n";
    let moved = "0x0077 001 # Switch portguid 0x0000000000200001: 'S1'\n";
    let read = |text: &str| lft_file::read(Path::new("lfts"), text, &subnet);
    for (text, expected) in [
        (String::new(), "lfts: has no forwarding table; "),
        ("0x0001 000".to_owned(), "lfts:1: 0x0001 000: is an entry of no switch; "),
        (
            header.replace("0x200000", "0x9"),
            "lfts:1: 0x9: is the GUID of no switch of this subnet; ",
        ),
        (format!("{header}2 001"), "lfts:2: 2: is no LID; "),
        (
            format!("{header}0x0002 004"),
            "lfts:2: 004: is no port of S0; write a number from 0 to 3",
        ),
        (
            format!("{header}0x0099 001"),
            "lfts:2: 0x0099 001: no port has the LID 0x0099 here, and the line has no portguid ",
        ),
        (format!("{header}0x0002 001 2"), "lfts:2: 2: is not understood; "),
        (
            format!("{header}0x0002 001 # Switch portguid 0x77: 'S7'"),
            "lfts:2: 0x0000000000000077: is the GUID of no port of this subnet; ",
        ),
        (
            format!("{header}0x0002 001\n0x0002 002"),
            "lfts:3: 0x0002 002: another line says port 1 for LID 0x0002; ",
        ),
        (
            format!("{header}{}", moved.replace("0x0077 001", "0x0078 002") + moved),
            "lfts:3: 0x0077 001 # Switch portguid 0x0000000000200001: 'S1': the port has several LIDs in these tables (LMC above 0)",
        ),
    ] {
        let error = read(&text).expect_err("an error").to_string();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    // A line about a port that had another LID is about the LID that it has now.
    let tables = read(&format!("{header}{moved}")).expect("tables");
    let lid = subnet.switch_lid(1);
    assert_eq!(
        (tables.port(0, lid), tables.port(1, lid), tables.port(2, lid)),
        (Some(1), Some(0), None)
    );
}

#[test]
fn what_is_written_is_read_again() {
    for topology in [net(DISCOVERED), grid(&[3, 4], true), fat_tree(4)] {
        let text = ibnetdiscover::write(&topology);
        assert_eq!(net(&text), topology, "{text}");
    }
}
