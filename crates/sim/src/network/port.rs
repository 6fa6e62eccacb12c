//! Ports, and what they know of the other ends of their links.

use rocelab_engine::{EventKey, Tie, TieOrder};
use rocelab_fabric::{MIN_FRAME, NodeId, PacketId, Port, Serialisation};
use rocelab_units::SimTime;

use super::node::Role;
use crate::profile::Profile;
use crate::profile::roce::Roce;

/// The receiver of a frame is in the sender's unit, or there is only one.
pub(super) const SAME_UNIT: u32 = u32::MAX;

/// A port and the link that it sends on.
///
/// The fields stand in the order of their use. A frame that need not wait touches the first two cache lines; one that
/// waits also touches the queues, which are behind the first 40 bytes of `port`; the rest is for few frames.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct NetworkPort<P: Profile> {
    /// The other end of the link.
    pub(super) far: FarEnd,
    pub(super) node: NodeId,
    /// What its node is.
    pub(super) role: Role,
    /// The frame that was sent last; it may be gone.
    pub(super) last: PacketId,
    /// Its marking is asked about frames that join a queue of more bytes than this.
    pub(super) marks_above: u32,
    /// Its number within its node.
    pub(super) number: u16,
    /// Whether what it sends is captured, noted for telemetry, cut through by the switch at the other
    /// end, or leaves this part of the network.
    pub(super) departs_specially: bool,
    /// Whether its marking is asked about frames that leave a queue.
    pub(super) marks_departures: bool,
    /// Whether a `PortFree` is in the event queue.
    pub(super) free_armed: bool,
    pub(super) sent: Sent,
    /// The place in the order that the transmission under way has reserved for its end.
    pub(super) free_tie: Tie,
    pub(super) port: Port<P::Link, P::FlowControl>,
    pub(super) marking: Option<Box<P::Marking>>,
    pub(super) rare: RarePortState,
}

/// What a port has sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    /// Frames.
    pub(super) frames: u64,
    /// Their bytes, FCS included.
    pub(super) bytes: u64,
}

/// State of a port that few frames touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct RarePortState {
    /// Frames marked CE here.
    pub(super) ecn_marks: u64,
    /// The earliest `PortTimeout` in the event queue.
    pub(super) timeout_armed: SimTime,
    /// The longest that one priority's queue has been (bytes).
    pub(super) max_queue_bytes: u32,
    /// Frames on the link, the next ones to arrive, that were lost when it went down.
    pub(super) doomed: u32,
    /// Its interface in the capture.
    pub(super) captured: Option<u16>,
}

impl Default for RarePortState {
    fn default() -> Self {
        let timeout_armed = SimTime::NEVER;
        Self { ecn_marks: 0, timeout_armed, max_queue_bytes: 0, doomed: 0, captured: None }
    }
}

/// What an arriving frame needs to know of where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct FarEnd {
    /// The port.
    pub(super) port: u32,
    /// Its node.
    pub(super) node: NodeId,
    pub(super) role: Role,
    /// The first port of its node, if that is in this part of the network.
    pub(super) first_port: u32,
    /// Its number within its node.
    pub(super) number: u16,
    /// The unit of its node, if the sender is not in it.
    pub(super) beyond: u32,
    /// Whether arrivals are captured, may be lost, or are watched by fault rules, or the switch there chooses among paths.
    pub(super) special: bool,
    /// In which events frames arrive there.
    pub(super) takes: Takes,
    pub(super) switch: FarSwitch,
}

/// What a switch at the far end of a link does otherwise than most. One byte: the first cache line of a port is full.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FarSwitch(u8);

impl FarSwitch {
    const CUTS_THROUGH: u8 = 1;
    const CHOOSES: u8 = 2;

    /// Frames cut through it, and it chooses among paths as packets arrive, or not.
    pub(super) const fn new(cuts_through: bool, chooses: bool) -> Self {
        let cuts_through = if cuts_through { Self::CUTS_THROUGH } else { 0 };
        Self(cuts_through | if chooses { Self::CHOOSES } else { 0 })
    }

    /// Whether frames cut through it.
    #[inline]
    pub(super) const fn cuts_through(self) -> bool {
        self.0 & Self::CUTS_THROUGH != 0
    }

    /// Whether it chooses among several shortest paths, with state of its own, as packets arrive.
    #[inline]
    pub(super) const fn chooses(self) -> bool {
        self.0 & Self::CHOOSES != 0
    }
}

/// What is counted at every port.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortCounters {
    /// Frames sent.
    pub frames: u64,
    /// Bytes sent, FCS included.
    pub bytes: u64,
    /// Frames marked CE here.
    pub ecn_marks: u64,
    /// The longest that one priority's queue has been.
    pub max_queue_bytes: u32,
}

/// Which frames have their next step decided as they are sent, so that their [arrival](Event) names it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Takes {
    /// None: the link may lose them, they are looked at, routes may change while they are on the link, or the switch chooses.
    Any,
    /// Packets that the switch has a route for.
    Packets,
    /// Packets, all for this host.
    PacketsOf(u32),
}

/// A port from outside.
#[derive(Clone, Copy, Debug)]
pub struct PortView<'a, P: Profile = Roce> {
    /// Its node.
    pub node: NodeId,
    /// Its number within the node.
    pub number: u16,
    /// The node at the other end of its link.
    pub peer_node: NodeId,
    /// The port number there.
    pub peer_number: u16,
    /// Its state.
    pub port: &'a Port<P::Link, P::FlowControl>,
    /// What was counted.
    pub counters: PortCounters,
}

impl<P: Profile> NetworkPort<P> {
    /// What is counted here.
    pub(super) fn counters(&self) -> PortCounters {
        let Sent { frames, bytes } = self.sent;
        let RarePortState { ecn_marks, max_queue_bytes, .. } = self.rare;
        PortCounters { frames, bytes, ecn_marks, max_queue_bytes }
    }

    /// The transmission under way, or the last one, is over then.
    #[inline]
    pub(super) fn free_key(&self) -> EventKey {
        EventKey { time: self.port.free_at(), tie: self.free_tie }
    }

    /// Whether the transmitter is free for what happens at `now`.
    #[inline]
    pub(super) fn is_free(&self, now: EventKey) -> bool {
        P::Order::is_over(self.free_key(), now)
    }

    /// When the first 64 bytes have arrived of a frame of `frame_len` bytes on its link whose last bit arrives at
    /// `tail`.
    pub(super) fn head_of(&self, frame_len: u16, tail: SimTime) -> SimTime {
        let link = self.port.link();
        let taken = |len: u32| link.transmit(SimTime::ZERO, len).arrival.since(SimTime::ZERO);
        let len = u32::from(frame_len);
        let rest = taken(len) - taken(len.min(MIN_FRAME));
        SimTime::from_ps(tail.ps() - rest.ps())
    }

    /// Whether its link is up, and frames can start on it.
    pub(super) fn link_is_up(&self) -> bool {
        self.port.free_at() != SimTime::NEVER && self.port.link().rate().bits_per_second() > 0
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn what_every_frame_touches_of_a_port_is_two_cache_lines() {
        assert_eq!(size_of::<NetworkPort<Roce>>(), 5 * 64);
        assert_eq!(offset_of!(NetworkPort<Roce>, sent), 64);
        // The queues are 40 bytes behind the beginning of a port.
        assert_eq!(offset_of!(NetworkPort<Roce>, port), 2 * 64 - 40);
    }
}
