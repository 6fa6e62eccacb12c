//! Native InfiniBand: captures of adapters and of an independent program, what is wrong with changed
//! ones, and what is written.

use std::path::{Path, PathBuf};

use rocelab_capture::{
    CaptureReader, CaptureWriter, Checksum, Contents, Decoded, Direction, Format, Interface,
    LinkType, Protocol, Tree, Verifier,
};
use rocelab_units::{Bandwidth, SimTime};
use rocelab_wire::{
    Bth, Deth, Extensions, FlowControlPacket, Gid, Grh, InfiniBandPacket, Lrh, Opcode, Reth, ZEROS,
};

const INFINIBAND: u16 = 247;
const ERF: u16 = 197;

/// Captures that an independent program made: three packets in a file of link type 247, and these with
/// three link packets in ERF records.
const OWN: [(&str, u64); 2] = [("infiniband_247.pcap", 3), ("infiniband_erf.pcap", 6)];

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// What is found in a frame: its protocol, its line of facts, its faults and observations.
struct Found {
    protocol: Protocol,
    checksums: [Checksum; 3],
    faults: Vec<String>,
    observations: Vec<String>,
    json: serde_json::Value,
    tree: String,
}

fn found(file: &[u8]) -> Vec<Found> {
    let mut reader = CaptureReader::new(file).expect("a capture");
    let mut verifier = Verifier::new();
    let mut all = Vec::new();
    while let Some(frame) = reader.next_frame() {
        let frame = frame.expect("a frame");
        let verified = verifier.verify(&frame);
        let dissection = &verified.dissection;
        all.push(Found {
            protocol: dissection.protocol,
            checksums: [dissection.icrc, dissection.vcrc(), dissection.lpcrc()],
            faults: verified.faults.iter().map(ToString::to_string).collect(),
            observations: verified.observations.iter().map(ToString::to_string).collect(),
            json: serde_json::to_value(Decoded(&verified)).expect("JSON"),
            tree: Tree(&verified).to_string(),
        });
    }
    all
}

/// A classic capture of such frames.
fn capture(link_type: u16, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0];
    file.extend(u32::from(link_type).to_le_bytes());
    for frame in frames {
        let len = u32::try_from(frame.len()).unwrap().to_le_bytes();
        file.extend([[0; 4], [0; 4], len, len].concat());
        file.extend_from_slice(frame);
    }
    file
}

fn bytes_of(packet: &InfiniBandPacket<'_>) -> Vec<u8> {
    let mut bytes = vec![0; packet.wire_len()];
    packet.emit(&mut bytes).expect("room");
    bytes
}

fn lrh() -> Lrh {
    Lrh { vl: 3, sl: 5, dlid: 9, slid: 2, ..Lrh::default() }
}

fn send(lrh: Lrh) -> InfiniBandPacket<'static> {
    let bth = Bth::new(Opcode::RcSendOnly, 0x11, 5);
    InfiniBandPacket::build(lrh, None, bth, Extensions::NONE, b"sixsix").unwrap().with_vcrc()
}

fn only(link_type: u16, bytes: &[u8]) -> Found {
    found(&capture(link_type, &[bytes.to_vec()])).remove(0)
}

#[test]
fn own_captures_are_right() {
    for (name, frames) in OWN {
        let found = found(&std::fs::read(own(name)).unwrap());
        assert_eq!(found.len() as u64, frames);
        for (number, one) in found.iter().enumerate() {
            assert_eq!(one.faults, [""; 0], "{name}, {number}");
            let is_link_packet = frames == 6 && number < 3;
            let (ok, absent) = (Checksum::Ok, Checksum::Absent);
            let expected = match is_link_packet {
                true => (Protocol::InfiniBandLink, [absent, absent, ok]),
                false => (Protocol::InfiniBand, [ok, ok, absent]),
            };
            assert_eq!((one.protocol, one.checksums), expected, "{name}, {number}");
        }
    }
}

