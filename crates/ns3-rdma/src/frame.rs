//! Packets on their way, and the streams that they belong to.

use crate::routing::flow_hash;

/// Bytes of an acknowledgement, and of a congestion notification packet (CNP).
pub(crate) const CONTROL_BYTES: u16 = 30;
/// Bytes of a pause frame.
pub(crate) const PAUSE_BYTES: u16 = 31;
/// The class of pause frames, CNPs and negative acknowledgements in switches.
pub(crate) const CONTROL_CLASS: u8 = 7;
/// The class of acknowledgements in switches.
pub(crate) const ACK_CLASS: u8 = 1;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Data of a flow, or the answer of its receiver.
    Data,
    /// A congestion notification packet.
    Cnp,
    /// An acknowledgement.
    Ack,
    /// A negative acknowledgement.
    Nack,
    /// A priority flow control frame.
    Pause,
}

/// A packet. It is copied from queue to queue: 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Of data in the branch `timely`, the time (ns) that is answered, or [`NO_STAMP`]; of a CNP the
    /// packets counted; of a pause frame the bytes of the queue.
    pub(crate) stamp: u64,
    /// The stream that it belongs to; of a pause frame none.
    pub(crate) stream: u32,
    /// Sequence number; of a CNP the marked packets, of a pause frame its time in us.
    pub(crate) seq: u32,
    /// The port by which it came into the switch that holds it.
    pub(crate) ingress: u32,
    /// The host that it goes to.
    pub(crate) to: u32,
    /// Bytes on the wire and in buffers.
    pub(crate) size: u16,
    pub(crate) kind: Kind,
    /// Its class in switches.
    pub(crate) class: u8,
    /// Of a pause frame, the class that it is about.
    pub(crate) paused: u8,
    /// Whether a switch marked it.
    pub(crate) is_marked: bool,
}

/// Data that asks for no answer.
pub(crate) const NO_STAMP: u64 = u64::MAX;

/// Packets from a port of one host to a port of another: a flow, or the answers to one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    /// The host that sends, and its number among hosts.
    pub(crate) source: u32,
    pub(crate) source_host: u32,
    /// The host that receives, and its number among hosts.
    pub(crate) destination: u32,
    pub(crate) destination_host: u32,
    /// Addresses of the two.
    pub(crate) addresses: [u32; 2],
    /// UDP ports of the two; that of a sender is known when it starts.
    pub(crate) ports: [u16; 2],
    pub(crate) class: u8,
    /// Bytes of each packet on the wire.
    pub(crate) size: u16,
    /// Its number at the sender's NIC, from 1; 0 before the first packet.
    pub(crate) sender: u32,
    /// What its data chooses among paths by.
    pub(crate) hash: u32,
}

impl Stream {
    /// Calculates the hash of its data anew, after ports have changed.
    pub(crate) fn rehash(&mut self) {
        const UDP: u32 = 17;
        let [source, destination] = self.addresses;
        let [from, to] = self.ports.map(u32::from);
        let of_addresses = flow_hash(source, destination, UDP);
        self.hash = of_addresses ^ from << 16 ^ to ^ u32::from(self.class);
    }

    /// What a packet chooses among paths by; all feedback of one kind between two hosts agrees.
    #[inline]
    pub(crate) const fn hash_of(&self, kind: Kind) -> u32 {
        let [source, destination] = self.addresses;
        match kind {
            Kind::Data => self.hash,
            Kind::Ack => flow_hash(destination, source, 252),
            Kind::Nack => flow_hash(destination, source, 253),
            Kind::Pause => flow_hash(destination, source, 254),
            Kind::Cnp => flow_hash(destination, source, 255),
        }
    }
}
