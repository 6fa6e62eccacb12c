//! Whether marks come before pauses, as the DCQCN paper asks of a switch's thresholds (SIGCOMM
//! 2015, section 4).
//!
//! Nothing is marked while no egress queue is longer than Kmin. A pause that comes nevertheless
//! stops senders that congestion control was never told about. The threshold (XOFF) of an ingress
//! priority falls as others fill the shared pool, so the question is what it is at the worst moment
//! before the first mark:
//!
//! * *One queue*: a single egress queue of Kmin bytes, all of one ingress. Marks come first if
//!   Kmin <= r + XOFF, with XOFF = alpha (S - Kmin), or the fixed one.
//! * *All queues*: every egress queue of all p lossless priorities holds Kmin, and in one priority
//!   all of it is of one ingress. Marks come first if sum(Kmin) <= r + XOFF, with
//!   XOFF = alpha (S - p sum(Kmin)). This is the paper's own case.
//!
//! S is the shared pool and r the reserve of an ingress priority; lossy traffic is not counted. With
//! the paper's n ports, p = 8, r = 0 and alpha = beta / 8, the second solved for Kmin is the paper's
//! t_ECN < beta (B - 8 n t_flight) / (8 n (beta + 1)). Where marks are made as frames leave, the
//! queue grows for one frame more.

use std::collections::BTreeMap;

use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{
    BufferLayout, EcnConfig, INTERPACKET_GAP, MarkAt, NodeId, PREAMBLE, SwitchConfig,
};
use rocelab_units::{Bandwidth, Bytes, Ratio};
use serde::Serialize;

use super::headroom::is_lossless;
use crate::Plan;
use crate::planning::default_ecn;

/// Thresholds of the egress queues of one rate at switches with equal ports. Sizes in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MarkingFinding {
    /// How many switches.
    pub switches: u64,
    /// The first of them.
    pub example: String,
    /// The rate of the queues' ports (bit/s).
    pub rate_bps: u64,
    /// How long a queue may be before its first mark: Kmin, and what else may have come.
    pub unmarked_bytes: u64,
    /// Whether marking is as it is without `switch.ecn`.
    pub default_ecn: bool,
    /// XOFF when one such queue is so long.
    pub xoff_bytes: u64,
    /// Whether marks come first with one queue.
    pub marks_first: bool,
    /// The same lengths of all queues of one priority of the switch, together.
    pub all_unmarked_bytes: u64,
    /// XOFF when all queues are so long.
    pub all_xoff_bytes: u64,
    /// Whether marks come first whatever the traffic.
    pub always_marks_first: bool,
    /// The largest Kmin, the same for all ports, with which that holds.
    pub always_kmin_bytes: u64,
}

/// What XOFF depends on. Sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThresholdInput {
    /// The pool that all share.
    pub shared: u64,
    /// The reserve of one ingress priority.
    pub reserve: u64,
    /// Lossless priorities.
    pub priorities: u64,
    /// Ports of the switch.
    pub ports: u64,
    /// A fixed threshold; without it `alpha` holds.
    pub xoff: Option<u64>,
    /// The share of the free pool that one ingress priority may hold.
    pub alpha: Ratio,
}

/// XOFF when `used` bytes of the shared pool are in use, without the reserve (bytes).
pub fn xoff_with(input: &ThresholdInput, used: u64) -> u64 {
    let free = input.shared.saturating_sub(used);
    input.xoff.unwrap_or_else(|| input.alpha.of(free)).min(input.shared)
}

/// The largest Kmin of all queues (bytes) with which marks come first whatever the traffic: r + XOFF
/// over n for a fixed threshold, (r + alpha S) / (n (1 + alpha p)) for a dynamic one.
pub fn kmin_limit(input: &ThresholdInput) -> u64 {
    let ports = u128::from(input.ports.max(1));
    let limit = match input.xoff {
        Some(xoff) => {
            let held = input.shared / input.priorities.max(1);
            u128::from(input.reserve.saturating_add(xoff).min(held)) / ports
        }
        None => {
            let (a, b) =
                (u128::from(input.alpha.numerator()), u128::from(input.alpha.denominator()));
            let above = u128::from(input.reserve) * b + a * u128::from(input.shared);
            above / (ports * (b + a * u128::from(input.priorities)))
        }
    };
    u64::try_from(limit).unwrap_or(u64::MAX)
}

