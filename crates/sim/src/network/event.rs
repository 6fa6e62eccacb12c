//! What happens.

use rocelab_fabric::PacketId;

/// An event of the network. Ports are numbered through all nodes, hosts and switches each among
/// themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet reaches a switch that was decided about as it was sent: nothing can happen to it on the link,
    /// and the switch has a way for it.
    Forward {
        /// The port by which the switch forwards it.
        egress: u32,
        /// The number of the port by which it comes in.
        ingress: u16,
        /// The frame.
        packet: PacketId,
    },
    /// A packet reaches a host, and nothing can happen to it on the link.
    Deliver {
        /// The host.
        host: u32,
        /// The frame.
        packet: PacketId,
    },
    /// Any other frame reaches the other end of the link that port `port` sends on.
    Arrive {
        /// The sending port.
        port: u32,
        /// The frame.
        packet: PacketId,
    },
    /// The transmitter of `port` may start its next frame, and something waits.
    PortFree {
        /// The port.
        port: u32,
    },
    /// A pause of `port` expires or must be asked for again.
    PortTimeout {
        /// The port.
        port: u32,
    },
    /// A timer or a pacing gap of a host's NIC is over.
    NicTimeout {
        /// The host.
        host: u32,
    },
    /// Flows start.
    FlowStart {
        /// Which: as [`FlowStarts`](crate::profile::FlowStarts) has it.
        ticket: u32,
    },
    /// The first of the frames that a fault delays on the link of `port` arrives.
    LineDue {
        /// The sending port.
        port: u32,
    },
    /// The first of the frames that a fault holds back until now on the link of `port` waits no longer,
    /// if it still does.
    HoldDue {
        /// The sending port.
        port: u32,
    },
    /// A link fails.
    LinkFailure {
        /// The link, by its place in the topology.
        link: u32,
    },
    /// Something breaks, or is mended.
    Failure {
        /// By its place among the steps of the plan.
        step: u32,
    },
    /// The watchdogs look at all queues.
    Watchdog,
    /// A slow receiver has handled a frame.
    Handled {
        /// The host.
        host: u32,
    },
    /// At a host that takes time, the first frame in its NIC may reach its queue pair, or there is room again.
    Entered {
        /// The host.
        host: u32,
        /// Whether it is about room.
        has_room: bool,
    },
    /// The first byte of what comes over NVLink is at a host.
    Transfer {
        /// The host.
        host: u32,
        /// The connection of a program that it belongs to.
        connection: u32,
    },
    /// Something at a node is measured.
    Sample {
        /// Who measures, by its place in the list of samplers.
        sampler: u32,
    },
}

impl Event {
    /// The frame that arrives, if one does.
    pub(crate) const fn arriving(&self) -> Option<PacketId> {
        match *self {
            Self::Forward { packet, .. }
            | Self::Deliver { packet, .. }
            | Self::Arrive { packet, .. } => Some(packet),
            _ => None,
        }
    }
}

impl Event {
    /// Whether it only looks at the network, and is no part of the run.
    #[inline(always)]
    pub(super) const fn only_looks(&self) -> bool {
        matches!(self, Self::Sample { .. })
    }
}

#[cfg(test)]
mod tests {
    use rocelab_engine::Scheduled;

    use super::*;

    #[test]
    fn a_scheduled_event_is_at_most_half_a_cache_line() {
        assert!(size_of::<Scheduled<Event>>() <= 32);
    }
}
