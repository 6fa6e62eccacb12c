//! Frames that are not plain RoCE frames: incomplete, contradictory, of other protocols.

use proptest::prelude::*;
use rocelab_wire::{
    Body, Bth, CnTag, Cnm, Encapsulation, EtherType, Frame, Gid, Layer, MacAddress, Opcode,
    ParseError, RoceFrame, VlanTag,
};

/// A SEND of six bytes over IPv4, with a tag: 80 bytes.
fn send() -> Vec<u8> {
    let sender = RoceFrame {
        vlan: Some(VlanTag::new(3, 7)),
        sgid: Gid::from_ipv4([10, 0, 0, 1]),
        dgid: Gid::from_ipv4([10, 0, 0, 2]),
        payload: b"sixsix",
        ..RoceFrame::new(Encapsulation::V2Ipv4, Bth::new(Opcode::RcSendOnly, 0x11, 5))
    };
    bytes_of(&sender.to_frame().expect("a legal frame"))
}

fn bytes_of(frame: &Frame<'_>) -> Vec<u8> {
    let mut bytes = vec![0; frame.wire_len()];
    frame.emit(&mut bytes).expect("room");
    bytes
}

const IP: usize = 18;
const UDP: usize = IP + 20;
const BTH: usize = UDP + 8;

#[test]
fn a_frame_reads_like_a_trace() {
    let bytes = send();
    let text = "00:00:00:00:00:00 > 00:00:00:00:00:00, type 0x0800, vlan 7, p 3, \
                IP 10.0.0.1 > 10.0.0.2, dscp 0, Not-ECT, ttl 64, id 0, length 52, \
                UDP 49152 > 4791, length 32: RC_SEND_ONLY qp 0x000011, psn 5, pad 2, payload 6";
    assert_eq!(Frame::parse(&bytes).unwrap().to_string(), text);
}

#[test]
fn every_cut_is_noticed_at_the_right_layer() {
    let bytes = send();
    for len in 0..bytes.len() {
        let error = Frame::parse(&bytes[..len]).expect_err("it is cut");
        let (layer, offset) = match len {
            0..14 => (Layer::Ethernet, 0),
            14..16 => (Layer::Vlan, 12),
            16..18 => (Layer::Ethernet, 16),
            18..UDP => (Layer::Ipv4, IP),
            UDP..BTH => (Layer::Udp, UDP),
            _ => (Layer::Ipv4, IP),
        };
        assert_eq!((error.layer(), error.offset()), (layer, offset), "{len}");
        assert!(matches!(error, ParseError::Truncated { .. }), "{error}");
    }
    assert!(Frame::parse(&bytes).is_ok());
}

#[test]
fn a_packet_too_short_for_its_opcode_is_cut() {
    let mut bytes = send();
    bytes[BTH] = Opcode::RcRdmaWriteOnly.into();
    let reth = ParseError::Truncated { layer: Layer::Reth, needed: 16, had: 12, offset: BTH + 12 };
    assert_eq!(Frame::parse(&bytes), Err(reth));
    bytes[BTH] = Opcode::UdSendOnlyWithImmediate.into();
    let icrc = ParseError::Truncated { layer: Layer::Icrc, needed: 4, had: 0, offset: BTH + 24 };
    assert_eq!(Frame::parse(&bytes), Err(icrc));
}

#[test]
fn contradictory_lengths_are_refused() {
    let check = |at: usize, value: u8, layer: Layer, field: &'static str, offset: usize| {
        let mut bytes = send();
        bytes[at] = value;
        let error = Frame::parse(&bytes).expect_err("a contradiction");
        let found = ParseError::Field { layer, field, value: value.into(), offset };
        assert_eq!(error, found);
    };
    check(IP + 3, 19, Layer::Ipv4, "total length", IP);
    check(UDP + 5, 31, Layer::Udp, "length", UDP);
    check(IP, 0x60, Layer::Ipv4, "version and IHL", IP);

    let mut bytes = send();
    bytes[BTH] = Opcode::XrcRdmaReadResponseOnly.into();
    bytes[BTH + 1] = 0x30;
    assert!(Frame::parse(&bytes).is_ok());
    bytes[BTH] = Opcode::UdSendOnly.into();
    let error = ParseError::Field { layer: Layer::Bth, field: "pad count", value: 3, offset: BTH };
    assert_eq!(Frame::parse(&bytes), Err(error));
}

#[test]
fn foreign_frames_are_kept_whole() {
    let other_port = (UDP + 2, 0);
    let tcp = (IP + 9, 6);
    let later_fragment = (IP + 7, 1);
    let more_fragments = (IP + 6, 0x20);
    let options = (IP, 0x46);
    let arp = (IP - 1, 0x06);
    for (at, value) in [other_port, tcp, later_fragment, more_fragments, options, arp] {
        let mut bytes = send();
        bytes[at] = value;
        let frame = Frame::parse(&bytes).unwrap();
        assert_eq!(frame.body, Body::Other(&bytes[IP..]));
        assert!(!frame.icrc_ok());
        assert_eq!(bytes_of(&frame), bytes);
    }
}

