//! Up/down: no way goes up after it has gone down, so there are no credit loops.

use std::collections::VecDeque;

use super::turns::{self, Direction, Turns};
use crate::balance::{self, Candidates};
use crate::graph::SwitchGraph;
use crate::guid::Guid;
use crate::hops::{LeastHops, distances};
use crate::subnet::Subnet;
use crate::tables::Tables;

/// The tables of up/down with these root switches, or those that it finds; else why there are none.
pub(super) fn route(subnet: &Subnet, roots: Option<&[usize]>) -> Result<Tables, String> {
    let least = least_hops(subnet, roots)?;
    Ok(Tables::on_one_lane(balance::tables(subnet, &least, Candidates::All)))
}

/// The least hops of ways that do not go up again; else why there are no roots.
pub(crate) fn least_hops(subnet: &Subnet, roots: Option<&[usize]>) -> Result<LeastHops, String> {
    let found;
    let roots = match roots {
        Some(roots) => roots,
        None => {
            found = find_roots(subnet);
            &found
        }
    };
    if roots.is_empty() {
        return Err("no switch looks like a root; name root switches".to_owned());
    }
    let ranks = Ranks {
        ranks: ranks_from(subnet.graph(), roots.iter().copied()),
        guids: (0..subnet.graph().len()).map(|switch| subnet.switch_guid(switch)).collect(),
    };
    Ok(turns::least_hops(subnet.graph(), &ranks))
}

/// For each switch, the least number of steps from one of `starts`.
pub(super) fn ranks_from(graph: &SwitchGraph, starts: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut ranks = vec![u32::MAX; graph.len()];
    let mut queue = VecDeque::new();
    for start in starts {
        if ranks[start] == u32::MAX {
            ranks[start] = 0;
            queue.push_back(start);
        }
    }
    while let Some(switch) = queue.pop_front() {
        for (_, neighbour, _) in graph.links(switch) {
            if ranks[neighbour] == u32::MAX {
                ranks[neighbour] = ranks[switch] + 1;
                queue.push_back(neighbour);
            }
        }
    }
    ranks
}

/// Switches for which more than 90 % of the channel adapters are equally far away, and no other distance has more
/// than 5 %.
fn find_roots(subnet: &Subnet) -> Vec<usize> {
    let graph = subnet.graph();
    let adapters: Vec<usize> =
        (0..graph.len()).map(|switch| subnet.adapters(switch).count()).collect();
    let all: usize = adapters.iter().sum();
    let is_root = |&switch: &usize| {
        let mut bars = [0_usize; 256];
        for (&hops, &count) in distances(graph, switch).iter().zip(&adapters) {
            bars[usize::from(hops)] += count;
        }
        let above = |percent: usize| bars.iter().filter(|&&bar| bar * 100 > all * percent).count();
        above(90) == 1 && above(5) == 1
    };
    (0..graph.len()).filter(is_root).collect()
}

struct Ranks {
    ranks: Vec<u32>,
    guids: Vec<Guid>,
}

impl Turns for Ranks {
    const START: Direction = Direction::Up;

    fn direction(&self, from: usize, to: usize) -> Direction {
        let (here, there) = (self.ranks[from], self.ranks[to]);
        let are_roots = here == 0 && there == 0;
        let is_up = are_roots || here > there || here == there && self.guids[from] > self.guids[to];
        if is_up { Direction::Up } else { Direction::Down }
    }

    fn is_legal(last: Direction, next: Direction) -> bool {
        !(last == Direction::Down && next == Direction::Up)
    }
}
