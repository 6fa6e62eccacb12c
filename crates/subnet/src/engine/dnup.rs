//! Down/up: ranks grow from the switches with hosts on, and no way goes down after it has gone up. Ways between
//! switches of one rank are always legal, so it may have credit loops.

use super::turns::{self, Direction, Turns};
use super::updn::ranks_from;
use crate::balance::{self, Candidates};
use crate::subnet::Subnet;
use crate::tables::Tables;

/// The tables of down/up.
pub(super) fn route(subnet: &Subnet) -> Tables {
    let graph = subnet.graph();
    let leaves = (0..graph.len()).filter(|&switch| subnet.adapters(switch).next().is_some());
    let ranks = Ranks(ranks_from(graph, leaves));
    let least = turns::least_hops(graph, &ranks);
    Tables::on_one_lane(balance::tables(subnet, &least, Candidates::All))
}

struct Ranks(Vec<u32>);

impl Turns for Ranks {
    const START: Direction = Direction::Down;

    fn direction(&self, from: usize, to: usize) -> Direction {
        match self.0[from].cmp(&self.0[to]) {
            std::cmp::Ordering::Less => Direction::Down,
            std::cmp::Ordering::Equal => Direction::Equal,
            std::cmp::Ordering::Greater => Direction::Up,
        }
    }

    fn is_legal(last: Direction, next: Direction) -> bool {
        !(last == Direction::Up && next == Direction::Down)
    }
}