#[test]
fn a_third_tag_is_not_looked_behind() {
    let tags = [0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 0x81, 0, 0, 3, 0x08, 0];
    let bytes = [[0_u8; 12].as_slice(), &tags].concat();
    let frame = Frame::parse(&bytes).unwrap();
    let service = VlanTag { tpid: EtherType::SERVICE_VLAN, ..VlanTag::new(0, 1) };
    assert_eq!(frame.vlan, [Some(service), Some(VlanTag::new(0, 2))]);
    assert_eq!(frame.ethernet.ether_type, EtherType::VLAN);
    assert_eq!(frame.body, Body::Other(&[0, 3, 8, 0]));
    assert_eq!(bytes_of(&frame), bytes);
}

#[test]
fn other_mac_control_is_foreign() {
    let bytes = [[0_u8; 12].as_slice(), &[0x88, 0x08, 0x01, 0x02, 9]].concat();
    assert_eq!(Frame::parse(&bytes).unwrap().body, Body::Other(&[1, 2, 9]));
    let error = ParseError::Truncated { layer: Layer::MacControl, needed: 2, had: 1, offset: 14 };
    assert_eq!(Frame::parse(&bytes[..15]), Err(error));
}

/// An end station may tag its data frames, so that it can assign a message to a flow.
#[test]
fn a_congestion_tag_hides_nothing() {
    let plain = send();
    let tagged = [&plain[..IP - 2], &[0x22, 0xe9, 0x12, 0x34], &plain[IP - 2..]].concat();
    let frame = Frame::parse(&tagged).unwrap();
    assert_eq!(frame.cn_tag, Some(CnTag { flow_id: 0x1234 }));
    assert_eq!(frame.ethernet.ether_type, EtherType::IPV4);
    assert_eq!(frame.body, Frame::parse(&plain).unwrap().body);
    assert!(frame.icrc_ok());
    assert!(frame.to_string().contains("vlan 7, p 3, CN-TAG flow 4660, IP 10.0.0.1"), "{frame}");
    assert_eq!(bytes_of(&frame), tagged);
    let error = Frame::parse(&tagged[..IP]).unwrap_err();
    assert_eq!((error.layer(), error.offset()), (Layer::CnTag, IP - 2));
}

#[test]
fn a_congestion_message_holds_the_start_of_a_frame() {
    let cnm = Cnm { quantized_feedback: 9, encapsulated_msdu_len: 3, ..Cnm::default() };
    let addresses = [2_u8; 12];
    let tags = [0x81, 0, 0x60, 7, 0x22, 0xe9, 0, 5, 0x22, 0xe7];
    let bytes = [&addresses, tags.as_slice(), &cnm.to_bytes(), b"abc", &[0; 11]].concat();
    let frame = Frame::parse(&bytes).unwrap();
    assert_eq!((frame.proto(), frame.cn_tag), ("qcn", Some(CnTag { flow_id: 5 })));
    assert_eq!(frame.body, Body::Cnm { cnm, msdu: b"abc" });
    assert_eq!(frame.padding, [0; 11]);
    assert_eq!(bytes_of(&frame), bytes);
    let start = addresses.len() + tags.len();
    let cut = ParseError::Truncated { layer: Layer::Cnm, needed: 27, had: 26, offset: start };
    assert_eq!(Frame::parse(&bytes[..start + 26]), Err(cut));
}

#[test]
fn an_fcs_needs_four_bytes() {
    let error = ParseError::Truncated { layer: Layer::Fcs, needed: 4, had: 3, offset: 0 };
    assert_eq!(Frame::parse_with_fcs(&[0; 3]), Err(error));
    let mut bytes = bytes_of(&Frame::parse(&send()).unwrap().with_fcs());
    assert_eq!(Frame::parse_with_fcs(&bytes).unwrap().fcs_ok(), Some(true));
    bytes[3] ^= 1;
    let frame = Frame::parse_with_fcs(&bytes).unwrap();
    assert_eq!(frame.fcs_ok(), Some(false));
    assert_eq!(frame.ethernet.destination, MacAddress([0, 0, 0, 1, 0, 0]));
    assert_eq!(bytes_of(&frame), bytes);
}

#[test]
fn wrong_crcs_show() {
    let mut bytes = bytes_of(&Frame::parse(&send()).unwrap().with_fcs());
    bytes[BTH + 12] ^= 1;
    let text = Frame::parse_with_fcs(&bytes).unwrap().to_string();
    assert!(text.ends_with("payload 6, bad ICRC, bad FCS"), "{text}");
}

#[test]
fn odd_pad_bytes_and_padding_come_back() {
    let mut bytes = send();
    let pad_at = bytes.len() - 6;
    bytes[pad_at..pad_at + 2].copy_from_slice(&[0xaa, 0xbb]);
    bytes.extend([1, 2, 3]);
    let frame = Frame::parse(&bytes).unwrap();
    assert_eq!(frame.roce().unwrap().pad, [0xaa, 0xbb]);
    assert_eq!(frame.padding, [1, 2, 3]);
    assert!(!frame.icrc_ok());
    assert_eq!(bytes_of(&frame), bytes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_parses_comes_back(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        len: prop::sample::Index,
        cut: bool,
    ) {
        let mut bytes = send();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if cut {
            bytes.truncate(len.index(bytes.len()));
        }
        for frame in [Frame::parse(&bytes), Frame::parse_with_fcs(&bytes)].into_iter().flatten() {
            prop_assert_eq!(bytes_of(&frame), bytes.as_slice());
        }
    }
}
