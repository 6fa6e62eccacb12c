//! Packets of native InfiniBand: built ones, with the ICRC of another implementation, and invalid
//! ones.

use proptest::prelude::*;
use rocelab_wire::{
    Bth, BuildError, Deth, EmitError, Encapsulation, Extensions, Frame, Gid, Grh, InfiniBandBody,
    InfiniBandPacket, Layer, LocalRouteRule, Lrh, Network, Opcode, ParseError, RoceFrame, ZEROS,
    infiniband_packet_len, vcrc,
};

use crate::vectors::own_frames;

fn bytes_of(packet: &InfiniBandPacket<'_>) -> Vec<u8> {
    let mut bytes = vec![0; packet.wire_len()];
    assert_eq!(packet.emit(&mut bytes), Ok(bytes.len()));
    bytes
}

fn lrh() -> Lrh {
    Lrh { vl: 1, sl: 3, dlid: 4, slid: 5, ..Lrh::default() }
}

/// A SEND of six bytes, with or without GRH.
fn send(grh: Option<Grh>) -> InfiniBandPacket<'static> {
    let bth = Bth::new(Opcode::RcSendOnly, 0x11, 5);
    InfiniBandPacket::build(lrh(), grh, bth, Extensions::NONE, b"sixsix").expect("a legal packet")
}

fn grh() -> Grh {
    let sender = RoceFrame {
        sgid: Gid([1; 16]),
        dgid: Gid([2; 16]),
        ..RoceFrame::new(Encapsulation::V1, Bth::new(Opcode::RcSendOnly, 0x11, 5))
    };
    match sender.to_frame().expect("a legal frame").roce().expect("RoCE").network {
        Network::V1 { grh } => grh,
        _ => unreachable!("it was asked for v1"),
    }
}

