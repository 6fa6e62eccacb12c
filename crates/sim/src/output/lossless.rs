//! Frames of lossless priorities that were dropped: what should not happen.

use std::collections::BTreeMap;

use crate::Plan;
use crate::network::{DropCause, FrameDropped};

/// Counts all that nodes drop, whatever made them, a failure of the scenario included: who depends on
/// lossless priorities wants to know. What links lose is not counted: of bit errors and cuts nobody
/// thinks that pauses prevent them.
pub(super) struct LosslessDrops<'a> {
    plan: &'a Plan,
    /// By node: of which markings frames are lossless there. Empty until something is dropped.
    lossless: Vec<Vec<bool>>,
    by_reason: BTreeMap<String, u64>,
}

// What is lossless is looked up when it is asked for.
rocelab_state::state!(['a] LosslessDrops<'a> { values: by_reason; kept: plan, lossless });

impl<'a> LosslessDrops<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self { plan, lossless: Vec::new(), by_reason: BTreeMap::new() }
    }

    pub(super) fn note(&mut self, dropped: &FrameDropped) {
        if self.lossless.is_empty() {
            self.lossless = lossless_as_sent(self.plan);
        }
        let of_node = &self.lossless[dropped.node as usize];
        let is_lossless = of_node.get(usize::from(dropped.marking)).copied().unwrap_or(false);
        if is_lossless && self.is_missed(&dropped.cause) {
            *self.by_reason.entry(dropped.cause.name().to_owned()).or_default() += 1;
        }
    }

    /// By reason.
    pub(super) fn finish(self) -> BTreeMap<String, u64> {
        self.by_reason
    }

    fn is_missed(&self, cause: &DropCause) -> bool {
        match cause {
            DropCause::Link
            | DropCause::FcsError
            | DropCause::LinkDown
            | DropCause::Fault(_)
            | DropCause::Icrc
            // Of a group that bridges flood: nobody misses it there.
            | DropCause::NotInGroup
            | DropCause::PKey
            | DropCause::QKey => false,
            // Where frames may be flooded, copies end where nobody misses them.
            DropCause::Filtered | DropCause::ForeignDestination => {
                self.plan.all_switches_follow_routes()
            }
            DropCause::Buffer(_)
            | DropCause::Watchdog
            | DropCause::ReceiverStopped
            | DropCause::ReceiverFull
            | DropCause::NoRoute
            | DropCause::IncompleteArp
            | DropCause::MtuExceeded
            | DropCause::UnknownDestination
            | DropCause::WrongGid
            | DropCause::NotRoutable
            | DropCause::TtlExpired
            | DropCause::Ingress(_) => true,
        }
    }
}

/// By node: of which markings frames are lossless there; at a host, as at its switch.
fn lossless_as_sent(plan: &Plan) -> Vec<Vec<bool>> {
    if plan.profile.hpcc_ns3().is_some() {
        let all_but_control = (0..8).map(|priority| priority > 0).collect();
        return vec![all_but_control; plan.topology.nodes.len()];
    }
    let adjacency = plan.topology.adjacency();
    let mut all = vec![Vec::new(); plan.topology.nodes.len()];
    for switch in plan.topology.switches() {
        let of_switch = plan.lossless_as_sent(switch);
        let neighbours = adjacency.ports_of(switch).iter().map(|port| port.node);
        for host in neighbours.filter(|&node| plan.topology.is_host(node)) {
            all[host as usize].clone_from(&of_switch);
        }
        all[switch as usize] = of_switch;
    }
    all
}
