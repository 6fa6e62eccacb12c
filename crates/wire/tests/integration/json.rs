//! Frames as JSON.

use rocelab_wire::cm::{CmMessage, Mad, Rtu};
use rocelab_wire::{
    Aeth, AtomicEth, Body, Bth, CnTag, Cnm, Encapsulation, EtherType, Ethernet, Extensions,
    FlowControlPacket, Frame, Gid, InfiniBandPacket, Lrh, MacAddress, NakCode, Opcode, Pfc, Reth,
    RoceFrame, Sack, Syndrome, TelemetryHeader, TelemetryKind, VlanTag,
};
use serde_json::{Value, json};

use crate::vectors::own_frames;

fn write() -> RoceFrame<'static> {
    let reth = Reth { virtual_address: 0xffff_ffff_ffff_f000, r_key: 7, dma_length: 5 };
    RoceFrame {
        vlan: Some(VlanTag::new(3, 7)),
        sgid: Gid::from_ipv4([10, 0, 0, 1]),
        dgid: Gid::from_ipv4([10, 0, 0, 2]),
        extensions: Extensions { reth: Some(reth), ..Extensions::NONE },
        payload: b"hello",
        ..RoceFrame::new(
            Encapsulation::V2Ipv4,
            Bth { ack_req: true, ..Bth::new(Opcode::RcRdmaWriteOnly, 0x11, 100) },
        )
    }
}

fn json_of(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("nothing in it that JSON cannot say")
}

