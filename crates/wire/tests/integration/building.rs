//! Frames that are built from a sender's values: parsing gives the same values, and they are the
//! frames that other implementations send.

use proptest::prelude::*;
use rocelab_wire::{
    Aeth, Body, Bth, BuildError, Ecn, EmitError, Encapsulation, Extensions, Frame, Gid, ImmDt,
    IntHeader, IntHop, MacAddress, Network, Opcode, Reth, Roce, RoceFrame, Sack, Syndrome,
    TelemetryHeader, TelemetryKind, VlanTag, ZEROS, encapsulation_len, frame_len, traffic_class,
};

use crate::described::unhex;

fn encapsulation() -> impl Strategy<Value = Encapsulation> {
    prop_oneof![Just(Encapsulation::V1), Just(Encapsulation::V2Ipv4), Just(Encapsulation::V2Ipv6)]
}

/// Any telemetry, or none.
fn telemetry() -> impl Strategy<Value = Option<TelemetryHeader>> {
    let hop = (any::<u64>(), any::<u64>(), any::<u64>());
    let int = prop::collection::vec(hop, 0..=5).prop_map(|hops| {
        let mut header = IntHeader::default();
        for (time, tx, queue) in hops {
            header.push(IntHop::new(time, tx, queue, 100_000_000_000, 1).expect("a known rate"));
        }
        TelemetryHeader::Int(header)
    });
    prop::option::of(prop_oneof![int, any::<u16>().prop_map(TelemetryHeader::Pint)])
}

fn bth() -> impl Strategy<Value = Bth> {
    let opcode = prop::sample::select(Opcode::ALL);
    let numbers = (0..1_u32 << 24, 0..1_u32 << 24, any::<u16>(), 0..64_u8, 0..128_u8, 0..16_u8);
    (opcode, numbers, any::<[bool; 5]>()).prop_map(|(opcode, numbers, flags)| {
        let (dest_qp, psn, p_key, resv6, resv7, transport_version) = numbers;
        let [solicited_event, migreq, fecn, becn, ack_req] = flags;
        Bth {
            solicited_event,
            migreq,
            transport_version,
            p_key,
            fecn,
            becn,
            resv6,
            ack_req,
            resv7,
            ..Bth::new(opcode, dest_qp, psn)
        }
    })
}

/// Any values that a sender may choose, except the payload.
fn roce_frame() -> impl Strategy<Value = RoceFrame<'static>> {
    let link = (any::<[u8; 6]>(), any::<[u8; 6]>(), prop::option::of((0..8_u8, 0..4096_u16)));
    let addresses = (any::<[u8; 16]>(), any::<[u8; 16]>());
    let network = (0..64_u8, 0..4_u8, 0..1_u32 << 20, any::<u8>(), any::<u16>(), any::<u16>());
    let transport = (encapsulation(), bth(), any::<[u8; 32]>());
    (link, addresses, network, transport).prop_map(|(link, addresses, network, transport)| {
        let (encapsulation, bth, extension_bytes) = transport;
        let (dscp, ecn, flow_label, hop_limit, identification, udp_source_port) = network;
        let gid = |octets: [u8; 16]| match (encapsulation, octets) {
            (Encapsulation::V2Ipv4, [a, b, c, d, ..]) => Gid::from_ipv4([a, b, c, d]),
            _ => Gid(octets),
        };
        let opcode = bth.opcode().expect("one of the defined");
        RoceFrame {
            destination: MacAddress(link.0),
            source: MacAddress(link.1),
            vlan: link.2.map(|(pcp, vid)| VlanTag::new(pcp, vid)),
            sgid: gid(addresses.0),
            dgid: gid(addresses.1),
            dscp,
            ecn: Ecn::from_bits(ecn),
            flow_label,
            hop_limit,
            identification,
            udp_source_port,
            extensions: Extensions::parse(opcode, &extension_bytes).expect("enough bytes"),
            ..RoceFrame::new(encapsulation, bth)
        }
    })
}

