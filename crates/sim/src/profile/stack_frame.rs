//! Frames of the stacks that share a host's port with those packets which the profile's own hosts exchange.

use rocelab_fabric::NodeId;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_transport::Packet as RdmaPacket;
use rocelab_transport::stack::StreamPacket;
use rocelab_transport::tcp::{SackBlocks, TcpSegment};
use rocelab_units::SimTime;
use rocelab_wire::TelemetryKind;

use super::{Departing, HostPacket};
use crate::Plan;
use crate::record::TrafficKind;

/// What a frame of such a stack carries.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub enum StackFrame {
    /// A segment of TCP.
    Tcp(TcpSegment),
    /// A packet of a stream.
    Stream(StreamPacket),
    /// A question for a MAC address, or an answer.
    Neighbour(NeighbourFrame),
}

/// A frame of ARP or Neighbour Discovery. It stays in its broadcast domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct NeighbourFrame {
    /// Question or answer.
    pub kind: NeighbourKind,
    /// The host that asks.
    pub asker: NodeId,
    /// The host or router that has the IP address which it asks about.
    pub asked: NodeId,
    /// The number of its code points.
    pub marking: u8,
    /// Whether it goes to all, or to a group; else to one MAC address.
    pub to_all: bool,
}

/// What a frame of ARP or Neighbour Discovery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum NeighbourKind {
    /// ARP request, Neighbour Solicitation.
    Solicitation,
    /// ARP reply, Neighbour Advertisement.
    Advertisement,
}

/// A frame that such a stack sends.
#[derive(Clone, Copy, Debug)]
pub struct StackDeparture {
    /// The frame.
    pub frame: Departing<StackFrame>,
    /// The blocks of a selective acknowledgement, if it is one of TCP.
    pub sack: Option<SackBlocks>,
}

/// Payload that a stack has accepted for its application.
#[derive(Clone, Copy, Debug)]
pub struct AcceptedPayload {
    /// Number of the flow in the plan, if it is still known.
    pub flow: Option<u32>,
    /// Bytes.
    pub bytes: u64,
}

/// A host's stacks beside the one whose packets the profile is about. A host that has none says so by the
/// defaults.
pub trait OtherStacks {
    /// Whether one of them sends next, and not the host's own stack; decided anew each time.
    #[inline]
    fn is_their_turn(&mut self, now: SimTime, paused: u8) -> bool {
        _ = (now, paused);
        false
    }

    /// The frame of the stack whose turn it is. The transmitter is free.
    fn poll_frame(&mut self, now: SimTime, paused: u8) -> Option<StackDeparture> {
        _ = (now, paused);
        None
    }

    /// A frame of theirs arrived that is for this host, with the blocks of a selective acknowledgement if it
    /// has any. The host is to be asked for a frame thereupon.
    fn receive_frame(
        &mut self,
        plan: &Plan,
        now: SimTime,
        frame: &StackFrame,
        sack: Option<&SackBlocks>,
    ) {
        _ = (plan, now, frame, sack);
    }

    /// What they have accepted since they were last asked.
    #[inline]
    fn poll_accepted(&mut self) -> Option<AcceptedPayload> {
        None
    }
}

impl StackFrame {
    /// The segment, if it is one of TCP.
    pub const fn as_segment(&self) -> Option<&TcpSegment> {
        match self {
            Self::Tcp(segment) => Some(segment),
            Self::Stream(_) | Self::Neighbour(_) => None,
        }
    }

    /// Whether it stays in its broadcast domain: no router forwards it.
    pub const fn stays_in_domain(&self) -> bool {
        matches!(self, Self::Neighbour(_))
    }
}

impl HostPacket for StackFrame {
    fn priority(&self) -> u8 {
        match self {
            Self::Tcp(segment) => segment.priority(),
            Self::Stream(packet) => packet.priority,
            Self::Neighbour(_) => 0,
        }
    }

    fn kind(&self) -> TrafficKind {
        match self {
            Self::Tcp(segment) if segment.payload_len > 0 => TrafficKind::Data,
            Self::Tcp(_) => TrafficKind::Ack,
            Self::Stream(_) => TrafficKind::Data,
            Self::Neighbour(_) => TrafficKind::Control,
        }
    }

    fn marking(&self) -> u8 {
        match self {
            Self::Neighbour(frame) => frame.marking,
            Self::Tcp(_) | Self::Stream(_) => self.priority(),
        }
    }

    fn is_markable(&self) -> bool {
        match self {
            Self::Tcp(segment) => segment.ecn().is_capable(),
            Self::Stream(_) | Self::Neighbour(_) => false,
        }
    }

    fn mark(&mut self) {
        match self {
            Self::Tcp(segment) => segment.set_ce(),
            Self::Stream(_) | Self::Neighbour(_) => {}
        }
    }

    fn is_marked(&self) -> bool {
        match self {
            Self::Tcp(segment) => segment.is_ce(),
            Self::Stream(_) | Self::Neighbour(_) => false,
        }
    }

    fn fingerprint(&self) -> u64 {
        match self {
            Self::Tcp(segment) => {
                u64::from(segment.connection) << 40
                    ^ u64::from(segment.seq) << 20
                    ^ u64::from(segment.ack) << 4
                    ^ u64::from(segment.payload_len) << 1
                    ^ u64::from(segment.is_ce())
            }
            Self::Stream(packet) => {
                u64::from(packet.stream) << 40
                    ^ u64::from(packet.number) << 8
                    ^ u64::from(packet.payload_len) << 2
                    ^ u64::from(packet.is_from_source)
            }
            Self::Neighbour(frame) => {
                u64::from(frame.asker) << 32
                    ^ u64::from(frame.asked) << 8
                    ^ u64::from(frame.to_all) << 1
                    ^ u64::from(frame.kind == NeighbourKind::Advertisement)
            }
        }
    }

    fn telemetry(&self) -> Option<TelemetryKind> {
        None
    }

    fn as_rdma(&self) -> Option<&RdmaPacket> {
        None
    }
}
