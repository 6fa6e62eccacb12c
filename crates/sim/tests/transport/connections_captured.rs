//! Captures of flows with connections by messages and real payload, as others read them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rocelab_capture::CaptureReader;
use rocelab_sim::Simulation;
use rocelab_wire::cm::Mad;
use rocelab_wire::{Frame, Opcode};

use crate::connections::{QUICK, text};
use crate::support::try_plan;

/// Runs a scenario with a capture of `host-0`; the file.
fn captured(name: &str, version: &str, verb: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("transport-{name}"));
    std::fs::create_dir_all(&folder).expect("the folder takes folders");
    let roce = format!("{version}\n{QUICK}");
    let text = text(&roce, verb, "[capture]\nports = [\"host-0\"]\n");
    let plan = try_plan(&text).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation: Simulation =
        Simulation::new(Arc::new(plan)).expect("a plan becomes a network");
    simulation.start_capture(&folder).expect("the folder takes files");
    simulation.run_to_end();
    simulation.finish_capture().expect("the folder takes files");
    folder.join("capture.pcapng")
}

/// Opcode, management message if it is one, and payload of each frame.
fn frames(file: &Path) -> Vec<(Opcode, Option<String>, Vec<u8>)> {
    let mut reader = CaptureReader::open(file).expect("a capture");
    let mut frames = Vec::new();
    while let Some(captured) = reader.next_frame() {
        let captured = captured.expect("a frame");
        let frame = Frame::parse(captured.bytes).expect("a whole frame");
        assert!(frame.icrc_ok(), "{frame}");
        let roce = frame.roce().expect("an RDMA packet");
        let opcode = Opcode::try_from(roce.bth.opcode).expect("a known opcode");
        let is_datagram = roce.bth.dest_qp == 1;
        let mad = is_datagram.then(|| {
            let mad = Mad::parse(roce.payload).expect("a management datagram");
            mad.message.attribute().map_or_else(String::new, |attribute| attribute.to_string())
        });
        frames.push((opcode, mad, roce.payload.to_vec()));
    }
    frames
}

#[test]
fn connection_and_payload_are_in_the_capture() {
    for (number, version) in
        ["version = 1", "version = 2", "version = 2\nip = \"ipv6\""].into_iter().enumerate()
    {
        let frames = frames(&captured(&format!("frames-{number}"), version, "send"));
        let messages: Vec<String> =
            frames.iter().filter_map(|(_, mad, _)| mad.as_ref()).cloned().collect();
        assert_eq!(messages, ["REQ", "REP", "RTU", "DREQ", "DREP"]);
        let place = |name: &str| {
            frames
                .iter()
                .position(|(_, mad, _)| mad.as_ref().is_some_and(|text| text.starts_with(name)))
        };
        let sends: Vec<_> = frames.iter().filter(|(opcode, ..)| opcode.is_send()).collect();
        let data: Vec<_> = sends.iter().filter(|(_, mad, _)| mad.is_none()).collect();
        assert_eq!(data.len(), 10, "10KB in packets of 1024 bytes");
        let first = frames.iter().position(|(opcode, ..)| *opcode == Opcode::RcSendFirst);
        let last = frames.iter().position(|(opcode, ..)| *opcode == Opcode::RcSendLast);
        assert!(place("RTU") < first && last < place("DREQ"));
        // Real payload: random bytes, and none of them twice.
        let zeros = data.iter().filter(|(.., payload)| payload.iter().all(|&byte| byte == 0));
        assert_eq!(zeros.count(), 0);
        assert!(data.windows(2).all(|pair| pair[0].2 != pair[1].2));
    }
}

#[test]
fn tshark_sees_the_same() {
    if Command::new("tshark").arg("--version").output().is_err() {
        eprintln!("skipped: there is no tshark");
        return;
    }
    let file = captured("tshark", "version = 2", "write");
    let output = Command::new("tshark")
        .args(["-r", &file.to_string_lossy(), "-T", "fields", "-e", "_ws.col.Info"])
        .output()
        .expect("tshark runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let order = [
        "ConnectRequest",
        "ConnectReply",
        "ReadyToUse",
        "RDMA Write First",
        "RDMA Write Last",
        "DisconnectRequest",
        "DisconnectReply",
    ];
    let mut lines = text.lines();
    for what in order {
        assert!(lines.any(|line| line.contains(what)), "{what} is missing:\n{text}");
    }
}
