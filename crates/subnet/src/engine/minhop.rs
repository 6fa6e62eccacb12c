//! Min-hop: shortest ways, balanced by each switch alone. May have credit loops.

use crate::balance::{self, Candidates};
use crate::hops::LeastHops;
use crate::subnet::Subnet;
use crate::tables::{ForwardingTables, Tables};

/// The tables of min-hop.
pub(super) fn route(subnet: &Subnet) -> Tables {
    Tables::on_one_lane(shortest(subnet, Candidates::All))
}

/// Shortest ways over some of the ports that have them.
pub(super) fn shortest(subnet: &Subnet, candidates: Candidates) -> ForwardingTables {
    balance::tables(subnet, &LeastHops::shortest(subnet.graph()), candidates)
}
