//! Ports, and what they know of the other ends of their links.

use rocelab_engine::{EventKey, Tie, TieOrder};
use rocelab_fabric::{NodeId, PacketId, Port, Serialisation};
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::SimTime;

use super::node::Role;
use crate::profile::Profile;
use crate::profile::roce::Roce;

/// The receiver of a frame is in the sender's unit, or there is only one.
pub(super) const SAME_UNIT: u32 = u32::MAX;

/// A port and the link that it sends on.
///
/// The fields stand in the order of their use, so that a frame touches few cache lines: what its
/// arrival needs, what its start needs, what it needs when it waits, and the rest.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct NetworkPort<P: Profile> {
    /// The frame that was sent last; it may be gone.
    pub(super) last: PacketId,
    /// The other end of the link.
    pub(super) far: FarEnd,
    pub(super) node: NodeId,
    /// What its node is.
    pub(super) role: Role,
    /// Its number within its node.
    pub(super) number: u16,
    /// Its interface in the capture.
    pub(super) captured: Option<u16>,
    /// Whether what it sends is captured, noted for telemetry, cut through by the switch at the other
    /// end, or leaves this part of the network.
    pub(super) departs_specially: bool,
    /// Whether its marking is asked about frames that leave a queue.
    pub(super) marks_departures: bool,
    /// Whether a `PortFree` is in the event queue.
    pub(super) free_armed: bool,
    /// The place in the order that the transmission under way has reserved for its end.
    pub(super) free_tie: Tie,
    pub(super) counters: PortCounters,
    /// Its marking is asked about frames that join a queue of more bytes than this.
    pub(super) marks_above: u32,
    /// Frames on the link, the next ones to arrive, that were lost when it went down.
    pub(super) doomed: u32,
    pub(super) port: Port<P::Link, P::FlowControl>,
    pub(super) marking: Option<Box<P::Marking>>,
    /// The earliest `PortTimeout` in the event queue.
    pub(super) timeout_armed: SimTime,
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
    /// Whether arrivals are captured, may be lost, or are watched by fault rules.
    pub(super) special: bool,
    /// In which events frames arrive there.
    pub(super) takes: Takes,
    /// Whether it is a switch that frames cut through.
    pub(super) cuts_through: bool,
}

/// What is counted at every port.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
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
    /// None: the link may lose them, they are looked at, or routes may change while they are on the link.
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
    pub counters: &'a PortCounters,
}

impl<P: Profile> NetworkPort<P> {
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

    /// Whether its link is up, and frames can start on it.
    pub(super) fn link_is_up(&self) -> bool {
        self.port.free_at() != SimTime::NEVER && self.port.link().rate().bits_per_second() > 0
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// Three or four cache lines of a port are prefetched: what few frames touch is behind them.
    #[test]
    fn a_port_is_five_cache_lines_and_its_counters_are_among_the_first() {
        assert_eq!(size_of::<NetworkPort<Roce>>(), 5 * 64);
        assert!(offset_of!(NetworkPort<Roce>, counters) + size_of::<PortCounters>() <= 2 * 64);
        assert!(offset_of!(NetworkPort<Roce>, marking) >= 4 * 64);
    }
}