#[test]
fn link_packets_are_shown_with_their_fields() {
    let found = found(&std::fs::read(own("infiniband_erf.pcap")).unwrap());
    let fields: Vec<_> = found[..3].iter().map(|one| one.json["flow_control"].clone()).collect();
    let expected = serde_json::json!([
        { "op": 0, "fctbs": 100, "vl": 0, "fccl": 228 },
        { "op": 0, "fctbs": 4095, "vl": 1, "fccl": 31 },
        { "op": 1, "fctbs": 0, "vl": 0, "fccl": 128 },
    ]);
    assert_eq!(serde_json::json!(fields), expected);
    assert_eq!(found[0].json["lpcrc"], "ok");
    let tree = "
Flow control packet, bytes 16 to 19
    op: 0
    fctbs: 4095
    vl: 1
    fccl: 31
LPCRC, bytes 20 to 21: 0x89d0, ok
Padding, bytes 22 to 23: 2 bytes";
    assert!(found[1].tree.ends_with(tree), "{}", found[1].tree);
    let tree = &found[3].tree;
    assert!(tree.contains("\nLRH, bytes 16 to 23\n"), "{tree}");
    assert!(tree.ends_with("\nVCRC, bytes 48 to 49: 0xd1c2, ok"), "{tree}");
}

/// The capture of adapters is not ours to copy.
#[test]
fn the_capture_of_adapters_is_right() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/captures/wireshark_infiniband_erf.pcap");
    let Ok(file) = std::fs::read(&path) else {
        println!("skipped: there is no {}", path.display());
        return;
    };
    let found = found(&file);
    assert_eq!(found.len(), 43);
    for (number, one) in (1..).zip(&found) {
        assert_eq!(one.checksums, [Checksum::Ok, Checksum::Ok, Checksum::Absent], "frame {number}");
        assert_eq!(one.faults, [""; 0], "frame {number}");
    }
}

#[test]
fn link_packets_are_found_by_their_length_without_records() {
    let packet = FlowControlPacket::new(FlowControlPacket::OP_NORMAL, 2, 7, 9).to_bytes();
    let padded = [packet.as_slice(), &[0, 0]].concat();
    for bytes in [packet.as_slice(), &padded] {
        let one = only(INFINIBAND, bytes);
        assert_eq!((one.protocol, one.faults.as_slice()), (Protocol::InfiniBandLink, &[][..]));
        assert_eq!(one.json["flow_control"]["fccl"], 9);
    }
    // Six bytes are nothing else, whatever their checksum.
    let one = only(INFINIBAND, &[0; 6]);
    assert_eq!(one.faults, ["lpcrc: found 0x0000, computed 0x62b3"]);
    for len in 0..6 {
        let one = only(INFINIBAND, &packet[..len]);
        assert_eq!(one.faults, [format!("malformed: LRH at byte 0 needs 8 bytes and has {len}")]);
    }
}

/// A record says of what it is, so every length can be judged.
#[test]
fn short_link_packets_in_records_are_malformed() {
    let packet = FlowControlPacket::new(FlowControlPacket::OP_NORMAL, 2, 7, 9).to_bytes();
    for len in 0..6_u8 {
        let mut record = vec![0; 8];
        record.extend([25, 4, 0, 16 + len, 0, 0, 0, len]);
        record.extend_from_slice(&packet[..len.into()]);
        let one = only(ERF, &record);
        let expected =
            format!("malformed: flow control packet at byte 16 needs 6 bytes and has {len}");
        assert_eq!((one.protocol, one.faults), (Protocol::InfiniBandLink, vec![expected]));
        // The same, if the record says that there was more on the wire.
        record[15] = 8;
        let one = only(ERF, &record);
        assert_eq!((one.faults.len(), one.observations), (0, vec!["cut".to_owned()]));
    }
}

#[test]
fn every_bit_of_a_packet_counts() {
    for packet in [send(lrh()).with_fecn(), send(lrh())] {
        let bytes = bytes_of(&packet);
        for bit in 0..8 * bytes.len() {
            let mut wrong = bytes.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(!only(INFINIBAND, &wrong).faults.is_empty(), "bit {bit}");
        }
    }
}

