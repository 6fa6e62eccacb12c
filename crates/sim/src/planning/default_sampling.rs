//! What is sampled where a scenario says nothing: queues, marks and utilisation of all ports, at a cost that nobody
//! notices.

use rocelab_fabric::{NodeId, Topology};
use rocelab_results::SampleInterval;
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};

use crate::plan::{ConnectionPlan, FlowPlan, PortSamplingPlan, SamplingPlan};
use crate::scenario::Side;
use crate::workload::AppPlan;

/// Samples of all ports together before the interval doubles: some megabytes of results.
const SAMPLES: usize = 60_000;

/// Samples of a port before the interval doubles, at the most.
const MOST_SAMPLES: usize = 200;

/// And at the least: networks with more ports than allow it are not sampled.
const FEWEST_SAMPLES: usize = 20;

/// Finer samples show frames and not queues: a full frame takes 120 ns at 100 Gbit/s.
const SHORTEST_INTERVAL: Duration = Duration::from_ns(500);

/// Flows, applications and their connections.
type Traffic<'a> = (&'a [FlowPlan], &'a [AppPlan], &'a [ConnectionPlan]);

/// Queues and marks at ports of switches, utilisation at all.
pub(super) fn build(
    topology: &Topology,
    traffic: Traffic<'_>,
    stop: Option<SimTime>,
) -> SamplingPlan {
    let adjacency = topology.adjacency();
    let ports_of = |node: NodeId| {
        let count = u16::try_from(adjacency.ports_of(node).len()).unwrap_or(u16::MAX);
        (0..count).map(move |port| (node, port))
    };
    let nodes = 0..u32::try_from(topology.nodes.len()).unwrap_or(u32::MAX);
    let all: Vec<_> = nodes.flat_map(ports_of).collect();
    let samples = (SAMPLES / all.len().max(1)).min(MOST_SAMPLES);
    if samples < FEWEST_SAMPLES {
        return SamplingPlan::default();
    }
    let length = length(topology, traffic);
    let length = stop.map_or(length, |stop| length.min(stop));
    let interval = SampleInterval {
        first_ps: round(length.ps().div_ceil(samples as u64)).max(SHORTEST_INTERVAL.ps()),
        double_after: Some(samples as u64),
    };
    let of_switches: Vec<_> =
        all.iter().copied().filter(|(node, _)| topology.is_switch(*node)).collect();
    let sampled = |ports: &Vec<_>| Some(PortSamplingPlan { interval, ports: ports.clone() });
    SamplingPlan {
        queues: sampled(&of_switches),
        marks: sampled(&of_switches),
        utilisation: sampled(&all),
        ..SamplingPlan::default()
    }
}

/// How long the run will take at least, roughly: until the last start, and as long as the busiest host needs for its
/// payload.
fn length(topology: &Topology, (flows, apps, connections): Traffic<'_>) -> SimTime {
    let mut hosts = vec![HostLoad::default(); topology.nodes.len()];
    let mut add = |ends: [NodeId; 2], start: SimTime, payload: u64| {
        for end in ends {
            hosts[end as usize].add(start, payload);
        }
    };
    for flow in flows {
        add([flow.source, flow.destination], flow.start, flow.bytes);
    }
    for connection in connections {
        let app = &apps[connection.app as usize];
        let largest = app.kinds.iter().map(|kind| kind.payload).max().unwrap_or(0);
        let ends = [Side::Client, Side::Server].map(|side| connection.end(side).host);
        add(ends, app.start, app.operations.unwrap_or(0).saturating_mul(largest));
    }
    for link in &topology.links {
        for end in [link.a, link.b] {
            hosts[end as usize].rate.get_or_insert(link.rate);
        }
    }
    let starts = flows.iter().map(|flow| flow.start);
    let last = starts.chain(apps.iter().map(|app| app.until.unwrap_or(app.start))).max();
    let ends = hosts.iter().filter_map(HostLoad::end);
    last.into_iter().chain(ends).max().unwrap_or_default()
}

/// What a host has to send and to receive.
#[derive(Clone, Debug, Default)]
struct HostLoad {
    first: Option<SimTime>,
    bytes: u64,
    rate: Option<Bandwidth>,
}

impl HostLoad {
    fn add(&mut self, start: SimTime, bytes: u64) {
        self.first = Some(self.first.map_or(start, |first| first.min(start)));
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// When it is done if its link is always busy.
    fn end(&self) -> Option<SimTime> {
        let busy = self.rate?.transmission_time(Bytes::new(self.bytes));
        Some(self.first?.saturating_add(busy))
    }
}

/// The next number that is 1, 2 or 5 times a power of ten.
fn round(number: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            if step >= number {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_round() {
        let rounded = [0, 1, 2, 3, 5, 6, 11, 21, 500, 501].map(round);
        assert_eq!(rounded, [1, 1, 2, 5, 5, 10, 20, 50, 500, 1_000]);
        assert_eq!(round(u64::MAX), u64::MAX);
    }
}
