//! Ranks of switches in a fat tree: 0 at the roots, the greatest at the leaves.

use super::{FEWEST_LEVELS, MOST_LEVELS};
use crate::engine::updn::ranks_from;
use crate::subnet::Subnet;

/// The rank of each switch; else why there are none.
pub(super) fn ranks(subnet: &Subnet, roots: Option<&[usize]>) -> Result<Vec<u32>, String> {
    let graph = subnet.graph();
    let ranks = match roots {
        Some(roots) => ranks_from(graph, roots.iter().copied()),
        None => from_leaves(subnet),
    };
    let levels = ranks.iter().max().map_or(0, |most| most + 1);
    if !(FEWEST_LEVELS..=MOST_LEVELS).contains(&levels) {
        return Err(format!(
            "there are {levels} levels of switches, and a fat tree has {FEWEST_LEVELS} to {MOST_LEVELS}"
        ));
    }
    check_leaves(subnet, &ranks)?;
    Ok(ranks)
}

/// Whether a switch has hosts.
fn is_leaf(subnet: &Subnet, switch: usize) -> bool {
    subnet.adapters(switch).next().is_some()
}

/// Switches with hosts have the greatest rank; each step away from them is one less.
fn from_leaves(subnet: &Subnet) -> Vec<u32> {
    let graph = subnet.graph();
    let leaves = (0..graph.len()).filter(|&switch| is_leaf(subnet, switch));
    let steps = ranks_from(graph, leaves);
    let most = steps.iter().copied().max().unwrap_or(0);
    steps.into_iter().map(|steps| most - steps).collect()
}

fn check_leaves(subnet: &Subnet, ranks: &[u32]) -> Result<(), String> {
    let graph = subnet.graph();
    let mut leaves = (0..graph.len()).filter(|&switch| is_leaf(subnet, switch));
    let Some(first) = leaves.next() else { return Ok(()) };
    match leaves.find(|&leaf| ranks[leaf] != ranks[first]) {
        None => Ok(()),
        Some(other) => Err(format!(
            "hosts are at different levels: at {} with rank {}, and at {} with rank {}",
            subnet.switch_name(first),
            ranks[first],
            subnet.switch_name(other),
            ranks[other]
        )),
    }
}
