//! Frames as the vector files describe them.

use std::fmt::Write as _;
use std::net::Ipv6Addr;

use rocelab_wire::{
    Aeth, Body, Bth, Cnm, EtherType, Frame, Grh, Ipv4, Ipv6, NakCode, Network, Roce, Syndrome, Udp,
    VlanTag,
};
use serde_json::{Map, Value, json};

/// Lower-case hexadecimal digits of `bytes`.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes of hexadecimal digits.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().map(|c| hex_digit(c).expect("a hex digit")).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn hex_digit(c: char) -> Option<u8> {
    c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Longest payload that is in the vector files as bytes; of longer ones there is only the SHA-256.
const LONGEST_SHOWN_PAYLOAD: usize = 128;

/// All headers of a frame, with the names of the vector files.
pub(crate) fn describe(frame: &Frame<'_>) -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |key: &str, value: Value| all.insert(key.into(), value);
    put(
        "eth",
        json!({
            "dst": frame.ethernet.destination.to_string(),
            "src": frame.ethernet.source.to_string(),
            "ethertype": first_ether_type(frame).to_string(),
        }),
    );
    let tags: Vec<Value> = frame.vlan.iter().flatten().map(vlan).collect();
    if !tags.is_empty() {
        put("vlan", tags.into());
    }
    if let Some(tag) = frame.cn_tag {
        put("cn_tag", json!({ "flow_id": tag.flow_id }));
    }
    match &frame.body {
        Body::Roce(packet) => all.extend(roce(packet)),
        Body::Pause(pause) => {
            put("mac_control", json!({ "opcode": "0x0001", "pause_quanta": pause.quanta }));
        }
        Body::Pfc(pfc) => {
            let vector = u16::from_be_bytes([pfc.reserved, pfc.class_enable_vector]);
            let quanta = pfc.quanta;
            put(
                "mac_control",
                json!({ "opcode": "0x0101", "class_enable_vector": vector, "quanta": quanta }),
            );
        }
        Body::Cnm { cnm: message, msdu } => {
            put("cnm", cnm(message, msdu));
        }
        Body::Other(_) => {}
    }
    all
}

/// Rewrites the IPv6 addresses of a vector in Rust's form.
pub(crate) fn normalise(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Ok(address) = text.parse::<Ipv6Addr>() {
                *text = address.to_string();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(normalise),
        Value::Object(map) => map.values_mut().for_each(normalise),
        _ => {}
    }
}

/// For the vector files, a congestion notification tag is what follows the 802.1Q tags.
fn first_ether_type(frame: &Frame<'_>) -> EtherType {
    if frame.cn_tag.is_some() { EtherType::CN_TAG } else { frame.ethernet.ether_type }
}

fn cnm(header: &Cnm, msdu: &[u8]) -> Value {
    json!({
        "version": header.version,
        "reserved": header.resv6,
        "qntz_fb": header.quantized_feedback,
        "cpid": format!("{:016x}", header.cpid),
        "qoffset": header.q_offset,
        "qdelta": header.q_delta,
        "encap_priority": header.encapsulated_priority,
        "encap_dst_mac": header.encapsulated_destination.to_string(),
        "encap_msdu_len": header.encapsulated_msdu_len,
        "encap_msdu_hex": hex(msdu),
    })
}

fn vlan(tag: &VlanTag) -> Value {
    json!({
        "tpid": tag.tpid.to_string(),
        "pcp": tag.pcp,
        "dei": u8::from(tag.dei),
        "vid": tag.vid,
    })
}

fn roce(packet: &Roce<'_>) -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |key: &str, value: Value| all.insert(key.into(), value);
    match &packet.network {
        Network::V1 { grh: header } => {
            put("grh", grh(header));
        }
        Network::V2Ipv4 { ip, udp: header } => {
            put("ipv4", ipv4(ip));
            put("udp", udp(header));
        }
        Network::V2Ipv6 { ip, udp: header } => {
            put("ipv6", ipv6(ip));
            put("udp", udp(header));
        }
    }
    put("bth", bth(&packet.bth));
    put("payload_len", packet.payload.len().into());
    if !packet.payload.is_empty() && packet.payload.len() <= LONGEST_SHOWN_PAYLOAD {
        put("payload_hex", hex(packet.payload).into());
    }
    if !packet.pad.is_empty() {
        put("pad_hex", hex(packet.pad).into());
    }
    put("icrc_wire_hex", hex(&rocelab_wire::crc_to_wire(packet.icrc)).into());
    put("icrc_u32", format!("{:#010x}", packet.icrc).into());
    all.extend(extensions(packet));
    all
}

