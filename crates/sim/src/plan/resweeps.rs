//! What the subnet manager does as the scenario's failures change the network.

use std::collections::BTreeSet;

use rocelab_units::SimTime;

use super::infiniband::RoutedSubnet;
use super::{FailureChange, Plan};

/// The tables that the subnet manager makes after a failure.
#[derive(Clone, Debug)]
pub(crate) struct Resweep {
    /// When: the first time that these links are up.
    pub(crate) at: SimTime,
    /// The tables; or why there are no others than before.
    pub(crate) routed: Result<RoutedSubnet, String>,
}

impl Plan {
    /// What the subnet manager does up to a time, in its order: once for each set of links that are up, but for that of the
    /// beginning, and for so many of these at the `most`. Nothing on Ethernet.
    pub(crate) fn resweeps(
        &self,
        until: SimTime,
        most: usize,
    ) -> impl Iterator<Item = Resweep> + '_ {
        let mut failures = vec![0_u32; self.topology.links.len()];
        let mut active = self.active_links.clone();
        let mut known = BTreeSet::from([active.clone()]);
        let steps = self.failures.steps.iter().take_while(move |step| step.at <= until);
        let resweep = move |step: &super::FailureStep| {
            match step.change {
                FailureChange::LinkDown(link) => {
                    failures[link as usize] += 1;
                    active[link as usize] = false;
                }
                FailureChange::LinkUp(link) => {
                    failures[link as usize] -= 1;
                    active[link as usize] =
                        failures[link as usize] == 0 && self.active_links[link as usize];
                }
                FailureChange::Reroute if known.insert(active.clone()) => {
                    let manager = &self.infiniband.as_ref()?.manager;
                    if !manager.reroutes() {
                        return None;
                    }
                    return Some((step.at, manager.route(&self.topology, &active)));
                }
                _ => {}
            }
            None
        };
        let found = steps.filter_map(resweep).take(most);
        found.map(|(at, routed)| Resweep { at, routed })
    }
}
