//! Who talks to whom: the packets of a capture, by queue pair and direction.
//!
//! All that a RoCE packet says of its queue pairs is the number of the one that it goes to. A
//! *flow* is therefore what goes from one address to a queue pair at another, on one captured
//! interface. The flow of the other direction, its *peer*, is found by the answers: see
//! [`pairing`].

mod judgement;
mod missing;
mod mtu;
mod pairing;
mod position;
mod requests;
mod responses;
mod span;
mod table;

use std::time::Duration;

use rocelab_wire::{NakCode, Transport};

pub(crate) use judgement::Owners;
pub(crate) use table::Seen;
pub use table::{FlowTable, MAX_FLOWS};

use crate::dissection::Address;
use crate::round_trip::RoundTrips;
use pairing::Pairing;
use requests::Requests;
use responses::Responses;
use span::Span;

/// What makes a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Number of the captured interface in the file.
    pub interface: u32,
    /// Who sends.
    pub source: Address,
    /// Who receives.
    pub destination: Address,
    /// The receiving queue pair's number, 24 bits.
    pub dest_qp: u32,
}

/// What was counted of a flow. Packets that are malformed or whose ICRC is bad do not count: no
/// receiver takes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowCounters {
    /// Packets.
    pub packets: u64,
    /// Payload of all packets, in bytes.
    pub payload_bytes: u64,
    /// Payload of packets that were not sent before, in bytes.
    pub new_payload_bytes: u64,
    /// Messages: requests whose last packet was seen, once each.
    pub messages: u64,
    /// Requests and read responses whose PSN was sent before, or was missing before.
    pub retransmissions: u64,
    /// ACKNOWLEDGE packets that acknowledge.
    pub acks: u64,
    /// NAKs, in the order of their codes: see [`FlowCounters::naks_of`].
    pub naks: [u64; 5],
    /// RNR NAKs.
    pub rnr_naks: u64,
    /// Congestion notifications.
    pub cnps: u64,
    /// Packets that met congestion (ECN CE).
    pub congestion_experienced: u64,
    /// Packets with faults.
    pub faulty: u64,
}

impl FlowCounters {
    /// NAKs with this code.
    #[must_use]
    pub const fn naks_of(&self, code: NakCode) -> u64 {
        self.naks[code as usize]
    }

    /// NAKs of all codes, RNR NAKs aside.
    #[must_use]
    pub fn naks_total(&self) -> u64 {
        self.naks.iter().sum()
    }
}

/// The two directions of a connection, or one direction that is alone.
#[derive(Clone, Copy, Debug)]
pub struct Connection<'a> {
    /// The direction of its first packet.
    pub forward: &'a Flow,
    /// The other direction, if it is known.
    pub reverse: Option<&'a Flow>,
}

/// What a packet's PSN says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Novelty {
    New,
    /// It was missing.
    Late,
    /// It was sent before.
    Again,
}

/// One direction of a connection, or what one address sends to a datagram queue pair.
#[derive(Debug)]
pub struct Flow {
    key: FlowKey,
    transport: Option<Transport>,
    counters: FlowCounters,
    span: Span,
    entropy: Option<u32>,
    p_key: u16,
    peer: Option<(u32, Pairing)>,
    /// Whether packets of it are known to pass on another way.
    passes_elsewhere: bool,
    requests: Requests,
    responses: Responses,
    round_trips: RoundTrips,
}

impl Flow {
    /// What makes it.
    #[must_use]
    pub const fn key(&self) -> &FlowKey {
        &self.key
    }

    /// Its transport service; none if only CNPs or undefined opcodes were seen.
    #[must_use]
    pub const fn transport(&self) -> Option<Transport> {
        self.transport
    }

    /// What was counted.
    #[must_use]
    pub const fn counters(&self) -> &FlowCounters {
        &self.counters
    }

    /// Time of the first packet, as the file counts it.
    #[must_use]
    pub const fn first_time(&self) -> Duration {
        self.span.first
    }

    /// Time of the last packet.
    #[must_use]
    pub const fn last_time(&self) -> Duration {
        self.span.last
    }

    /// The number of the other direction's flow in [`FlowTable::flows`], if it is known.
    #[must_use]
    pub fn peer(&self) -> Option<usize> {
        self.peer.map(|(peer, _)| peer as usize)
    }

    /// PSNs of requests that the capture skips and that never came.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.requests.missing()
    }

    /// Messages of a reliable service that were sent, and not acknowledged before the capture
    /// ended: 128 if there are more, 0 if no response was seen at all.
    #[must_use]
    pub fn unacknowledged_messages(&self) -> usize {
        if self.expects_answers() { self.requests.unacknowledged_messages() } else { 0 }
    }

    /// Their PSNs.
    #[must_use]
    pub fn unacknowledged_psns(&self) -> u32 {
        if self.expects_answers() { self.requests.unacknowledged_psns() } else { 0 }
    }

    /// Times from requests that ask for an acknowledgement to the answers to these very packets,
    /// retransmitted ones aside.
    #[must_use]
    pub const fn round_trips(&self) -> &RoundTrips {
        &self.round_trips
    }

    /// New payload by the time from the first packet to the last, in bit/s; none if that is no
    /// time. One of these two packets does not count, the larger one: it did not pass in that time. So this
    /// is never above the rate of the link.
    #[must_use]
    pub fn goodput_bps(&self) -> Option<u64> {
        self.span.rate_bps()
    }

    fn expects_answers(&self) -> bool {
        matches!(self.transport, Some(Transport::Rc | Transport::Xrc)) && self.peer.is_some()
    }
}