#[test]
fn faults_of_native_packets_have_names() {
    let packet = send(lrh());
    let changed = |lrh| only(INFINIBAND, &bytes_of(&send(lrh))).faults;
    let cases = [
        (Lrh { lver: 1, ..lrh() }, "local_route: the link version is not 0"),
        (Lrh { slid: 0, ..lrh() }, "local_route: the SLID is no unicast LID"),
        (Lrh { resv2: 1, ..lrh() }, "reserved: LRH resv2 is 0x1"),
        (Lrh { resv5: 1, ..lrh() }, "reserved: LRH resv5 is 0x1"),
    ];
    for (lrh, fault) in cases {
        assert_eq!(changed(lrh), [fault]);
    }
    let other_lane = InfiniBandPacket { lrh: Lrh { vl: 4, ..packet.lrh }, ..packet };
    let faults = only(INFINIBAND, &bytes_of(&other_lane)).faults;
    assert!(faults.len() == 1 && faults[0].starts_with("vcrc: found "), "{faults:?}");
    assert_eq!(only(INFINIBAND, &bytes_of(&packet.on_lane(4))).faults, [""; 0]);

    let link_packet =
        |op, vl| only(INFINIBAND, &FlowControlPacket::new(op, vl, 1, 2).to_bytes()).faults;
    assert_eq!(link_packet(2, 0), ["reserved: flow control packet OP is 0x2"]);
    assert_eq!(link_packet(0, 15), ["local_route: VL 15 has no credits"]);
}

#[test]
fn a_packet_ends_where_its_length_says() {
    let bytes = bytes_of(&send(lrh()));
    // PktLen is 8: 32 bytes to the ICRC, and 34 with the VCRC.
    assert_eq!((bytes[5], bytes.len()), (8, 34));
    let padded = only(INFINIBAND, &[bytes.as_slice(), &[0; 2]].concat());
    assert_eq!(
        (padded.faults.len(), padded.observations),
        (0, vec!["trailing_bytes: 2".to_owned()])
    );
    let mut shorter = bytes.clone();
    shorter[5] = 7;
    let faults = only(INFINIBAND, &shorter).faults;
    assert_eq!(
        faults[1], "pkt_len: 7 words and the VCRC are 30 bytes, but there are 34",
        "{faults:?}"
    );
    assert!(faults.iter().any(|fault| fault.starts_with("icrc")), "{faults:?}");
    let mut longer = bytes;
    longer[5] = 9;
    let faults = only(INFINIBAND, &longer).faults;
    assert_eq!(faults, ["malformed: LRH at byte 0 needs 36 bytes and has 34"]);
}

/// Either link has its own congestion notification.
#[test]
fn the_notification_of_the_other_link_is_no_opcode() {
    let notify = |bth: Bth, extensions: Extensions, payload: &'static [u8]| {
        let packet = InfiniBandPacket::build(lrh(), None, bth, extensions, payload).unwrap();
        only(INFINIBAND, &bytes_of(&packet.with_vcrc()))
    };
    let right = notify(Bth::cn(0x12), Extensions::NONE, &[]);
    assert_eq!((right.faults.len(), right.observations), (0, vec!["cnp".to_owned()]));
    assert_eq!(notify(Bth::cn(0x12), Extensions::NONE, &ZEROS[..16]).faults, [""; 0]);
    let filled = notify(Bth::cn(0x12), Extensions::NONE, &ZEROS[..4]).faults;
    assert_eq!(filled, ["payload_length: CN with 4 bytes, not 0 or 16"]);
    let silent = notify(Bth { becn: false, ..Bth::cn(1) }, Extensions::NONE, &[]);
    assert_eq!(silent.observations, ["cnp_without_becn", "cnp"]);
    let body = Extensions { cnp: Some(Default::default()), ..Extensions::NONE };
    assert_eq!(notify(Bth::cnp(0x12), body, &[]).faults, ["undefined_opcode: 0x81"]);
}

fn port(snap_length: u32) -> Interface {
    Interface {
        name: "host-0".into(),
        description: String::new(),
        link_type: LinkType::InfiniBand,
        speed: Bandwidth::from_gbps(200),
        fcs: false,
        snap_length,
    }
}

fn grh() -> Grh {
    Grh {
        ip_version: Grh::IP_VERSION,
        traffic_class: 0x12,
        flow_label: 0x34567,
        pay_len: 0,
        next_header: Grh::NEXT_HEADER_IBA,
        hop_limit: 64,
        sgid: Gid([1; 16]),
        dgid: Gid([2; 16]),
    }
}

