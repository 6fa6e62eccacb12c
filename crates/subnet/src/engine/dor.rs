//! Dimension order routing (DOR): min-hop, but only by the first neighbour that is on a shortest way. On meshes and
//! hypercubes whose dimensions are cabled in one order, there are no credit loops.

use super::minhop;
use crate::balance::Candidates;
use crate::subnet::Subnet;
use crate::tables::Tables;

/// The tables of dimension order routing.
pub(super) fn route(subnet: &Subnet) -> Tables {
    Tables::on_one_lane(minhop::shortest(subnet, Candidates::FirstNeighbour))
}