/// The ICRC of a packet with GRH does not cover its LRH. So it is the same as that of the packet
/// over RoCE v1, which other implementations computed.
#[test]
fn packets_with_grh_have_the_icrc_of_roce_v1() {
    let mut count = 0;
    for bytes in own_frames() {
        let frame = Frame::parse(&bytes).expect("a good frame");
        let Some(packet) = frame.roce() else { continue };
        let Network::V1 { grh } = packet.network else { continue };
        let native = InfiniBandPacket::build(
            lrh(),
            Some(grh),
            packet.bth,
            packet.extensions,
            packet.payload,
        )
        .expect("a legal packet")
        .with_vcrc();
        assert_eq!(native.transport(), Some(&packet.transport()));
        let emitted = bytes_of(&native);
        assert_eq!(InfiniBandPacket::parse(&emitted), Ok(native));
        assert!(native.icrc_ok());
        assert_eq!(native.grh(), Some(&grh));
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn a_packet_reads_like_a_trace() {
    let text =
        "LID 5 > 4, vl 1, sl 3, length 32: RC_SEND_ONLY qp 0x000011, psn 5, pad 2, payload 6";
    assert_eq!(send(None).to_string(), text);
    let text = send(Some(grh())).to_string();
    assert!(text.contains("length 72, GRH 101:101:101:101:101:101:101:101 > "), "{text}");
    let mut wrong = bytes_of(&send(None).with_vcrc());
    wrong[21] ^= 1;
    let text = InfiniBandPacket::parse(&wrong).unwrap().to_string();
    assert!(text.ends_with("payload 6, bad ICRC, bad VCRC"), "{text}");
}

#[test]
fn a_switch_may_choose_another_virtual_lane() {
    for grh in [None, Some(grh())] {
        let packet = send(grh).with_vcrc();
        let lane = InfiniBandPacket { lrh: Lrh { vl: 7, ..packet.lrh }, ..packet };
        assert!(lane.icrc_ok());
        assert_eq!(lane.vcrc_ok(), Some(false));
        assert_eq!(packet.on_lane(7), lane.with_vcrc());
        assert_eq!(packet.on_lane(7).vcrc_ok(), Some(true));
        assert_eq!(packet.on_lane(7).on_lane(packet.lrh.vl), packet);
        let level = InfiniBandPacket { lrh: Lrh { sl: 7, ..packet.lrh }, ..packet };
        assert_eq!(level.icrc_ok(), grh.is_some(), "the LRH counts where there is no GRH");
    }
}

/// FECN changes what the link protects, and not what the ends protect.
#[test]
fn a_congested_switch_may_mark_a_packet() {
    for grh in [None, Some(grh())] {
        let packet = send(grh).with_vcrc();
        let marked = packet.with_fecn();
        assert!(marked.transport().unwrap().bth.fecn && marked.icrc_ok());
        assert_eq!(marked.vcrc_ok(), Some(true));
        assert_ne!(marked.vcrc, packet.vcrc);
        let differing =
            bytes_of(&marked).iter().zip(bytes_of(&packet)).filter(|(a, b)| **a != *b).count();
        assert!(differing <= 3, "the flag, and both bytes of the VCRC");
    }
}

/// LRH, BTH, ICRC and VCRC, and nothing else. The ICRC and the VCRC are from Python's `zlib.crc32` and
/// a CRC-16 that was written bit by bit.
#[test]
fn a_congestion_notification_is_26_bytes() {
    let lrh = Lrh { vl: 2, sl: 3, dlid: 4, slid: 5, ..Lrh::default() };
    let packet = InfiniBandPacket::build(lrh, None, Bth::cn(0x12), Extensions::NONE, &[]);
    let bytes = bytes_of(&packet.unwrap().with_vcrc());
    assert_eq!(bytes.len(), infiniband_packet_len(false, Opcode::Cn, 0));
    let expected = [
        0x20, 0x32, 0x00, 0x04, 0x00, 0x06, 0x00, 0x05, 0x80, 0x00, 0xff, 0xff, 0x40, 0x00, 0x00,
        0x12, 0x00, 0x00, 0x00, 0x00, 0xe3, 0xfd, 0xed, 0x52, 0x31, 0xfa,
    ];
    assert_eq!(bytes, expected);
    let parsed = InfiniBandPacket::parse(&bytes).unwrap();
    assert_eq!(
        parsed.to_string(),
        "LID 5 > 4, vl 2, sl 3, length 24: CN qp 0x000012, psn 0, becn, payload 0"
    );
    assert_eq!(parsed.broken_rules().count(), 0);
}

/// A datagram of subnet management, as two neighbours exchange before they have LIDs.
fn management() -> InfiniBandPacket<'static> {
    let lrh = Lrh { vl: Lrh::MANAGEMENT_VL, dlid: 0xffff, slid: 0xffff, ..Lrh::default() };
    let extensions =
        Extensions { deth: Some(Deth { q_key: 0, resv8: 0, src_qp: 0 }), ..Extensions::NONE };
    let bth = Bth::new(Opcode::UdSendOnly, 0, 1);
    InfiniBandPacket::build(lrh, None, bth, extensions, &ZEROS[..256]).unwrap()
}

fn broken(packet: &InfiniBandPacket<'_>) -> Vec<LocalRouteRule> {
    packet.broken_rules().collect()
}

#[test]
fn headers_that_do_not_fit_each_other_break_a_rule() {
    use LocalRouteRule as Rule;

    let datagram = |change: fn(&mut Lrh), grh, opcode, payload: &'static [u8]| {
        let mut lrh = lrh();
        change(&mut lrh);
        let deth = Some(Deth { q_key: 0, resv8: 0, src_qp: 2 });
        let extensions = if opcode == Opcode::UdSendOnly {
            Extensions { deth, ..Extensions::NONE }
        } else {
            Extensions::NONE
        };
        let packet = InfiniBandPacket::build(lrh, grh, Bth::new(opcode, 9, 0), extensions, payload);
        broken(&packet.unwrap())
    };
    let (ud, rc) = (Opcode::UdSendOnly, Opcode::RcSendOnly);
    for grh in [None, Some(grh())] {
        assert_eq!(datagram(|_| {}, grh, ud, b""), []);
        assert_eq!(datagram(|lrh| lrh.lver = 1, grh, rc, b""), [Rule::LinkVersion]);
        assert_eq!(datagram(|lrh| lrh.dlid = 0, grh, rc, b""), [Rule::ReservedDestination]);
        for slid in [0, 0xc000, 0xffff] {
            let changed = InfiniBandPacket { lrh: Lrh { slid, ..lrh() }, ..send(grh) };
            assert_eq!(broken(&changed), [Rule::Source], "{slid:#x}");
        }
        assert_eq!(datagram(|lrh| lrh.dlid = 0xffff, grh, ud, b""), [Rule::PermissiveDestination]);
        assert_eq!(datagram(|lrh| lrh.vl = 15, grh, ud, &ZEROS[..256]), [Rule::ManagementLane]);
    }
    assert_eq!(datagram(|lrh| lrh.dlid = 0xc000, Some(grh()), ud, b""), []);
    assert_eq!(datagram(|lrh| lrh.dlid = 0xc000, None, ud, b""), [Rule::MulticastWithoutGrh]);
    assert_eq!(datagram(|lrh| lrh.dlid = 0xfffe, Some(grh()), rc, b""), [Rule::MulticastService]);

    assert_eq!(broken(&management()), []);
    let elsewhere = InfiniBandPacket { lrh: lrh(), ..management() };
    assert_eq!(broken(&elsewhere), [Rule::ManagementQueuePair]);
    for rule in Rule::ALL {
        assert!(!rule.to_string().is_empty());
    }
}

