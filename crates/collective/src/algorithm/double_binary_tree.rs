//! Two binary trees, each with half of the data, as NCCL builds them (Sanders et al., Parallel Computing 35, 2009).
//!
//! Trees are over servers; in each server a chain of ranks hangs on the one that is in the tree. Chunks go up, are added, and
//! come down: both directions at the same time, in lanes of their own. The root turns around.

use crate::block::Blocks;
use crate::collective::{Collective, Kind};
use crate::division::{Division, Order};
use crate::error::Error;
use crate::options::Options;
use crate::pattern::{Pattern, Patterned, Position, Transfer, Way};
use crate::schedule::{Operation, Schedule};

pub(super) const SUMMARY: &str = "two binary trees, each with half of the data, up and down";
pub(super) const KINDS: &[Kind] = &[Kind::AllReduce];

pub(super) fn schedule(
    collective: &Collective,
    options: &Options,
) -> Result<Box<dyn Schedule>, Error> {
    let division = Division::new(collective, options, 2, Order::BlocksFirst);
    let local = options.ranks_per_server;
    let pattern = DoubleTree { local, servers: collective.ranks() / local };
    Ok(Box::new(Patterned { collective: collective.clone(), division, pattern }))
}

#[derive(Debug)]
struct DoubleTree {
    local: u32,
    servers: u32,
}

/// One of the two trees, in one channel.
#[derive(Clone, Copy)]
struct Tree {
    /// 0 or 1: also the half of the data.
    number: u32,
    /// The place in each server of the rank that is in the tree.
    head: u32,
}

/// The parent of a place in the first tree: its lowest bit goes up by one, or, beyond the last place, away.
const fn parent_of_place(place: u32, places: u32) -> Option<u32> {
    if place == 0 {
        return None;
    }
    let bit = place & place.wrapping_neg();
    let above = (place ^ bit) | (bit << 1);
    Some(if above < places { above } else { place ^ bit })
}

/// The children of a place in the first tree, the lower one first.
fn children_of_place(place: u32, places: u32) -> impl Iterator<Item = u32> {
    let bit = if place == 0 { places.next_power_of_two() } else { place & place.wrapping_neg() };
    // A child below lies half of the lowest bit away. One above may be beyond the end: then it is
    // the next one further down that exists.
    let low = (place > 0 && place < places && bit > 1).then(|| place - bit / 2);
    let high = core::iter::successors(Some(bit / 2), |half| Some(half / 2))
        .take_while(|half| *half > 0)
        .map(move |half| place + half)
        .find(|child| *child < places && parent_of_place(*child, places) == Some(place));
    low.into_iter().chain(high)
}

impl DoubleTree {
    /// The second tree has the servers in reverse, or one further where they are odd: a server is inner in one of them.
    const fn place(&self, tree: Tree, server: u32) -> u32 {
        match (tree.number, self.servers.is_multiple_of(2)) {
            (0, _) => server,
            (_, true) => self.servers - 1 - server,
            (_, false) => (server + self.servers - 1) % self.servers,
        }
    }

    const fn server(&self, tree: Tree, place: u32) -> u32 {
        match (tree.number, self.servers.is_multiple_of(2)) {
            (0, _) => place,
            (_, true) => self.servers - 1 - place,
            (_, false) => (place + 1) % self.servers,
        }
    }

    const fn head(&self, tree: Tree, place: u32) -> u32 {
        self.server(tree, place) * self.local + tree.head
    }

    /// The place of a rank in the chain of its server.
    const fn link(&self, tree: Tree, rank: u32) -> u32 {
        (rank % self.local + self.local - tree.head) % self.local
    }

    /// The rank that is so far down the chain of a server.
    const fn in_chain(&self, tree: Tree, server: u32, link: u32) -> u32 {
        server * self.local + (tree.head + link) % self.local
    }

    fn parent(&self, tree: Tree, rank: u32) -> Option<u32> {
        let server = rank / self.local;
        match self.link(tree, rank) {
            0 => {
                let place = parent_of_place(self.place(tree, server), self.servers)?;
                Some(self.head(tree, place))
            }
            link => Some(self.in_chain(tree, server, link - 1)),
        }
    }

    fn children(&self, tree: Tree, rank: u32) -> impl Iterator<Item = u32> {
        let (server, link) = (rank / self.local, self.link(tree, rank));
        let places = if link == 0 { self.servers } else { 0 };
        let place = self.place(tree, server);
        let heads = children_of_place(place, places).map(move |child| self.head(tree, child));
        let next = (link + 1 < self.local).then(|| self.in_chain(tree, server, link + 1));
        heads.chain(next)
    }

    /// The tree of a stream, and whether it goes up.
    const fn tree(&self, at: Position) -> (Tree, bool) {
        let number = at.stream / 2;
        // Trees and channels begin at different ranks of a server, so that all its NICs work.
        let head = (at.channel % self.local * 2 + number) % self.local;
        (Tree { number, head }, at.stream.is_multiple_of(2))
    }
}

impl Pattern for DoubleTree {
    fn streams(&self) -> u32 {
        4
    }

    fn rounds(&self, at: Position) -> u32 {
        let (tree, up) = self.tree(at);
        let is_root = self.parent(tree, at.rank).is_none();
        // The root does both in the stream that goes up.
        u32::from(self.local * self.servers > 1 && (up || !is_root))
    }

    fn round(&self, at: Position, _round: u32, visit: &mut dyn FnMut(Way, Transfer)) {
        let (tree, up) = self.tree(at);
        let blocks = Blocks::one(tree.number);
        let (upward, downward) = (tree.number * 2, tree.number * 2 + 1);
        let reduce = |peer| {
            let operation = Operation::Reduce;
            Transfer { peer, stream: upward, operation, blocks }
        };
        let copy = |peer| {
            let operation = Operation::Copy;
            Transfer { peer, stream: downward, operation, blocks }
        };
        let parent = self.parent(tree, at.rank);
        if up {
            self.children(tree, at.rank).for_each(|child| visit(Way::Receive, reduce(child)));
        }
        match (up, parent) {
            (true, Some(parent)) => return visit(Way::Send, reduce(parent)),
            (false, Some(parent)) => visit(Way::Receive, copy(parent)),
            (_, None) => (),
        }
        self.children(tree, at.rank).for_each(|child| visit(Way::Send, copy(child)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By looking at all places.
    #[test]
    fn children_are_those_that_have_the_place_as_parent() {
        for places in 1..200 {
            for place in 0..places {
                let children: Vec<_> = children_of_place(place, places).collect();
                let all: Vec<_> = (0..places)
                    .filter(|child| parent_of_place(*child, places) == Some(place))
                    .collect();
                assert_eq!(children, all, "{place} of {places}");
                assert!(children.len() <= 2);
            }
        }
    }
}