/// Kinds of queues; none without ECN.
pub(super) fn find(plan: &Plan) -> Vec<MarkingFinding> {
    let adjacency = plan.topology.adjacency();
    let mut kinds: BTreeMap<_, MarkingFinding> = BTreeMap::new();
    for switch in plan.topology.switches().filter(|&switch| is_lossless(plan, switch)) {
        for finding in of_switch(plan, switch, &adjacency) {
            let key = (finding.rate_bps, finding.unmarked_bytes, finding.xoff_bytes);
            let all = (finding.all_unmarked_bytes, finding.all_xoff_bytes);
            kinds.entry((key, all)).or_insert(finding).switches += 1;
        }
    }
    kinds.into_values().collect()
}

/// The queues of one switch's ports, each kind once, with a count of no switches.
fn of_switch(plan: &Plan, switch: NodeId, adjacency: &Adjacency) -> Vec<MarkingFinding> {
    let config = plan.switch_at(switch);
    let headroom = plan.headroom(switch, adjacency);
    let Ok(layout) = BufferLayout::new(config, &headroom) else { return Vec::new() };
    let ports = adjacency.ports_of(switch);
    let rate_of = |port: &Neighbour| plan.topology.links[port.link as usize].rate;
    let fastest = ports.iter().map(rate_of).max().unwrap_or_default();
    let queue = |(number, port): (u16, &Neighbour)| {
        let frame = plan.lossless_hop(switch, port, adjacency).largest_frame.get();
        let ecn = plan.port_at(switch, number).ecn.as_ref();
        // An average may lag behind the queue by any amount.
        let ecn = ecn.filter(|ecn| ecn.average_weight.is_none())?;
        let rate = rate_of(port);
        Some((rate, unmarked(ecn, rate, fastest, frame), *ecn == default_ecn()))
    };
    let queues: Option<Vec<_>> = (0..).zip(ports).map(queue).collect();
    // Queues that are never marked are the end of all such questions.
    let Some(mut queues) = queues else { return Vec::new() };
    let input = ThresholdInput {
        shared: layout.shared,
        reserve: config.reserve.get(),
        priorities: config.lossless.len() as u64,
        ports: ports.len() as u64,
        xoff: config.xoff.map(Bytes::get),
        alpha: least_alpha(config),
    };
    let all = queues.iter().fold(0u64, |sum, &(_, unmarked, _)| sum.saturating_add(unmarked));
    queues.sort_unstable();
    queues.dedup();
    let example = &plan.topology.nodes[switch as usize].name;
    let finding = |(rate, unmarked, default_ecn): (Bandwidth, u64, bool)| MarkingFinding {
        example: example.clone(),
        rate_bps: rate.bits_per_second(),
        default_ecn,
        ..MarkingFinding::of(&input, unmarked, all)
    };
    queues.into_iter().map(finding).collect()
}

/// The least alpha of the lossless priorities.
fn least_alpha(config: &SwitchConfig) -> Ratio {
    let of = |priority: &u8| {
        let own = config.priority_alpha.iter().find(|(number, _)| number.number() == *priority);
        own.map_or(config.alpha, |(_, &alpha)| alpha)
    };
    let product = |a: Ratio, b: Ratio| u64::from(a.numerator()) * u64::from(b.denominator());
    let lesser = |a: Ratio, b: Ratio| if product(b, a) < product(a, b) { b } else { a };
    config.lossless.iter().map(of).reduce(lesser).unwrap_or(config.alpha)
}

impl MarkingFinding {
    /// Of a queue that is marked from `unmarked` on, at a switch whose queues of one priority hold
    /// `all` before the first mark.
    fn of(input: &ThresholdInput, unmarked: u64, all: u64) -> Self {
        let xoff = xoff_with(input, unmarked);
        let all_priorities = all.saturating_mul(input.priorities);
        let all_xoff = xoff_with(input, all_priorities);
        let holds = |queued: u64, used: u64, xoff: u64| {
            queued <= input.reserve.saturating_add(xoff) && used <= input.shared
        };
        Self {
            switches: 0,
            example: String::new(),
            rate_bps: 0,
            unmarked_bytes: unmarked,
            default_ecn: false,
            xoff_bytes: xoff,
            marks_first: holds(unmarked, unmarked, xoff),
            all_unmarked_bytes: all,
            all_xoff_bytes: all_xoff,
            always_marks_first: holds(all, all_priorities, all_xoff),
            always_kmin_bytes: kmin_limit(input),
        }
    }
}