/// One packet of each kind: requests and answers with and without GRH, multicast, subnet management, a
/// congestion notification; then link packets.
fn packets() -> Vec<Vec<u8>> {
    let build = |lrh, grh, bth, extensions, payload| {
        bytes_of(&InfiniBandPacket::build(lrh, grh, bth, extensions, payload).unwrap().with_vcrc())
    };
    let reth = Some(Reth { virtual_address: 0x1000, r_key: 7, dma_length: 4096 });
    let write = Extensions { reth, ..Extensions::NONE };
    let datagram =
        |src_qp| Extensions { deth: Some(Deth { q_key: 0, resv8: 0, src_qp }), ..Extensions::NONE };
    let multicast = Lrh { dlid: 0xc001, ..lrh() };
    let management = Lrh { vl: 15, sl: 0, dlid: 0xffff, slid: 0xffff, ..lrh() };
    let ud = |dest_qp| Bth::new(Opcode::UdSendOnly, dest_qp, 1);
    let none = Extensions::NONE;
    let data = &ZEROS[..];
    let acknowledge = Bth::new(Opcode::RcAcknowledge, 0x12, 100);
    let syndrome = Extensions::parse(Opcode::RcAcknowledge, &[0x1f, 0, 0, 1]).unwrap();
    let mut all = vec![
        build(lrh(), None, Bth::new(Opcode::RcRdmaWriteOnly, 0x11, 100), write, data),
        build(lrh(), Some(grh()), Bth::new(Opcode::RcRdmaWriteOnly, 0x11, 101), write, data),
        build(lrh(), None, Bth::new(Opcode::RcSendOnly, 0x11, 102), none, b"hello"),
        build(lrh(), None, acknowledge, syndrome, &[]),
        build(multicast, Some(grh()), ud(0xff_ffff), datagram(9), &data[..64]),
        build(management, None, ud(0), datagram(0), &data[..256]),
        build(lrh(), None, Bth::cn(0x12), none, &[]),
    ];
    let credits = [(0, 0, 100, 228), (0, 14, 4095, 31), (1, 0, 0, 128)];
    let credits = credits.map(|(op, vl, fctbs, fccl)| FlowControlPacket::new(op, vl, fctbs, fccl));
    all.extend(credits.map(|packet| packet.to_bytes().to_vec()));
    all
}

