//! A packet's way through the network.

use std::cell::Cell;
use std::rc::Rc;

use super::traffic::{carries_data, is_result};
use crate::network::watch::Carried;

/// One packet that is followed, wherever it is.
#[derive(Clone, Debug)]
pub(super) struct Trail {
    /// PSN, or sequence number of TCP.
    pub(super) number: u32,
    /// The number of its code points, as it left its host.
    pub(super) marking: u8,
    /// The links that it has begun to cross.
    pub(super) hops: Vec<Hop>,
    /// In a switch: the port that it waits for.
    pub(super) waits_at: Option<u32>,
    /// What it is the answer to.
    pub(super) answers: Option<Rc<Answered>>,
    /// Whether it brings READ data, or what an atomic operation found.
    pub(super) is_result: bool,
    /// Whether it is data or a request, results included.
    pub(super) carries_data: bool,
    /// Where there are several of it.
    copies: Option<Rc<Copies>>,
}

/// What became of all copies of a packet.
#[derive(Debug)]
struct Copies {
    left: Cell<u32>,
    arrived: Cell<bool>,
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
    /// A slow receiver keeps it from then on; 0 if none does.
    pub(super) kept: u64,
    /// The node behind the link acts on it.
    pub(super) arrived: u64,
}

/// What made a host answer.
#[derive(Debug)]
pub(super) struct Answered {
    /// The packet that arrived.
    pub(super) request: Rc<Trail>,
    /// When the protocol had it: at its arrival, or when it was through the stack of TCP.
    pub(super) through: u64,
    /// When the answer was made.
    pub(super) ready: u64,
    /// When it could leave: at once, or when it was through the stack of TCP.
    pub(super) released: u64,
}

impl Answered {
    /// What made a NIC answer at a time (picoseconds).
    pub(super) fn new(request: &Rc<Trail>, ready: u64) -> Self {
        let request = Rc::clone(request);
        Self { through: request.arrived(), request, ready, released: ready }
    }
}

impl Trail {
    /// A packet begins to cross its first link.
    pub(super) fn new(packet: &Carried, first: Hop, answers: Option<Rc<Answered>>) -> Self {
        let (number, is_result, carries_data) = match packet {
            Carried::Rdma(packet) => (packet.psn(), is_result(packet), carries_data(packet)),
            Carried::Tcp(segment) => (segment.seq, false, segment.payload_len > 0),
            Carried::Stream(packet) => (packet.number, false, true),
            Carried::Neighbour(frame) => (frame.asked, false, false),
        };
        let marking = packet.marking();
        Self {
            number,
            marking,
            hops: vec![first],
            waits_at: None,
            answers,
            is_result,
            carries_data,
            copies: None,
        }
    }

    /// There is one more of it, which is given.
    pub(super) fn copied(&mut self) -> Self {
        let alone = || Rc::new(Copies { left: Cell::new(1), arrived: Cell::new(false) });
        let copies = self.copies.get_or_insert_with(alone);
        copies.left.set(copies.left.get() + 1);
        self.clone()
    }

    /// It arrives at a host.
    pub(super) fn note_arrival(&self) {
        if let Some(copies) = &self.copies {
            copies.left.set(copies.left.get() - 1);
            copies.arrived.set(true);
        }
    }

    /// It is dropped; whether no other one of it has arrived, or still may.
    pub(super) fn note_drop(&self) -> bool {
        let Some(copies) = &self.copies else { return true };
        copies.left.set(copies.left.get() - 1);
        copies.left.get() == 0 && !copies.arrived.get()
    }

    /// When its part of the critical path began: as it left its host, or what it is the answer to.
    pub(super) fn begun(&self) -> u64 {
        self.answers.as_ref().map_or(self.left(), |answered| answered.request.left())
    }

    /// When it left its host.
    pub(super) fn left(&self) -> u64 {
        self.hops.first().map_or(0, |hop| hop.start)
    }

    /// When it arrived where it is.
    pub(super) fn arrived(&self) -> u64 {
        self.hops.last().map_or(0, |hop| hop.arrived)
    }
}
