//! The hop limit of each frame (TTL in IPv4), where static routes may lead in a circle.
//!
//! Frames along shortest paths always arrive, which plans check, so nobody counts there. With static
//! routes every arrival at a router is looked at: a router takes one off, and drops what then has
//! none left (RFC 1812, section 5.3.1; RFC 8200, section 3).

use rocelab_fabric::PacketId;
use rocelab_wire::Encapsulation;

use super::{Network, Role};
use crate::profile::Profile;

impl<P: Profile> Network<P> {
    /// Has hops counted, if there are routers and static routes.
    pub(super) fn add_hop_limits(&mut self) {
        let is_routed = self.plan.roce.encapsulation != Encapsulation::V1;
        if !is_routed || self.plan.static_routes.is_empty() {
            return;
        }
        for port in &mut self.ports {
            port.far.special |= matches!(port.far.role, Role::Switch(_));
        }
        self.notes.get_or_insert_default().limit_hops(self.plan.roce.hop_limit);
    }

    /// A frame has arrived at a switch; true if its hop limit ends there.
    pub(super) fn expires(&mut self, id: PacketId) -> bool {
        let is_routed = self.pool.get(id).body.priority().is_some();
        is_routed && self.notes.as_mut().is_some_and(|notes| !notes.spend_hop(id))
    }
}
