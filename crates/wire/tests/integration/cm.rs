//! CM frames of Soft-RoCE: their fields as Wireshark sees them, their bytes, their ICRC.
//!
//! `data/cm` holds captures of two Linux hosts (Soft-RoCE, kernel 6.1) and Wireshark's description
//! of six frames of another one of their connections.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use rocelab_wire::cm::{
    AnsweredMessage, CmAttribute, CmMessage, CmPath, CmaHeader, Drep, Dreq, GSI_QPN, Mad, Mra, Rep,
    Req, Rtu, TCP_PORT_SPACE, service_id,
};
use rocelab_wire::{
    Bth, Deth, Encapsulation, Extensions, Frame, Gid, Opcode, Roce, RoceFrame, crc_to_wire,
};

use crate::cm_described::describe;
use crate::described::hex;

const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cm");
const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
const SHARED_FOLDERS: [&str; 2] = ["soft-roce/captures", "vectors"];

#[test]
fn own_captures() {
    let counts = check_folder(Path::new(OWN));
    let expected = [("DREP", 10), ("DREQ", 16), ("REJ", 1), ("REP", 16), ("REQ", 15), ("RTU", 14)];
    assert_eq!(counts, expected.into_iter().collect());
}

#[test]
fn shared_captures() {
    let mut all: BTreeMap<&str, usize> = BTreeMap::new();
    for folder in SHARED_FOLDERS {
        let path = Path::new(SHARED).join(folder);
        if !path.is_dir() {
            println!("skipped: there is no {folder} beside the repository");
            return;
        }
        for (name, count) in check_folder(&path) {
            *all.entry(name).or_default() += count;
        }
    }
    println!("CM messages in the shared captures: {all:?}");
    let kinds = ["DREP", "DREQ", "REJ", "REP", "REQ", "RTU", "SIDR_REP", "SIDR_REQ"];
    assert!(kinds.iter().all(|kind| all.contains_key(kind)), "{all:?}");
}

/// Every CM message of the captures in a folder is known and is emitted unchanged; returns their
/// numbers by name.
fn check_folder(folder: &Path) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for path in captures(folder) {
        for bytes in frames(&path) {
            let Some(packet) = gsi_packet(&bytes) else { continue };
            let mad = Mad::parse(packet.payload).expect("a whole MAD");
            assert_eq!(hex(&mad.to_bytes()), hex(packet.payload), "{}", path.display());
            let name = mad.message.attribute().expect("a known message").name();
            assert_eq!(mad.header.cm_attribute().map(CmAttribute::name), Some(name));
            *counts.entry(name).or_default() += 1;
        }
    }
    counts
}

#[test]
fn fields_are_those_that_tshark_shows() {
    let known = Command::new("tshark").arg("--version").output();
    if known.is_err() {
        println!("skipped: there is no tshark");
        return;
    }
    let mut paths = captures(Path::new(OWN));
    paths.extend(captures(&Path::new(SHARED).join(SHARED_FOLDERS[0])));
    let mut compared = 0;
    for path in paths {
        let frames = frames(&path);
        let packets: Vec<Roce<'_>> = frames.iter().filter_map(|bytes| gsi_packet(bytes)).collect();
        if packets.is_empty() {
            continue;
        }
        let text = Command::new("tshark")
            .args(["-n", "-V", "-Y", "infiniband.deth.srcqp == 1", "-r"])
            .arg(&path)
            .output()
            .expect("tshark runs");
        let described = described_frames(&String::from_utf8_lossy(&text.stdout));
        assert_eq!(described.len(), packets.len(), "{}", path.display());
        for (packet, expected) in packets.iter().zip(described) {
            let mad = Mad::parse(packet.payload).expect("a whole MAD");
            assert_eq!(describe(&mad), expected.fields, "{}: {mad}", path.display());
            assert_eq!(hex(&crc_to_wire(packet.icrc)), expected.icrc);
            compared += 1;
        }
    }
    println!("{compared} CM frames described as tshark does");
    assert!(compared >= 72);
}

