//! Which connections NVLink takes off the network.

use super::{ConnectionPlan, Plan};

/// The connections of applications that have queue pairs, by number: all but those over NVLink.
pub(crate) fn network_connections(
    plan: &Plan,
) -> impl Iterator<Item = (u32, &ConnectionPlan)> + Clone {
    (0u32..).zip(&plan.connections).filter(|(_, connection)| !connection.is_nvlink)
}
