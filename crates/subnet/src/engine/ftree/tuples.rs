//! Numbers the switches of a fat tree by where they are, and puts groups of ports and leaves in that order.

use std::collections::{BTreeSet, VecDeque};

use super::fabric::{self, Fabric};
use crate::graph::SwitchGraph;

/// The rank of a switch, and its position at each level.
type Tuple = Vec<u32>;

/// Sorts groups of ports by the tuples of their neighbours, and returns the leaves in that order; else why not all
/// switches have a tuple.
pub(super) fn sort(
    fabric: &mut Fabric,
    ranks: &[u32],
    graph: &SwitchGraph,
) -> Result<Vec<usize>, String> {
    let first = fabric::leaves(graph).next().ok_or("no switch has hosts")?;
    let tuples = tuples(fabric, ranks, first);
    for switch in &mut fabric.switches {
        switch.up.sort_by_key(|group| &tuples[group.neighbour]);
        switch.down.sort_by_key(|group| &tuples[group.neighbour]);
    }
    let mut leaves: Vec<usize> = fabric::leaves(graph).collect();
    leaves.sort_by_key(|&leaf| &tuples[leaf]);
    Ok(leaves)
}

/// The tuple of each switch, breadth first from a leaf: downward groups first, then upward ones.
fn tuples(fabric: &Fabric, ranks: &[u32], first: usize) -> Vec<Tuple> {
    let levels = ranks.iter().map(|&rank| rank as usize + 1).max().unwrap_or(1);
    let mut tuples = vec![Tuple::new(); ranks.len()];
    let mut taken = BTreeSet::new();
    tuples[first] = std::iter::once(ranks[first]).chain(std::iter::repeat_n(0, levels)).collect();
    taken.insert(tuples[first].clone());
    let mut queue = VecDeque::from([first]);
    while let Some(here) = queue.pop_front() {
        let switch = &fabric.switches[here];
        let below = if switch.is_leaf { &[][..] } else { &switch.down };
        for neighbour in below.iter().chain(&switch.up).map(|group| group.neighbour) {
            if !tuples[neighbour].is_empty() {
                continue;
            }
            let tuple = next_free(&tuples[here], ranks[neighbour], &taken);
            taken.insert(tuple.clone());
            tuples[neighbour] = tuple;
            queue.push_back(neighbour);
        }
    }
    tuples
}

/// The tuple of a neighbour with another rank: only the position at the lower of both levels differs.
fn next_free(from: &Tuple, rank: u32, taken: &BTreeSet<Tuple>) -> Tuple {
    let mut tuple = from.clone();
    let position = from[0].max(rank) as usize;
    tuple[0] = rank;
    tuple[position] = 0;
    while taken.contains(&tuple) {
        tuple[position] += 1;
    }
    tuple
}
