//! Conditions for frames that come in by ports of switches.

use rocelab_fabric::{IngressCondition, NodeId};

/// A condition, and where it holds.
#[derive(Clone, Debug)]
pub struct IngressPlan {
    /// Ports of switches, each with a state of its own.
    pub ports: Vec<(NodeId, u16)>,
    /// What is asked of frames.
    pub condition: IngressCondition,
}
