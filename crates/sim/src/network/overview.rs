//! A part of a network from outside.

use rocelab_fabric::{FlowControl, MacEntries, NodeId, Serialisation};
use rocelab_host::HostCounts;
use rocelab_transport::stack::StreamCounts;
use rocelab_transport::tcp::TcpCounters;
use rocelab_transport::{Counters, PathMigration};
use rocelab_units::SimTime;

use super::core::Network;
use super::deliveries::Accepted;
use super::digest::NodeDigest;
use super::faults::FaultCounts;
use super::idle_backlog::IdleBacklog;
use super::link_rates::LinkUse;
use super::node::{Host, Role};
use super::port::PortView;
use super::receiver::{Receiver, ReceiverCounts};
use super::sampling::flow_watch::FlowCounters;
use super::sampling::{CountersThen, QueueHistogramDump};
use crate::profile::{FlowStarts, Inspect, NvlinkUse, Profile, Shared};
use crate::record::{OpenOperation, Ping, Totals, Traversals};

/// A part of a network from outside: what it has counted, and what is in it.
#[derive(Debug)]
pub(crate) struct Overview<'a, P: Profile>(pub(crate) &'a Network<P>);

impl<'a, P: Profile> Overview<'a, P> {
    /// How much was accepted here.
    pub(crate) fn accepted_bytes(self) -> u64 {
        self.0.course.deliveries.bytes()
    }

    /// What was accepted here.
    pub(crate) fn accepted(self) -> Accepted {
        self.0.course.deliveries.accepted()
    }

    /// Whether a frame that goes from host to host is on a link.
    pub(super) fn has_frames_on_links(self) -> bool {
        self.0.pool.on_links().any(|(_, id)| self.0.pool.get(id).body.priority().is_some())
    }

