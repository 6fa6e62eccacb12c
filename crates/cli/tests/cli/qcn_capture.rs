//! The frames of QCN on the wire. Wireshark does not know its two EtherTypes, so it can only
//! confirm that they are there, and that the frames are RoCE without the CN-TAG. The fields are
//! read here at the positions of the format, and by `rocelab pcap verify`. Skipped, with a note, if
//! tshark or editcap is missing.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::program::Sandbox;

const SCENARIO: &str = "\
seed = 1
[roce]
version = 1
[topology.single-switch]
hosts = 5
link = { rate = \"40Gbps\", cable = \"10m\" }
[congestion_control.qcn]
[workload.flows]
list = [
  { from = \"host-0\", to = \"host-4\", bytes = \"2MB\" },
  { from = \"host-1\", to = \"host-4\", bytes = \"2MB\" },
  { from = \"host-2\", to = \"host-4\", bytes = \"2MB\" },
]
[capture]
ports = [\"host-0\"]
";

/// The EtherType after the tag, and the bytes of each frame; `None`, with a note, if tshark is
/// missing.
fn frames(path: &Path) -> Option<Vec<(String, Vec<u8>)>> {
    let tshark = Command::new("tshark")
        .args(["-n", "-x", "-T", "jsonraw", "-r"])
        .arg(path)
        .output()
        .inspect_err(|error| println!("skipped: cannot run tshark: {error}"))
        .ok()?;
    assert!(tshark.status.success(), "{}", String::from_utf8_lossy(&tshark.stderr));
    let packets: Vec<serde_json::Value> = serde_json::from_slice(&tshark.stdout).expect("JSON");
    let frame = |packet: &serde_json::Value| {
        let layers = &packet["_source"]["layers"];
        let ethertype = layers["vlan"]["vlan.etype_raw"][0].as_str().unwrap_or_default();
        let bytes = layers["frame_raw"][0].as_str().expect("bytes");
        let byte = |at: usize| u8::from_str_radix(&bytes[at..at + 2], 16).expect("hexadecimal");
        (ethertype.to_owned(), (0..bytes.len()).step_by(2).map(byte).collect())
    };
    Some(packets.iter().map(frame).collect())
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[test]
fn tags_and_messages_are_where_the_format_has_them() {
    let sandbox = Sandbox::new();
    let scenario = sandbox.write("qcn.toml", SCENARIO);
    sandbox.succeeds(&["run", scenario.to_str().unwrap(), "--out", "results"]);
    let capture = sandbox.path("results/capture.pcapng");
    let Some(frames) = frames(&capture) else { return };
    let tagged: Vec<_> = frames.iter().filter(|(ethertype, _)| ethertype == "22e9").collect();
    // After the 802.1Q tag, both kinds have a CN-TAG: flow ID, and the next EtherType.
    let (messages, data): (Vec<_>, Vec<_>) =
        tagged.iter().copied().partition(|(_, bytes)| number(&bytes[20..22]) == 0x22e7);
    assert!(messages.len() > 3 && data.len() > 1_900, "{} {}", messages.len(), data.len());
    let sent: BTreeMap<&[u8], ()> = data.iter().map(|(_, bytes)| (&bytes[22..86], ())).collect();
    for (_, bytes) in &messages {
        check_message(bytes, &data[0].1, &sent);
    }
    let summary = sandbox.json("results/summary.json");
    assert!(summary["cnms"].as_u64().unwrap() >= messages.len() as u64);
    let told = sandbox.succeeds(&["pcap", "verify", capture.to_str().unwrap()]);
    assert!(told.contains("qcn"), "{told}");
    check_without_tags(&sandbox, &capture);
}

/// Checks a message to host-0 about one of the frames that it has `sent`.
#[track_caller]
fn check_message(bytes: &[u8], data: &[u8], sent: &BTreeMap<&[u8], ()>) {
    assert_eq!(bytes.len(), 110, "without FCS");
    assert_eq!(bytes[0..6], data[6..12], "to the sender");
    assert_eq!(bytes[6..12], bytes[24..30], "from the port that the identifier names");
    assert_eq!(bytes[14] >> 5, 6, "priority of messages");
    assert_eq!(bytes[18..20], data[18..20], "flow ID");
    assert_eq!(number(&bytes[20..22]), 0x22e7);
    assert_eq!(bytes[22], 0, "version 0, reserved 0");
    let feedback = bytes[23] & 0x3f;
    assert!((1..=63).contains(&feedback) && bytes[23] >> 6 == 0, "{feedback}");
    let offset = i64::from(i16::from_be_bytes([bytes[32], bytes[33]])) * 64;
    let delta = i64::from(i16::from_be_bytes([bytes[34], bytes[35]])) * 64;
    // Fb, computed from the fields, which each lost up to 64 bytes; 130,000 is 26,000 x (2 x 2 +
    // 1).
    let exact = ((offset + 2 * delta) as f64 * 63.0 / 130_000.0).min(63.0);
    assert!((f64::from(feedback) - exact).abs() < 1.2, "{feedback} of {exact}");
    assert_eq!(bytes[36] >> 5, 3, "priority of the frame");
    assert_eq!(bytes[38..44], data[0..6], "where the frame went");
    assert_eq!(number(&bytes[44..46]), 64);
    assert!(sent.contains_key(&bytes[46..110]), "the first bytes of a frame that was sent");
}

/// Without the CN-TAG, data is RoCE for Wireshark, and nothing is malformed.
fn check_without_tags(sandbox: &Sandbox, capture: &Path) {
    let cut = sandbox.path("cut.pcapng");
    let edited = Command::new("editcap").args(["-C", "16:4"]).arg(capture).arg(&cut).output();
    let Ok(edited) = edited.inspect_err(|error| println!("skipped: cannot run editcap: {error}"))
    else {
        return;
    };
    assert!(edited.status.success(), "{}", String::from_utf8_lossy(&edited.stderr));
    let count = |filter: &str| {
        let output = Command::new("tshark")
            .args(["-n", "-Y", filter, "-T", "fields", "-e", "frame.number", "-r"])
            .arg(&cut)
            .output()
            .expect("it ran before");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().count()
    };
    // A WRITE of 2 MB in 1024-byte packets: first, middle ones, last.
    assert_eq!(count("infiniband.bth.opcode == 6"), 1);
    assert_eq!(count("infiniband.bth.opcode == 7"), 1_952);
    assert_eq!(count("infiniband.bth.opcode == 8"), 1);
    assert_eq!(count("_ws.malformed && infiniband.bth.opcode <= 8"), 0);
}
