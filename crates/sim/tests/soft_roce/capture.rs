//! Captures, as packets of the transport.

use core::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use rocelab_capture::CaptureReader;
use rocelab_transport::{AtomicOperands, Content, Packet};
use rocelab_units::SimTime;
use rocelab_wire::{Bth, Ecn, Extensions, Frame, Network, Opcode, Roce, Transport};
use serde::Deserialize;

/// Which of the two hosts. Their MAC addresses end in 1 and 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Side {
    /// 10.0.0.1.
    Server,
    /// 10.0.0.2.
    Client,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Server, Self::Client];

    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Server => Self::Client,
            Self::Client => Self::Server,
        }
    }
}

/// One packet of the transport.
#[derive(Clone, Debug)]
pub(crate) struct Captured {
    /// Its number in its file, from 1.
    pub(crate) number: u64,
    pub(crate) time: SimTime,
    pub(crate) from: Side,
    pub(crate) packet: Packet,
    pub(crate) content: Option<Content>,
    /// Whether its checksum and its partition key let it through to a queue pair.
    pub(crate) is_good: bool,
}

impl Captured {
    fn is_to(&self, side: Side, dest_qp: u32) -> bool {
        self.from == side.other() && self.packet.dest_qp() == dest_qp
    }
}

impl fmt::Display for Captured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {} at {}, {}", self.number, self.time, self.packet)
    }
}

/// One run: what the hosts sent, and what reached them.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) sent: Vec<Captured>,
    /// The same as sent, where nothing was done to frames on their way.
    pub(crate) delivered: Vec<Captured>,
}

impl Capture {
    /// What `side` sent to the queue pair `dest_qp`.
    pub(crate) fn sent(&self, side: Side, dest_qp: u32) -> impl Iterator<Item = &Captured> {
        self.sent.iter().filter(move |captured| captured.is_to(side.other(), dest_qp))
    }

    /// What reached the queue pair `dest_qp` of `side`, or would have if it were good.
    pub(crate) fn delivered(&self, side: Side, dest_qp: u32) -> impl Iterator<Item = &Captured> {
        self.delivered.iter().filter(move |captured| captured.is_to(side, dest_qp))
    }

    /// Reads `NAME.pcap` and, if there is one, `NAME.delivered.pcap`.
    pub(crate) fn read(folder: &Path, name: &str) -> Self {
        let sent = read_file(&folder.join(format!("{name}.pcap")));
        let faulty = folder.join(format!("{name}.delivered.pcap"));
        let delivered = if faulty.exists() { read_file(&faulty) } else { sent.clone() };
        let start = sent.iter().chain(&delivered).map(|(time, _)| *time).min().unwrap_or_default();
        let place = |(time, captured): (std::time::Duration, Captured)| {
            let ps = u64::try_from((time - start).as_nanos()).expect("a short capture") * 1_000;
            Captured { time: SimTime::from_ps(ps), ..captured }
        };
        Self {
            sent: sent.into_iter().map(place).collect(),
            delivered: delivered.into_iter().map(place).collect(),
        }
    }
}

/// The captures in a folder, by name and in order; those of delivered frames belong to others.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder of captures");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let stem = |path: PathBuf| path.file_stem()?.to_str().map(String::from);
    let captures = files.filter(|path| path.extension().is_some_and(|kind| kind == "pcap"));
    let mut names: Vec<_> = captures.filter_map(stem).collect();
    names.retain(|name| !name.ends_with(".delivered"));
    names.sort();
    names
}

type Timed = (std::time::Duration, Captured);

fn read_file(path: &Path) -> Vec<Timed> {
    let mut reader = CaptureReader::open(path).expect("a readable capture");
    let mut packets = Vec::new();
    while let Some(record) = reader.next_frame() {
        let record = record.expect("a good record");
        let frame = Frame::parse(record.bytes).expect("a frame that parses");
        let Some(roce) = frame.roce() else { continue };
        let [.., last] = frame.ethernet.source.0;
        let from = if last == 1 { Side::Server } else { Side::Client };
        let is_good = roce.icrc_ok() && roce.bth.p_key == Bth::DEFAULT_P_KEY;
        let (packet, content) = packet_of(roce);
        let (number, time) = (record.number, SimTime::ZERO);
        packets.push((record.time, Captured { number, time, from, packet, content, is_good }));
    }
    packets
}

/// The packet as the transport knows it, with what travels beside it.
fn packet_of(roce: &Roce<'_>) -> (Packet, Option<Content>) {
    let Roce { bth, extensions, payload, .. } = roce;
    let opcode = bth.opcode().expect("a defined opcode");
    let length = u16::try_from(payload.len()).expect("a payload within a frame");
    let packet = Packet::new(opcode, bth.dest_qp, bth.psn)
        .with_payload_len(length)
        .with_ack_req(bth.ack_req)
        .with_solicited_event(bth.solicited_event)
        .with_fecn(bth.fecn)
        .with_becn(bth.becn)
        .with_class(0, ecn(&roce.network));
    let (packet, operands) = with_extensions(packet, extensions);
    let bytes = Some(*payload).filter(|payload| !payload.is_empty());
    (packet, operands.or_else(|| bytes.map(|payload| Content::Payload(payload.into()))))
}

/// The ECN codepoint that the packet arrived with.
const fn ecn(network: &Network) -> Ecn {
    match network {
        Network::V1 { .. } => Ecn::NotEct,
        Network::V2Ipv4 { ip, .. } => ip.ecn,
        Network::V2Ipv6 { ip, .. } => ip.ecn,
    }
}

fn with_extensions(mut packet: Packet, extensions: &Extensions) -> (Packet, Option<Content>) {
    if let Some(reth) = extensions.reth {
        packet = packet.with_reth(reth);
    }
    if let Some(aeth) = extensions.aeth {
        packet = packet.with_aeth(aeth.syndrome, aeth.msn);
    }
    if let Some(ack) = extensions.atomic_ack_eth {
        packet = packet.with_atomic_ack_eth(ack.original_remote_data);
    }
    if let Some(deth) = extensions.deth {
        packet = packet.with_deth(deth.q_key, deth.src_qp);
    }
    if let Some(immediate) = extensions.imm_dt {
        packet = packet.with_immdt(immediate.0);
    }
    if let Some(ieth) = extensions.ieth {
        packet = packet.with_ieth(ieth.r_key);
    }
    let Some(atomic) = extensions.atomic_eth else { return (packet, None) };
    let operands = AtomicOperands { swap_or_add: atomic.swap_or_add, compare: atomic.compare };
    let packet = packet.with_atomic_address(atomic.virtual_address, atomic.r_key);
    (packet, Some(Content::Operands(operands)))
}

/// What two packets are compared by: everything but the class of service, which a capture has in
/// other layers. Whether content is beside it goes without saying.
pub(crate) const fn comparable(packet: Packet) -> Packet {
    packet.with_class(0, Ecn::NotEct).with_content(false)
}

/// What kind of packet it is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What a requester sends.
    Request,
    /// What a responder of a reliable connection sends: an acknowledgement, READ data, or the
    /// result of an atomic operation.
    Answer,
    /// A notification of congestion.
    Notification,
    /// A packet of the connection managers, whose tests are in the crate `transport`.
    Management,
}

impl Kind {
    pub(crate) fn of(packet: &Packet) -> Self {
        if packet.dest_qp() == 1 {
            return Self::Management;
        }
        match packet.opcode() {
            Opcode::Cnp => Self::Notification,
            opcode if opcode.is_response() && opcode.transport() == Transport::Rc => Self::Answer,
            _ => Self::Request,
        }
    }
}
