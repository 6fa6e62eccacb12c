//! The hop limit of each frame (TTL in IPv4), where static routes may lead in a circle.
//!
//! Frames along shortest paths always arrive, which plans check, so nobody counts there. With static
//! routes every arrival at a router is looked at: a router takes one off, and drops what then has
//! none left (RFC 1812, section 5.3.1; RFC 8200, section 3).
//!
//! Captures show it. Where routes stay the shortest paths it follows from the place of a frame. Where they
//! are made anew while frames are under way, it is counted for captures, and nothing is dropped for it.

use rocelab_wire::Encapsulation;

use super::build::Building;
use super::node::Role;
use crate::FailureChange;
use crate::profile::Profile;

impl<P: Profile> Building<'_, P> {
    /// Has hops counted, if there are routers, and static routes or captures of routes that change.
    pub(super) fn add_hop_limits(&mut self) {
        let is_routed = self.0.plan.roce.encapsulation != Encapsulation::V1;
        let by_hand = !self.0.plan.static_routes.is_empty();
        let steps = &self.0.plan.failures.steps;
        let reroutes = || steps.iter().any(|step| step.change == FailureChange::Reroute);
        if !is_routed || !(by_hand || self.0.plan.capture.is_some() && reroutes()) {
            return;
        }
        for port in &mut self.0.ports {
            if let Role::Switch(_) = port.far.role {
                port.far.look_at_arrivals();
            }
        }
        self.0.side.notes.get_or_insert_default().limit_hops(self.0.plan.roce.hop_limit, by_hand);
    }
}
