//! Interfaces of captures: their names, and those that are not read.

use std::fs;

use crate::program::{Sandbox, repository};

/// A block of pcapng.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let len = u32::try_from(12 + body.len()).unwrap().to_le_bytes();
    [&kind.to_le_bytes()[..], &len, body, &len].concat()
}

/// An interface of this link type and name; without a name if that is empty.
fn interface(link_type: u16, name: &str) -> Vec<u8> {
    let mut body = [&link_type.to_le_bytes()[..], &[0; 6]].concat();
    if !name.is_empty() {
        body.extend([2, 0, u8::try_from(name.len()).unwrap(), 0]);
        body.extend(name.as_bytes());
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend([0; 4]);
    }
    block(1, &body)
}

fn packet(interface: u32, frame: &[u8]) -> Vec<u8> {
    let len = u32::try_from(frame.len()).unwrap();
    let mut body = Vec::new();
    for word in [interface, 0, 0, len, len] {
        body.extend(word.to_le_bytes());
    }
    body.extend(frame);
    body.resize(body.len().next_multiple_of(4), 0);
    block(6, &body)
}

/// A capture with interfaces that have a name, no name, and a link type that is not read: the frame once on each of the first
/// two, and twice on the last one.
pub(crate) fn mixed(frame: &[u8]) -> Vec<u8> {
    let section = [&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat();
    let mut file = block(0x0a0d_0d0a, &section);
    file.extend(interface(1, "host-0"));
    file.extend(interface(1, ""));
    file.extend(interface(147, "radio"));
    for number in [2, 0, 2, 1] {
        file.extend(packet(number, frame));
    }
    file
}

/// A frame of Soft-RoCE.
fn frame() -> Vec<u8> {
    let data = "crates/capture/tests/data/fault_send_rnr.pcap";
    let file = fs::read(repository(data)).unwrap();
    let len = u32::from_le_bytes([file[32], file[33], file[34], file[35]]) as usize;
    file[40..40 + len].to_vec()
}

#[test]
fn interfaces_are_named_and_numbered() {
    let sandbox = Sandbox::new();
    sandbox.write("mixed.pcapng", mixed(&frame()));
    for command in ["verify", "stats"] {
        let answer = sandbox.succeeds(&["pcap", command, "mixed.pcapng"]);
        let rows: Vec<_> = answer.lines().filter(|line| line.starts_with("- RC ")).collect();
        let column = |row: &&str| row.split_whitespace().nth(2).unwrap().to_owned();
        assert_eq!(rows.iter().map(column).collect::<Vec<_>>(), ["host-0", "1"], "{answer}");
    }
    let answer = sandbox.succeeds(&["pcap", "decode", "mixed.pcapng", "--interface", "1"]);
    assert!(answer.starts_with("4 ") && answer.lines().count() == 1, "{answer}");
    let answer = sandbox.succeeds(&["pcap", "decode", "mixed.pcapng", "--interface", "radio"]);
    assert_eq!(answer.lines().count(), 2, "{answer}");
    assert!(answer.contains(", not looked into: link type 147 (USER0)\n"), "{answer}");
}

#[test]
fn frames_that_are_not_read_are_counted_by_reason() {
    let sandbox = Sandbox::new();
    let mut fragment = frame();
    fragment[20] = 0x20;
    sandbox.write("mixed.pcapng", mixed(&frame()));
    sandbox.write("fragments.pcapng", mixed(&fragment));
    let answer = sandbox.succeeds(&["pcap", "verify", "mixed.pcapng"]);
    let end = "\n4 frames, no faults; 2 frames not looked into: 2 of link type 147 (USER0)\n";
    assert!(answer.ends_with(end), "{answer}");
    let answer = sandbox.succeeds(&["pcap", "verify", "fragments.pcapng"]);
    let end = "; 4 frames not looked into: 2 of link type 147 (USER0), 2 with IP fragmentation\n";
    assert!(answer.ends_with(end), "{answer}");

    let answer = sandbox.succeeds(&["pcap", "verify", "fragments.pcapng", "--json"]);
    let objects: Vec<serde_json::Value> =
        answer.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects[0]["observations"][0], "not_looked_into: link type 147 (USER0)");
    assert_eq!(
        (&objects[0]["interface"], &objects[0]["interface_number"]),
        (&"radio".into(), &2.into())
    );
    let counts = serde_json::json!({ "fragment": 2, "link_type_147": 2 });
    assert_eq!(objects[4]["not_looked_into"], counts);
}
