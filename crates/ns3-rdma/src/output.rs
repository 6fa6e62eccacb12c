//! What a run tells those who write files.

use std::fmt;

/// A packet as a trace shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Data.
    Data {
        /// Destination port.
        port: u16,
        /// Sequence number, in packets.
        seq: u32,
        /// Its class.
        class: u8,
    },
    /// A congestion notification packet.
    Notification {
        /// Marked packets since the last one.
        marked: u32,
        /// All packets since then.
        total: u64,
    },
    /// An acknowledgement, negative or not.
    Acknowledgement {
        /// The class of the data.
        class: u8,
        /// The next sequence number.
        seq: u32,
    },
    /// A frame of priority flow control.
    Pause {
        /// How long (us); 0 ends a pause.
        time: u32,
        /// Bytes of the queue.
        queue: u64,
        /// The class.
        class: u8,
    },
}

/// A packet that reached a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When (ns).
    pub time: u64,
    /// Where.
    pub node: u32,
    /// By which interface of the node, from 1.
    pub interface: u32,
    /// IP addresses of source and destination.
    pub addresses: [u32; 2],
    /// What it is.
    pub packet: Packet,
}

/// Who traces packets.
pub trait Trace {
    /// A packet was received by a node that is traced.
    fn received(&mut self, arrival: &Arrival);

    /// A packet was lost on the link to such a node.
    fn lost(&mut self, arrival: &Arrival);
}

/// Who writes lines: the reference log, or what the branch `timely` prints.
pub trait Lines {
    /// Whether anybody reads them.
    const ARE_READ: bool = true;

    /// Writes a line, without its end.
    fn line(&mut self, line: fmt::Arguments<'_>);
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Lines for Nobody {
    const ARE_READ: bool = false;

    fn line(&mut self, _: fmt::Arguments<'_>) {}
}

impl Trace for Nobody {
    fn received(&mut self, _: &Arrival) {}

    fn lost(&mut self, _: &Arrival) {}
}

/// Who takes all that a run tells.
#[derive(Debug)]
pub struct Outputs<T, L, P> {
    /// Packets at traced nodes (`mix.tr`).
    pub trace: T,
    /// The reference log (`exact.txt`).
    pub log: L,
    /// What the branch `timely` prints.
    pub printed: P,
}
