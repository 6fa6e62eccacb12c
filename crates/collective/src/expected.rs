//! What ranks have at the end of an operation.

use core::ops::Range;

use crate::collective::{Collective, Kind};
use crate::division::split;

/// What a part of a rank's output must be at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The part, in the rank's memory (bytes).
    pub output: Range<u64>,
    /// Of whose input it is the sum.
    pub ranks: Range<u32>,
    /// Where that begins in the memory of each of those ranks (bytes).
    pub input: u64,
}

/// What `rank` has at the end of `collective`, in order of addresses; parts without bytes are left out. Addresses are those of
/// [`Memory`](crate::Memory).
pub fn expected(collective: &Collective, rank: u32) -> Vec<Expected> {
    let (ranks, bytes, root) = (collective.ranks(), collective.bytes(), collective.root());
    let same = |output: Range<u64>, ranks| Expected { input: output.start, output, ranks };
    let block = |number| {
        let extent = split(bytes, u64::from(collective.element()), ranks, number);
        extent.start..extent.start + extent.bytes
    };
    let blocks = || (0..ranks).map(|one| same(block(one), one..one + 1)).collect();
    let is_root = rank == root;
    let mut parts: Vec<_> = match collective.kind() {
        Kind::AllReduce => vec![same(0..bytes, 0..ranks)],
        Kind::ReduceScatter => vec![same(block(rank), 0..ranks)],
        Kind::AllGather => blocks(),
        Kind::Gather if is_root => blocks(),
        Kind::Reduce if is_root => vec![same(0..bytes, 0..ranks)],
        Kind::Broadcast => vec![same(0..bytes, root..root + 1)],
        Kind::Scatter => vec![same(block(rank), root..root + 1)],
        // A rank that is alone sends nothing.
        Kind::SendReceive if ranks > 1 => {
            let before = (rank + ranks - 1) % ranks;
            vec![Expected { output: bytes..2 * bytes, ranks: before..before + 1, input: 0 }]
        }
        Kind::AllToAll | Kind::AllToAllV => of_pairs(collective, rank),
        Kind::Gather | Kind::Reduce | Kind::SendReceive | Kind::Barrier => Vec::new(),
    };
    parts.retain(|part| !part.output.is_empty());
    parts
}

/// What all ranks have for one, in their order.
fn of_pairs(collective: &Collective, rank: u32) -> Vec<Expected> {
    let element = u64::from(collective.element());
    let ranks = collective.ranks();
    let size = |source, destination| match collective.matrix() {
        Some(matrix) => matrix.get(source, destination),
        None => split(collective.bytes(), element, ranks, destination).bytes,
    };
    let mut start: u64 = (0..ranks).map(|one| size(rank, one)).sum();
    let part = |source| {
        let output = start..start + size(source, rank);
        start = output.end;
        let input = (0..rank).map(|one| size(source, one)).sum();
        Expected { output, ranks: source..source + 1, input }
    };
    (0..ranks).map(part).collect()
}
