//! A host with verbs as it looks from outside.

use rocelab_transport::stack::StreamCounts;
use rocelab_transport::tcp::TcpCounters;
use rocelab_transport::{
    Backlog, Counters, FIRST_QPN, HostSide, Packet as RdmaPacket, PathMigration, QueuePair,
    Standing,
};
use rocelab_units::SimTime;

use super::VerbsHost;
use crate::profile::{FlowProgress, Inspect, NvlinkUse};
use crate::record::{Allowed, OpenOperation, Ping, Violation};
use crate::{FlowPlan, Plan, Verb};

impl Inspect<RdmaPacket> for VerbsHost {
    fn path_migrations(&self) -> &[PathMigration] {
        self.nic.path_migrations()
    }

    fn tcp_counters(&self) -> Option<&TcpCounters> {
        self.stacks.as_ref()?.tcp.as_ref().map(|tcp| tcp.counters())
    }

    fn tcp_connections(&self) -> usize {
        let tcp = self.stacks.as_ref().and_then(|stacks| stacks.tcp.as_ref());
        tcp.map_or(0, |tcp| tcp.connections())
    }

    fn stream_counts(&self) -> Vec<(u32, StreamCounts)> {
        let streams = self.stacks.iter().filter_map(|stacks| stacks.streams.as_ref());
        streams.flat_map(|streams| streams.counts()).collect()
    }

    fn has_streams_left(&self) -> bool {
        let mut streams = self.stacks.iter().filter_map(|stacks| stacks.streams.as_ref());
        streams.any(|streams| streams.has_more())
    }

    fn flow_of_connection(&self, connection: u32) -> Option<u32> {
        self.stacks.as_ref()?.tcp.as_ref()?.flow_of(connection)
    }

    fn pings(&self) -> &[Ping] {
        self.monitor.as_ref().map_or(&[], |monitor| monitor.pings())
    }

    fn will_send(&self) -> bool {
        let connections = self.connections.as_ref();
        let works = self.apps.as_ref().is_some_and(|apps| apps.next_due() != SimTime::NEVER);
        self.nic.is_pacing()
            || connections.is_some_and(|one| one.poll_timeout() != SimTime::NEVER)
            || works
            || self.stacks.as_ref().is_some_and(|one| one.poll_timeout() != SimTime::NEVER)
            || self.nic.host().is_some_and(HostSide::is_busy)
            || self.ends.next() != SimTime::NEVER
    }

    fn host_and_ends(&self) -> Option<(&HostSide, u64)> {
        Some((self.nic.host()?, self.ends.len()))
    }

    fn nvlink_use(&self) -> Option<NvlinkUse> {
        self.apps.as_ref()?.nvlink_use()
    }

    fn open_operations(&self) -> Vec<OpenOperation> {
        self.apps.iter().flat_map(|apps| apps.open()).collect()
    }

    fn awaited_member(&self, connection: u32) -> Option<u32> {
        self.apps.as_ref()?.awaited_member(connection)
    }

    fn open_connections(&self) -> u32 {
        self.apps.as_ref().map_or(0, |apps| apps.open_connections())
    }

    fn connection_of(&self, qpn: u32) -> Option<u32> {
        self.apps.as_ref()?.connection_of(qpn)
    }

    fn retransmissions(&self, _number: u32, flow: &FlowPlan) -> u64 {
        if let Some(stack) = self.stacks.as_ref().and_then(|stacks| stacks.carrying(flow)) {
            return stack.retransmissions(flow);
        }
        self.nic.queue_pair(flow.source_qpn).map_or(0, QueuePair::retransmissions)
    }

    fn progress(&self, number: u32, flow: &FlowPlan) -> Option<FlowProgress> {
        if let Some(stack) = self.stacks.as_ref().and_then(|stacks| stacks.carrying(flow)) {
            return stack.progress(flow, self.nic.config().line_rate);
        }
        if self.flow_of(flow.source_qpn) != Some(number) {
            return None;
        }
        let queue_pair = self.nic.queue_pair(flow.source_qpn)?;
        // READ data is paced by the other end.
        let allowed = (flow.verb != Verb::Read)
            .then(|| Allowed { rate: queue_pair.rate(), window: queue_pair.window() });
        Some(FlowProgress {
            acknowledged: queue_pair.bytes_acknowledged(),
            allowed,
            in_flight: queue_pair.bytes_in_flight(),
        })
    }

    fn alpha(&self, flow: &FlowPlan, now: SimTime) -> Option<f64> {
        let of_nic = flow.verb != Verb::Read && !flow.is_tcp();
        self.nic.queue_pair(flow.source_qpn).filter(|_| of_nic)?.alpha(now)
    }

    fn has_sent_all(&self, flow: &FlowPlan) -> bool {
        let queue_pair = self.nic.queue_pair(flow.source_qpn);
        queue_pair.is_some_and(|queue_pair| queue_pair.work_outstanding() == 0)
    }

    fn undelivered_messages(&self, flow: &FlowPlan) -> u64 {
        let index = flow.destination_qpn.wrapping_sub(FIRST_QPN) as usize;
        self.queue_pairs.get(index).map_or(0, |state| state.messages_left.into())
    }

    fn violations(&self, plan: &Plan, number: u32) -> Vec<Violation> {
        let is_source = plan.flows[number as usize].source == self.node;
        self.integrity.as_ref().map_or_else(Vec::new, |integrity| {
            integrity.violations(plan, number, is_source, &self.nic)
        })
    }

    fn waits_for_address(&self, flow: u32) -> bool {
        let neighbours = self.stacks.as_ref().and_then(|stacks| stacks.neighbours.as_ref());
        neighbours.is_some_and(|neighbours| neighbours.keeps(flow))
    }

    fn standing(&self, qpn: u32) -> Option<Standing> {
        self.nic.queue_pair(qpn).map(QueuePair::standing)
    }

    fn has_backlogs(&self) -> bool {
        // A host that takes time holds back what could be sent.
        self.nic.host().is_none() && self.nic.has_backlogs()
    }

    fn backlogs(&self) -> impl Iterator<Item = Backlog> {
        self.nic.backlogs()
    }

    fn flow_of(&self, qpn: u32) -> Option<u32> {
        let index = qpn.wrapping_sub(FIRST_QPN) as usize;
        self.queue_pairs.get(index).map(|state| state.flow).filter(|&flow| flow != u32::MAX)
    }

    fn counters(&self) -> &Counters {
        self.nic.counters()
    }
}
