//! The root talks to each other rank; and the all-to-all in which every rank begins with rank 0.
//!
//! That all-to-all sends to one rank after the other, so that all send to the same one at the same time: an incast, which NCCL
//! does not make.

use crate::block::{Blocks, Pair, Place};
use crate::collective::{Collective, Kind};
use crate::division::{Division, Order};
use crate::error::Error;
use crate::options::Options;
use crate::pattern::{Pattern, Patterned, Position, Transfer, Way};
use crate::schedule::{Operation, Schedule};

pub(super) const SUMMARY: &str = "the root sends to each, or gets from each; all begin with rank 0";
pub(super) const KINDS: &[Kind] =
    &[Kind::Broadcast, Kind::Reduce, Kind::Gather, Kind::Scatter, Kind::AllToAll, Kind::AllToAllV];

pub(super) fn schedule(
    collective: &Collective,
    options: &Options,
) -> Result<Box<dyn Schedule>, Error> {
    let (kind, ranks) = (collective.kind(), collective.ranks());
    let blocks = if matches!(kind, Kind::Broadcast | Kind::Reduce) { 1 } else { ranks };
    let division = Division::new(collective, options, blocks, Order::BlocksFirst);
    let pattern = Linear { kind, ranks, root: collective.root() };
    Ok(Box::new(Patterned { collective: collective.clone(), division, pattern }))
}

#[derive(Debug)]
struct Linear {
    kind: Kind,
    ranks: u32,
    root: u32,
}

impl Linear {
    /// Messages that a rank sends, one in each round.
    fn sends(&self, rank: u32) -> u32 {
        match self.kind {
            Kind::AllToAll | Kind::AllToAllV => self.ranks - 1,
            Kind::Broadcast | Kind::Scatter if rank == self.root => self.ranks - 1,
            Kind::Broadcast | Kind::Scatter => 0,
            _ => u32::from(rank != self.root),
        }
    }

    /// Where message `number` of a rank goes.
    const fn destination(&self, rank: u32, number: u32) -> u32 {
        match self.kind {
            // Its own number is left out.
            Kind::AllToAll | Kind::AllToAllV => number + if number >= rank { 1 } else { 0 },
            Kind::Broadcast | Kind::Scatter => (self.root + 1 + number) % self.ranks,
            _ => self.root,
        }
    }

    /// Whether a rank gets a message from another one.
    const fn is_sent(&self, source: u32, destination: u32) -> bool {
        match self.kind {
            Kind::AllToAll | Kind::AllToAllV => true,
            Kind::Broadcast | Kind::Scatter => source == self.root,
            _ => destination == self.root,
        }
    }

    fn transfer(&self, peer: u32, source: u32, destination: u32) -> Transfer {
        let blocks = match self.kind {
            Kind::AllToAll | Kind::AllToAllV => {
                let (from, to) = (Place::Input, Place::Output);
                Blocks::Pair(Pair { source, destination, from, to })
            }
            Kind::Scatter => Blocks::one(destination),
            Kind::Gather => Blocks::one(source),
            _ => Blocks::one(0),
        };
        let operation = if self.kind == Kind::Reduce { Operation::Reduce } else { Operation::Copy };
        Transfer { peer, stream: 0, operation, blocks }
    }
}

impl Pattern for Linear {
    fn rounds(&self, at: Position) -> u32 {
        if self.ranks == 1 {
            return 0;
        }
        // All that comes is received in one round, after all sends.
        let receives =
            (0..self.ranks).any(|source| source != at.rank && self.is_sent(source, at.rank));
        self.sends(at.rank) + u32::from(receives)
    }

    fn round(&self, at: Position, round: u32, visit: &mut dyn FnMut(Way, Transfer)) {
        if round < self.sends(at.rank) {
            let peer = self.destination(at.rank, round);
            visit(Way::Send, self.transfer(peer, at.rank, peer));
            return;
        }
        // From the ranks behind it first.
        for source in (1..self.ranks).map(|distance| (at.rank + distance) % self.ranks) {
            if self.is_sent(source, at.rank) {
                visit(Way::Receive, self.transfer(source, source, at.rank));
            }
        }
    }
}