#[test]
fn a_frame_is_one_flat_object() {
    let write = write();
    let frame = write.to_frame().unwrap();
    let expected = json!({
        "proto": "roce_v2_ipv4",
        "ethernet": {
            "destination": "00:00:00:00:00:00",
            "source": "00:00:00:00:00:00",
            "ether_type": "0x0800",
        },
        "vlan": [{ "tpid": "0x8100", "pcp": 3, "dei": false, "vid": 7 }],
        "ipv4": {
            "dscp": 0,
            "ecn": "Not-ECT",
            "total_len": 68,
            "identification": 0,
            "reserved_flag": false,
            "dont_fragment": true,
            "more_fragments": false,
            "fragment_offset": 0,
            "time_to_live": 64,
            "protocol": 17,
            "header_checksum": 0x26a7,
            "source": "10.0.0.1",
            "destination": "10.0.0.2",
        },
        "udp": { "source_port": 49152, "destination_port": 4791, "length": 48, "checksum": 0 },
        "bth": {
            "opcode": "RC_RDMA_WRITE_ONLY",
            "solicited_event": false,
            "migreq": false,
            "pad_count": 3,
            "transport_version": 0,
            "p_key": 65535,
            "fecn": false,
            "becn": false,
            "resv6": 0,
            "dest_qp": 17,
            "ack_req": true,
            "resv7": 0,
            "psn": 100,
        },
        "reth": { "virtual_address": "0xfffffffffffff000", "r_key": 7, "dma_length": 5 },
        "payload_len": 5,
        "icrc": "ok",
        "padding_len": 0,
        "fcs": "absent",
    });
    assert_eq!(json_of(&frame), expected);
    assert_eq!(json_of(&frame.with_fcs())["fcs"], "ok");
    assert_eq!(json_of(&Frame { fcs: Some(0), ..frame })["fcs"], "bad");
    let text = serde_json::to_string(&frame).unwrap();
    assert!(text.starts_with(r#"{"proto":"roce_v2_ipv4","ethernet":"#), "in order: {text}");
}

#[test]
fn extension_headers_have_their_fields() {
    let check = |extensions: Extensions, expected: Value| {
        assert_eq!(json_of(&extensions), expected);
    };
    let nak = Aeth { syndrome: Syndrome::Nak(NakCode::RemoteAccessError), msn: 4 };
    check(
        Extensions { aeth: Some(nak), sack: Some(Sack::new(9, 5)), ..Extensions::NONE },
        json!({
            "aeth": { "syndrome": 0x62, "meaning": "NAK remote access error", "msn": 4 },
            "sack": { "resv8": 0, "first": 9, "arrived": "0x0000000000000005" },
        }),
    );
    let atomic = AtomicEth { virtual_address: 8, r_key: 9, swap_or_add: 1, compare: u64::MAX };
    check(
        Extensions {
            telemetry: Some(TelemetryHeader::Pint(7)),
            atomic_eth: Some(atomic),
            ..Extensions::NONE
        },
        json!({
            "telemetry": { "pint": 7 },
            "atomic_eth": {
                "virtual_address": "0x0000000000000008",
                "r_key": 9,
                "swap_or_add": "0x0000000000000001",
                "compare": "0xffffffffffffffff",
            },
        }),
    );
    check(
        Extensions {
            telemetry: Some(TelemetryHeader::empty(TelemetryKind::Int)),
            ..Extensions::NONE
        },
        json!({ "telemetry": { "int": [] } }),
    );
}

#[test]
fn opcodes_without_a_name_are_digits() {
    let bth = Bth { opcode: 0xc4, ..Bth::new(Opcode::RcSendOnly, 1, 2) };
    assert_eq!(json_of(&bth)["opcode"], "0xc4");
    assert_eq!(json_of(&Opcode::XrcFetchAdd), "XRC_FETCH_ADD");
}

#[test]
fn flow_control_and_others() {
    let source = MacAddress([2, 0, 0, 0, 0, 1]);
    let pfc = json_of(&Pfc::uniform(0b1000, 9).to_frame(source));
    assert_eq!((&pfc["proto"], &pfc["padding_len"]), (&json!("pfc"), &json!(26)));
    let quanta = [0, 0, 0, 9, 0, 0, 0, 0];
    let expected = json!({ "reserved": 0, "class_enable_vector": 8, "quanta": quanta });
    assert_eq!(pfc["pfc"], expected);

    let cnm = Cnm { cpid: 1, q_offset: -5, encapsulated_msdu_len: 2, ..Cnm::default() };
    let qcn = Frame {
        ethernet: Ethernet { ether_type: EtherType::CNM, ..Ethernet::default() },
        cn_tag: Some(CnTag { flow_id: 6 }),
        body: Body::Cnm { cnm, msdu: &[1, 2] },
        ..Pfc::default().to_frame(source)
    };
    let qcn = json_of(&qcn);
    assert_eq!((&qcn["proto"], &qcn["cn_tag"]["flow_id"]), (&json!("qcn"), &json!(6)));
    assert_eq!(
        (&qcn["cnm"]["cpid"], &qcn["cnm"]["q_offset"]),
        (&json!("0x0000000000000001"), &json!(-5))
    );
    assert_eq!(qcn["msdu_len"], 2);

    let other = json_of(&Frame::parse(&[0; 17]).unwrap());
    assert_eq!((&other["proto"], &other["other_len"]), (&json!("other"), &json!(3)));
}

#[test]
fn native_packets_too() {
    let bth = Bth::new(Opcode::RcSendOnly, 1, 2);
    let lrh = Lrh { slid: 5, ..Lrh::default() };
    let packet = InfiniBandPacket::build(lrh, None, bth, Extensions::NONE, b"four").unwrap();
    let json = json_of(&packet);
    assert_eq!((&json["proto"], &json["lrh"]["slid"]), (&json!("infiniband"), &json!(5)));
    assert_eq!((&json["bth"]["opcode"], &json["payload_len"]), (&json!("RC_SEND_ONLY"), &json!(4)));
    assert_eq!(
        (&json["icrc"], &json["vcrc"], json.get("grh")),
        (&json!("ok"), &json!("absent"), None)
    );
    assert_eq!(json_of(&packet.with_vcrc())["vcrc"], "ok");
    let credits = FlowControlPacket::new(FlowControlPacket::OP_INIT, 3, 100, 228);
    let expected = json!({
        "proto": "infiniband_link",
        "flow_control": { "op": 1, "fctbs": 100, "vl": 3, "fccl": 228 },
        "lpcrc": "ok",
    });
    assert_eq!(json_of(&credits), expected);
    assert_eq!(json_of(&FlowControlPacket { lpcrc: 0, ..credits })["lpcrc"], "bad");
}

#[test]
fn management_datagrams_too() {
    let rtu =
        Rtu { local_communication_id: 7, remote_communication_id: 9, private_data: &[0xab, 1] };
    let mad = json_of(&Mad::new(0x2_0000_0007, CmMessage::Rtu(rtu)));
    assert_eq!(mad["header"]["transaction_id"], "0x0000000200000007");
    let expected = json!({
        "rtu": { "local_communication_id": 7, "remote_communication_id": 9, "private_data": "ab01" },
    });
    assert_eq!(mad["message"], expected);
    let other = json_of(&CmMessage::Other(&[0, 0xff]));
    assert_eq!(other, json!({ "other": "00ff" }));
}

/// For any frame, its JSON has the values of its fields.
#[test]
fn every_own_frame_has_its_headers() {
    for bytes in own_frames() {
        let frame = Frame::parse(&bytes).unwrap();
        let json = json_of(&frame);
        assert_eq!(json["proto"], frame.proto());
        let Some(packet) = frame.roce() else { continue };
        assert_eq!(json["bth"]["psn"], packet.bth.psn, "{frame}");
        let headers = &packet.extensions;
        let present = [
            ("deth", headers.deth.is_some()),
            ("xrceth", headers.xrceth.is_some()),
            ("reth", headers.reth.is_some()),
            ("atomic_eth", headers.atomic_eth.is_some()),
            ("aeth", headers.aeth.is_some()),
            ("atomic_ack_eth", headers.atomic_ack_eth.is_some()),
            ("imm_dt", headers.imm_dt.is_some()),
            ("ieth", headers.ieth.is_some()),
            ("cnp", headers.cnp.is_some()),
        ];
        for (key, present) in present {
            assert_eq!(json.get(key).is_some(), present, "{key} of {frame}");
        }
    }
}
