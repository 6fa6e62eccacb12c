//! One direction of a connection.

use std::time::Duration;

use rocelab_wire::Transport;

use super::counters::FlowCounters;
use super::key::FlowKey;
use super::requests::Requests;
use super::responses::Responses;
use super::span::Span;
use crate::round_trip::RoundTrips;

/// One direction of a connection, or the packets from one address to a datagram queue pair.
#[derive(Debug)]
pub struct Flow {
    pub(super) key: FlowKey,
    pub(super) transport: Option<Transport>,
    pub(super) counters: FlowCounters,
    pub(super) span: Span,
    pub(super) entropy: Option<u32>,
    pub(super) p_key: u16,
    pub(super) peer: Option<(u32, Pairing)>,
    /// Whether packets of this flow are known to pass on another path, not through this interface.
    pub(super) passes_elsewhere: bool,
    pub(super) requests: Requests,
    pub(super) responses: Responses,
    pub(super) round_trips: RoundTrips,
}

impl Flow {
    /// The key of the flow.
    #[must_use]
    pub const fn key(&self) -> &FlowKey {
        &self.key
    }

    /// Its transport service; `None` if only CNPs or undefined opcodes were seen.
    #[must_use]
    pub const fn transport(&self) -> Option<Transport> {
        self.transport
    }

    /// What was counted.
    #[must_use]
    pub const fn counters(&self) -> &FlowCounters {
        &self.counters
    }

    /// Time of the first packet, in the file's time.
    #[must_use]
    pub const fn first_time(&self) -> Duration {
        self.span.first
    }

    /// Time of the last packet, in the file's time.
    #[must_use]
    pub const fn last_time(&self) -> Duration {
        self.span.last
    }

    /// The number of the other direction's flow in [`FlowTable::flows`](crate::FlowTable::flows),
    /// if it is known.
    #[must_use]
    pub fn peer(&self) -> Option<usize> {
        self.peer.map(|(peer, _)| peer as usize)
    }

    /// Number of PSNs of requests that the capture skips and that never appeared later.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.requests.missing()
    }

    /// Messages of a reliable service that were not acknowledged before the capture ended: at most
    /// 128, and 0 if no response was seen at all.
    #[must_use]
    pub fn unacknowledged_messages(&self) -> usize {
        if self.expects_answers() { self.requests.unacknowledged_messages() } else { 0 }
    }

    /// Number of PSNs of these messages.
    #[must_use]
    pub fn unacknowledged_psns(&self) -> u32 {
        if self.expects_answers() { self.requests.unacknowledged_psns() } else { 0 }
    }

    /// Times from a request that asks for an acknowledgement to the answer to this very packet;
    /// retransmitted packets are not measured.
    #[must_use]
    pub const fn round_trips(&self) -> &RoundTrips {
        &self.round_trips
    }

    /// New payload divided by the time from the first packet to the last, in bit/s; `None` if that
    /// time is zero. The larger of these two packets is not counted, because it did not pass in
    /// that time. So the result is never above the rate of the link.
    #[must_use]
    pub fn goodput_bps(&self) -> Option<u64> {
        self.span.rate_bps()
    }

    fn expects_answers(&self) -> bool {
        matches!(self.transport, Some(Transport::Rc | Transport::Xrc)) && self.peer.is_some()
    }
}

/// The two directions of a connection, or a single direction.
#[derive(Clone, Copy, Debug)]
pub struct Connection<'a> {
    /// The direction of its first packet.
    pub forward: &'a Flow,
    /// The other direction, if it is known.
    pub reverse: Option<&'a Flow>,
}

/// How certain it is that two flows belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pairing {
    /// A contradiction is a fault.
    Certain,
    /// A contradiction ends the pairing.
    Likely,
}
