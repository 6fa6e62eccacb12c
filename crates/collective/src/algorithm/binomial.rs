//! Binomial trees (Thakur et al., IJHPCA 19, 2005).
//!
//! Ranks count from the root on. The parent of r is r without its lowest bit; a rank serves the largest subtree first on the
//! way down, and waits for the smallest first on the way up.

use crate::block::Blocks;
use crate::collective::{Collective, Kind};
use crate::division::{Division, Order};
use crate::error::Error;
use crate::options::Options;
use crate::pattern::{Pattern, Patterned, Position, Transfer, Way};
use crate::schedule::{Operation, Schedule};

pub(super) const SUMMARY: &str = "a binomial tree from the root, or to it";
pub(super) const KINDS: &[Kind] = &[Kind::Broadcast, Kind::Reduce, Kind::Gather, Kind::Scatter];

pub(super) fn schedule(
    collective: &Collective,
    options: &Options,
) -> Result<Box<dyn Schedule>, Error> {
    let (kind, ranks) = (collective.kind(), collective.ranks());
    let blocks = if matches!(kind, Kind::Gather | Kind::Scatter) { ranks } else { 1 };
    let division = Division::new(collective, options, blocks, Order::BlocksFirst);
    let pattern = Binomial { kind, ranks, root: collective.root() };
    Ok(Box::new(Patterned { collective: collective.clone(), division, pattern }))
}

#[derive(Debug)]
struct Binomial {
    kind: Kind,
    ranks: u32,
    root: u32,
}

impl Binomial {
    /// Whether data go from the root to the leaves.
    const fn is_down(&self) -> bool {
        matches!(self.kind, Kind::Broadcast | Kind::Scatter)
    }

    /// The number of a rank, counted from the root.
    const fn number(&self, rank: u32) -> u32 {
        (rank + self.ranks - self.root) % self.ranks
    }

    /// Children of a rank: number + 1, + 2, + 4, ... below its lowest bit, as far as they exist.
    const fn children(&self, number: u32) -> u32 {
        let room = self.ranks - number;
        let most = room.next_power_of_two().trailing_zeros();
        let own = number.trailing_zeros();
        if most < own { most } else { own }
    }

    /// The blocks that go between a child and its parent.
    const fn blocks(&self, child: u32) -> Blocks {
        if matches!(self.kind, Kind::Broadcast | Kind::Reduce) {
            return Blocks::one(0);
        }
        let (room, subtree) = (self.ranks - child, 1 << child.trailing_zeros());
        let count = if room < subtree { room } else { subtree };
        Blocks::run((child + self.root) % self.ranks, count, self.ranks)
    }

    fn transfer(&self, peer: u32, child: u32) -> Transfer {
        let operation = if self.kind == Kind::Reduce { Operation::Reduce } else { Operation::Copy };
        let peer = (peer + self.root) % self.ranks;
        Transfer { peer, stream: 0, operation, blocks: self.blocks(child) }
    }
}

impl Pattern for Binomial {
    fn rounds(&self, at: Position) -> u32 {
        match self.ranks {
            1 => 0,
            _ => self.children(self.number(at.rank)).max(1),
        }
    }

    fn round(&self, at: Position, round: u32, visit: &mut dyn FnMut(Way, Transfer)) {
        let own = self.number(at.rank);
        let children = self.children(own);
        let parent = own & own.wrapping_sub(1);
        if self.is_down() {
            if round == 0 && own > 0 {
                visit(Way::Receive, self.transfer(parent, own));
            }
            if round < children {
                let child = own + (1 << (children - 1 - round));
                visit(Way::Send, self.transfer(child, child));
            }
        } else {
            if round < children {
                let child = own + (1 << round);
                visit(Way::Receive, self.transfer(child, child));
            }
            if round + 1 == children.max(1) && own > 0 {
                visit(Way::Send, self.transfer(parent, own));
            }
        }
    }
}