/// Builds the described frames from scratch. Their ICRC is the one that Linux computed, so every
/// byte is right, including those that Wireshark does not show.
#[test]
fn described_frames_are_built() {
    let text = std::fs::read_to_string(format!("{OWN}/decoded.txt")).expect("a readable file");
    let described = described_frames(&text);
    let header = cma_header();
    let built = [
        (ACTIVE, 8_205, 34, Mad::new(TRANSACTION, CmMessage::Req(req(&header)))),
        (PASSIVE, 47_955, 24, Mad::new(TRANSACTION, CmMessage::Mra(MRA))),
        (PASSIVE, 47_961, 25, Mad::new(TRANSACTION, CmMessage::Rep(REP))),
        (ACTIVE, 8_211, 35, Mad::new(TRANSACTION, CmMessage::Rtu(RTU))),
        (ACTIVE, 8_222, 36, Mad::new(TRANSACTION, CmMessage::Dreq(DREQ))),
        (PASSIVE, 47_973, 26, Mad::new(TRANSACTION, CmMessage::Drep(DREP))),
    ];
    assert_eq!(described.len(), built.len());
    for ((source, identification, psn, mad), expected) in built.into_iter().zip(described) {
        let payload = mad.to_bytes();
        let read = Mad::parse(&payload).expect("a whole MAD");
        assert_eq!(describe(&read), expected.fields);
        let frame = frame(source, identification, psn, &payload);
        let packet = frame.to_frame().expect("a valid frame");
        assert_eq!(hex(&crc_to_wire(packet.roce().unwrap().icrc)), expected.icrc, "{mad}");
    }
}

const ACTIVE: [u8; 4] = [10, 0, 0, 2];
const PASSIVE: [u8; 4] = [10, 0, 0, 1];
const TRANSACTION: u64 = 0x2_4c0f_f1c3;
const ACTIVE_ID: u32 = 0xc3f1_0f4c;
const PASSIVE_ID: u32 = 0xe603_b729;

fn cma_header() -> [u8; CmaHeader::LEN] {
    CmaHeader::between(0x9cc2, Gid::from_ipv4(ACTIVE), Gid::from_ipv4(PASSIVE)).to_bytes()
}

fn req(private_data: &[u8]) -> Req<'_> {
    Req {
        local_communication_id: ACTIVE_ID,
        service_id: service_id(TCP_PORT_SPACE, 7174),
        local_ca_guid: 0x5054_00ff_fe00_0002,
        local_qpn: 0x23,
        responder_resources: 1,
        initiator_depth: 1,
        remote_cm_response_timeout: 20,
        starting_psn: 0xe5_6135,
        local_cm_response_timeout: 20,
        retry_count: 7,
        p_key: 0xffff,
        path_mtu: 3,
        rnr_retry_count: 7,
        max_cm_retries: 15,
        primary_path: CmPath {
            local_lid: CmPath::PERMISSIVE_LID,
            remote_lid: CmPath::PERMISSIVE_LID,
            local_gid: Gid::from_ipv4(ACTIVE),
            remote_gid: Gid::from_ipv4(PASSIVE),
            // Found by trying which label gives the ICRC: the description has only 0x317.
            flow_label: 0x31784,
            hop_limit: 64,
            local_ack_timeout: 19,
            ..CmPath::default()
        },
        private_data,
        ..Req::default()
    }
}

const MRA: Mra<'_> = Mra {
    local_communication_id: PASSIVE_ID,
    remote_communication_id: ACTIVE_ID,
    message: AnsweredMessage::Req,
    resv6: 0,
    service_timeout: 24,
    resv3: 0,
    private_data: &[],
};

