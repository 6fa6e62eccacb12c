//! The CM messages of a capture.

use std::path::Path;

use rocelab_units::SimTime;
use rocelab_wire::cm::GSI_QPN;
use rocelab_wire::{Deth, Frame, Network, Roce};

/// A message to queue pair 1.
#[derive(Clone, Debug)]
pub(crate) struct Captured {
    /// Since the file's first frame.
    pub(crate) at: SimTime,
    /// The last byte of the sender's address.
    pub(crate) source: u8,
    pub(crate) mad: Vec<u8>,
    /// Whether it arrived.
    pub(crate) delivered: bool,
}

/// The messages of a capture, in order. Those that the file of delivered frames beside it does not
/// have (as often) were lost.
pub(crate) fn messages(path: &Path) -> Vec<Captured> {
    let mut sent = read_messages(path);
    let delivered = path.with_extension("delivered.pcap");
    if delivered.is_file() {
        // Hosts repeat messages as they are: only the packet around them is new.
        let mut arrived = read_messages(&delivered);
        for message in sent.iter_mut().rev() {
            let same =
                |other: &Captured| (other.source, &other.mad) == (message.source, &message.mad);
            match arrived.iter().rposition(same) {
                Some(at) => {
                    arrived.remove(at);
                }
                None => message.delivered = false,
            }
        }
        assert!(arrived.is_empty(), "{}: delivered, but not sent", path.display());
    }
    sent
}

/// All frames of a capture.
pub(crate) fn frames(path: &Path) -> Vec<Vec<u8>> {
    read(path).into_iter().map(|(_, frame)| frame).collect()
}

/// The last byte of the address that a packet goes to.
pub(crate) fn destination(packet: &Roce<'_>) -> Option<u8> {
    match &packet.network {
        Network::V2Ipv4 { ip, .. } => Some(ip.destination.octets()[3]),
        Network::V2Ipv6 { ip, .. } => Some(ip.destination.octets()[15]),
        Network::V1 { .. } => None,
    }
}

fn read_messages(path: &Path) -> Vec<Captured> {
    let message = |(at, frame): (SimTime, Vec<u8>)| message(at, &frame);
    read(path).into_iter().filter_map(message).collect()
}

/// The frames of a little-endian pcap file of nanoseconds, as all of these are, with their times
/// since the first one.
fn read(path: &Path) -> Vec<(SimTime, Vec<u8>)> {
    let bytes = std::fs::read(path).expect("a readable file");
    assert_eq!(bytes[..4], [0x4d, 0x3c, 0xb2, 0xa1], "{}", path.display());
    let mut rest = &bytes[24..];
    let mut start = None;
    let mut frames = Vec::new();
    while let Some((record, data)) = rest.split_first_chunk::<16>() {
        let [seconds, ns, len, _] = [0, 4, 8, 12].map(|at| word(record, at));
        let (frame, behind) = data.split_at(usize::try_from(len).expect("a length"));
        rest = behind;
        let time = u64::from(seconds) * 1_000_000_000 + u64::from(ns);
        let start = *start.get_or_insert(time);
        frames.push((SimTime::from_ps((time - start) * 1_000), frame.to_vec()));
    }
    frames
}

fn word(record: &[u8; 16], at: usize) -> u32 {
    u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
}

fn message(at: SimTime, bytes: &[u8]) -> Option<Captured> {
    let frame = Frame::parse(bytes).expect("a whole frame");
    let packet = frame.roce()?;
    let deth = packet.extensions.deth?;
    if packet.bth.dest_qp != GSI_QPN || deth.q_key != Deth::GSI_Q_KEY {
        return None;
    }
    let source = match &packet.network {
        Network::V2Ipv4 { ip, .. } => ip.source.octets()[3],
        Network::V2Ipv6 { ip, .. } => ip.source.octets()[15],
        Network::V1 { .. } => return None,
    };
    Some(Captured { at, source, mad: packet.payload.to_vec(), delivered: true })
}
