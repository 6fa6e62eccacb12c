//! Every frame of whole captures: its protocol, its bytes, its ICRC.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rocelab_wire::{Body, Frame, InfiniBandPacket, Opcode, Syndrome, TransportPacket};
use serde_json::Value;

use crate::described::unhex;
use crate::pcap::{Record, read, shared};

/// How often each thing occurs, by name.
type Counts = BTreeMap<String, usize>;

#[test]
fn own_captures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/captures");
    assert_eq!(check_table(&folder.join("README.md"), &folder), 10);
}

#[test]
fn shared_soft_roce_captures() {
    let Some(folder) = shared("soft-roce") else { return };
    let files = check_table(&folder.join("README.md"), &folder.join("captures"));
    assert_eq!(files, fs::read_dir(folder.join("captures")).expect("a folder").count());
}

/// Compares the captures of a folder with a table that another program made of them, and returns
/// their number.
fn check_table(table: &Path, folder: &Path) -> usize {
    let text = fs::read_to_string(table).expect("a readable table");
    let rows = text.lines().filter_map(row).filter(|row| row[0] != "file (.pcap)");
    let mut files = 0;
    for [name, frames, opcodes, bad] in rows {
        let records = read(&folder.join(format!("{name}.pcap")));
        assert_eq!(records.len().to_string(), frames, "{name}");
        let mut found = Counts::new();
        let mut wrong = 0;
        for Record { bytes, .. } in &records {
            let frame = check_frame(name, bytes);
            *found.entry(short_name(&frame)).or_default() += 1;
            wrong += usize::from(frame.roce().is_some() && !frame.icrc_ok());
        }
        assert_eq!(found, counts(opcodes), "{name}");
        assert_eq!(wrong.to_string(), bad, "{name}");
        files += 1;
    }
    files
}

/// The first four cells of a row of a Markdown table, if it is one with such a row.
fn row(line: &str) -> Option<[&str; 4]> {
    let cells: Vec<_> = line.strip_prefix("| ")?.split('|').map(str::trim).collect();
    cells.first_chunk().copied()
}

/// Numbers by name, as in `RC_ACK:3 other:2`.
fn counts(text: &str) -> Counts {
    let pairs = text.split(' ').map(|pair| pair.split_once(':').expect("a name and a number"));
    pairs.map(|(name, number)| (name.into(), number.parse().expect("a number"))).collect()
}

/// The name of a frame in the table.
fn short_name(frame: &Frame<'_>) -> String {
    let Some(packet) = frame.roce() else { return "other".into() };
    let opcode = packet.bth.opcode().expect("a defined opcode");
    if opcode == Opcode::RcAcknowledge {
        return match packet.extensions.aeth.expect("announced").syndrome {
            Syndrome::Ack { .. } => "RC_ACK",
            Syndrome::RnrNak { .. } => "RC_RNR_NAK",
            Syndrome::Nak(_) | Syndrome::Reserved(_) => "RC_NAK",
        }
        .into();
    }
    let shorter = [
        ("ATOMIC_ACKNOWLEDGE", "ATOMIC_ACK"),
        ("RDMA_WRITE", "WRITE"),
        ("RDMA_READ_REQUEST", "READ_REQ"),
        ("RDMA_READ_RESPONSE", "READ_RESP"),
        ("_WITH_IMMEDIATE", "_IMM"),
        ("_WITH_INVALIDATE", "_INV"),
    ];
    shorter
        .iter()
        .fold(opcode.name().into(), |name: String, (long, short)| name.replace(long, short))
}

/// Parses a frame and emits it again.
fn check_frame<'a>(name: &str, bytes: &'a [u8]) -> Frame<'a> {
    let frame = Frame::parse(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut emitted = vec![0; bytes.len()];
    assert_eq!(frame.emit(&mut emitted), Ok(bytes.len()), "{name}");
    assert_eq!(emitted, bytes, "{name}");
    assert!(!frame.to_string().contains('\n'), "{name}");
    frame
}

/// The frames of each vector file, read from the capture beside it, with their expected results.
#[test]
fn shared_captures_of_vectors() {
    let Some(folder) = shared("vectors") else { return };
    let mut files = 0;
    for entry in fs::read_dir(&folder).expect("a readable folder") {
        let path = entry.expect("an entry").path();
        let json = path.with_extension("json");
        if path.extension().is_none_or(|extension| extension != "pcap") || !json.exists() {
            continue;
        }
        let text = fs::read_to_string(json).expect("a readable file");
        let file: Value = serde_json::from_str(&text).expect("JSON");
        let vectors = file["vectors"].as_array().expect("vectors");
        let records = read(&path);
        assert_eq!(records.len(), vectors.len(), "{}", path.display());
        for (Record { bytes, .. }, vector) in records.iter().zip(vectors) {
            let name = vector["name"].as_str().expect("a name");
            let frame = check_frame(name, bytes);
            assert!(bytes.starts_with(&unhex(vector["frame_hex"].as_str().expect("bytes"))));
            assert_eq!(frame.proto(), vector["proto"], "{name}");
            assert_eq!(frame.icrc_ok(), vector["icrc_ok"] == true, "{name}");
        }
        files += 1;
    }
    assert!(files >= 10, "{files}");
}