const REP: Rep<'_> = Rep {
    local_communication_id: PASSIVE_ID,
    remote_communication_id: ACTIVE_ID,
    local_q_key: 0,
    local_qpn: 0x20,
    resv15: 0,
    local_eecn: 0,
    resv19: 0,
    starting_psn: 0x90_8985,
    resv23: 0,
    responder_resources: 1,
    initiator_depth: 1,
    target_ack_delay: 15,
    failover_accepted: 0,
    end_to_end_flow_control: false,
    rnr_retry_count: 7,
    srq: false,
    resv4: 0,
    local_ca_guid: 0x5054_00ff_fe00_0001,
    private_data: &[],
};

const RTU: Rtu<'_> = Rtu {
    local_communication_id: ACTIVE_ID,
    remote_communication_id: PASSIVE_ID,
    private_data: &[],
};

const DREQ: Dreq<'_> = Dreq {
    local_communication_id: ACTIVE_ID,
    remote_communication_id: PASSIVE_ID,
    remote_qpn: 0x20,
    resv11: 0,
    private_data: &[],
};

const DREP: Drep<'_> = Drep {
    local_communication_id: PASSIVE_ID,
    remote_communication_id: ACTIVE_ID,
    private_data: &[],
};

/// A frame as Soft-RoCE sends its MADs.
fn frame(source: [u8; 4], identification: u16, psn: u32, payload: &[u8]) -> RoceFrame<'_> {
    let destination = if source == ACTIVE { PASSIVE } else { ACTIVE };
    let deth = Deth { q_key: Deth::GSI_Q_KEY, resv8: 0, src_qp: GSI_QPN };
    let bth = Bth { ack_req: true, ..Bth::new(Opcode::UdSendOnly, GSI_QPN, psn) };
    RoceFrame {
        sgid: Gid::from_ipv4(source),
        dgid: Gid::from_ipv4(destination),
        identification,
        udp_source_port: 55_410,
        extensions: Extensions { deth: Some(deth), ..Extensions::NONE },
        payload,
        ..RoceFrame::new(Encapsulation::V2Ipv4, bth)
    }
}

/// Wireshark's description of a frame.
struct Described {
    /// `name: value` of all fields of MAD and message.
    fields: Vec<String>,
    /// The four bytes of the ICRC in hexadecimal.
    icrc: String,
}

/// The frames of a text of `tshark -V`.
fn described_frames(text: &str) -> Vec<Described> {
    let mut frames = Vec::new();
    let mut fields: Option<Vec<String>> = None;
    for line in text.lines().map(str::trim) {
        if line.starts_with("MAD Header") {
            fields = Some(Vec::new());
        } else if let Some(icrc) = line.strip_prefix("Invariant CRC: 0x") {
            frames.extend(fields.take().map(|fields| Described { fields, icrc: icrc.into() }));
        } else if let Some(fields) = &mut fields
            && line.contains(": ")
        {
            // `1010 0... = Retry Count: 0x7`: the part with the bits is not compared.
            let field = line.split_once(" = ").map_or(line, |(_, field)| field);
            fields.push(field.into());
        }
    }
    frames
}

/// The packet of a frame that goes to queue pair 1.
fn gsi_packet(bytes: &[u8]) -> Option<Roce<'_>> {
    let frame = Frame::parse(bytes).expect("a whole frame");
    let packet = *frame.roce()?;
    let deth = packet.extensions.deth?;
    let is_gsi = packet.bth.dest_qp == GSI_QPN && deth.q_key == Deth::GSI_Q_KEY;
    is_gsi.then_some(packet)
}

fn captures(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pcap"))
        .collect();
    paths.sort();
    paths
}

/// The frames of a little-endian pcap file with Ethernet frames, as all of these are.
fn frames(path: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).expect("a readable file");
    let mut rest = &bytes[24..];
    let mut frames = Vec::new();
    while let Some((record, data)) = rest.split_first_chunk::<16>() {
        let len = u32::from_le_bytes([record[8], record[9], record[10], record[11]]);
        let (frame, behind) = data.split_at(usize::try_from(len).expect("a length"));
        frames.push(frame.to_vec());
        rest = behind;
    }
    frames
}
