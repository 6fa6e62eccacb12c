//! `docs/headers.md` has every field that `rocelab pcap decode --json` prints, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rocelab_capture::{
    CaptureReader, CaptureWriter, Decoded, Direction, Format, Interface, LinkType, Verifier,
};
use rocelab_units::{Bandwidth, SimTime};
use rocelab_wire::cm::{CmMessage, Drep, Dreq, Mad, Mra, Rej, Rep, Req, Rtu, SidrRep, SidrReq};
use rocelab_wire::{
    Body, Bth, CnTag, Cnm, Deth, Encapsulation, EtherType, Ethernet, Extensions, Frame, Gid,
    MacAddress, Opcode, Pause, Pfc, RoceFrame, TelemetryHeader, TelemetryKind, VlanTag,
};
use serde_json::Value;

/// Columns of a table of fields.
const COLUMNS: usize = 7;

/// The longest list of extension headers.
const EXTENSION_BYTES: [u8; 64] = [0; 64];

fn page() -> String {
    fs::read_to_string(folder().join("headers.md")).expect("the page")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn bytes_of(frame: &Frame<'_>) -> Vec<u8> {
    let mut bytes = vec![0; frame.wire_len()];
    frame.emit(&mut bytes).expect("room");
    bytes
}

/// A packet of RoCE, tagged, from one host to another.
fn packet(
    encapsulation: Encapsulation,
    bth: Bth,
    extensions: Extensions,
    payload: &[u8],
) -> Vec<u8> {
    let sender = RoceFrame {
        vlan: Some(VlanTag::new(3, 7)),
        sgid: Gid::from_ipv4([10, 0, 0, 1]),
        dgid: Gid::from_ipv4([10, 0, 0, 2]),
        extensions,
        payload,
        ..RoceFrame::new(encapsulation, bth)
    };
    bytes_of(&sender.to_frame().expect("the headers of this opcode"))
}

/// Packets of every opcode, with each telemetry that it may have.
fn packets(encapsulation: Encapsulation) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    for &opcode in Opcode::ALL {
        let bth = Bth::new(opcode, 0x11, 1);
        let extensions = Extensions::parse(opcode, &EXTENSION_BYTES).expect("enough bytes");
        packets.push(packet(encapsulation, bth, extensions, &[]));
        for kind in TelemetryKind::ALL.into_iter().filter(|kind| kind.opcode(opcode).is_some()) {
            let telemetry = Some(TelemetryHeader::empty(kind));
            let extensions = Extensions { telemetry, ..extensions };
            packets.push(packet(encapsulation, bth.with_telemetry(kind), extensions, &[]));
        }
    }
    packets
}

/// A management datagram of each kind.
fn datagrams() -> Vec<Vec<u8>> {
    let messages = [
        CmMessage::Req(Req::default()),
        CmMessage::Mra(Mra::default()),
        CmMessage::Rej(Rej::default()),
        CmMessage::Rep(Rep::default()),
        CmMessage::Rtu(Rtu::default()),
        CmMessage::Dreq(Dreq::default()),
        CmMessage::Drep(Drep::default()),
        CmMessage::SidrReq(SidrReq::default()),
        CmMessage::SidrRep(SidrRep::default()),
        CmMessage::Other(&[]),
    ];
    let deth = Some(Deth { q_key: Deth::GSI_Q_KEY, resv8: 0, src_qp: 1 });
    let datagram = |message| {
        let bth = Bth::new(Opcode::UdSendOnly, 1, 0);
        let extensions = Extensions { deth, ..Extensions::NONE };
        packet(Encapsulation::V2Ipv4, bth, extensions, &Mad::new(1, message).to_bytes())
    };
    messages.into_iter().map(datagram).collect()
}

/// What is no packet of RoCE, and a frame that ends too early.
fn others() -> Vec<Vec<u8>> {
    let source = MacAddress([2, 0, 0, 0, 0, 1]);
    let pfc = Pfc::default().to_frame(source);
    let ethernet = |ether_type| Ethernet { ether_type, ..Ethernet::default() };
    let qcn = Frame {
        ethernet: ethernet(EtherType::CNM),
        cn_tag: Some(CnTag { flow_id: 6 }),
        body: Body::Cnm { cnm: Cnm::default(), msdu: &[] },
        ..pfc
    };
    let other = Frame { ethernet: ethernet(EtherType(0x88cc)), body: Body::Other(&[0; 60]), ..pfc };
    let mut frames =
        [pfc, Pause::default().to_frame(source), qcn, other].map(|frame| bytes_of(&frame)).to_vec();
    let mut cut = frames[0].clone();
    cut.truncate(20);
    frames.push(cut);
    frames
}

