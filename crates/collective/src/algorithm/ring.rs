//! Rings, as NCCL has them (Patarasuk and Yuan, Journal of Parallel and Distributed Computing 69, 2009).
//!
//! All-reduce is a reduce-scatter of n-1 messages and an all-gather of n-1 more, in one go. Broadcast and reduce go along
//! the ring as a chain that begins or ends at the root.

use crate::block::Blocks;
use crate::collective::{Collective, Kind};
use crate::division::{Division, Order};
use crate::error::Error;
use crate::options::Options;
use crate::pattern::{Pattern, Patterned, Position, Transfer, Way};
use crate::rings::Rings;
use crate::schedule::{Operation, Schedule};

pub(super) const SUMMARY: &str = "each rank sends to the next one in a ring, or in a chain";
pub(super) const KINDS: &[Kind] = &[
    Kind::AllReduce,
    Kind::AllGather,
    Kind::ReduceScatter,
    Kind::Broadcast,
    Kind::Reduce,
    Kind::SendReceive,
    Kind::Barrier,
];

pub(super) fn schedule(
    collective: &Collective,
    options: &Options,
) -> Result<Box<dyn Schedule>, Error> {
    let (kind, ranks) = (collective.kind(), collective.ranks());
    let (blocks, order) = match kind {
        Kind::AllReduce => (ranks, Order::LoopsFirst),
        Kind::AllGather | Kind::ReduceScatter | Kind::Barrier => (ranks, Order::BlocksFirst),
        _ => (1, Order::BlocksFirst),
    };
    let division = Division::new(collective, options, blocks, order);
    let rings = match kind {
        // Who sends to whom is part of what is to be done.
        Kind::SendReceive => Rings::by_number(ranks),
        _ => Rings::new(ranks, options)?,
    };
    let pattern = Ring { kind, ranks, root: collective.root(), rings };
    Ok(Box::new(Patterned { collective: collective.clone(), division, pattern }))
}

#[derive(Debug)]
struct Ring {
    kind: Kind,
    ranks: u32,
    root: u32,
    rings: Rings,
}

impl Ring {
    /// Messages that the rank at `place` of the chain or ring sends in one pass.
    fn messages(&self, place: u32) -> u32 {
        match self.kind {
            Kind::AllReduce => 2 * (self.ranks - 1),
            Kind::Broadcast | Kind::Reduce => u32::from(place + 1 < self.ranks),
            Kind::SendReceive => u32::from(self.ranks > 1),
            _ => self.ranks - 1,
        }
    }

    /// The place of a rank in the ring of a channel. A chain begins at the root, or behind it so that it ends there.
    fn place(&self, rank: u32, channel: u32) -> u32 {
        let place = self.rings.place(channel, rank);
        let first = match self.kind {
            Kind::Broadcast => self.rings.place(channel, self.root),
            Kind::Reduce => self.rings.place(channel, self.root) + 1,
            _ => 0,
        };
        (place + self.ranks - first % self.ranks) % self.ranks
    }

    /// Message number `number` that the rank at `place` sends.
    fn blocks(&self, channel: u32, place: u32, number: u32) -> Blocks {
        let back = |steps: u32| (place + 2 * self.ranks - steps) % self.ranks;
        match self.kind {
            Kind::AllReduce => Blocks::one(back(1 + number)),
            Kind::ReduceScatter => Blocks::one(self.rings.rank(channel, back(1 + number))),
            Kind::AllGather | Kind::Barrier => Blocks::one(self.rings.rank(channel, back(number))),
            Kind::SendReceive => Blocks::Across,
            _ => Blocks::one(0),
        }
    }

    const fn operation(&self, number: u32) -> Operation {
        match self.kind {
            Kind::AllReduce if number < self.ranks - 1 => Operation::Reduce,
            Kind::ReduceScatter | Kind::Reduce => Operation::Reduce,
            _ => Operation::Copy,
        }
    }
}

impl Pattern for Ring {
    fn rounds(&self, at: Position) -> u32 {
        if at.rank >= self.ranks || self.ranks == 1 {
            return 0;
        }
        // A chain has two messages at a rank, of which the first has one and the last has the other.
        if matches!(self.kind, Kind::Broadcast | Kind::Reduce) {
            return 1;
        }
        self.messages(0) + 1
    }

    fn round(&self, at: Position, round: u32, visit: &mut dyn FnMut(Way, Transfer)) {
        let place = self.place(at.rank, at.channel);
        let before = (place + self.ranks - 1) % self.ranks;
        let chain = matches!(self.kind, Kind::Broadcast | Kind::Reduce);
        let receive = if chain { (place > 0).then_some(0) } else { round.checked_sub(1) };
        let transfer = |peer, place, number| Transfer {
            peer,
            stream: 0,
            operation: self.operation(number),
            blocks: self.blocks(at.channel, place, number),
        };
        if let Some(number) = receive {
            let peer = self.rings.before(at.channel, at.rank);
            visit(Way::Receive, transfer(peer, before, number));
        }
        if round < self.messages(place) {
            let peer = self.rings.after(at.channel, at.rank);
            visit(Way::Send, transfer(peer, place, round));
        }
    }

    fn peers(&self, at: Position, visit: &mut dyn FnMut(u32)) {
        if self.ranks > 1 && self.messages(self.place(at.rank, at.channel)) > 0 {
            visit(self.rings.after(at.channel, at.rank));
        }
    }

    /// A rank leaves out one block at most, and two of them not the same one. The last one of a chain sends none.
    fn senders_of_all(&self, members: u32) -> u32 {
        members.min(2)
    }
}
