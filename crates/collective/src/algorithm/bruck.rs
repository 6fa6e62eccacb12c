//! Bruck's algorithms, for any number of ranks (Bruck et al., IEEE TPDS 8, 1997).
//!
//! All-gather: in phase k, rank r sends the min(2^k, n - 2^k) blocks from its own on to r - 2^k. All-to-all: the block for
//! rank r + i is in slot i, and phase k sends all slots i with bit k set to r + 2^k. A barrier is the
//! all-gather without data, known as dissemination.

use crate::block::Blocks;
use crate::collective::{Collective, Kind};
use crate::division::{Division, Order};
use crate::error::Error;
use crate::exchange::{Exchange, Exchanged};
use crate::options::Options;
use crate::pattern::{Patterned, Position};
use crate::schedule::{Operation, Schedule};

pub(super) const SUMMARY: &str = "a logarithm of steps, for any number of ranks";
pub(super) const KINDS: &[Kind] = &[Kind::AllGather, Kind::AllToAll, Kind::Barrier];

pub(super) fn schedule(
    collective: &Collective,
    options: &Options,
) -> Result<Box<dyn Schedule>, Error> {
    let (kind, ranks) = (collective.kind(), collective.ranks());
    let division = Division::new(collective, options, ranks, Order::BlocksFirst);
    let pattern = Exchanged { ranks, exchange: Bruck { kind, ranks } };
    Ok(Box::new(Patterned { collective: collective.clone(), division, pattern }))
}

#[derive(Debug)]
struct Bruck {
    kind: Kind,
    ranks: u32,
}

impl Bruck {
    const fn up(&self, rank: u32, number: u32) -> u32 {
        (rank + (1 << number)) % self.ranks
    }

    const fn down(&self, rank: u32, number: u32) -> u32 {
        (rank + self.ranks - (1 << number)) % self.ranks
    }
}

impl Exchange for Bruck {
    fn slots(&self) -> u32 {
        if self.kind == Kind::AllToAll { self.ranks } else { 0 }
    }

    fn messages(&self, _at: Position) -> u32 {
        self.ranks.next_power_of_two().trailing_zeros()
    }

    fn destination(&self, at: Position, number: u32) -> u32 {
        match self.kind {
            Kind::AllToAll => self.up(at.rank, number),
            _ => self.down(at.rank, number),
        }
    }

    fn source(&self, at: Position, number: u32) -> u32 {
        match self.kind {
            Kind::AllToAll => self.down(at.rank, number),
            _ => self.up(at.rank, number),
        }
    }

    fn operation(&self, _number: u32) -> Operation {
        Operation::Copy
    }

    fn blocks(&self, at: Position, number: u32) -> Blocks {
        match self.kind {
            Kind::AllToAll => Blocks::Bruck { sender: at.rank, bit: number, ranks: self.ranks },
            _ => Blocks::run(at.rank, (self.ranks - (1 << number)).min(1 << number), self.ranks),
        }
    }
}
