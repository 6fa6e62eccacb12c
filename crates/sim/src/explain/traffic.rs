//! Whose a frame is.

use rocelab_transport::Packet as RdmaPacket;
use rocelab_wire::{Opcode, Syndrome};

use super::category::LossSignal;
use crate::network::watch::{Carried, FrameView, View};
use crate::plan::Pings;

/// Two queue pairs that talk to each other, or the ends of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Traffic {
    /// Those of a flow.
    Flow(u32),
    /// Those of an application's connection, by its place in the plan.
    Connection(u32),
}

/// Whose a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// Data or requests.
    Data(Traffic),
    /// Acknowledgements and notifications.
    Control(Traffic),
    /// A stream of a host's stack, by its number in the plan.
    Stream(u32),
    PauseFrames,
    /// ARP and Neighbour Discovery.
    AddressResolution,
    /// Pings of one host to another, and their answers.
    Pings,
    /// Of no queue pair or TCP connection that is known here.
    Management,
}

impl Owner {
    pub(super) fn of(network: View<'_>, frame: &FrameView) -> Self {
        let Some(packet) = &frame.packet else { return Self::PauseFrames };
        let carries_data = match packet {
            Carried::Rdma(packet) => carries_data(packet),
            Carried::Tcp(segment) => segment.payload_len > 0,
            Carried::Stream(packet) => return Self::Stream(packet.stream),
            Carried::Neighbour(_) => return Self::AddressResolution,
        };
        match traffic_of(network, frame) {
            Some(traffic) if carries_data => Self::Data(traffic),
            Some(traffic) => Self::Control(traffic),
            None if is_ping(network, frame) => Self::Pings,
            None => Self::Management,
        }
    }
}

/// Whether a frame is a ping, or the answer to one.
fn is_ping(network: View<'_>, frame: &FrameView) -> bool {
    let Some(Carried::Rdma(packet)) = frame.packet else { return false };
    Pings(network.plan()).has(frame.destination, packet.dest_qp())
}

/// The ends that a frame goes between, if they are a flow's or a connection's.
pub(super) fn traffic_of(network: View<'_>, frame: &FrameView) -> Option<Traffic> {
    let (flow, connection) = match frame.packet? {
        Carried::Rdma(packet) => network.owner(frame.destination, packet.dest_qp()),
        Carried::Tcp(segment) => {
            (network.flow_of_connection(frame.destination, segment.connection), None)
        }
        Carried::Stream(_) | Carried::Neighbour(_) => (None, None),
    };
    flow.map(Traffic::Flow).or(connection.map(Traffic::Connection))
}

/// Whether a packet, or a segment, is an acknowledgement and brings nothing back.
pub(super) fn only_acknowledges(packet: &Carried) -> bool {
    match packet {
        Carried::Rdma(packet) => is_acknowledgement(packet),
        Carried::Tcp(segment) => segment.payload_len == 0,
        Carried::Stream(_) | Carried::Neighbour(_) => false,
    }
}

/// Whose progress may wait for a packet that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HoldsBack {
    /// Always that of its flow or connection: it brings something, or tells of a loss.
    Always,
    /// Of one that can do nothing but wait for its acknowledgement.
    WhoWaitsForIt,
    /// Nobody's: a notification of congestion.
    Nobody,
}

impl HoldsBack {
    pub(super) fn of(packet: &Carried) -> Self {
        let (is_acknowledgement, tells_of_loss) = match packet {
            Carried::Rdma(packet) if packet.opcode() == Opcode::Cnp => return Self::Nobody,
            Carried::Rdma(packet) => (is_acknowledgement(packet), loss_signal(packet).is_some()),
            Carried::Tcp(segment) => (segment.payload_len == 0, segment.sack_count() > 0),
            Carried::Stream(_) | Carried::Neighbour(_) => return Self::Nobody,
        };
        if is_acknowledgement && !tells_of_loss { Self::WhoWaitsForIt } else { Self::Always }
    }
}

/// Whether a packet is data or a request.
pub(super) fn carries_data(packet: &RdmaPacket) -> bool {
    packet.opcode() != Opcode::Cnp && !is_acknowledgement(packet)
}

/// Whether a packet asks for READ data, or for an atomic operation.
pub(super) fn asks_for_result(packet: &RdmaPacket) -> bool {
    let opcode = packet.opcode();
    opcode.is_rdma_read_request() || opcode.is_atomic()
}

/// Whether a packet is an acknowledgement, positive or negative, and brings nothing back.
pub(super) fn is_acknowledgement(packet: &RdmaPacket) -> bool {
    packet.sack().is_some() || packet.opcode().is_response() && !is_result(packet)
}

/// Whether a packet brings READ data, or what an atomic operation found.
pub(super) fn is_result(packet: &RdmaPacket) -> bool {
    let opcode = packet.opcode();
    opcode.is_rdma_read_response() || opcode == Opcode::RcAtomicAcknowledge
}

/// What a packet says of losses.
pub(super) fn loss_signal(packet: &RdmaPacket) -> Option<LossSignal> {
    if packet.sack().is_some() {
        return Some(LossSignal::SelectiveAck);
    }
    match packet.aeth()?.syndrome {
        Syndrome::RnrNak { .. } => Some(LossSignal::ReceiverNotReady),
        Syndrome::Nak(_) => Some(LossSignal::Nak),
        _ => None,
    }
}
