//! A flow with all its numbers.

use rocelab_fabric::NodeId;
use rocelab_units::SimTime;

use crate::scenario::{Transport, Verb};

/// One flow: one or more messages over a connection of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowPlan {
    /// The requester.
    pub source: NodeId,
    /// The responder.
    pub destination: NodeId,
    /// When the work is posted.
    pub start: SimTime,
    /// Payload bytes: from source to destination, or the other way for a READ.
    pub bytes: u64,
    /// Payload bytes of each of its messages but for the last, 1 to [`MAX_MESSAGE_BYTES`](crate::MAX_MESSAGE_BYTES); of a TCP
    /// flow all of them, as they are one stream.
    pub message_bytes: u64,
    /// What carries it.
    pub transport: Transport,
    /// The operation of every message.
    pub verb: Verb,
    /// Priority 0 to 7.
    pub priority: u8,
    /// Queue pair number at the source: 0x11 + k for the k-th queue pair of that host. Of a TCP flow
    /// k, for the k-th connection of that host.
    pub source_qpn: u32,
    /// Queue pair number at the destination, numbered alike.
    pub destination_qpn: u32,
    /// First packet sequence number of the source's requests, 24 bits. Of a TCP flow the sequence
    /// number of the first byte, 32 bits.
    pub source_psn: u32,
    /// First packet sequence number of the destination's requests; of a TCP flow that of its source.
    pub destination_psn: u32,
    /// UDP source port (v2; 0xC000 to 0xFFFF, if the scenario gives no list) or flow label (v1: 20 bits). Of a TCP flow the source's
    /// port, and in the upper half the destination's.
    pub entropy: u32,
    /// The parameters of its queue pairs, by their place in [`Plan::queue_pairs`](super::Plan::queue_pairs); 0 of a TCP flow.
    pub queue_pairs: u32,
    /// The code points that its workload asks for, by their place in [`Plan::markings`](super::Plan::markings); 0: none.
    pub marking: u8,
}

impl FlowPlan {
    /// The host that the payload goes to.
    pub fn receiver(&self) -> NodeId {
        if self.verb == Verb::Read { self.source } else { self.destination }
    }

    /// Whether TCP carries it.
    pub const fn is_tcp(&self) -> bool {
        matches!(self.transport, Transport::Tcp)
    }

    /// The sizes of the flow's messages in the order in which they are posted, all at its start.
    pub fn messages(&self) -> impl Iterator<Item = u64> + use<> {
        let (bytes, each) = (self.bytes, self.message_bytes.max(1));
        let count = bytes.div_ceil(each).max(1);
        (0..count).map(move |k| (bytes - k * each).min(each))
    }

    /// The ports of a TCP flow: of its source, and of its destination.
    pub fn tcp_ports(&self) -> (u16, u16) {
        let [a, b, c, d] = self.entropy.to_be_bytes();
        (u16::from_be_bytes([c, d]), u16::from_be_bytes([a, b]))
    }
}