/// The captures that the manifest lists.
#[test]
fn shared_captures_of_the_manifest() {
    let Some(folder) = shared("vectors") else { return };
    let text = fs::read_to_string(folder.join("MANIFEST.json")).expect("a readable file");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    for (name, expected) in manifest["captures"].as_object().expect("captures") {
        let records = read(&folder.join(name));
        let (mut opcodes, mut syndromes) = (Counts::new(), Counts::new());
        let (mut right, mut tagged) = (0, 0);
        for Record { bytes, .. } in &records {
            let frame = check_frame(name, bytes);
            let packet = frame.roce().expect("RoCE only");
            let opcode = packet.bth.opcode().expect("a defined opcode");
            *opcodes.entry(format!("{}:{opcode}", frame.proto())).or_default() += 1;
            if opcode == Opcode::RcAcknowledge {
                let syndrome = packet.extensions.aeth.expect("announced").syndrome.to_u8();
                *syndromes.entry(format!("{syndrome:#04x}")).or_default() += 1;
            }
            right += usize::from(frame.icrc_ok());
            tagged += usize::from(frame.vlan[0].is_some());
        }
        assert_eq!(serde_json::json!(opcodes), expected["by_proto_opcode"], "{name}");
        assert_eq!(serde_json::json!(syndromes), expected["ack_syndromes"], "{name}");
        assert_eq!(serde_json::json!(records.len()), expected["frames"], "{name}");
        assert_eq!(serde_json::json!(right), expected["icrc_ok"], "{name}");
        assert_eq!(serde_json::json!(tagged), expected["vlan_frames"], "{name}");
    }
}

/// The same 73 frames in nine formats.
#[test]
fn shared_variants_of_a_capture() {
    let Some(folder) = shared("vectors/pcap_variants") else { return };
    let plain = read(&folder.join("usec_le.pcap"));
    assert_eq!(plain.len(), 73);
    for entry in fs::read_dir(&folder).expect("a readable folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let records = read(&path);
        assert_eq!(records.len(), plain.len(), "{name}");
        for (plain, record) in plain.iter().zip(&records) {
            check_variant(&name, plain, record);
        }
    }
}

fn check_variant(name: &str, plain: &Record, record: &Record) {
    let frame = check_frame(name, &plain.bytes);
    match name {
        "fcs_in_linktype_bits" | "pcapng_fcslen4" => {
            let with_fcs = Frame::parse_with_fcs(&record.bytes).expect("a good frame");
            assert_eq!(with_fcs, frame.with_fcs(), "{name}");
        }
        "fcs_undeclared" => {
            let longer = check_frame(name, &record.bytes);
            assert_eq!(longer.body, frame.body, "{name}");
            assert_eq!(longer.padding.len(), frame.padding.len() + 4, "{name}");
        }
        _ if !record.whole => {
            let error = Frame::parse(&record.bytes).expect_err("it is cut");
            assert!(error.to_string().contains(" needs "), "{name}: {error}");
        }
        _ => assert_eq!(record.bytes, plain.bytes, "{name}"),
    }
}

/// Frames of real hardware: PAUSE, and native InfiniBand in records of an ERF card.
#[test]
fn shared_captures_of_hardware() {
    let Some(folder) = shared("captures") else { return };
    let pauses = read(&folder.join("inet_Ethernet_Pause_Frame.pcap"));
    assert!(!pauses.is_empty());
    for Record { bytes, .. } in &pauses {
        assert!(matches!(check_frame("pause", bytes).body, Body::Pause(_)));
    }

    let mut counts = Counts::new();
    for Record { bytes, .. } in read(&folder.join("wireshark_infiniband_erf.pcap")) {
        let packet = erf_packet(&bytes);
        let parsed = InfiniBandPacket::parse(packet).expect("a good packet");
        let mut emitted = vec![0; packet.len()];
        assert_eq!(parsed.emit(&mut emitted), Ok(packet.len()));
        assert_eq!(emitted, packet);
        assert!(parsed.icrc_ok(), "{parsed}");
        assert_eq!(parsed.vcrc_ok(), Some(true), "{parsed}");
        assert_eq!(parsed.broken_rules().next(), None, "{parsed}");
        // Length of LRH to ICRC is what PktLen says; only the VCRC is not counted.
        assert_eq!(usize::from(parsed.lrh.pkt_len) * 4 + 2, packet.len(), "{parsed}");
        let TransportPacket { bth, .. } = parsed.transport().expect("none is raw");
        let kind = if parsed.grh().is_some() { "global" } else { "local" };
        *counts.entry(format!("{kind} {}", bth.opcode().expect("defined"))).or_default() += 1;
    }
    // The numbers that tshark counts.
    let expected = [
        ("global UD_SEND_ONLY", 6),
        ("local RC_ACKNOWLEDGE", 9),
        ("local RC_SEND_ONLY", 10),
        ("local UD_SEND_ONLY", 18),
    ];
    assert_eq!(counts, expected.map(|(name, number)| (name.into(), number)).into());
}

/// The packet in a record of an ERF card: it follows 16 bytes, two of which are its length (the
/// format's "wire length").
fn erf_packet(record: &[u8]) -> &[u8] {
    let len = usize::from(u16::from_be_bytes([record[14], record[15]]));
    &record[16..16 + len]
}
