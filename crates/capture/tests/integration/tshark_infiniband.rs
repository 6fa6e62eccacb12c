//! Wireshark's dissectors see native InfiniBand as it was written. Skipped, with a note, if tshark is
//! missing.

use std::path::Path;

use rocelab_capture::{Format, Recipe};
use rocelab_wire::{FlowControlPacket, InfiniBandPacket, Lrh, Opcode, TransportPacket};

/// Every kind of packet: requests and answers of every service, several lanes and levels, congestion
/// notifications, and credits with the smallest and largest values of their fields.
const PACKETS: &str = r#"
version = "infiniband"
path_mtu = 1024

[[message]]
verb = "write"
bytes = 5000
sl = 5
vl = 3

[[message]]
verb = "acknowledge"
becn = true

[[message]]
verb = "cn"
dest_qp = 0xabcdef
vl = 14
sl = 15

[[message]]
verb = "read"
bytes = 1500

[[message]]
verb = "read-response"

[[message]]
verb = "compare-swap"

[[message]]
verb = "atomic-acknowledge"

[[message]]
verb = "send"
transport = "UC"
bytes = 2049
fecn = true

[[message]]
verb = "send"
transport = "UD"
bytes = 77
payload = "counting"
psn = 0xffffff

[[message]]
verb = "send"
transport = "UD"
payload = "SMP"
dest_qp = 0
src_qp = 0
q_key = 0
vl = 15

[[message]]
verb = "flow-control"
op = 1

[[message]]
verb = "flow-control"
fctbs = 100
fccl = 228

[[message]]
verb = "flow-control"
vl = 14
fctbs = 4095
fccl = 4095

[[message]]
verb = "flow-control"
vl = 7
fccl = 0
"#;

/// The fields that are compared for each frame: of both kinds, so most are empty.
const FIELDS: [&str; 22] = [
    "_ws.malformed",
    "erf.types.type",
    "infiniband.lrh.vl",
    "infiniband.lrh.sl",
    "infiniband.lrh.lnh",
    "infiniband.lrh.dlid",
    "infiniband.lrh.pktlen",
    "infiniband.lrh.slid",
    "infiniband.grh.flowlabel",
    "infiniband.bth.opcode",
    "infiniband.bth.destqp",
    "infiniband.bth.psn",
    "infiniband.bth.padcnt",
    "infiniband.bth.a",
    "infiniband.bth.p_key",
    "infiniband.invariant.crc",
    "infiniband.variant.crc",
    "infiniband_link.op",
    "infiniband_link.fctbs",
    "infiniband_link.vl",
    "infiniband_link.fccl",
    "infiniband_link.lpcrc",
];

/// A datagram of subnet management, in hexadecimal: directed route, Get(NodeInfo).
fn management_datagram() -> String {
    let header = "0181010100000000000000000000000700110000";
    format!("{header:0<512}")
}

/// tshark's values, a line for each frame; `None` if there is no tshark.
fn tshark(path: &Path) -> Option<Vec<String>> {
    let rows = super::tshark::tshark(path, "frame", &FIELDS)?;
    Some(rows.iter().map(|row| row.join("\t")).collect())
}

/// The values that tshark must show for a frame.
fn expected(frame: &[u8]) -> String {
    let values = match frame.len() {
        FlowControlPacket::LEN => of_link_packet(&FlowControlPacket::parse(frame).unwrap()),
        _ => of_packet(&InfiniBandPacket::parse(frame).unwrap()),
    };
    values.join("\t")
}

fn of_link_packet(packet: &FlowControlPacket) -> Vec<String> {
    let FlowControlPacket { op, fctbs, vl, fccl, lpcrc } = *packet;
    let mut values = vec![String::new(); 17];
    values[1] = "25".into();
    values.extend([op.to_string(), fctbs.to_string(), vl.to_string(), fccl.to_string()]);
    values.push(format!("0x{:04x}", lpcrc.swap_bytes()));
    values
}

fn of_packet(packet: &InfiniBandPacket<'_>) -> Vec<String> {
    let Lrh { vl, sl, lnh, dlid, pkt_len, slid, .. } = packet.lrh;
    let TransportPacket { bth, icrc, .. } = packet.transport().unwrap();
    let vcrc = packet.vcrc.unwrap();
    let mut values = vec![
        String::new(),
        "21".into(),
        format!("{vl:#04x}"),
        sl.to_string(),
        format!("{lnh:#04x}"),
        dlid.to_string(),
        pkt_len.to_string(),
        slid.to_string(),
        packet.grh().map_or(String::new(), |grh| grh.flow_label.to_string()),
        bth.opcode.to_string(),
        format!("{:#08x}", bth.dest_qp),
        bth.psn.to_string(),
        bth.pad_count.to_string(),
        u8::from(bth.ack_req).to_string(),
        bth.p_key.to_string(),
        format!("0x{:08x}", icrc.swap_bytes()),
        format!("0x{:04x}", vcrc.swap_bytes()),
    ];
    if bth.opcode() == Some(Opcode::Cn) {
        // tshark does not know the opcode, and shows what follows the BTH as bytes.
        values.truncate(15);
    }
    values.resize(FIELDS.len(), String::new());
    values
}

/// Wireshark takes some bits of a link packet for those of an LRH, and looks for headers behind it.
#[test]
fn link_packets_dissect_whatever_their_counters() {
    let counters = (0..8).chain(250..260).chain([1023, 2046, 2047, 4094, 4095]);
    let message = |(number, fctbs): (usize, u16)| {
        let (op, vl, fccl) = (number % 2, number % 15, (u32::from(fctbs) * 2_654) % 4096);
        format!(
            "[[message]]\nverb = \"flow-control\"\nop = {op}\nvl = {vl}\nfctbs = {fctbs}\nfccl = {fccl}\n"
        )
    };
    let messages: String = counters.enumerate().map(message).collect();
    let text = format!("version = \"infiniband\"\n{messages}");
    let recipe = Recipe::parse("test.toml".as_ref(), &text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credits.pcap");
    recipe.write(Format::Pcap, std::fs::File::create(&path).unwrap()).unwrap();
    let Some(lines) = tshark(&path) else { return };
    assert_eq!(lines.len(), 23);
    for (line, frame) in lines.iter().zip(recipe.frames()) {
        assert_eq!(*line, expected(frame));
    }
}

#[test]
fn every_packet_dissects_with_its_fields() {
    let folder = tempfile::tempdir().unwrap();
    let gids = "source = \"fe80::1\"\ndestination = \"fe80::2\"\nflow_label = 77\n";
    for (grh, gids) in [(false, ""), (true, gids)] {
        let text = PACKETS.replace("path_mtu", &format!("{gids}path_mtu"));
        let text = text.replace("SMP", &management_datagram());
        // Subnet management has no GRH; tshark would not mind.
        let recipe = Recipe::parse("test.toml".as_ref(), &text).unwrap();
        for format in [Format::Pcap, Format::PcapNg] {
            let path = folder.path().join(format!("grh-{grh}.{}", format.extension()));
            let file = std::fs::File::create(&path).unwrap();
            recipe.write(format, file).unwrap();
            let Some(lines) = tshark(&path) else { return };
            assert_eq!(lines.len(), recipe.frames().len());
            for (number, (line, frame)) in (1..).zip(lines.iter().zip(recipe.frames())) {
                assert_eq!(*line, expected(frame), "frame {number}, {format:?}, GRH {grh}");
            }
        }
    }
}
