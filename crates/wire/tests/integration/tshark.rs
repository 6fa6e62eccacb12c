//! Wireshark's dissector sees the same in the same bytes. Skipped, with a note, if tshark is
//! missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pcap_file::pcap::{PcapHeader, PcapWriter, RawPcapPacket};
use pcap_file::{DataLink, Endianness};
use rocelab_wire::{
    Aeth, Bth, Encapsulation, Extensions, Frame, Gid, Grh, InfiniBandPacket, Lrh, Opcode,
    RoceFrame, Sack, Syndrome, TelemetryHeader, TelemetryKind, TransportPacket, crc_to_wire,
    udp_source_port,
};

use crate::described::hex;
use crate::payload_guesses::PAYLOAD_GUESSES;
use crate::pcap::{read, shared};

/// The fields that are compared for each frame.
const FIELDS: [&str; 8] = [
    "_ws.malformed",
    "infiniband.bth.opcode",
    "infiniband.bth.destqp",
    "infiniband.bth.psn",
    "infiniband.bth.padcnt",
    "infiniband.aeth.syndrome",
    "infiniband.aeth.msn",
    "infiniband.invariant.crc",
];

/// Link type of records of ERF cards. Wireshark 4.0 can read native InfiniBand only in these, not
/// with the link type 247.
const LINKTYPE_ERF: u32 = 197;

/// One line for each frame, with tabs between the fields; `None`, with a note, if tshark is
/// missing.
fn ask(name: &str, link: DataLink, frames: &[Vec<u8>], fields: &[&str]) -> Option<Vec<String>> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcap"));
    write(&path, link, frames);
    let mut command = Command::new("tshark");
    command.arg("-r").arg(&path).args(["-T", "fields", "--disable-protocol", "tftp"]);
    for other in PAYLOAD_GUESSES {
        command.args(["--disable-heuristic", other]);
    }
    for field in fields {
        command.args(["-e", field]);
    }
    let Ok(output) = command.output() else {
        println!("skipped: there is no tshark");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<_> = text.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), frames.len());
    Some(lines)
}

fn write(path: &Path, datalink: DataLink, frames: &[Vec<u8>]) {
    let header = PcapHeader { datalink, endianness: Endianness::Little, ..PcapHeader::default() };
    let file = fs::File::create(path).expect("a file");
    let mut writer = PcapWriter::with_header(file, header).expect("a header");
    for frame in frames {
        let len = u32::try_from(frame.len()).expect("a short frame");
        let packet = RawPcapPacket {
            ts_sec: 0,
            ts_frac: 0,
            incl_len: len,
            orig_len: len,
            data: frame.into(),
        };
        writer.write_raw_packet(&packet).expect("room on the disk");
    }
    writer.flush().expect("room on the disk");
}

/// The right fields for a packet.
fn expected(packet: Option<TransportPacket<'_>>) -> String {
    let Some(packet) = packet else { return "\t".repeat(FIELDS.len() - 1) };
    let TransportPacket { bth, extensions, icrc, .. } = packet;
    let [syndrome, msn] = extensions.aeth.map_or([String::new(), String::new()], |aeth| {
        [aeth.syndrome.to_u8().to_string(), aeth.msn.to_string()]
    });
    // tshark shows a CNP's body and ICRC only as bytes.
    let icrc = match bth.opcode() {
        Some(Opcode::Cnp) => String::new(),
        _ => format!("0x{}", hex(&crc_to_wire(icrc))),
    };
    let Bth { opcode, dest_qp, psn, pad_count, .. } = bth;
    format!("\t{opcode}\t{dest_qp:#08x}\t{psn}\t{pad_count}\t{syndrome}\t{msn}\t{icrc}")
}

fn check_captures(name: &str, paths: &[PathBuf]) {
    let frames: Vec<Vec<u8>> =
        paths.iter().flat_map(|path| read(path)).map(|record| record.bytes).collect();
    let Some(lines) = ask(name, DataLink::ETHERNET, &frames, &FIELDS) else { return };
    for (number, (bytes, line)) in frames.iter().zip(lines).enumerate() {
        let frame = Frame::parse(bytes).expect("a good frame");
        let expected = expected(frame.roce().map(|roce| roce.transport()));
        assert_eq!(line, expected, "{name}, frame {}: {frame}", number + 1);
    }
    println!("{name}: {} frames of {} files", frames.len(), paths.len());
}

fn captures_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a readable folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "pcap"));
    paths.sort();
    paths
}

#[test]
fn own_captures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/captures");
    check_captures("own", &captures_in(&folder));
}

/// Compared frame by frame, so the counts of every capture are equal too.
#[test]
fn shared_captures() {
    if let Some(folder) = shared("soft-roce/captures") {
        check_captures("soft-roce", &captures_in(&folder));
    }
    if let Some(folder) = shared("vectors") {
        let whole = ["softroce_run1.pcap", "nic_capture.pcap", "nic_capture_b.pcap"];
        check_captures("whole", &whole.map(|name| folder.join(name)));
    }
}

