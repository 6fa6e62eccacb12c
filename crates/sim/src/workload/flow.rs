//! A flow as a workload asks for it.

use rocelab_fabric::NodeId;
use rocelab_units::SimTime;

use super::HostDirectory;
use crate::scenario::{Fault, Verb, ensure};

/// One flow as a workload asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) source: NodeId,
    pub(crate) destination: NodeId,
    pub(crate) start: SimTime,
    pub(crate) bytes: u64,
    /// Of each message but for the last.
    pub(crate) message_bytes: u64,
    pub(crate) verb: Verb,
    pub(crate) priority: u8,
    /// The destination's port by the rules of HPCC's ns-3 simulator; RoCE has its own.
    pub(crate) port: u16,
    /// Which entry or line of the workload it comes from.
    pub(crate) row: u32,
}

/// The destination port of flows that name none, as in the flow files of HPCC's simulator.
pub(crate) const DEFAULT_PORT: u16 = 100;

/// Refuses flows that do not leave their host.
pub(crate) fn check_ends(
    hosts: &HostDirectory,
    source: NodeId,
    destination: NodeId,
) -> Result<(), Fault> {
    ensure(source != destination, || {
        let name = hosts.name(source);
        let text = format!("a host does not send to itself over the network: both are `{name}`");
        Fault::at("to", text).help("name two different hosts")
    })
}
