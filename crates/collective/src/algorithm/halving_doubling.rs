//! Recursive halving and doubling (Rabenseifner, ICCS 2004; Thakur et al., IJHPCA 19, 2005). Powers of two only.
//!
//! Halving: the partner is n/2, n/4, ..., 1 away, and each rank sends the half that it gives up. Doubling goes back.

use super::power_of_two;
use crate::block::Blocks;
use crate::collective::{Collective, Kind};
use crate::division::{Division, Order};
use crate::error::Error;
use crate::exchange::{Exchange, Exchanged};
use crate::options::Options;
use crate::pattern::{Patterned, Position};
use crate::schedule::{Operation, Schedule};

pub(super) const SUMMARY: &str = "pairs exchange halves, of halves, and back; powers of two";
pub(super) const KINDS: &[Kind] = &[Kind::AllReduce, Kind::ReduceScatter];

pub(super) fn schedule(
    collective: &Collective,
    options: &Options,
) -> Result<Box<dyn Schedule>, Error> {
    let (ranks, reduce_only) = (collective.ranks(), collective.kind() == Kind::ReduceScatter);
    let order = if reduce_only { Order::BlocksFirst } else { Order::LoopsFirst };
    let halvings = power_of_two("halving-doubling", ranks)?;
    let doublings = if reduce_only { 0 } else { halvings };
    let exchange = HalvingDoubling { ranks, halvings, doublings };
    let division = Division::new(collective, options, ranks, order);
    let pattern = Exchanged { ranks, exchange };
    Ok(Box::new(Patterned { collective: collective.clone(), division, pattern }))
}

#[derive(Debug)]
struct HalvingDoubling {
    ranks: u32,
    halvings: u32,
    doublings: u32,
}

impl HalvingDoubling {
    /// How far away the partner of message `number` is.
    const fn distance(&self, number: u32) -> u32 {
        if number < self.halvings {
            self.ranks >> (number + 1)
        } else {
            1 << (number - self.halvings)
        }
    }
}

impl Exchange for HalvingDoubling {
    fn messages(&self, _at: Position) -> u32 {
        self.halvings + self.doublings
    }

    fn destination(&self, at: Position, number: u32) -> u32 {
        at.rank ^ self.distance(number)
    }

    fn source(&self, at: Position, number: u32) -> u32 {
        at.rank ^ self.distance(number)
    }

    fn operation(&self, number: u32) -> Operation {
        if number < self.halvings { Operation::Reduce } else { Operation::Copy }
    }

    fn blocks(&self, at: Position, number: u32) -> Blocks {
        let distance = self.distance(number);
        // What belongs to the partner's side is given up; what belongs to this side is handed back.
        let side = if number < self.halvings { at.rank ^ distance } else { at.rank };
        Blocks::run(side & !(distance - 1), distance, self.ranks)
    }
}
