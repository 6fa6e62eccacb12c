//! Recursive doubling (Thakur et al., IJHPCA 19, 2005): partners are 1, 2, 4, ... away. Powers of two only.

use super::power_of_two;
use crate::block::Blocks;
use crate::collective::{Collective, Kind};
use crate::division::{Division, Order};
use crate::error::Error;
use crate::exchange::{Exchange, Exchanged};
use crate::options::Options;
use crate::pattern::{Patterned, Position};
use crate::schedule::{Operation, Schedule};

pub(super) const SUMMARY: &str = "pairs exchange all that they have; powers of two";
pub(super) const KINDS: &[Kind] = &[Kind::AllReduce, Kind::AllGather, Kind::Barrier];

pub(super) fn schedule(
    collective: &Collective,
    options: &Options,
) -> Result<Box<dyn Schedule>, Error> {
    let (kind, ranks) = (collective.kind(), collective.ranks());
    let blocks = if kind == Kind::AllReduce { 1 } else { ranks };
    let exchange =
        RecursiveDoubling { kind, ranks, messages: power_of_two("recursive-doubling", ranks)? };
    let division = Division::new(collective, options, blocks, Order::BlocksFirst);
    let pattern = Exchanged { ranks, exchange };
    Ok(Box::new(Patterned { collective: collective.clone(), division, pattern }))
}

#[derive(Debug)]
struct RecursiveDoubling {
    kind: Kind,
    ranks: u32,
    messages: u32,
}

impl Exchange for RecursiveDoubling {
    fn messages(&self, _at: Position) -> u32 {
        self.messages
    }

    fn destination(&self, at: Position, number: u32) -> u32 {
        at.rank ^ (1 << number)
    }

    fn source(&self, at: Position, number: u32) -> u32 {
        at.rank ^ (1 << number)
    }

    fn operation(&self, _number: u32) -> Operation {
        if self.kind == Kind::AllReduce { Operation::Reduce } else { Operation::Copy }
    }

    fn blocks(&self, at: Position, number: u32) -> Blocks {
        if self.kind == Kind::AllReduce {
            return Blocks::one(0);
        }
        let count = 1 << number;
        Blocks::run(at.rank & !(count - 1), count, self.ranks)
    }
}
