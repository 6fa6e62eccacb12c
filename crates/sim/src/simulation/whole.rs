//! A network as a whole, whatever parts it is simulated in.

use std::collections::BTreeMap;
use std::sync::Arc;

use rocelab_fabric::NodeId;
use rocelab_host::HostCounts;
use rocelab_transport::stack::StreamCounts;
use rocelab_transport::tcp::TcpCounters;
use rocelab_transport::{CompletionStatus, Counters, PathMigration};
use rocelab_units::SimTime;

use super::running::Running;
use crate::Plan;
use crate::network::watch::View;
use crate::network::{
    Accepted, CountersThen, Deadlock, FaultCounts, FlowCounters, FullQueue, IdleBacklog,
    IntegrityReport, LinkUse, OpenOperation, Overview, PortView, QueueHistogramDump,
    ReceiverCounts, StuckQueuePair, Totals, Traversals, WaitingPackets, digest_of, nvlink_use,
    under_way_by_nvlink,
};
use crate::profile::roce::Roce;
use crate::profile::{NvlinkUse, Profile};
use crate::record::Ping;

/// All parts of a network, to look at.
#[derive(Debug)]
pub struct WholeNetwork<'a, P: Profile> {
    parts: &'a [Running<P>],
    deadlocks: &'a [Deadlock],
}

impl<P: Profile> Clone for WholeNetwork<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Profile> Copy for WholeNetwork<'_, P> {}

impl<'a, P: Profile> WholeNetwork<'a, P> {
    pub(super) fn new(parts: &'a [Running<P>], deadlocks: &'a [Deadlock]) -> Self {
        Self { parts, deadlocks }
    }