/// What `rocelab pcap decode --json` prints of these frames.
fn decoded(frames: &[Vec<u8>]) -> Vec<Value> {
    let interface = Interface {
        name: "made".into(),
        description: String::new(),
        link_type: LinkType::Ethernet,
        speed: Bandwidth::from_gbps(100),
        fcs: false,
        snap_length: 0,
    };
    let mut writer = CaptureWriter::new(Format::PcapNg, Vec::new(), &[interface]).unwrap();
    for bytes in frames {
        let len = u32::try_from(bytes.len()).unwrap();
        writer.write_frame(0, SimTime::ZERO, Direction::Outbound, bytes, len).unwrap();
    }
    let file = writer.finish().unwrap();
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let mut verifier = Verifier::new();
    let mut objects = Vec::new();
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        objects.push(serde_json::to_value(Decoded(&verifier.verify(&frame))).unwrap());
    }
    objects
}

/// The fields of an object, as `header.field`; what is no header has no point in its name.
fn collect(prefix: &str, object: &Value, names: &mut BTreeSet<String>) {
    for (key, value) in object.as_object().expect("an object") {
        let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        // Messages of the connection manager are a row each, and not their fields.
        let is_header = prefix.is_empty() || prefix == "mad";
        match value {
            Value::Object(_) if is_header => collect(&name, value, names),
            Value::Array(several) if is_header && several.first().is_some_and(Value::is_object) => {
                several.iter().for_each(|one| collect(&name, one, names));
            }
            _ => {
                names.insert(name);
            }
        }
    }
}

/// All names that there are.
fn printed() -> BTreeSet<String> {
    let mut frames = [datagrams(), others()].concat();
    for encapsulation in [Encapsulation::V1, Encapsulation::V2Ipv4, Encapsulation::V2Ipv6] {
        frames.extend(packets(encapsulation));
    }
    let mut names = BTreeSet::new();
    for object in decoded(&frames) {
        collect("", &object, &mut names);
    }
    names
}

/// The words in backticks in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// A row of a table of fields.
#[derive(Debug)]
struct Row<'a> {
    name: String,
    cells: Vec<&'a str>,
}

/// The rows of tables whose first column is called `field` or `key`. A name in backticks in the heading above is
/// that of the header.
fn rows(page: &str) -> Vec<Row<'_>> {
    let (mut header, mut in_table, mut rows) = ("", false, Vec::new());
    for line in page.lines() {
        if line.starts_with('#') {
            header = quoted(line).next().unwrap_or_default();
        }
        let Some(row) = line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |")) else {
            in_table &= line.starts_with('|');
            continue;
        };
        let cells: Vec<&str> = row.split(" | ").map(str::trim).collect();
        if matches!(cells[0], "field" | "key") {
            in_table = true;
        } else if in_table {
            let field = quoted(cells[0]).next().unwrap_or_else(|| panic!("no field: {line}"));
            let point = if header.is_empty() { "" } else { "." };
            rows.push(Row { name: format!("{header}{point}{field}"), cells });
        }
    }
    rows
}

#[test]
fn the_page_has_every_field_and_no_other() {
    let (page, printed) = (page(), printed());
    assert!(printed.len() > 120, "{}", printed.len());
    let rows = rows(&page);
    let told: BTreeSet<String> = rows.iter().map(|row| row.name.clone()).collect();
    assert_eq!(told.len(), rows.len(), "a field has two rows");
    let missing: Vec<_> = printed.difference(&told).collect();
    assert!(missing.is_empty(), "not in docs/headers.md: {missing:?}");
    let stale: Vec<_> = told.difference(&printed).collect();
    assert!(stale.is_empty(), "docs/headers.md has fields that nobody prints: {stale:?}");
}

#[test]
fn every_field_has_its_code_and_what_acts_on_it() {
    let page = page();
    let is_field = |row: &&Row<'_>| row.cells.len() > 2;
    for row in rows(&page).iter().filter(is_field) {
        assert_eq!(row.cells.len(), COLUMNS, "{row:?}");
        assert!(row.cells.iter().all(|cell| !cell.is_empty()), "{row:?}");
        let made_by = row.cells[3];
        assert!(links(made_by).next().is_some(), "{}: no file in {made_by:?}", row.name);
    }
}

/// Names of files in brackets, which are links by their definitions at the end of the page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let inside = text.split('[').skip(1).filter_map(|rest| rest.split_once(']'));
    let linked = inside.filter(|(_, after)| !after.starts_with(['(', ':']));
    linked.map(|(name, _)| name).filter(|name| name.ends_with(".rs") || name.ends_with(".md"))
}

#[test]
fn every_file_exists() {
    let page = page();
    let used: BTreeSet<&str> = links(&page).collect();
    let definitions = page.lines().filter_map(|line| line.strip_prefix('[')?.split_once("]: "));
    let mut defined = BTreeSet::new();
    for (name, path) in definitions {
        assert!(folder().join(path).is_file(), "{path} does not exist");
        assert!(
            path.ends_with(&format!("/{}", name.rsplit('/').next().unwrap())),
            "{name}: {path}"
        );
        assert!(defined.insert(name), "{name} is defined twice");
    }
    assert_eq!(used, defined, "files in brackets, and their definitions");
    assert!(used.len() > 60, "{}", used.len());
}