    /// The digest of each node that is here.
    pub(crate) fn digests(self) -> impl Iterator<Item = NodeDigest> + use<'a, P> {
        let nodes = (0u32..).zip(&self.0.nodes).zip(&self.0.course.records.digests);
        nodes.filter(move |((node, _), _)| self.0.layout.part.has(*node)).map(
            move |((number, node), &recorded)| {
                let arrived = match node.role {
                    Role::Host(host) => Some(self.0.hosts[host as usize].digest),
                    Role::Switch(_) | Role::Elsewhere(_) => None,
                };
                NodeDigest { node: number, arrived, recorded }
            },
        )
    }

    /// Packets with content in the network: each has left its sender and not arrived.
    pub(crate) fn contents_in_network(self) -> usize {
        self.0.side.contents.len()
    }

    /// Whether the source of a flow, which is here, has nothing of it left to send.
    pub(crate) fn has_sent_all(self, number: u32) -> bool {
        let flow = &self.0.plan.flows[number as usize];
        if flow.is_tcp() {
            return false; // It sends again what was lost.
        }
        let Role::Host(host) = self.0.nodes[flow.source as usize].role else { return false };
        self.0.hosts[host as usize].end_host.has_sent_all(flow)
    }

    /// Work requests and ends of flows between programs and NICs, at hosts that take time.
    pub(crate) fn on_their_way(self) -> u64 {
        if self.0.plan.host_models.is_empty() {
            return 0;
        }
        let hosts = self.0.hosts.iter().filter_map(|host| host.end_host.host_and_ends());
        hosts.map(|(host, ends)| host.on_their_way() + ends).sum()
    }

    /// What each host that takes time has done, by node, and how often its NIC asked for pauses.
    pub(crate) fn host_counts(self) -> impl Iterator<Item = (NodeId, HostCounts, u64)> {
        let receptions = self.0.features.arrivals.receptions.iter().flat_map(|all| &all.by_host);
        receptions.filter_map(|(&host, reception)| {
            let state = &self.0.hosts[host as usize];
            let (side, _) = state.end_host.host_and_ends()?;
            Some((state.node, side.path().counts(), reception.pauses()))
        })
    }

    /// Payload of flows of TCP that failed before they began (bytes).
    pub(crate) fn unopened_bytes(self) -> u64 {
        self.0.course.flows.unopened_bytes
    }

    /// The sum of what the TCP of every host counted.
    pub(crate) fn tcp_counters(self) -> TcpCounters {
        let mut sum = TcpCounters::default();
        for counters in self.0.hosts.iter().filter_map(|host| host.end_host.tcp_counters()) {
            sum += counters;
        }
        sum
    }

    /// The pings of each host that has sent some.
    pub(crate) fn pings(self) -> impl Iterator<Item = (NodeId, &'a [Ping])> {
        let all = self.0.hosts.iter().map(|host| (host.node, host.end_host.pings()));
        all.filter(|(_, pings)| !pings.is_empty())
    }

    /// What was counted here of each stream, by its number in the plan.
    pub(crate) fn stream_counts(self) -> Vec<StreamCounts> {
        let mut all = vec![StreamCounts::default(); self.0.plan.streams.all.len()];
        for (number, counts) in self.0.hosts.iter().flat_map(|host| host.end_host.stream_counts()) {
            all[number as usize] += counts;
        }
        all
    }

    /// Whether a stream that begins here has something left to send.
    pub(crate) fn has_streams_left(self) -> bool {
        self.0.hosts.iter().any(|host| host.end_host.has_streams_left())
    }

    /// Ends of TCP connections that hosts keep: those of flows under way, and of flows that are over
    /// while something of them is to be sent or acknowledged.
    pub(crate) fn tcp_connections(self) -> usize {
        self.0.hosts.iter().map(|host| host.end_host.tcp_connections()).sum()
    }

    /// Whether the NIC of a host that is here asks for pauses in a storm.
    pub(crate) fn is_in_storm(self, node: NodeId) -> bool {
        let Role::Host(host) = self.0.nodes[node as usize].role else { return false };
        self.0.failures.outages.storms.get(&host).is_some_and(|storms| storms.mask() != 0)
    }

    /// Numbers of flows: completed, failed, and in all.
    pub(crate) fn flow_counts(self) -> (u32, u32, usize) {
        (self.0.course.flows.completed, self.0.course.flows.failed, self.0.plan.flows.len())
    }

    /// Numbers of operations of applications: completed, and failed.
    pub(crate) fn operation_counts(self) -> (u64, u64) {
        (self.0.course.operations.completed, self.0.course.operations.failed)
    }

    /// The operations of applications that have started and not ended, with their hosts.
    pub(crate) fn open_operations(self) -> Vec<(NodeId, OpenOperation)> {
        let of_host = |host: &Host<P>| {
            let node = host.node;
            host.end_host.open_operations().into_iter().map(move |open| (node, open))
        };
        self.0.hosts.iter().flat_map(of_host).collect()
    }

    /// Whether an application goes on.
    pub(crate) fn has_open_connections(self) -> bool {
        self.0.course.operations.open_connections > 0
    }

    /// Frames on links and in queues.
    pub(crate) fn frames_in_network(self) -> u32 {
        self.0.pool.live()
    }

    /// The counters of every port: node, port number, node and port number at the other end.
    pub(crate) fn ports(self) -> impl Iterator<Item = PortView<'a, P>> {
        self.0.own_ports().iter().map(move |port| {
            let peer = &self.0.ports[port.far.port as usize];
            PortView {
                node: port.node,
                number: port.number,
                peer_node: peer.node,
                peer_number: peer.number,
                port: &port.port,
                counters: port.counters(),
            }
        })
    }

    /// What was counted at the ends that are here of flows that are looked at closely.
    pub(crate) fn flow_counters(self) -> impl Iterator<Item = (u32, FlowCounters)> + use<'a, P> {
        self.0.features.sampling.watched.ends.iter().map(|end| (end.flow, end.counters))
    }

    /// The memory of every switch that is here, with the switch.
    pub(crate) fn memories(self) -> impl Iterator<Item = (NodeId, &'a P::Buffer)> {
        self.0.switches.iter().map(|switch| (switch.node, &switch.buffer))
    }

    /// What was seen of queues here, as HPCC's simulator counts.
    pub(crate) fn histogram_dumps(self) -> impl Iterator<Item = QueueHistogramDump<'a>> {
        self.0.features.sampling.histogram_dumps(&self.0.ports)
    }

    /// What is counted as it happens.
    pub(crate) fn counted(self) -> &'a Totals {
        &self.0.course.totals
    }

    /// The sums over this part of the network, up to `now`.
    pub(crate) fn totals(self, now: SimTime) -> Totals {
        let mut totals = self.0.course.totals.clone();
        totals.layer2.mac_entries = self.mac_entries();
        for port in self.0.own_ports() {
            totals.paused_time += port.port.flow_control().paused_time(now);
            totals.ecn_marks += port.rare.ecn_marks;
        }
        for (opcode, &count) in (0u8..=255).zip(self.0.course.opcodes.iter()) {
            if let (Ok(opcode), true) = (rocelab_wire::Opcode::try_from(opcode), count > 0) {
                totals.opcodes.insert(opcode.name(), count);
            }
        }
        totals
    }

    /// The sum of every host's counters.
    pub(crate) fn nic_counters(self) -> Counters {
        let mut sum = Counters::default();
        for host in &self.0.hosts {
            sum += host.end_host.counters();
        }
        sum
    }

    /// Queue pairs of hosts here that took their alternate paths.
    pub(crate) fn path_migrations(self) -> impl Iterator<Item = (NodeId, PathMigration)> {
        self.0.hosts.iter().flat_map(|host| {
            host.end_host.path_migrations().iter().map(|&migration| (host.node, migration))
        })
    }

    /// Packets that a flow's source has sent again.
    pub(crate) fn retransmitted_packets(self, flow: u32) -> u64 {
        let plan = &self.0.plan.flows[flow as usize];
        let Role::Host(host) = self.0.nodes[plan.source as usize].role else { return 0 };
        self.0.hosts[host as usize].end_host.retransmissions(flow, plan)
    }

    /// Messages of a flow that have not arrived; `None` on a reliable service, where only the
    /// requester counts.
    pub(crate) fn undelivered_messages(self, flow: u32) -> Option<u64> {
        let plan = &self.0.plan.flows[flow as usize];
        let Role::Host(host) = self.0.nodes[plan.destination as usize].role else { return None };
        let end_host = &self.0.hosts[host as usize].end_host;
        let may_lose = !self.0.plan.service().is_reliable() && !plan.is_tcp();
        may_lose.then(|| end_host.undelivered_messages(plan))
    }

    /// When the last flow or operation ended that has ended.
    pub(crate) fn last_flow_end(self) -> SimTime {
        self.0.course.flows.last_end
    }

    /// Frames over links so far.
    pub(crate) fn traversals(self) -> Traversals {
        self.0.course.totals.traversals
    }

    /// Grows as long as anything moves: flows that start, and RDMA packets over links.
    pub(crate) fn movements(self) -> u64 {
        if self.0.plan.monitoring.is_some() {
            return movements_beside_pings(self.0);
        }
        let Traversals { data, ack, .. } = self.0.course.totals.traversals;
        data + ack + self.0.course.totals.packets_delivered + self.0.course.flows.started
    }

    /// Whether something is bound to move that does not now: a flow that starts later, a queue
    /// pair whose pacing gap ends later, or a frame that a fault holds back, is on a link, or is being
    /// handled by a slow receiver.
    pub(crate) fn will_move(self) -> bool {
        self.0.course.starts.has_more()
            || self.0.failures.outages.has_more(&self.0.plan)
            || self.0.features.arrivals.faults.as_ref().is_some_and(|faults| faults.holds_frames())
            || self.0.hosts.iter().any(|host| host.end_host.will_send())
            || self.handles_frames()
            || (self.0.plan.monitoring.is_none() && self.has_frames_on_links())
            // A pause that is renewed for ever is no progress; a shaper opens its queue.
            || self.0.own_ports().iter().any(|port| port.port.has_closed_shaper())
    }

    /// Whether events are scheduled here beside those of samplers.
    pub(crate) fn has_more_than_samples(self) -> bool {
        self.0.queue.has_more_than(self.0.features.sampling.events())
    }

    /// All that was found at hosts that are here, with their nodes.
    pub(crate) fn idle_backlogs(self) -> impl Iterator<Item = (NodeId, IdleBacklog)> {
        self.0.features.idle_backlogs.by_host.iter().flat_map(move |(&host, seen)| {
            let node = self.0.hosts[host as usize].node;
            seen.found.iter().map(move |&found| (node, found))
        })
    }

    /// The flow that a queue pair of a host that is here belongs to.
    pub(crate) fn flow_of(self, host: NodeId, qpn: u32) -> Option<u32> {
        let Role::Host(host) = self.0.nodes[host as usize].role else { return None };
        self.0.hosts[host as usize].end_host.flow_of(qpn)
    }

    /// What became of the MAC entries of all switches.
    pub(super) fn mac_entries(self) -> MacEntries {
        let arrivals = &self.0.features.arrivals;
        let forwarding = arrivals.forwarding.as_ref().map(|forwarding| forwarding.mac_entries());
        let domains = arrivals.domains.as_ref().map(|domains| domains.mac_entries());
        forwarding.or(domains).unwrap_or_default()
    }

    /// What each slow receiver has done, by node.
    pub(crate) fn slow_receivers(self) -> impl Iterator<Item = (u32, ReceiverCounts)> {
        self.receivers().map(move |(&host, receiver)| {
            let counts = match &receiver.translations {
                None => receiver.counts,
                Some(translations) => ReceiverCounts {
                    translations: translations.used(),
                    misses: translations.misses(),
                    ..receiver.counts
                },
            };
            (self.0.hosts[host as usize].node, counts)
        })
    }

    /// The slow receivers, by host.
    fn receivers(self) -> impl Iterator<Item = (&'a u32, &'a Receiver)> {
        self.0.features.arrivals.receivers.iter().flat_map(|all| &all.by_host)
    }

    /// Whether a slow receiver is handling a frame.
    pub(super) fn handles_frames(self) -> bool {
        let works = |host: u32| !self.0.hosts[host as usize].handles_nothing();
        let receptions = self.0.features.arrivals.receptions.iter().flat_map(|all| &all.by_host);
        self.receivers().any(|(&host, receiver)| works(host) && !receiver.waiting.is_empty())
            || receptions.into_iter().any(|(&host, all)| works(host) && all.is_busy())
    }

    /// What was counted at a port that is here in the measuring window of a run that is over at `now`; `None` without
    /// one.
    pub(crate) fn link_window(self, view: &PortView<'_, P>, now: SimTime) -> Option<CountersThen> {
        let port = self.0.nodes[view.node as usize].first_port + u32::from(view.number);
        Some(self.0.features.sampling.link(port)?.counted(&self.0.ports, now))
    }

    /// How the link of a port that is here was used from `from` to `to`; of a frame that is being sent at `now`, the end
    /// of the run, only a part is on it.
    pub(crate) fn link_use(
        self,
        view: &PortView<'_, P>,
        (from, to): (SimTime, SimTime),
        now: SimTime,
    ) -> LinkUse {
        let port = self.0.nodes[view.node as usize].first_port + u32::from(view.number);
        let (rate, rates) = (view.port.link().rate(), &self.0.failures.link_rates);
        let mean = rates.mean_or(port, (from, to), rate);
        let free_at = self.0.failures.outages.free_at(port, view.port.free_at());
        let changed = self.0.failures.link_rates.by_port.get(&port);
        let sending = changed.map(|rates| rates.under_way).filter(|&(until, _)| until == free_at);
        // By the rules of HPCC's simulator a link that fails stays down.
        let until = if free_at == SimTime::NEVER { now } else { free_at };
        let rest = SimTime::from_ps(until.ps().max(now.ps())).since(now);
        let sending = sending.map_or(rate, |(_, rate)| rate);
        let full = sending.bytes_in(rest);
        let unsent = full.get() + u64::from(sending.transmission_time(full) < rest);
        LinkUse { rate: changed.map_or(rate, |rates| rates.usual), mean, unsent }
    }

    /// What each rule of the plan did so far, in the order of [`Plan::faults`].
    pub(crate) fn fault_counts(self) -> Vec<FaultCounts> {
        self.0
            .features
            .arrivals
            .faults
            .as_ref()
            .map_or_else(Vec::new, |faults| faults.counts(self.0.plan.faults.len()))
    }
}

impl<P: Profile> Clone for Overview<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Profile> Copy for Overview<'_, P> {}

/// [`Overview::movements`] where hosts ping each other, which is no progress of anything: payload that is accepted, acknowledgements,
/// and what is sent again.
fn movements_beside_pings<P: Profile>(network: &Network<P>) -> u64 {
    let of_host = |counters: &Counters| {
        counters.acks_received + counters.retransmitted.packets + counters.timeouts
    };
    let hosts = network.hosts.iter().map(|host| of_host(host.end_host.counters()));
    network.course.deliveries.bytes() + network.course.flows.started + hosts.sum::<u64>()
}

/// What passed each host here over NVLink, of those that have connections over it.
pub(crate) fn nvlink_use<P: Profile>(
    overview: Overview<'_, P>,
) -> impl Iterator<Item = (NodeId, NvlinkUse)> {
    let hosts = overview.0.hosts.iter();
    hosts.filter_map(|host| Some((host.node, host.end_host.nvlink_use()?)))
}

/// Transfers over NVLink that are under way to hosts here, and their payload (bytes).
pub(crate) fn under_way_by_nvlink<P: Profile>(overview: Overview<'_, P>) -> (u64, u64) {
    overview.0.shared.under_way_by_nvlink()
}