#[test]
fn every_cut_is_noticed_at_the_right_layer() {
    let bytes = bytes_of(&send(Some(grh())).with_vcrc());
    let len = bytes.len();
    for cut in 0..len {
        let parsed = InfiniBandPacket::parse(&bytes[..cut]);
        if cut >= len - 2 {
            // The VCRC is incomplete, or absent.
            let packet = parsed.unwrap();
            assert_eq!((packet.vcrc, packet.padding), (None, &bytes[len - 2..cut]));
            assert_eq!(bytes_of(&packet), bytes[..cut]);
            continue;
        }
        let needed = if cut < 8 { 8 } else { len - 2 };
        let truncated = ParseError::Truncated { layer: Layer::Lrh, needed, had: cut, offset: 0 };
        assert_eq!(parsed, Err(truncated));
    }
}

#[test]
fn contradictory_lengths_are_refused() {
    let mut bytes = bytes_of(&send(Some(grh())));
    bytes[5] = 1;
    let error = ParseError::Field { layer: Layer::Lrh, field: "PktLen", value: 1, offset: 0 };
    assert_eq!(InfiniBandPacket::parse(&bytes), Err(error));
    let mut bytes = bytes_of(&send(Some(grh())));
    bytes[13] -= 4;
    let error = ParseError::Field { layer: Layer::Grh, field: "PayLen", value: 20, offset: 8 };
    assert_eq!(InfiniBandPacket::parse(&bytes), Err(error));
    let mut bytes = bytes_of(&send(None));
    bytes[8] = Opcode::RcCompareSwap.into();
    let error = ParseError::Truncated { layer: Layer::AtomicEth, needed: 28, had: 12, offset: 20 };
    assert_eq!(InfiniBandPacket::parse(&bytes), Err(error));
}

#[test]
fn raw_packets_and_padding_come_back() {
    for lnh in [Lrh::LNH_RAW, Lrh::LNH_IPV6] {
        let header = Lrh { lnh, pkt_len: 3, ..lrh() }.to_bytes();
        let bytes = [header.as_slice(), &[1, 2, 3, 4, 0xaa, 0xbb, 0, 0, 0]].concat();
        let packet = InfiniBandPacket::parse(&bytes).unwrap();
        assert_eq!(packet.body, InfiniBandBody::Raw(&[1, 2, 3, 4]));
        assert_eq!((packet.vcrc, packet.padding), (Some(0xbbaa), [0, 0, 0].as_slice()));
        assert_eq!((packet.transport(), packet.grh()), (None, None));
        assert!(!packet.icrc_ok() && packet.computed_icrc().is_none());
        assert_eq!(packet.vcrc_ok(), Some(vcrc(&bytes[..12]) == 0xbbaa));
        assert_eq!(bytes_of(&packet), bytes);
        assert!(packet.to_string().contains(": raw, length 4"), "{packet}");
    }
}

#[test]
fn reliable_datagrams_are_all_payload() {
    let bth = Bth { opcode: 0x44, ..Bth::new(Opcode::RcSendOnly, 1, 2) };
    let payload = b"RDETH, DETH, data";
    let packet = InfiniBandPacket::build(lrh(), None, bth, Extensions::NONE, payload).unwrap();
    let bytes = bytes_of(&packet);
    let parsed = InfiniBandPacket::parse(&bytes).unwrap();
    assert_eq!(parsed.transport().unwrap().payload, payload);
    assert!(parsed.icrc_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_parses_comes_back(
        with_grh: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        len: prop::sample::Index,
        cut: bool,
    ) {
        let mut bytes = bytes_of(&send(with_grh.then(grh)).with_vcrc());
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if cut {
            bytes.truncate(len.index(bytes.len()));
        }
        if let Ok(packet) = InfiniBandPacket::parse(&bytes) {
            prop_assert_eq!(bytes_of(&packet), bytes.as_slice());
        }
    }
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let bth = Bth::new(Opcode::RcRdmaWriteOnly, 1, 2);
    let refused = InfiniBandPacket::build(lrh(), None, bth, Extensions::NONE, &[]);
    assert_eq!(refused, Err(BuildError::Extensions { opcode: 0x0a }));
    let bth = Bth::new(Opcode::RcSendOnly, 1, 2);
    let payload = [0; 8164];
    let build = |payload| InfiniBandPacket::build(lrh(), None, bth, Extensions::NONE, payload);
    // 2047 words of four bytes; LRH, BTH and ICRC take six of them.
    assert_eq!(build(&payload).unwrap().wire_len(), 8188);
    let longer = [0; 8165];
    assert_eq!(build(&longer), Err(BuildError::TooLong { len: 8192 }));
    let packet = build(&ZEROS[..4]).unwrap();
    assert_eq!(packet.emit(&mut [0; 27]), Err(EmitError { needed: 28, had: 27 }));
}
