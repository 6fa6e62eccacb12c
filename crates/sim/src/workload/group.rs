//! A multicast group, as workloads know it.

use rocelab_fabric::NodeId;
use rocelab_wire::Gid;

/// A multicast group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MulticastGroup {
    /// Its name in the scenario.
    pub name: String,
    /// Its address (MGID).
    pub gid: Gid,
    /// Its members, ascending.
    pub members: Vec<NodeId>,
}
