//! Messages to r+1, r+2, ... r+n-1: what the direct and the pairwise algorithm have in common.

use crate::block::{Blocks, Pair, Place};
use crate::collective::{Collective, Kind};
use crate::division::{Division, Order};
use crate::exchange::{Exchange, Exchanged};
use crate::options::Options;
use crate::pattern::{Patterned, Position};
use crate::schedule::{Operation, Schedule};

/// When a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// With all others.
    AtOnce,
    /// After what came for the one before it.
    OneByOne,
}

pub(super) fn rotation(
    collective: &Collective,
    options: &Options,
    pace: Pace,
) -> Box<dyn Schedule> {
    let (kind, ranks) = (collective.kind(), collective.ranks());
    let order = if kind == Kind::AllReduce { Order::LoopsFirst } else { Order::BlocksFirst };
    let division = Division::new(collective, options, ranks, order);
    let pattern = Exchanged { ranks, exchange: Rotation { kind, ranks, pace } };
    Box::new(Patterned { collective: collective.clone(), division, pattern })
}

/// An all-reduce is a reduce-scatter and then an all-gather.
#[derive(Debug)]
struct Rotation {
    kind: Kind,
    ranks: u32,
    pace: Pace,
}

impl Rotation {
    /// Messages to all others.
    const fn others(&self) -> u32 {
        self.ranks - 1
    }

    /// How far message `number` goes.
    const fn distance(&self, number: u32) -> u32 {
        number % self.others() + 1
    }
}

impl Exchange for Rotation {
    fn messages(&self, _at: Position) -> u32 {
        if self.kind == Kind::AllReduce { 2 * self.others() } else { self.others() }
    }

    fn first_of_batch(&self, _at: Position, number: u32) -> u32 {
        match self.pace {
            Pace::AtOnce => number - number % self.others(),
            Pace::OneByOne => number,
        }
    }

    fn destination(&self, at: Position, number: u32) -> u32 {
        (at.rank + self.distance(number)) % self.ranks
    }

    fn source(&self, at: Position, number: u32) -> u32 {
        (at.rank + self.ranks - self.distance(number)) % self.ranks
    }

    fn operation(&self, number: u32) -> Operation {
        match self.kind {
            Kind::ReduceScatter => Operation::Reduce,
            Kind::AllReduce if number < self.others() => Operation::Reduce,
            _ => Operation::Copy,
        }
    }

    fn blocks(&self, at: Position, number: u32) -> Blocks {
        let destination = self.destination(at, number);
        match (self.kind, self.operation(number)) {
            (Kind::AllToAll | Kind::AllToAllV, _) => Blocks::Pair(Pair {
                source: at.rank,
                destination,
                from: Place::Input,
                to: Place::Output,
            }),
            (_, Operation::Reduce) => Blocks::one(destination),
            (_, Operation::Copy) => Blocks::one(at.rank),
        }
    }
}
