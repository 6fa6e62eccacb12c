//! Wireshark's dissectors understand written captures. Skipped, with a note, if tshark is missing.

use std::path::Path;
use std::process::Command;

use rocelab_capture::{CaptureReader, CaptureWriter, Direction, Format, Interface, LinkType};
use rocelab_units::{Bandwidth, SimTime};
use rocelab_wire::{
    Aeth, Bth, Cnp, Ecn, Encapsulation, Extensions, Frame, Gid, IntHeader, IntHop, MacAddress,
    Opcode, Pfc, Reth, RoceFrame, TelemetryHeader, VlanTag, ZEROS, udp_source_port,
};

use crate::payload_guesses::PAYLOAD_GUESSES;

const SOURCE: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const DESTINATION: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

/// Picoseconds of each frame: below, at and above a second.
const TIMES: [u64; 13] = [
    0,
    84_480,
    999_999_999_999,
    1_000_000_000_000,
    1_000_000_001_999,
    2_500_000_123_456,
    18_446_744_073_709,
    18_446_744_073_709_551,
    18_446_744_073_709_551_615,
    1,
    2,
    3,
    4,
];

fn roce(encapsulation: Encapsulation, bth: Bth) -> RoceFrame<'static> {
    let gid = |host: u8| match encapsulation {
        Encapsulation::V2Ipv4 => Gid::from_ipv4([10, 0, 0, host]),
        _ => Gid([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]),
    };
    RoceFrame {
        destination: DESTINATION,
        source: SOURCE,
        sgid: gid(1),
        dgid: gid(2),
        dscp: 26,
        ecn: if encapsulation == Encapsulation::V1 { Ecn::NotEct } else { Ecn::Ect0 },
        udp_source_port: udp_source_port(0x12345),
        ..RoceFrame::new(encapsulation, bth)
    }
}

fn write_request(encapsulation: Encapsulation) -> RoceFrame<'static> {
    let reth = Reth { virtual_address: 0x1000, r_key: 7, dma_length: 1_024 };
    RoceFrame {
        extensions: Extensions { reth: Some(reth), ..Extensions::NONE },
        payload: &ZEROS[..1_024],
        ..roce(encapsulation, Bth::new(Opcode::RcRdmaWriteOnly, 0x11, 100))
    }
}

fn acknowledge(encapsulation: Encapsulation) -> RoceFrame<'static> {
    let aeth = Aeth::parse(&[0x1f, 0, 0, 1]).unwrap();
    RoceFrame {
        extensions: Extensions { aeth: Some(aeth), ..Extensions::NONE },
        ..roce(encapsulation, Bth::new(Opcode::RcAcknowledge, 0x12, 100))
    }
}

fn congestion_notification() -> RoceFrame<'static> {
    let bth = Bth { becn: true, ..Bth::new(Opcode::Cnp, 0x12, 0) };
    RoceFrame {
        dscp: 48,
        extensions: Extensions { cnp: Some(Cnp::default()), ..Extensions::NONE },
        ..roce(Encapsulation::V2Ipv4, bth)
    }
}

