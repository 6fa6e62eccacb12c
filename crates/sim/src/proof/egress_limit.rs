//! Whether the limit of lossless egress queues can be reached: beyond it lossless frames are dropped,
//! however much headroom there is.
//!
//! A queue of one priority is at its longest when all that its n ingress ports hold of the priority
//! waits in it: their reserves, their headroom, and their parts of the shared pool S. With a fixed
//! threshold these are at most XOFF each. With a dynamic one, each port admitted its last frame of at
//! most m bytes when what it held was at most `alpha` times what was free, and what the ports before it
//! hold was not free. So the k-th holds at most alpha / (1 + alpha) of S + m less what those before it
//! hold, and all together (S + m) (1 - (1 + alpha)^-n), and at most S.

use std::collections::BTreeMap;

use rocelab_fabric::{BufferLayout, NodeId, Priority, SwitchConfig};
use rocelab_units::{Bytes, Ratio};
use serde::Serialize;

use super::Verdict;
use super::headroom::is_lossless;
use crate::Plan;

/// The limit of the lossless egress queues of switches that are alike. Sizes in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EgressLimitFinding {
    /// How many switches.
    pub switches: u64,
    /// The first of them.
    pub example: String,
    /// `switch.lossless_egress_limit`.
    pub limit_bytes: u64,
    /// The longest that a queue can become without it.
    pub longest_bytes: u64,
}

impl EgressLimitFinding {
    /// Proved if no queue reaches the limit.
    pub fn verdict(&self) -> Verdict {
        if self.limit_bytes >= self.longest_bytes { Verdict::Proved } else { Verdict::Refuted }
    }
}

/// Kinds of switches that have a limit.
pub(super) fn find(plan: &Plan) -> Vec<EgressLimitFinding> {
    let mut kinds: BTreeMap<_, EgressLimitFinding> = BTreeMap::new();
    for switch in plan.topology.switches().filter(|&switch| is_lossless(plan, switch)) {
        let Some(limit) = plan.switch_at(switch).lossless_egress_limit else { continue };
        let Some(longest_bytes) = longest(plan, switch) else { continue };
        let limit_bytes = limit.get();
        let finding = kinds.entry((limit_bytes, longest_bytes)).or_insert(EgressLimitFinding {
            switches: 0,
            example: plan.topology.nodes[switch as usize].name.clone(),
            limit_bytes,
            longest_bytes,
        });
        finding.switches += 1;
    }
    kinds.into_values().collect()
}

/// The longest that a lossless egress queue can become (bytes of memory).
fn longest(plan: &Plan, switch: NodeId) -> Option<u64> {
    let adjacency = plan.topology.adjacency();
    let config = plan.switch_at(switch);
    let headroom = plan.headroom(switch, &adjacency);
    let layout = BufferLayout::new(config, &headroom).ok()?;
    let ports = headroom.len() as u64;
    let sum = headroom.iter().fold(0u64, |sum, headroom| sum.saturating_add(headroom.get()));
    let headroom = sum.min(config.headroom_pool.map_or(u64::MAX, Bytes::get));
    let frame = adjacency.ports_of(switch).first().map_or(0, |port| {
        let hop = plan.lossless_hop(switch, port, &adjacency);
        hop.largest_frame.get().next_multiple_of(hop.cell.get().max(1))
    });
    let shared = match config.xoff {
        Some(xoff) => xoff.get().saturating_mul(ports).min(layout.shared),
        None => shared_by(ports, largest_alpha(config), layout.shared, frame),
    };
    let reserves = config.reserve.get().saturating_mul(ports);
    Some(reserves.saturating_add(headroom).saturating_add(shared))
}

/// What so many ingress ports hold at most of a shared pool, with a dynamic threshold.
fn shared_by(ports: u64, alpha: Ratio, shared: u64, frame: u64) -> u64 {
    let (a, b) = (u128::from(alpha.numerator()), u128::from(alpha.denominator()));
    let mut held = 0u64;
    for _ in 0..ports {
        let free = u128::from(shared.saturating_add(frame).saturating_sub(held));
        let more = u64::try_from((free * a).div_ceil(a + b)).unwrap_or(u64::MAX);
        held = held.saturating_add(more);
        if more == 0 || held >= shared {
            break;
        }
    }
    held.min(shared)
}

/// The largest `alpha` of a lossless priority.
fn largest_alpha(config: &SwitchConfig) -> Ratio {
    let of = |priority: &u8| {
        let own = Priority::new(*priority).and_then(|p| config.priority_alpha.get(&p));
        own.copied().unwrap_or(config.alpha)
    };
    let larger = |a: &Ratio, b: &Ratio| {
        let products =
            [(a, b), (b, a)].map(|(x, y)| u128::from(x.numerator()) * u128::from(y.denominator()));
        products[0].cmp(&products[1])
    };
    config.lossless.iter().map(of).max_by(larger).unwrap_or(config.alpha)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ports_hold_is_the_geometric_sum_and_not_more_than_the_pool() {
        // S (1 - (1 + alpha)^-n) with frames of no length.
        for (ports, alpha, expected) in [
            (1, (1, 1), 500_000),
            (3, (1, 1), 875_000),
            (2, (1, 3), 437_500),
            (64, (8, 1), 1_000_000),
        ] {
            let held = shared_by(ports, Ratio::new(alpha.0, alpha.1), 1_000_000, 0);
            assert!(held.abs_diff(expected) <= ports, "{ports} {alpha:?}: {held}");
        }
        // A frame that is admitted may end beyond the threshold by alpha times its length.
        assert_eq!(shared_by(1, Ratio::new(1, 1), 1_000_000, 1_000), 500_500);
    }
}
