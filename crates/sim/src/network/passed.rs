//! What became of frames where no event says it, for one who watches.

use rocelab_fabric::{NodeId, PacketId};
use rocelab_transport::stack::StreamPacket;
use rocelab_transport::tcp::TcpSegment;
use rocelab_transport::{Packet as RdmaPacket, marking_of};

use super::packet::{Body, Packet};
use crate::profile::{HostPacket, NeighbourFrame, StackFrame};
use crate::record::DropCause;

/// What became of a frame on a link that is special, or where it was dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Passed {
    /// It reaches the node behind the link of this port, and is to leave that by this port.
    Arrived {
        /// The frame.
        packet: PacketId,
        /// The port that sent it.
        port: u32,
        /// Number of the port that it will leave by, where the node is a switch.
        egress: u16,
        /// The host that it goes to.
        destination: NodeId,
        /// What it carries; none for a pause frame.
        body: Option<Carried>,
    },
    /// A slow receiver keeps it, or has no room for it.
    Kept {
        /// The frame.
        packet: PacketId,
    },
    /// There are two of it now.
    Doubled {
        /// The frame.
        packet: PacketId,
        /// The other one.
        copy: PacketId,
    },
    /// It was dropped, wherever it was: its place in the pool is free.
    Dropped {
        /// The frame.
        packet: PacketId,
        /// Where.
        node: NodeId,
        /// The port it came in by.
        ingress: u16,
        /// The port that it should have left by.
        egress: Option<u16>,
        /// Why.
        cause: DropCause,
    },
}

impl Passed {
    /// A frame reaches the node behind the link of `port`.
    pub(super) fn arrived<R: HostPacket>(id: PacketId, port: u32, packet: &Packet<R>) -> Self {
        let body = match &packet.body {
            Body::Rdma(body) => body.as_rdma().copied().map(Carried::Rdma),
            Body::Stack(StackFrame::Tcp(segment)) => Some(Carried::Tcp(*segment)),
            Body::Stack(StackFrame::Stream(packet)) => Some(Carried::Stream(*packet)),
            Body::Stack(StackFrame::Neighbour(frame)) => Some(Carried::Neighbour(*frame)),
            Body::Control(_) => None,
        };
        let (egress, destination) = (packet.switch_port, packet.destination);
        Self::Arrived { packet: id, port, egress, destination, body }
    }
}

/// What a frame carries from host to host.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Carried {
    /// A packet of a queue pair.
    Rdma(RdmaPacket),
    /// A segment of a TCP connection.
    Tcp(TcpSegment),
    /// A packet of a stream.
    Stream(StreamPacket),
    /// A frame of ARP or Neighbour Discovery.
    Neighbour(NeighbourFrame),
}

impl Carried {
    /// The number of its code points.
    pub(crate) fn marking(&self) -> u8 {
        match self {
            Self::Rdma(packet) => marking_of(packet),
            Self::Tcp(segment) => segment.priority(),
            Self::Stream(packet) => packet.priority,
            Self::Neighbour(frame) => frame.marking,
        }
    }

    /// Number of the queue pair, or TCP connection, that it goes to, or of its stream; who is asked for.
    pub(crate) fn to(&self) -> u32 {
        match self {
            Self::Rdma(packet) => packet.dest_qp(),
            Self::Tcp(segment) => segment.connection,
            Self::Stream(packet) => packet.stream,
            Self::Neighbour(frame) => frame.asked,
        }
    }
}
