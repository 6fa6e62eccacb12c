//! The egress ports with strict scheduling that flows and connections pass.

use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{NodeId, Routes, SchedulerConfig};
use rocelab_units::Bandwidth;

use crate::{ConnectionPlan, FlowPlan, Plan, Verb};

/// A queue of an egress port, and which of its frames: by the priority with which hosts send them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The egress port.
    pub(super) port: (NodeId, u16),
    /// The number of its queue.
    pub(super) queue: u8,
    /// The priority with which hosts send.
    pub(super) priority: u8,
    /// Whether that is TCP.
    pub(super) is_tcp: bool,
}

impl Place {
    /// Where the places of a queue of a port begin, in their order.
    pub(super) fn first_of(port: (NodeId, u16), queue: u8) -> Self {
        Self { port, queue, priority: 0, is_tcp: false }
    }
}

/// A place on a path.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    pub(super) place: Place,
    /// Who sends.
    pub(super) source: NodeId,
    /// The rate of the slowest link on the path from the source to this port.
    pub(super) source_rate: Bandwidth,
    /// The rate of the port.
    pub(super) port_rate: Bandwidth,
}

/// Follows frames along their routes.
pub(super) struct Paths<'a> {
    plan: &'a Plan,
    routes: Routes,
    adjacency: Adjacency,
}

/// Who sends to whom, and with which priority.
struct Sent {
    from: NodeId,
    to: NodeId,
    hash: u32,
    priority: u8,
    is_tcp: bool,
}

impl<'a> Paths<'a> {
    pub(super) fn new(plan: &'a Plan, routes: Routes) -> Self {
        Self { plan, routes, adjacency: plan.topology.adjacency() }
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
        let sent = Sent { from, to, hash, priority: flow.priority, is_tcp: flow.is_tcp() };
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
            let sent = Sent { from, to, hash, priority: connection.priority, is_tcp: false };
            self.follow(&sent, &mut visit);
        }
    }

    fn follow(&self, sent: &Sent, mut visit: impl FnMut(Visit)) {
        let Some(first) = self.adjacency.ports_of(sent.from).first() else { return };
        let mut node = first.node;
        let mut source_rate = self.rate_of(first.link);
        // A static route may lead in a circle.
        for _ in 0..self.plan.topology.nodes.len() {
            if node == sent.to || !self.plan.topology.is_switch(node) {
                return;
            }
            let Some(port) = self.routes.egress(node, sent.to, sent.hash) else { return };
            let Some(&next) = self.adjacency.ports_of(node).get(usize::from(port)) else { return };
            let port_rate = self.rate_of(next.link);
            if self.plan.port_at(node, port).scheduler == SchedulerConfig::Strict {
                let class = self.plan.priorities_in(node)[usize::from(sent.priority & 7)];
                let queue = self.plan.queue_of(node, port, class);
                let (priority, is_tcp) = (sent.priority, sent.is_tcp);
                let place = Place { port: (node, port), queue, priority, is_tcp };
                visit(Visit { place, source: sent.from, source_rate, port_rate });
            }
            source_rate = source_rate.min(port_rate);
            node = next.node;
        }
    }

    /// Whether a shaper keeps a queue from sending at its port's rate.
    pub(super) fn is_shaped(&self, place: Place) -> bool {
        let (node, port) = place.port;
        let rate = self.rate_of(self.adjacency.ports_of(node)[usize::from(port)].link);
        let mut shapers = self.plan.port_at(node, port).shapers.iter();
        shapers.any(|(of, one)| of.number() == place.queue && one.rate < rate)
    }

    fn rate_of(&self, link: u32) -> Bandwidth {
        self.plan.topology.links[link as usize].rate
    }
}