/// The sender's values of a parsed frame.
fn sender_of<'a>(frame: &Frame<'a>, packet: &Roce<'a>) -> RoceFrame<'a> {
    let blank = RoceFrame {
        destination: frame.ethernet.destination,
        source: frame.ethernet.source,
        vlan: frame.vlan[0],
        extensions: packet.extensions,
        payload: packet.payload,
        ..RoceFrame::new(packet.network.encapsulation(), packet.bth)
    };
    match packet.network {
        Network::V1 { grh } => RoceFrame {
            sgid: grh.sgid,
            dgid: grh.dgid,
            dscp: grh.traffic_class >> 2,
            ecn: Ecn::from_bits(grh.traffic_class),
            flow_label: grh.flow_label,
            hop_limit: grh.hop_limit,
            ..blank
        },
        Network::V2Ipv4 { ip, udp } => RoceFrame {
            sgid: ip.source.into(),
            dgid: ip.destination.into(),
            dscp: ip.dscp,
            ecn: ip.ecn,
            hop_limit: ip.time_to_live,
            identification: ip.identification,
            udp_source_port: udp.source_port,
            ..blank
        },
        Network::V2Ipv6 { ip, udp } => RoceFrame {
            sgid: ip.source.into(),
            dgid: ip.destination.into(),
            dscp: ip.dscp,
            ecn: ip.ecn,
            flow_label: ip.flow_label,
            hop_limit: ip.hop_limit,
            udp_source_port: udp.source_port,
            ..blank
        },
    }
}

proptest! {
    #[test]
    fn built_frames_read_back(sender in roce_frame(), payload_len in 0..=4096_usize) {
        let opcode = sender.bth.opcode().unwrap();
        let payload_len = if opcode.has_payload() { payload_len } else { 0 };
        let sender = RoceFrame { payload: &ZEROS[..payload_len], ..sender };
        let built = sender.to_frame().unwrap().with_fcs();

        let mut buffer = [0xee; 4400];
        let len = built.emit(&mut buffer).unwrap();
        let vlan = sender.vlan.is_some();
        prop_assert_eq!(len, frame_len(sender.encapsulation, vlan, opcode, payload_len));
        let bth_at = encapsulation_len(sender.encapsulation, vlan);
        prop_assert_eq!(buffer[bth_at], u8::from(opcode));

        let parsed = Frame::parse_with_fcs(&buffer[..len]).unwrap();
        prop_assert_eq!(parsed, built);
        prop_assert!(parsed.icrc_ok());
        prop_assert_eq!(parsed.fcs_ok(), Some(true));
        if let Network::V2Ipv4 { ip, .. } = &parsed.roce().unwrap().network {
            prop_assert_eq!(ip.header_checksum, ip.computed_checksum());
        }

        let found = sender_of(&parsed, parsed.roce().unwrap());
        let pad_count = found.bth.pad_count;
        prop_assert_eq!(found.to_frame().unwrap().with_fcs(), built);
        prop_assert_eq!(found.bth, Bth { pad_count, ..sender.bth });
        prop_assert_eq!((payload_len + usize::from(pad_count)) % 4, 0);
        prop_assert_eq!((found.sgid, found.dgid), (sender.sgid, sender.dgid));
        prop_assert_eq!((found.dscp, found.ecn), (sender.dscp, sender.ecn));
        prop_assert_eq!(found.extensions, sender.extensions);
    }

    #[test]
    fn telemetry_reads_back(
        sender in roce_frame(), telemetry in telemetry(), payload_len in 0..=4096_usize) {
        let opcode = sender.bth.opcode().unwrap();
        let Some(header) = telemetry else { return Ok(()) };
        let bth = sender.bth.with_telemetry(header.kind());
        prop_assume!(bth != sender.bth);
        let payload_len = if opcode.has_payload() { payload_len } else { 0 };
        let extensions = Extensions { telemetry, ..sender.extensions };
        let sender = RoceFrame { bth, extensions, payload: &ZEROS[..payload_len], ..sender };
        let built = sender.to_frame().unwrap().with_fcs();

        let mut buffer = [0xee; 4444];
        let len = built.emit(&mut buffer).unwrap();
        let vlan = sender.vlan.is_some();
        let expected = header.kind().frame_len(sender.encapsulation, vlan, opcode, payload_len);
        prop_assert_eq!(len, expected);
        let parsed = Frame::parse_with_fcs(&buffer[..len]).unwrap();
        prop_assert_eq!(parsed, built);
        prop_assert!(parsed.icrc_ok());
        let roce = parsed.roce().unwrap();
        prop_assert_eq!(roce.bth.operation_with_telemetry(), Some(opcode));
        prop_assert_eq!(roce.extensions.telemetry.map(|read| read.kind()), Some(header.kind()));
        prop_assert_eq!(parsed.roce().unwrap().extensions, extensions);
    }

    #[test]
    fn a_flipped_bit_breaks_the_fcs(sender in roce_frame(), at: prop::sample::Index) {
        let mut buffer = [0; 256];
        let len = sender.to_frame().unwrap().with_fcs().emit(&mut buffer).unwrap();
        let bit = at.index(len * 8);
        buffer[bit / 8] ^= 1 << (bit % 8);
        if let Ok(frame) = Frame::parse_with_fcs(&buffer[..len]) {
            prop_assert_eq!(frame.fcs_ok(), Some(false));
        }
    }

    #[test]
    fn a_switch_may_mark_and_route(sender in roce_frame(), hops in 1..=64_u8) {
        let sent = sender.to_frame().unwrap();
        let arrived = RoceFrame {
            ecn: Ecn::Ce,
            dscp: sender.dscp ^ 1,
            hop_limit: sender.hop_limit.wrapping_sub(hops),
            vlan: None,
            destination: MacAddress::BROADCAST,
            bth: Bth { fecn: !sender.bth.fecn, ..sender.bth },
            ..sender
        };
        let arrived = arrived.to_frame().unwrap();
        prop_assert_eq!(arrived.roce().unwrap().icrc, sent.roce().unwrap().icrc);
    }
}

