//! A packet's way through the network.

use std::rc::Rc;

/// One packet of the flow, wherever it is.
#[derive(Clone, Debug)]
pub(super) struct Trail {
    pub(super) psn: u32,
    /// As it left its host, 0 to 7.
    pub(super) priority: u8,
    /// The links that it has begun to cross.
    pub(super) hops: Vec<Hop>,
    /// What it is the answer to.
    pub(super) answers: Option<Rc<Answered>>,
}

/// A link that a packet crosses (picoseconds).
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    /// The port that sends it.
    pub(super) port: u32,
    /// Its first bit leaves.
    pub(super) start: u64,
    /// It has crossed the link.
    pub(super) crossed: u64,
    /// The node behind the link acts on it.
    pub(super) arrived: u64,
}

/// What made a host answer.
#[derive(Debug)]
pub(super) struct Answered {
    /// The packet that arrived.
    pub(super) request: Trail,
    /// When the answer was ready to leave.
    pub(super) ready: u64,
}

impl Trail {
    /// When it left its host.
    pub(super) fn left(&self) -> u64 {
        self.hops.first().map_or(0, |hop| hop.start)
    }

    /// When it arrived where it is.
    pub(super) fn arrived(&self) -> u64 {
        self.hops.last().map_or(0, |hop| hop.arrived)
    }
}
