//! What ports may send next.

use rocelab_fabric::Port;

use super::core::Network;
use super::node::Role;
use crate::plan::Plan;
use crate::profile::{EndHost, Profile};

/// Whether something may follow the frame that a port sends.
pub(super) fn has_more<P: Profile>(network: &Network<P>, port: u32) -> bool {
    let state = &network.ports[port as usize];
    if state.port.has_control_frame() {
        return true;
    }
    match state.role {
        Role::Host(host) => {
            let of_host = network.hosts[host as usize]
                .end_host
                .is_ready(held_at::<P>(&state.port, &network.plan));
            of_host || (state.port.is_counted() && state.port.has_eligible())
        }
        Role::Switch(_) => state.port.has_eligible(),
        Role::Elsewhere(_) => false,
    }
}

/// The priorities (bit p) that a host may not send at a port now: paused ones; or, of a channel adapter, service levels of
/// whose lane a packet waits already.
#[inline(always)] // Of Ethernet it is a field.
pub(super) fn held_at<P: Profile>(transmitter: &Port<P::Link, P::FlowControl>, plan: &Plan) -> u8 {
    if transmitter.is_counted() {
        levels_of(plan, transmitter.waiting())
    } else {
        transmitter.blocked()
    }
}

/// The service levels (bit p) of lanes (bit v).
#[cold]
#[inline(never)] // Where frames are not counted it would only be in the way.
fn levels_of(plan: &Plan, lanes: u8) -> u8 {
    let is_taken = |level: &u8| lanes & 1 << plan.lane_of(*level) != 0;
    (0..8).filter(is_taken).fold(0, |mask, level| mask | 1 << level)
}