/// How long the queue of a port of `rate` may be before its first mark (bytes).
fn unmarked(ecn: &EcnConfig, rate: Bandwidth, fastest: Bandwidth, frame: u64) -> u64 {
    let kmin = u128::from(ecn.kmin.get());
    let kmin = ecn.per_rate.map_or(kmin, |reference| {
        kmin * u128::from(rate.bits_per_second()) / u128::from(reference.bits_per_second().max(1))
    });
    let kmin = u64::try_from(kmin).unwrap_or(u64::MAX);
    let later = match ecn.mark_at {
        MarkAt::Enqueue => 0,
        // One ingress goes on while a frame leaves.
        MarkAt::Dequeue => {
            let times = fastest.bits_per_second().div_ceil(rate.bits_per_second().max(1));
            frame + (frame + u64::from(PREAMBLE + INTERPACKET_GAP)).saturating_mul(times)
        }
    };
    kmin.saturating_add(later)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The switch of the DCQCN paper: 12 MB, 32 ports, 8 priorities, 22.4 KB of headroom for each.
    fn paper(alpha: Ratio, xoff: Option<u64>) -> ThresholdInput {
        let headroom = 32 * 8 * 22_400;
        let shared = 12_000_000 - headroom;
        ThresholdInput { shared, reserve: 0, priorities: 8, ports: 32, xoff, alpha }
    }

    #[test]
    fn the_papers_fixed_threshold_is_24_47_kb_and_leaves_less_than_a_packet_for_marks() {
        // What is left beside the headroom, in equal parts: t_PFC <= (B - 8 n t_flight) / (8 n).
        let all = paper(Ratio::new(1, 1), None);
        let xoff = all.shared / (32 * 8);
        assert_eq!(xoff, 24_475);
        // t_ECN < t_PFC / n: below one packet of 1,024 bytes, so no threshold for marks is possible.
        let limit = kmin_limit(&paper(Ratio::new(1, 1), Some(xoff)));
        assert_eq!(limit, 764);
        assert!(limit < 1_024);
    }

    #[test]
    fn the_papers_dynamic_threshold_leaves_21_7_kb_for_marks() {
        // beta = 8, of which each of the eight priorities has an eighth: alpha = 1.
        let input = paper(Ratio::new(1, 1), None);
        assert_eq!(kmin_limit(&input), 8 * input.shared / (8 * 32 * 9));
        assert_eq!(kmin_limit(&input), 21_755);
        // The bound is where both sides meet.
        let at = |kmin: u64| MarkingFinding::of(&input, kmin, 32 * kmin);
        assert!(at(21_755).always_marks_first && !at(21_756).always_marks_first);
        assert!(at(21_756).marks_first, "with one queue there is room up to half of the pool");
        assert!(at(3_132_800).marks_first && !at(3_132_801).marks_first);
    }

    #[test]
    fn a_fixed_threshold_must_leave_room_in_the_pool_too() {
        let input = ThresholdInput {
            shared: 100_000,
            priorities: 2,
            ports: 4,
            ..paper(Ratio::new(1, 8), Some(80_000))
        };
        // 4 x 12,500 of each of two priorities fill the pool; the threshold alone would allow 20,000.
        assert_eq!(kmin_limit(&input), 12_500);
        let at = |kmin: u64| MarkingFinding::of(&input, kmin, 4 * kmin);
        assert!(at(12_500).always_marks_first && !at(12_501).always_marks_first);
    }

    #[test]
    fn the_limit_is_exact_for_any_switch() {
        for (n, p, r, alpha) in [(2, 1, 0, (1, 16)), (7, 3, 4_096, (1, 8)), (64, 2, 999, (2, 1))] {
            let alpha = Ratio::new(alpha.0, alpha.1);
            let input = ThresholdInput {
                shared: 9_000_001,
                reserve: r,
                priorities: p,
                ports: n,
                xoff: None,
                alpha,
            };
            let limit = kmin_limit(&input);
            let holds = |kmin: u64| MarkingFinding::of(&input, kmin, n * kmin).always_marks_first;
            // XOFF is rounded down to whole bytes.
            assert!(holds(limit - 1) && !holds(limit + 1), "{input:?}: {limit}");
        }
    }
}
