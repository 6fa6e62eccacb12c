//! Hosts that ping each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use rocelab_engine::mix;
use rocelab_fabric::NodeId;
use rocelab_transport::QueuePairProfile;
use rocelab_units::{Duration, SimTime};
use rocelab_wire::{Encapsulation, udp_source_port};

use super::Plan;

/// The bit of a ping's immediate data that tells an answer; the others are the number of the ping.
pub(crate) const ANSWER: u32 = 1 << 31;

/// The most pings of a run that lasts until their end: each is kept, in 32 bytes.
pub(crate) const MAX_PINGS: u64 = 1 << 27;

/// The mesh of pings.
#[derive(Clone, Debug)]
pub struct MonitoringPlan {
    /// What every host does.
    pub rules: PingRules,
    /// What all queue pairs for pings have in common.
    pub profile: Arc<QueuePairProfile>,
    /// Every host that pings or is pinged.
    pub hosts: BTreeMap<NodeId, PingingHost>,
}

/// When and how hosts ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingRules {
    /// When the first pings are sent.
    pub start: SimTime,
    /// When the last ones are; none for the end of the run.
    pub until: Option<SimTime>,
    /// How often a host pings each other one of its pairs.
    pub interval: Duration,
    /// A ping without an answer after this is lost.
    pub timeout: Duration,
    /// The results have a row for each pair and each time of this length.
    pub window: Duration,
    /// Payload (bytes).
    pub bytes: u32,
    /// Priority 0 to 7.
    pub priority: u8,
}

/// A host that pings or is pinged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PingingHost {
    /// The number of its first queue pair for pings. On InfiniBand whose routes need several lanes there are eight, one for each
    /// service level; else it is the only one.
    pub qpn: u32,
    /// The first packet sequence number of these.
    pub psn: u32,
    /// The hosts that it pings, in the order in which it does.
    pub peers: Vec<NodeId>,
    /// How many hosts ping it.
    pub pinged_by: u32,
}

impl MonitoringPlan {
    /// Each pair, in the order of hosts and of what each pings.
    pub fn pairs(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.hosts.iter().flat_map(|(&host, one)| one.peers.iter().map(move |&peer| (host, peer)))
    }
}

impl PingRules {
    /// When a host pings for the n-th time, of so many peers that take turns. Each turn has a part of the interval, and the ping is
    /// at random in it, so that the pings of two hosts do not meet again and again. The `seed` is a host's own.
    pub(crate) fn time_of(&self, (seed, peers): (u64, usize), number: u64) -> SimTime {
        let peers = u64::try_from(peers).unwrap_or(u64::MAX).max(1);
        let turn = (self.interval.ps() / peers).max(1);
        let within = mix(seed ^ mix(number)) % turn;
        // Whole intervals have no error of rounding.
        let since = u128::from(self.interval.ps()) * u128::from(number) / u128::from(peers);
        let since = u64::try_from(since).unwrap_or(u64::MAX).saturating_add(within);
        self.start.saturating_add(Duration::from_ps(since))
    }

    /// Whether a ping at this time is one that is sent.
    pub(crate) fn lasts_to(&self, time: SimTime) -> bool {
        self.until.is_none_or(|until| time <= until)
    }
}

/// What follows from a plan for the pings of its hosts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pings<'a>(pub(crate) &'a Plan);

impl Pings<'_> {
    /// How many queue pairs a host has for pings.
    pub(crate) fn queue_pairs(self) -> u32 {
        match &self.0.infiniband {
            Some(infiniband) if infiniband.routed.routing.tables.lanes > 1 => 8,
            _ => 1,
        }
    }

    /// The UDP source port (v2) or flow label (v1) of a ping or its answer, which a host sends with these immediate data: each
    /// ping takes another one, so that equal-cost multipath takes all paths in turn, and its answer the same.
    pub(crate) fn entropy(self, (from, to): (NodeId, NodeId), immediate: u32) -> u32 {
        let (pinging, pinged) = if immediate & ANSWER == 0 { (from, to) } else { (to, from) };
        let pair = mix(u64::from(pinging) << 32 | u64::from(pinged));
        let drawn = mix(self.0.seed ^ pair ^ u64::from(immediate & !ANSWER));
        let [a, b, c, ..] = drawn.to_le_bytes();
        let label = 1 + u32::from_le_bytes([a, b, c, 0]) % ((1 << 20) - 1);
        match self.0.roce.encapsulation_of(from) {
            Encapsulation::V1 => label,
            Encapsulation::V2Ipv4 | Encapsulation::V2Ipv6 => udp_source_port(label).into(),
        }
    }

    /// The queue pair by which a host sends pings and answers to another one.
    pub(crate) fn queue_pair(self, host: NodeId, to: NodeId, first: u32) -> u32 {
        if self.queue_pairs() == 1 {
            return first;
        }
        let priority = self.0.monitoring.as_ref().map_or(0, |mesh| mesh.rules.priority);
        first + u32::from(self.0.service_level(host, to, priority) & 7)
    }

    /// Whether a queue pair of a host is for pings.
    pub(crate) fn has(self, host: NodeId, qpn: u32) -> bool {
        let of_host = self.0.monitoring.as_ref().and_then(|mesh| mesh.hosts.get(&host));
        of_host.is_some_and(|one| (one.qpn..one.qpn + self.queue_pairs()).contains(&qpn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: PingRules = PingRules {
        start: SimTime::from_ps(5_000_000),
        until: Some(SimTime::from_ps(30_000_000)),
        interval: Duration::from_us(10),
        timeout: Duration::from_us(100),
        window: Duration::from_us(100),
        bytes: 64,
        priority: 0,
    };

    #[test]
    fn a_host_pings_each_peer_once_in_an_interval() {
        for seed in 0..100 {
            for number in 0..9 {
                let time = RULES.time_of((seed, 3), number).since(RULES.start).ps();
                // The n-th third of 10 us.
                let turn = 10_000_000 * number / 3..=10_000_000 * (number + 1) / 3;
                assert!(turn.contains(&time), "{number}: {time}");
            }
        }
        let first = |seed| RULES.time_of((seed, 3), 0);
        assert_ne!(first(1), first(2), "hosts do not ping at the same instant");
        assert_ne!(RULES.time_of((1, 1), 1).since(first(1)), RULES.interval, "nor at equal times");
    }

    #[test]
    fn it_ends_at_its_end() {
        assert!(RULES.lasts_to(SimTime::from_ps(30_000_000)));
        assert!(!RULES.lasts_to(SimTime::from_ps(30_000_001)));
        assert!(PingRules { until: None, ..RULES }.lasts_to(SimTime::LATEST));
    }
}