fn written(format: Format, snap_length: u32) -> Vec<u8> {
    let mut writer = CaptureWriter::new(format, Vec::new(), &[port(snap_length)]).unwrap();
    for (number, packet) in (0..).zip(packets()) {
        let len = u32::try_from(packet.len()).unwrap();
        let time = SimTime::from_ps(number * 1_234_567);
        writer.write_frame(0, time, Direction::Outbound, &packet, len).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn what_is_written_is_read_again() {
    for format in [Format::Pcap, Format::PcapNg] {
        let file = written(format, 0);
        let mut reader = CaptureReader::new(&file[..]).unwrap();
        let mut verifier = Verifier::new();
        for (number, packet) in (0_u64..).zip(packets()) {
            let frame = reader.next_frame().unwrap().unwrap();
            assert_eq!(u64::try_from(frame.time.as_nanos()).unwrap(), number * 1_234_567 / 1_000);
            let verified = verifier.verify(&frame);
            assert_eq!(verified.faults, [], "{number}");
            let again = match &verified.dissection.contents {
                Contents::InfiniBand(packet) => bytes_of(packet),
                Contents::FlowControl(packet) => packet.to_bytes().to_vec(),
                other => panic!("{other:?}"),
            };
            assert_eq!(again, packet, "{number}");
        }
        assert!(reader.next_frame().is_none());
        assert_eq!(verifier.totals().of_protocol(Protocol::InfiniBandLink), 3);
    }
}

/// A cut packet keeps the headers that fit, and is not checked.
#[test]
fn cut_packets_are_told_as_cut() {
    for format in [Format::Pcap, Format::PcapNg] {
        for snap_length in [1, 6, 8, 20, 30, 60, 70] {
            let found = found(&written(format, snap_length));
            for (number, (one, packet)) in found.iter().zip(packets()).enumerate() {
                let is_cut = packet.len() > snap_length as usize;
                let case = format!("{number}, {snap_length} bytes: {}", one.tree);
                assert_eq!(one.faults, [""; 0], "{case}");
                let name = "cut".to_owned();
                assert_eq!(one.observations.contains(&name), is_cut, "{case}");
                assert_eq!(one.json["cut"], is_cut, "{case}");
                let lrh = one.json["lrh"]["dlid"].as_u64();
                let shows_lrh = packet.len() > 6 && snap_length >= 8;
                assert_eq!(lrh.is_some(), shows_lrh, "{case}");
            }
        }
    }
}

#[test]
fn an_fcs_and_infiniband_exclude_each_other() {
    let port = Interface { fcs: true, ..port(0) };
    let error = CaptureWriter::new(Format::PcapNg, Vec::new(), &[port]).unwrap_err();
    assert_eq!(error.to_string(), "interface host-0: InfiniBand has no FCS");
}

/// Numbers that look random, and are the same in each run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

/// Whatever the bytes: nothing panics, and what was parsed is in them.
#[test]
fn any_bytes_are_read_as_far_as_they_go() {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let records: Vec<Vec<u8>> = {
        let file = written(Format::Pcap, 0);
        let mut reader = CaptureReader::new(&file[..]).unwrap();
        std::iter::from_fn(|| reader.next_frame().map(|frame| frame.unwrap().bytes.to_vec()))
            .collect()
    };
    let packets = packets();
    let mut parsed = 0;
    for _ in 0..20_000 {
        let (link_type, from) =
            if numbers.below(2) == 0 { (ERF, &records) } else { (INFINIBAND, &packets) };
        let mut bytes = from[numbers.below(from.len())].clone();
        bytes.truncate(if numbers.below(4) == 0 {
            numbers.below(bytes.len() + 1)
        } else {
            bytes.len()
        });
        for _ in 0..numbers.below(4).min(bytes.len()) {
            let place = numbers.below(bytes.len().min(60));
            bytes[place] = u8::try_from(numbers.below(256)).unwrap();
        }
        let mut file = capture(link_type, &[bytes.clone()]);
        if numbers.below(4) == 0 {
            // More on the wire than was captured.
            file[36] = file[36].wrapping_add(u8::try_from(numbers.below(9)).unwrap());
        }
        let mut reader = CaptureReader::new(&file[..]).unwrap();
        let frame = reader.next_frame().unwrap().unwrap();
        let mut verifier = Verifier::new();
        let verified = verifier.verify(&frame);
        let dissection = &verified.dissection;
        let again = match &dissection.contents {
            Contents::InfiniBand(packet) => bytes_of(packet),
            Contents::FlowControl(packet) => packet.to_bytes().to_vec(),
            _ => Vec::new(),
        };
        assert!(bytes[dissection.offset.min(bytes.len())..].starts_with(&again), "{bytes:02x?}");
        parsed += usize::from(!again.is_empty());
        assert!(serde_json::to_string(&Decoded(&verified)).is_ok());
        assert!(!Tree(&verified).to_string().is_empty());
        assert!(dissection.error.is_none_or(|error| error.offset() <= bytes.len()));
    }
    assert!(parsed > 5_000, "{parsed}");
}

/// Records whose own header, or an extension header, ends too soon are told with the place.
#[test]
fn a_record_with_incomplete_headers_is_malformed() {
    let header = [0, 0, 0, 0, 0, 0, 0, 0, 21, 4, 0, 16, 0, 0, 0, 0];
    let extended =
        [&[0, 0, 0, 0, 0, 0, 0, 0, 21 | 0x80, 4, 0, 20, 0, 0, 0, 0][..], &[0x80; 8], &[3; 4]];
    let file = capture(ERF, &[header[..10].to_vec(), extended.concat()]);
    let found = found(&file);
    assert_eq!(found[0].faults, ["malformed: ERF header at byte 0 needs 16 bytes and has 10"]);
    assert_eq!(found[1].faults, ["malformed: ERF header at byte 24 needs 8 bytes and has 4"]);
}
