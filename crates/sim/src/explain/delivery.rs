//! Whether what an end has sent is at the other end, whichever frame brought it.

use rocelab_fabric::NodeId;
use rocelab_transport::QueuePair;
use rocelab_transport::tcp::TcpEnd;

use super::sent_frames::{PacketKind, Sent};
use crate::network::watch::View;

/// A host, and the number of its queue pair or TCP connection.
pub(super) type EndNumber = (NodeId, u32);

/// Whether what went from one end to another has been taken there, by now: nobody sends it again
/// because it is missing.
pub(super) fn is_taken(network: View<'_>, what: Sent, from: EndNumber, to: EndNumber) -> bool {
    match what {
        Sent::Packet { psn, kind } => {
            let (sender, receiver) = (queue_pair(network, from), queue_pair(network, to));
            // A request may be asked again until what it asks for is there.
            let asks = if kind == PacketKind::Result { receiver } else { sender };
            asks.is_some_and(|asks| asks.is_done_with(psn))
                || kind == PacketKind::Message
                    && receiver.is_some_and(|receiver| receiver.has_request(psn))
        }
        Sent::Payload { from, to: end } => has_payload(network, to, (from, end)),
    }
}

/// The queue pair of an end.
pub(super) fn queue_pair(network: View<'_>, (node, number): EndNumber) -> Option<&QueuePair> {
    network.nic(node)?.queue_pair(number)
}

fn has_payload(network: View<'_>, (node, number): EndNumber, (from, to): (u64, u64)) -> bool {
    let connection = network.tcp(node).and_then(|tcp| tcp.connection(number));
    match connection.map(|connection| connection.end()) {
        Some(TcpEnd::Receiver(receiver)) => receiver.has(from, to),
        Some(TcpEnd::Sender(_)) | None => false,
    }
}