fn with_telemetry(frame: RoceFrame<'static>, header: TelemetryHeader) -> RoceFrame<'static> {
    RoceFrame {
        bth: frame.bth.with_telemetry(header.kind()),
        extensions: Extensions { telemetry: Some(header), ..frame.extensions },
        ..frame
    }
}

/// The records of two switches.
fn records() -> TelemetryHeader {
    let mut header = IntHeader::default();
    for time in [100, 1_200] {
        header.push(IntHop::new(time, 1_000_000, 64_000, 100_000_000_000, 4).unwrap());
    }
    TelemetryHeader::Int(header)
}

fn bytes(frame: Frame<'_>, fcs: bool) -> Vec<u8> {
    let mut buffer = vec![0; 2_048];
    let frame = if fcs { frame.with_fcs() } else { frame };
    let length = frame.emit(&mut buffer).unwrap();
    buffer.truncate(length);
    buffer
}

/// One frame of each kind that runs make, in the order of [`TIMES`].
fn frames(fcs: bool) -> Vec<Vec<u8>> {
    let tagged = RoceFrame { vlan: Some(VlanTag::new(3, 10)), ..write_request(Encapsulation::V1) };
    let mut frames: Vec<_> = [
        write_request(Encapsulation::V1),
        acknowledge(Encapsulation::V1),
        tagged,
        write_request(Encapsulation::V2Ipv4),
        acknowledge(Encapsulation::V2Ipv4),
        congestion_notification(),
        write_request(Encapsulation::V2Ipv6),
        acknowledge(Encapsulation::V2Ipv6),
    ]
    .iter()
    .map(|frame| bytes(frame.to_frame().unwrap(), fcs))
    .collect();
    frames.push(bytes(Pfc::uniform(1 << 3, 0xffff).to_frame(SOURCE), fcs));
    let carrying = [
        with_telemetry(write_request(Encapsulation::V2Ipv4), records()),
        with_telemetry(acknowledge(Encapsulation::V2Ipv4), records()),
        with_telemetry(write_request(Encapsulation::V1), TelemetryHeader::Pint(140)),
        with_telemetry(acknowledge(Encapsulation::V2Ipv6), TelemetryHeader::Pint(140)),
    ];
    frames.extend(carrying.iter().map(|frame| bytes(frame.to_frame().unwrap(), fcs)));
    frames
}

fn write(path: &Path, format: Format, interfaces: &[Interface], fcs: bool) {
    let mut writer = CaptureWriter::create(format, path, interfaces).unwrap();
    for (index, (frame, ps)) in frames(fcs).iter().zip(TIMES).enumerate() {
        let direction = if index % 2 == 0 { Direction::Outbound } else { Direction::Inbound };
        let length = u32::try_from(frame.len()).unwrap();
        let interface = index % interfaces.len();
        let time = SimTime::from_ps(ps);
        writer.write_frame(interface, time, direction, frame, length).unwrap();
    }
    writer.finish().unwrap();
}

fn interface(name: &str, fcs: bool) -> Interface {
    Interface {
        name: name.into(),
        description: format!("{name} of a test"),
        link_type: LinkType::Ethernet,
        speed: Bandwidth::from_gbps(100),
        fcs,
        snap_length: 0,
    }
}

/// tshark's values of `fields`, a row for each frame that matches `filter`; `None` if tshark is
/// missing.
pub(crate) fn tshark(path: &Path, filter: &str, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(path).args(["-Y", filter, "-T", "fields"]);
    command.args(["-o", "eth.check_fcs:TRUE", "-o", "ip.check_checksum:TRUE"]);
    // The IPv6 checksum is 0, as RoCE v2 requires; for plain UDP this would not be allowed.
    command.args(["-o", "udp.ignore_ipv6_zero_checksum:TRUE"]);
    for guess in PAYLOAD_GUESSES {
        command.args(["--disable-heuristic", guess]);
    }
    for field in fields {
        command.args(["-e", field]);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: cannot run tshark: {error}");
            return None;
        }
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

fn column(path: &Path, filter: &str, field: &str) -> Option<Vec<String>> {
    Some(tshark(path, filter, &[field])?.into_iter().map(|mut row| row.remove(0)).collect())
}

#[test]
fn interfaces_times_and_directions_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.pcapng");
    write(&path, Format::PcapNg, &[interface("host-0", true), interface("leaf-0:3", true)], true);
    let Some(names) = column(&path, "frame", "frame.interface_name") else { return };
    assert_eq!(names.len(), TIMES.len());
    for (index, name) in names.iter().enumerate() {
        assert_eq!(name, ["host-0", "leaf-0:3"][index % 2]);
    }
    let descriptions = column(&path, "frame", "frame.interface_description").unwrap();
    assert_eq!(descriptions[1], "leaf-0:3 of a test");
    let directions = column(&path, "frame", "frame.packet_flags_direction").unwrap();
    assert_eq!(directions[..2], ["0x00000002", "0x00000001"]);

    let times = column(&path, "frame", "frame.time_epoch").unwrap();
    for (time, ps) in times.iter().zip(TIMES) {
        let ns = ps / 1_000;
        let expected = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
        assert_eq!(*time, expected);
    }
}

/// The fields that are compared for each frame.
const FIELDS: [&str; 8] = [
    "_ws.malformed",
    "_ws.expert.severity",
    "ip.checksum.status",
    "eth.fcs.status",
    "infiniband.bth.opcode",
    "eth.type",
    "vlan.etype",
    "udp.dstport",
];

/// The expected values for each frame of [`frames`]: opcode, EtherType after a tag, UDP port.
const EXPECTED: [[&str; 3]; 13] = [
    ["10", "0x8915", ""],
    ["17", "0x8915", ""],
    ["10", "0x8915", ""],
    ["10", "0x0800", "4791"],
    ["17", "0x0800", "4791"],
    ["129", "0x0800", "4791"],
    ["10", "0x86dd", "4791"],
    ["17", "0x86dd", "4791"],
    ["", "0x8808", ""],
    ["202", "0x0800", "4791"],
    ["209", "0x0800", "4791"],
    ["234", "0x8915", ""],
    ["241", "0x86dd", "4791"],
];

/// The severity of a warning.
const WARNING: u32 = 0x0060_0000;

#[test]
fn every_frame_dissects_in_both_formats_with_and_without_fcs() {
    let folder = tempfile::tempdir().unwrap();
    for format in [Format::PcapNg, Format::Pcap] {
        for fcs in [false, true] {
            let path = folder.path().join(format!("fcs-{fcs}.{}", format.extension()));
            write(&path, format, &[interface("host-0", fcs)], fcs);
            let Some(rows) = tshark(&path, "frame", &FIELDS) else { return };
            assert_eq!(rows.len(), EXPECTED.len());
            for (number, (row, expected)) in (1..).zip(rows.iter().zip(EXPECTED)) {
                let case = format!("frame {number} of {format:?}, FCS {fcs}: {row:?}");
                let [malformed, severities, ip, fcs_status, opcode, ethertype, tagged, port] =
                    row.as_slice()
                else {
                    panic!("{case}")
                };
                assert_eq!(malformed, "", "{case}");
                for severity in severities.split(',').filter(|severity| !severity.is_empty()) {
                    assert!(severity.parse::<u32>().unwrap() < WARNING, "{case}");
                }
                // 1 means good; the field is empty if the protocol is not in the frame.
                assert_eq!(ip, if expected[1] == "0x0800" { "1" } else { "" }, "{case}");
                assert_eq!(fcs_status, if fcs { "1" } else { "" }, "{case}");
                let ethertype = if tagged.is_empty() { ethertype } else { tagged };
                assert_eq!([opcode, ethertype, port], expected, "{case}");
            }
            let paused = column(&path, "macc.opcode == 0x0101", "macc.cbfc.pause_time.c3");
            assert_eq!(paused.unwrap(), ["65535"]);
        }
    }
}

/// tshark does not check the ICRC, so it must find the value that was written.
#[test]
fn the_icrc_is_found_where_we_wrote_it() {
    let folder = tempfile::tempdir().unwrap();
    for fcs in [false, true] {
        let path = folder.path().join(format!("fcs-{fcs}.pcapng"));
        write(&path, Format::PcapNg, &[interface("host-0", fcs)], fcs);
        let filter = "infiniband.bth.opcode < 129";
        let Some(shown) = column(&path, filter, "infiniband.invariant.crc") else { return };

        let mut reader = CaptureReader::open(&path).unwrap();
        let mut written = Vec::new();
        while let Some(frame) = reader.next_frame() {
            let frame = frame.unwrap();
            let frame = match frame.fcs_length {
                0 => Frame::parse(frame.bytes).unwrap(),
                _ => Frame::parse_with_fcs(frame.bytes).unwrap(),
            };
            let Some(packet) = frame.roce() else { continue };
            assert!(frame.icrc_ok());
            // tshark does not decode notifications, nor the headers after the BTH for
            // manufacturers' opcodes.
            if packet.bth.opcode().is_some_and(|opcode| opcode != Opcode::Cnp) {
                written.push(format!("0x{:08x}", packet.icrc.swap_bytes()));
            }
        }
        assert_eq!(written.len(), 7);
        assert_eq!(shown, written);
    }
}
