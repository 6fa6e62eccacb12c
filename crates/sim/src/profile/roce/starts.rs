//! Every host starts its flows by itself.

use std::ops::Range;

use rocelab_fabric::NodeId;
use rocelab_state::unfit;
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

impl StartsByHost {
    /// The ticket for the flows of a host, if it is the source of any.
    pub(crate) fn ticket_of(&self, plan: &Plan, host: NodeId) -> Option<u32> {
        let source = |flows: &Range<usize>| plan.flows[self.flows[flows.end - 1] as usize].source;
        let place = self.hosts.binary_search_by_key(&host, source).ok()?;
        u32::try_from(place).ok()
    }

    /// How many flows of a host are still to start.
    pub(crate) fn left(&self, plan: &Plan, host: NodeId) -> u64 {
        self.ticket_of(plan, host).map_or(0, |ticket| self.hosts[ticket as usize].len() as u64)
    }

    /// So many flows of a host are still to start, as a checkpoint has it.
    ///
    /// # Errors
    /// If it does not have as many.
    pub(crate) fn leave(&mut self, plan: &Plan, host: NodeId, left: u64) -> rocelab_state::Result {
        let Some(ticket) = self.ticket_of(plan, host) else {
            return if left == 0 { Ok(()) } else { Err(unfit("the flows of a host")) };
        };
        let flows = &mut self.hosts[ticket as usize];
        let start = usize::try_from(left).ok().and_then(|left| flows.end.checked_sub(left));
        let start = start.filter(|&start| start >= flows.start);
        let was_waiting = flows.start < flows.end;
        flows.start = start.ok_or_else(|| unfit("the flows of a host"))?;
        self.waiting -= usize::from(was_waiting && flows.start == flows.end);
        Ok(())
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

    fn host_of(&self, plan: &Plan, ticket: u32) -> Option<NodeId> {
        let last = self.hosts.get(ticket as usize)?.end - 1;
        Some(plan.flows[self.flows[last] as usize].source)
    }

    fn in_order(&self) -> &[u32] {
        &self.flows
    }

    fn has_more(&self) -> bool {
        self.waiting > 0
    }
}