    pub(super) fn parts(self) -> impl Iterator<Item = Overview<'a, P>> + Clone {
        self.parts.iter().map(|part| Overview(&part.network))
    }

    /// The plan that it runs.
    pub fn plan(self) -> &'a Arc<Plan> {
        self.parts[0].network.plan()
    }

    /// The part that a node is in.
    pub(super) fn part_of(self, node: NodeId) -> Overview<'a, P> {
        let place = self.parts[0].network.part().cut().part_of(node);
        Overview(&self.parts[place as usize].network)
    }

    /// Numbers of flows: completed, failed, and in all.
    pub fn flow_counts(self) -> (u32, u32, usize) {
        let add = |(completed, failed), part: Overview<'_, P>| {
            let (more_completed, more_failed, _) = part.flow_counts();
            (completed + more_completed, failed + more_failed)
        };
        let (completed, failed) = self.parts().fold((0, 0), add);
        (completed, failed, self.plan().flows.len())
    }

    /// Numbers of operations of applications: completed, and failed.
    pub fn operation_counts(self) -> (u64, u64) {
        self.parts()
            .map(Overview::operation_counts)
            .fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    /// The operations of applications that have started and not ended, by host.
    pub fn open_operations(self) -> Vec<OpenOperation> {
        let mut open: Vec<_> = self.parts().flat_map(Overview::open_operations).collect();
        open.sort_by_key(|(host, _)| *host);
        open.into_iter().map(|(_, operation)| operation).collect()
    }

    /// Whether every flow has ended, and every application.
    pub fn all_flows_ended(self) -> bool {
        let (completed, failed, all) = self.flow_counts();
        (completed + failed) as usize == all && !self.parts().any(Overview::has_open_connections)
    }

    /// Whether no frame is on a link or in a queue.
    pub fn is_drained(self) -> bool {
        self.frames_in_network() == 0
    }

    /// Frames on links and in queues.
    pub fn frames_in_network(self) -> u32 {
        self.parts().map(Overview::frames_in_network).sum()
    }

    /// Packets with content in the network: each has left its sender and not arrived.
    pub fn contents_in_network(self) -> usize {
        self.parts().map(Overview::contents_in_network).sum()
    }

    /// The counters of every port in the order of nodes and port numbers.
    pub fn ports(self) -> impl Iterator<Item = PortView<'a, P>> {
        let mut ports: Vec<_> = self.parts().flat_map(Overview::ports).collect();
        ports.sort_by_key(|port| (port.node, port.number));
        ports.into_iter()
    }

    /// What was counted of the flows that are looked at closely, at both ends together, by flow.
    pub(crate) fn flow_counters(self) -> BTreeMap<u32, FlowCounters> {
        let mut all: BTreeMap<u32, FlowCounters> = BTreeMap::new();
        for (flow, counters) in self.parts().flat_map(Overview::flow_counters) {
            all.entry(flow).or_default().add(&counters);
        }
        all
    }

    /// The memory of every switch, in the order of nodes.
    pub(crate) fn memories(self) -> Vec<(NodeId, &'a P::Buffer)> {
        let mut memories: Vec<_> = self.parts().flat_map(Overview::memories).collect();
        memories.sort_by_key(|&(node, _)| node);
        memories
    }

    /// How the link of a port was used in a span of a run that is over at `now`.
    pub(crate) fn link_use(
        self,
        port: &PortView<'_, P>,
        span: (SimTime, SimTime),
        now: SimTime,
    ) -> LinkUse {
        self.part_of(port.node).link_use(port, span, now)
    }

    /// What was counted at a port in the measuring window; `None` without one.
    pub(crate) fn link_window(self, port: &PortView<'_, P>, now: SimTime) -> Option<CountersThen> {
        self.part_of(port.node).link_window(port, now)
    }

    /// The sums over the whole network, up to `now`.
    pub fn totals(self, now: SimTime) -> Totals {
        let mut totals = Totals::default();
        for part in self.parts() {
            totals += part.totals(now);
        }
        totals
    }

    /// What is counted as it happens.
    pub(super) fn counted(self) -> Totals {
        let mut totals = Totals::default();
        for part in self.parts() {
            totals += part.counted().clone();
        }
        totals
    }

    /// Frames over links so far.
    pub fn traversals(self) -> Traversals {
        let mut sum = Traversals::default();
        for part in self.parts() {
            sum += part.traversals();
        }
        sum
    }

    /// The sum of every host's counters.
    pub fn nic_counters(self) -> Counters {
        let mut sum = Counters::default();
        for part in self.parts() {
            sum += &part.nic_counters();
        }
        sum
    }

    /// Queue pairs that took their alternate paths, in order of time.
    pub fn path_migrations(self) -> Vec<(NodeId, PathMigration)> {
        let mut all: Vec<_> = self.parts().flat_map(Overview::path_migrations).collect();
        all.sort_by_key(|(node, migration)| (migration.time, *node, migration.qpn));
        all
    }

    /// The sum of what the TCP of every host counted.
    pub fn tcp_counters(self) -> TcpCounters {
        let mut sum = TcpCounters::default();
        for part in self.parts() {
            sum += &part.tcp_counters();
        }
        sum
    }

    /// What was counted of each stream, by its number in the plan.
    pub fn stream_counts(self) -> Vec<StreamCounts> {
        let mut all = vec![StreamCounts::default(); self.plan().streams.all.len()];
        for part in self.parts() {
            all.iter_mut().zip(part.stream_counts()).for_each(|(sum, part)| *sum += part);
        }
        all
    }

    /// The pings of each host that has sent some, in the order of nodes.
    pub fn pings(self) -> Vec<(NodeId, &'a [Ping])> {
        let mut all: Vec<_> = self.parts().flat_map(Overview::pings).collect();
        all.sort_by_key(|&(node, _)| node);
        all
    }

    /// Ends of TCP connections that hosts keep: those of flows under way, and of flows that are over
    /// while something of them is to be sent or acknowledged.
    pub fn tcp_connections(self) -> usize {
        self.parts().map(Overview::tcp_connections).sum()
    }

    /// One number for all that happened, with its time and place: packets that arrived at hosts,
    /// frames dropped, pauses asked for, obeyed and ended, flows and operations that ended, storms
    /// that watchdogs saw, and deadlocks. Equal digests mean equal runs.
    pub fn digest(self) -> u64 {
        let mut digests: Vec<_> = self.parts().flat_map(Overview::digests).collect();
        digests.sort_unstable_by_key(|digest| digest.node);
        digest_of(digests.into_iter())
    }

    /// Packets that a flow's source has sent again.
    pub fn retransmitted_packets(self, flow: u32) -> u64 {
        let source = self.plan().flows[flow as usize].source;
        self.part_of(source).retransmitted_packets(flow)
    }

    /// Messages of a flow that have not arrived; `None` on a reliable service, where only the
    /// requester counts.
    pub fn undelivered_messages(self, flow: u32) -> Option<u64> {
        let destination = self.plan().flows[flow as usize].destination;
        self.part_of(destination).undelivered_messages(flow)
    }

    /// When the last flow or operation ended that has ended.
    pub fn last_flow_end(self) -> SimTime {
        self.parts().map(Overview::last_flow_end).max().unwrap_or_default()
    }

    /// What integrity mode finds in the memory of all hosts now; none without integrity mode.
    pub fn integrity(self) -> Option<IntegrityReport> {
        let plan = self.plan();
        if !plan.integrity {
            return None;
        }
        let mut report = IntegrityReport::default();
        for (number, flow) in (0u32..).zip(&plan.flows) {
            match self.end_of(number) {
                None => {}
                Some(CompletionStatus::Success) => {
                    report.flows += 1;
                    report.bytes += flow.bytes;
                    for node in [flow.source, flow.destination] {
                        report.violations.extend(self.part_of(node).violations(node, number));
                    }
                }
                Some(_) => report.failed.push(number),
            }
        }
        Some(report)
    }

    /// How a flow ended, where that is kept and if it has.
    pub(super) fn end_of(self, flow: u32) -> Option<CompletionStatus> {
        self.parts().find_map(|part| part.end_of_flow(flow))
    }

    /// What each rule of the plan did so far, in the order of [`Plan::faults`].
    pub fn fault_counts(self) -> Vec<FaultCounts> {
        self.parts().map(Overview::fault_counts).fold(Vec::new(), |mut sum, part| {
            sum.resize(part.len(), FaultCounts::default());
            for (sum, part) in sum.iter_mut().zip(part) {
                sum.matched += part.matched;
                sum.acted += part.acted;
            }
            sum
        })
    }

    /// What each slow receiver has done, by node.
    pub fn slow_receivers(self) -> impl Iterator<Item = (u32, ReceiverCounts)> {
        let mut all: Vec<_> = self.parts().flat_map(Overview::slow_receivers).collect();
        all.sort_by_key(|(node, _)| *node);
        all.into_iter()
    }

    /// What each host that takes time has done, and how often its NIC asked for pauses, in the order of nodes.
    pub fn host_counts(self) -> Vec<(NodeId, HostCounts, u64)> {
        let mut all: Vec<_> = self.parts().flat_map(Overview::host_counts).collect();
        all.sort_by_key(|&(node, ..)| node);
        all
    }

    /// What passed each host over NVLink, of those that have connections over it.
    pub fn nvlink_use(self) -> BTreeMap<NodeId, NvlinkUse> {
        self.parts().flat_map(nvlink_use).collect()
    }

    /// Transfers over NVLink that are under way, and their payload (bytes).
    pub(super) fn under_way_by_nvlink(self) -> (u64, u64) {
        let of_parts = self.parts().map(under_way_by_nvlink);
        of_parts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// The deadlocks that were found, in order of time.
    pub fn deadlocks(self) -> &'a [Deadlock] {
        self.deadlocks
    }

    /// The queue pairs of flows that have started and not ended, and of operations that are open.
    pub(crate) fn stuck_queue_pairs(self, now: SimTime, ended: &[bool]) -> Vec<StuckQueuePair> {
        let mut waiting = WaitingPackets::default();
        for part in self.parts() {
            part.note_waiting(&mut waiting);
        }
        let mut open: Vec<u32> = self.open_operations().iter().map(|one| one.connection).collect();
        open.sort_unstable();
        open.dedup();
        let of_part = |part: Overview<'_, P>| part.stuck_queue_pairs(now, ended, &open, &waiting);
        let mut stuck: Vec<_> = self.parts().flat_map(of_part).collect();
        stuck.sort_by_key(StuckQueuePair::place);
        stuck
    }

    /// The queue pairs that could send and did not, in the order of time.
    pub(crate) fn idle_backlogs(self) -> Vec<(NodeId, IdleBacklog)> {
        let mut all: Vec<_> = self.parts().flat_map(Overview::idle_backlogs).collect();
        all.sort_by_key(|(node, found)| (found.since, *node, found.qpn));
        all
    }

    /// The flow that a queue pair of a host belongs to.
    pub(crate) fn flow_of(self, host: NodeId, qpn: u32) -> Option<u32> {
        self.part_of(host).flow_of(host, qpn)
    }

    /// Whether the NIC of a host is in a storm of pauses.
    pub(crate) fn is_in_storm(self, host: NodeId) -> bool {
        self.part_of(host).is_in_storm(host)
    }

    /// What was seen of queues, as HPCC's simulator counts.
    pub(crate) fn histogram_dumps(self) -> Vec<QueueHistogramDump<'a>> {
        self.parts().flat_map(Overview::histogram_dumps).collect()
    }

    /// How much hosts accepted.
    pub(crate) fn accepted_bytes(self) -> u64 {
        self.parts().map(Overview::accepted_bytes).sum()
    }

    /// What hosts accepted.
    pub fn accepted(self) -> Accepted {
        let mut parts = self.parts().map(Overview::accepted);
        // There is at least one part.
        let mut sum = parts.next().unwrap_or_else(|| Overview(&self.parts[0].network).accepted());
        for part in parts {
            sum.add(&part);
        }
        sum
    }

    /// The egress queues of switches that hold frames, in order.
    pub(crate) fn full_queues(self) -> Vec<FullQueue> {
        let mut full: Vec<_> = self.parts().flat_map(Overview::full_queues).collect();
        full.sort_by_key(|queue| queue.place);
        full
    }
}

impl<'a> WholeNetwork<'a, Roce> {
    /// The network of a run in one part.
    pub(crate) fn only(self) -> View<'a> {
        debug_assert!(self.parts.len() == 1, "who looks at single events has all in one part");
        View(&self.parts[0].network)
    }
}