fn acknowledge(encapsulation: Encapsulation, telemetry: Option<TelemetryKind>) -> Vec<u8> {
    let plain = Bth::new(Opcode::RcSelectiveAcknowledge, 0x12, 100);
    let gid = |host| match encapsulation {
        Encapsulation::V2Ipv4 => Gid::from_ipv4([10, 0, 0, host]),
        _ => Gid([host; 16]),
    };
    let sender = RoceFrame {
        sgid: gid(1),
        dgid: gid(2),
        udp_source_port: udp_source_port(1),
        extensions: Extensions {
            telemetry: telemetry.map(TelemetryHeader::empty),
            aeth: Some(Aeth { syndrome: Syndrome::ACK, msn: 5 }),
            sack: Some(Sack::new(102, 0b1011)),
            ..Extensions::NONE
        },
        ..RoceFrame::new(encapsulation, telemetry.map_or(plain, |kind| plain.with_telemetry(kind)))
    };
    let frame = sender.to_frame().expect("a legal frame");
    let mut bytes = vec![0; frame.wire_len()];
    frame.emit(&mut bytes).expect("room");
    bytes
}

/// tshark does not know a manufacturer's opcode, but reports no error.
#[test]
fn selective_acknowledges_are_not_malformed() {
    let encapsulations = [Encapsulation::V1, Encapsulation::V2Ipv4, Encapsulation::V2Ipv6];
    let kinds = [None, Some(TelemetryKind::Int), Some(TelemetryKind::Pint)];
    let frames: Vec<_> = encapsulations
        .into_iter()
        .flat_map(|encapsulation| kinds.map(|kind| acknowledge(encapsulation, kind)))
        .collect();
    let fields = ["_ws.malformed", "infiniband.bth.opcode", "infiniband.bth.psn"];
    let Some(lines) = ask("sack", DataLink::ETHERNET, &frames, &fields) else { return };
    let expected = ["\t213\t100", "\t216\t100", "\t248\t100"].repeat(encapsulations.len());
    assert_eq!(lines, expected);
}

/// A record of an ERF card: a time, the type "InfiniBand", and the lengths of record and packet.
fn erf_record(packet: &[u8]) -> Vec<u8> {
    const HEADER_LEN: usize = 16;
    let len = |len: usize| u16::try_from(len).expect("a short packet").to_be_bytes();
    let mut record = vec![0; HEADER_LEN];
    record[8] = 21;
    record[10..12].copy_from_slice(&len(HEADER_LEN + packet.len()));
    record[14..16].copy_from_slice(&len(packet.len()));
    record.extend_from_slice(packet);
    record
}

#[test]
fn native_packets_are_what_they_say() {
    let lrh = Lrh { vl: 1, sl: 3, dlid: 0xc001, slid: 5, ..Lrh::default() };
    let grh = Grh::parse(&[0x60; Grh::LEN]).map(|grh| Grh {
        next_header: Grh::NEXT_HEADER_IBA,
        sgid: Gid([1; 16]),
        dgid: Gid([2; 16]),
        ..grh
    });
    let packets = [None, grh.ok()].map(|grh| {
        let bth = Bth::new(Opcode::RcSendOnly, 0x11, 100);
        let packet = InfiniBandPacket::build(lrh, grh, bth, Extensions::NONE, b"sixsix")
            .expect("a legal packet")
            .with_vcrc();
        let mut bytes = vec![0; packet.wire_len()];
        packet.emit(&mut bytes).expect("room");
        (packet, bytes)
    });
    let own = [
        "infiniband.lrh.vl",
        "infiniband.lrh.sl",
        "infiniband.lrh.lnh",
        "infiniband.lrh.dlid",
        "infiniband.lrh.pktlen",
        "infiniband.lrh.slid",
        "infiniband.variant.crc",
    ];
    let fields = [FIELDS.as_slice(), &own].concat();
    let frames = packets.each_ref().map(|(_, bytes)| erf_record(bytes));
    let link = DataLink::from(LINKTYPE_ERF);
    let Some(lines) = ask("native", link, &frames, &fields) else { return };
    for ((packet, _), line) in packets.iter().zip(lines) {
        let Lrh { vl, sl, lnh, dlid, pkt_len, slid, .. } = packet.lrh;
        let vcrc = hex(&packet.vcrc.expect("it was asked for").to_le_bytes());
        let lrh = format!("{vl:#04x}\t{sl}\t{lnh:#04x}\t{dlid}\t{pkt_len}\t{slid}\t0x{vcrc}");
        assert_eq!(line, format!("{}\t{lrh}", expected(packet.transport().copied())));
    }
}
