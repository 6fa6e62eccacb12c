//! The egress ports with strict scheduling that flows and connections pass.

use std::collections::BTreeMap;

use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{NodeId, Routes, SchedulerConfig, SwitchConfig};
use rocelab_units::Bandwidth;

use crate::plan::queues;
use crate::scenario::Verb;
use crate::{ConnectionPlan, FlowPlan, Plan};

/// An egress port: its node, and its number there.
pub(super) type Port = (NodeId, u16);

/// A queue of an egress port, and which of its frames: by the priority with which hosts send them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The egress port.
    pub(super) port: Port,
    /// The number of its queue.
    pub(super) queue: u8,
    /// The priority with which hosts send.
    pub(super) priority: u8,
    /// Whether that is TCP.
    pub(super) is_tcp: bool,
}

/// A place on a path.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    pub(super) place: Place,
    /// Who sends.
    pub(super) source: NodeId,
    /// The rate of the source's own link.
    pub(super) host_rate: Bandwidth,
    /// The rate of the slowest link on the path from the source to this port.
    pub(super) source_rate: Bandwidth,
    /// The rate of the port.
    pub(super) port_rate: Bandwidth,
    /// Whether a shaper keeps its queue from sending at that rate.
    pub(super) is_shaped: bool,
}

/// What a strict port does with frames.
#[derive(Clone)]
struct Rules {
    /// The queue of those of each marking.
    queues: Vec<u8>,
    has_shapers: bool,
}

impl Rules {
    /// By what a port goes by, and the priority in its switch of each marking; none if it is not strict.
    fn new(config: &SwitchConfig, classes: &[u8]) -> Option<Self> {
        let queues = queues(config);
        let queue = |&class: &u8| queues[usize::from(class & 7)];
        (config.scheduler == SchedulerConfig::Strict).then(|| Self {
            queues: classes.iter().map(queue).collect(),
            has_shapers: !config.shapers.is_empty(),
        })
    }
}

/// Follows frames along their routes.
pub(super) struct Paths<'a> {
    plan: &'a Plan,
    routes: Routes,
    adjacency: Adjacency,
    /// By node; none of hosts, nor of switches that are not strict.
    of_switches: Vec<Option<Rules>>,
    /// Of those ports that have parameters of their own.
    of_ports: BTreeMap<Port, Option<Rules>>,
}

/// Who sends to whom, and with which priority.
struct Sent {
    from: NodeId,
    to: NodeId,
    hash: u32,
    priority: u8,
    marking: u8,
    is_tcp: bool,
}

impl<'a> Paths<'a> {
    pub(super) fn new(plan: &'a Plan, routes: Routes) -> Self {
        let mut of_switches = vec![None; plan.topology.nodes.len()];
        for switch in plan.topology.switches() {
            let classes = plan.priorities_in(switch);
            of_switches[switch as usize] = Rules::new(plan.switch_at(switch), &classes);
        }
        let is_of_switch = |&(node, _): &Port| plan.topology.is_switch(node);
        let rules =
            |(node, port): Port| Rules::new(plan.port_at(node, port), &plan.priorities_in(node));
        let ports = plan.ports_of_their_own().filter(is_of_switch);
        let of_ports = ports.map(|port| (port, rules(port))).collect();
        Self { plan, routes, adjacency: plan.topology.adjacency(), of_switches, of_ports }
    }

    fn rules(&self, port: Port) -> Option<&Rules> {
        let own = if self.of_ports.is_empty() { None } else { self.of_ports.get(&port) };
        own.unwrap_or(&self.of_switches[port.0 as usize]).as_ref()
    }

    /// Visits where the data of a flow go.
    pub(super) fn follow_flow(&self, flow: &FlowPlan, visit: impl FnMut(Visit)) {
        let reads = flow.verb == Verb::Read && !flow.is_tcp();
        let (from, to) =
            if reads { (flow.destination, flow.source) } else { (flow.source, flow.destination) };
        let hash = if flow.is_tcp() {
            self.plan.segment_hash(flow, true)
        } else {
            self.plan.flow_hash(from, to, flow.entropy)
        };
        let (priority, is_tcp) = (flow.priority, flow.is_tcp());
        let of_rdma = || self.plan.markings.of_queue_pair(flow.marking, from, priority);
        let marking = if is_tcp { priority } else { of_rdma() };
        let sent = Sent { from, to, hash, priority, marking, is_tcp };
        self.follow(&sent, visit);
    }

    /// Visits where the frames of a connection go, in both directions.
    pub(super) fn follow_connection(
        &self,
        connection: &ConnectionPlan,
        mut visit: impl FnMut(Visit),
    ) {
        let [client, server] = connection.ends.map(|end| end.host);
        for (from, to) in [(client, server), (server, client)] {
            let hash = self.plan.flow_hash(from, to, connection.entropy);
            let priority = connection.priority;
            let marking = self.plan.markings.of_queue_pair(connection.marking, from, priority);
            let sent = Sent { from, to, hash, priority, marking, is_tcp: false };
            self.follow(&sent, &mut visit);
        }
    }

    fn follow(&self, sent: &Sent, mut visit: impl FnMut(Visit)) {
        let Some(first) = self.adjacency.ports_of(sent.from).first() else { return };
        let mut node = first.node;
        let host_rate = self.rate_of(first.link);
        let mut source_rate = host_rate;
        // A static route may lead in a circle.
        for _ in 0..self.plan.topology.nodes.len() {
            if node == sent.to || !self.plan.topology.is_switch(node) {
                return;
            }
            let Some(port) = self.routes.egress(node, sent.to, sent.hash) else { return };
            let Some(&next) = self.adjacency.ports_of(node).get(usize::from(port)) else { return };
            let port_rate = self.rate_of(next.link);
            if let Some(rules) = self.rules((node, port)) {
                let queue = rules.queues.get(usize::from(sent.marking)).copied().unwrap_or(0);
                let (priority, is_tcp) = (sent.priority, sent.is_tcp);
                let place = Place { port: (node, port), queue, priority, is_tcp };
                let is_shaped = rules.has_shapers && self.is_shaped(&place, port_rate);
                let source = sent.from;
                visit(Visit { place, source, host_rate, source_rate, port_rate, is_shaped });
            }
            source_rate = source_rate.min(port_rate);
            node = next.node;
        }
    }

    fn is_shaped(&self, place: &Place, port_rate: Bandwidth) -> bool {
        let (node, port) = place.port;
        let mut shapers = self.plan.port_at(node, port).shapers.iter();
        shapers.any(|(of, one)| of.number() == place.queue && one.rate < port_rate)
    }

    fn rate_of(&self, link: u32) -> Bandwidth {
        self.plan.topology.links[link as usize].rate
    }
}
