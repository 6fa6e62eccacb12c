//! Every host starts its flows by itself.

use std::ops::Range;

use rocelab_fabric::NodeId;
use rocelab_units::SimTime;

use crate::Plan;
use crate::profile::FlowStarts;

/// One pending event a host, for the next of its flows; a ticket is a place in `hosts`.
#[derive(Debug)]
pub struct StartsByHost {
    /// Flow numbers, grouped by source host, then by start time.
    flows: Vec<u32>,
    /// For each host with flows: its flows that have not started, as places in `flows`.
    hosts: Vec<Range<usize>>,
    waiting: usize,
}

impl StartsByHost {
    /// The flows of `plan` whose source is one of those hosts; none has started.
    pub fn new(plan: &Plan, is_here: impl Fn(NodeId) -> bool) -> Self {
        let source = |flow: u32| plan.flows[flow as usize].source;
        let all = (0u32..).take(plan.flows.len());
        let mut flows: Vec<u32> = all.filter(|&flow| is_here(source(flow))).collect();
        flows.sort_by_key(|&flow| (source(flow), plan.flows[flow as usize].start));
        let mut hosts = Vec::new();
        let mut first = 0;
        for of_host in flows.chunk_by(|&a, &b| source(a) == source(b)) {
            hosts.push(first..first + of_host.len());
            first += of_host.len();
        }
        let waiting = hosts.len();
        Self { flows, hosts, waiting }
    }
}

impl FlowStarts for StartsByHost {
    fn arm(&mut self, plan: &Plan, mut schedule: impl FnMut(NodeId, SimTime, u32)) {
        for (ticket, flows) in (0u32..).zip(&self.hosts) {
            let first = &plan.flows[self.flows[flows.start] as usize];
            schedule(first.source, first.start, ticket);
        }
    }

    fn on_event(
        &mut self,
        plan: &Plan,
        now: SimTime,
        ticket: u32,
        mut schedule: impl FnMut(NodeId, SimTime, u32),
    ) -> Range<usize> {
        let flows = &mut self.hosts[ticket as usize];
        let first = flows.start;
        while let Some(next) = self.flows[flows.clone()].first() {
            let next = &plan.flows[*next as usize];
            if next.start > now {
                schedule(next.source, next.start, ticket);
                return first..flows.start;
            }
            flows.start += 1;
        }
        self.waiting -= 1;
        first..flows.start
    }

    fn in_order(&self) -> &[u32] {
        &self.flows
    }

    fn has_more(&self) -> bool {
        self.waiting > 0
    }
}
