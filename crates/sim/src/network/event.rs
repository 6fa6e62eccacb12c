//! What happens.

use rocelab_fabric::PacketId;

/// An event of the network. Ports are numbered through all nodes, hosts and switches each among
/// themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first frame on the link that port `port` sends on reaches the other end.
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
    /// Something at a node is measured.
    Sample {
        /// Who measures, by its place in the list of samplers.
        sampler: u32,
    },
}

impl Event {
    /// The port and the packet of an event of a link, as a guess for prefetching: the first ones where there
    /// are none.
    #[inline(always)]
    pub(super) const fn port_and_packet(&self) -> (u32, PacketId) {
        const NONE: PacketId = PacketId(0);
        match *self {
            Self::Arrive { port, packet } => (port, packet),
            Self::PortFree { port } | Self::PortTimeout { port } => (port, NONE),
            Self::LineDue { port } | Self::HoldDue { port } => (port, NONE),
            _ => (0, NONE),
        }
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