#[test]
fn senders_of_the_own_vectors_send_the_same_bytes() {
    let text = include_str!("../data/vectors.json");
    let file: serde_json::Value = serde_json::from_str(text).expect("a JSON file");
    let vectors = file["vectors"].as_array().expect("vectors");
    for vector in vectors {
        let name = &vector["name"];
        let bytes = unhex(vector["frame_hex"].as_str().expect("bytes"));
        let frame = Frame::parse(&bytes).expect("a frame");
        let sender = sender_of(&frame, frame.roce().expect("a RoCE frame"));
        let built = sender.to_frame().expect("a frame that was sent");
        let mut emitted = [0xee; 2048];
        let len = built.emit(&mut emitted).expect("room");
        assert_eq!(emitted[..bytes.len()], bytes, "{name}");
        assert_eq!(len, bytes.len().max(60), "{name}");
    }
}

#[test]
fn short_frames_are_padded_behind_the_icrc() {
    let addresses = (Gid::from_ipv4([10, 0, 0, 1]), Gid::from_ipv4([10, 0, 0, 2]));
    let sender = RoceFrame {
        sgid: addresses.0,
        dgid: addresses.1,
        ..RoceFrame::new(Encapsulation::V2Ipv4, Bth::new(Opcode::RcSendOnly, 1, 2))
    };
    let mut bytes = [0xee; 60];
    assert_eq!(sender.to_frame().unwrap().emit(&mut bytes), Ok(60));
    let frame = Frame::parse(&bytes).unwrap();
    assert_eq!(frame.padding, [0, 0]);
    assert!(frame.icrc_ok());
}