fn extensions(packet: &Roce<'_>) -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            all.insert(key.into(), value);
        }
    };
    let headers = &packet.extensions;
    put("deth", headers.deth.map(|h| json!({ "qkey": h.q_key, "src_qp": h.src_qp })));
    put("xrceth", headers.xrceth.map(|h| json!({ "xrcsrq": h.xrc_srq })));
    put(
        "reth",
        headers.reth.map(|h| {
            let va = format!("{:#018x}", h.virtual_address);
            json!({ "va": va, "rkey": h.r_key, "dma_len": h.dma_length })
        }),
    );
    put(
        "atomiceth",
        headers.atomic_eth.map(|h| {
            json!({
                "va": format!("{:#018x}", h.virtual_address),
                "rkey": h.r_key,
                "swap_or_add": format!("{:#018x}", h.swap_or_add),
                "compare": format!("{:#018x}", h.compare),
            })
        }),
    );
    put("aeth", headers.aeth.as_ref().map(aeth));
    put(
        "atomicacketh",
        headers
            .atomic_ack_eth
            .map(|h| json!({ "orig": format!("{:#018x}", h.original_remote_data) })),
    );
    put("immdt", headers.imm_dt.map(|h| format!("{:#010x}", h.0).into()));
    put("ieth", headers.ieth.map(|h| format!("{:#010x}", h.r_key).into()));
    put("cnp_reserved_hex", headers.cnp.map(|h| hex(&h.reserved).into()));
    all
}

fn aeth(header: &Aeth) -> Value {
    let mut value = json!({ "syndrome": header.syndrome.to_u8(), "msn": header.msn });
    match header.syndrome {
        Syndrome::Ack { credit_code } => {
            value["kind"] = "ACK".into();
            value["credit"] = credit_code.into();
        }
        Syndrome::RnrNak { timer_code } => {
            value["kind"] = "RNR_NAK".into();
            value["rnr_timer"] = timer_code.into();
        }
        Syndrome::Nak(code) => {
            value["kind"] = "NAK".into();
            value["nak_code"] = (code as u8).into();
            value["nak_name"] = nak_name(code).into();
        }
        Syndrome::Reserved(_) => {}
    }
    value
}

fn nak_name(code: NakCode) -> String {
    code.to_string().to_uppercase().replace(' ', "_")
}

fn grh(header: &Grh) -> Value {
    json!({
        "ip_version": header.ip_version,
        "traffic_class": header.traffic_class,
        "flow_label": header.flow_label,
        "payload_len": header.pay_len,
        "next_header": header.next_header,
        "hop_limit": header.hop_limit,
        "sgid": header.sgid.to_string(),
        "dgid": header.dgid.to_string(),
        "sgid_hex": hex(&header.sgid.0),
        "dgid_hex": hex(&header.dgid.0),
    })
}

fn ipv4(header: &Ipv4) -> Value {
    json!({
        "ihl": 5,
        "dscp": header.dscp,
        "ecn": header.ecn as u8,
        "total_len": header.total_len,
        "id": header.identification,
        "df": u8::from(header.dont_fragment),
        "mf": u8::from(header.more_fragments),
        "frag_off": header.fragment_offset,
        "ttl": header.time_to_live,
        "protocol": header.protocol,
        "checksum": format!("{:#06x}", header.header_checksum),
        "src": header.source.to_string(),
        "dst": header.destination.to_string(),
    })
}

fn ipv6(header: &Ipv6) -> Value {
    json!({
        "dscp": header.dscp,
        "ecn": header.ecn as u8,
        "flow_label": header.flow_label,
        "payload_len": header.payload_len,
        "next_header": header.next_header,
        "hop_limit": header.hop_limit,
        "src": header.source.to_string(),
        "dst": header.destination.to_string(),
    })
}

fn udp(header: &Udp) -> Value {
    json!({
        "src_port": header.source_port,
        "dst_port": header.destination_port,
        "length": header.length,
        "checksum": format!("{:#06x}", header.checksum),
    })
}

fn bth(header: &Bth) -> Value {
    json!({
        "opcode": header.opcode,
        "opcode_name": header.opcode().map(|opcode| opcode.name()),
        "se": u8::from(header.solicited_event),
        "migreq": u8::from(header.migreq),
        "pad_count": header.pad_count,
        "tver": header.transport_version,
        "pkey": header.p_key,
        "fecn": u8::from(header.fecn),
        "becn": u8::from(header.becn),
        "resv6": header.resv6,
        "dest_qp": header.dest_qp,
        "ack_req": u8::from(header.ack_req),
        "resv7": header.resv7,
        "psn": header.psn,
    })
}