#[test]
fn a_cnp_is_74_bytes() {
    let cnp = RoceFrame {
        sgid: Gid::from_ipv4([10, 0, 0, 2]),
        dgid: Gid::from_ipv4([10, 0, 0, 1]),
        dscp: 48,
        extensions: Extensions { cnp: Some(Default::default()), ..Extensions::NONE },
        ..RoceFrame::new(Encapsulation::V2Ipv4, Bth::cnp(0x11))
    };
    let frame = cnp.to_frame().unwrap();
    assert_eq!(frame.wire_len(), 74);
    let Body::Roce(Roce { network: Network::V2Ipv4 { ip, udp }, .. }) = frame.body else {
        panic!("{frame}");
    };
    assert_eq!((ip.total_len, udp.length), (60, 40));
    assert_eq!(traffic_class(ip.dscp, ip.ecn), 0xc0);
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let bth = Bth::new(Opcode::RcRdmaWriteOnly, 1, 2);
    let without_reth = RoceFrame::new(Encapsulation::V1, bth);
    let error = BuildError::Extensions { opcode: 0x0a };
    assert_eq!(without_reth.to_frame(), Err(error));

    let extensions = Extensions { reth: Some(Reth::default()), ..Extensions::NONE };
    let with_reth = RoceFrame { extensions, ..without_reth };
    assert!(with_reth.to_frame().is_ok());

    let extensions = Extensions { imm_dt: Some(ImmDt(1)), ..extensions };
    assert_eq!(RoceFrame { extensions, ..with_reth }.to_frame(), Err(error));

    let v2 = RoceFrame { encapsulation: Encapsulation::V2Ipv4, ..with_reth };
    assert_eq!(v2.to_frame(), Err(BuildError::NotIpv4(Gid::default())));

    let payload = vec![0; 65_536];
    let long = RoceFrame { payload: &payload, ..with_reth };
    assert_eq!(long.to_frame(), Err(BuildError::TooLong { len: 65_536 + 12 + 16 + 4 }));

    let frame = with_reth.to_frame().unwrap();
    let error = EmitError { needed: 86, had: 85 };
    assert_eq!(frame.emit(&mut [0; 85]), Err(error));
}

#[test]
fn other_manufacturers_packets_are_all_payload() {
    let bth = Bth { opcode: 0xc4, ..Bth::new(Opcode::RcSendOnly, 1, 2) };
    // Too short for the header; and long enough, but with an invalid number of records.
    for payload in [b"something".as_slice(), &[0xff; 50]] {
        let sender = RoceFrame { payload, ..RoceFrame::new(Encapsulation::V1, bth) };
        let mut buffer = [0; 256];
        let len = sender.to_frame().unwrap().emit(&mut buffer).unwrap();
        let frame = Frame::parse(&buffer[..len]).unwrap();
        let packet = frame.roce().unwrap();
        assert_eq!((packet.payload, packet.extensions), (payload, Extensions::NONE));
        assert!(frame.icrc_ok());
    }
}

#[test]
fn a_selective_acknowledge_needs_its_room() {
    let bth = Bth::new(Opcode::RcSelectiveAcknowledge, 1, 2);
    let aeth = Aeth { syndrome: Syndrome::ACK, msn: 3 };
    let extensions =
        Extensions { aeth: Some(aeth), sack: Some(Sack::new(5, 0b101)), ..Extensions::NONE };
    let foreign = RoceFrame { payload: b"something", ..RoceFrame::new(Encapsulation::V1, bth) };
    let ours = RoceFrame { extensions, ..RoceFrame::new(Encapsulation::V1, bth) };
    for sender in [foreign, ours] {
        let mut buffer = [0; 256];
        let len = sender.to_frame().unwrap().emit(&mut buffer).unwrap();
        let frame = Frame::parse(&buffer[..len]).unwrap();
        let packet = frame.roce().unwrap();
        assert_eq!((packet.payload, packet.extensions), (sender.payload, sender.extensions));
        assert!(frame.icrc_ok());
    }
}

/// A switch that writes into a packet also updates its ICRC.
#[test]
fn the_icrc_covers_telemetry() {
    let bth = Bth::new(Opcode::RcSendOnly, 1, 2).with_telemetry(TelemetryKind::Pint);
    let icrc = |value| {
        let telemetry = Some(TelemetryHeader::Pint(value));
        let extensions = Extensions { telemetry, ..Extensions::NONE };
        let sender = RoceFrame { extensions, ..RoceFrame::new(Encapsulation::V1, bth) };
        sender.to_frame().unwrap().roce().unwrap().icrc
    };
    assert_ne!(icrc(0), icrc(1));
}
