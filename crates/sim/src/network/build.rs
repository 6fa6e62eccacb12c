//! From a plan to a network at time zero.

use std::sync::Arc;

use rocelab_engine::{EventKey, EventQueue, Tie, TieOrder};
use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{BufferError, Fifo, NodeId, NodeKind, Port, RouteError, Scheduler};
use rocelab_units::SimTime;
use thiserror::Error;

use super::contents::Contents;
use super::faults::Faults;
use super::integrity::FlowEnds;
use super::packet::PacketPool;
use super::telemetry::Telemetry;
use super::{
    Event, FarEnd, Flows, Host, Network, NetworkPort, Node, Operations, PortCounters, Role, Switch,
    Totals,
};
use crate::Plan;
use crate::profile::{EndHost, FlowStarts, Profile, Shared};

/// A plan that cannot become a network.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A switch's memory cannot be divided as asked.
    #[error("{switch}: {error}")]
    Buffer {
        /// The switch's name.
        switch: String,
        /// Why.
        error: BufferError,
    },
    /// There is no way through the topology.
    #[error(transparent)]
    Routes(#[from] RouteError),
}

impl Plan {
    /// Hash of a flow's addresses and entropy field: what equal-cost multipath goes by.
    pub fn flow_hash(&self, source: NodeId, destination: NodeId, entropy: u32) -> u32 {
        crate::address::flow_hash(self.roce.encapsulation, source, destination, entropy)
    }
}

impl<P: Profile> Network<P> {
    /// The network of `plan` at time zero, with its first events in `queue`.
    ///
    /// # Errors
    /// If switch memory cannot be divided as asked, or a flow has no way.
    pub fn new(plan: Arc<Plan>, queue: &mut EventQueue<Event>) -> Result<Self, BuildError> {
        let shared = P::shared(&plan)?;
        let mut network = Self {
            routing: P::routing(&plan, &plan.active_links)?,
            active_links: plan.active_links.clone(),
            outages: super::failure::Outages::new(plan.topology.links.len()),
            watchdogs: super::watchdog::Watchdogs::default(),
            receivers: super::receiver::Receivers::default(),
            pool: PacketPool::default(),
            nodes: Vec::with_capacity(plan.topology.nodes.len()),
            ports: Vec::with_capacity(plan.topology.links.len() * 2),
            hosts: Vec::new(),
            switches: Vec::new(),
            sampling: super::sampling::Sampling::default(),
            order: P::Order::default(),
            starts: P::starts(&plan),
            flows: Flows::default(),
            operations: Operations::default(),
            telemetry: Telemetry::new(&plan, P::base_rtt(&plan, &shared)),
            shared,
            faults: None,
            contents: Contents::default(),
            sacks: super::tcp::Sacks::default(),
            flow_ends: (plan.integrity || !plan.service().is_reliable())
                .then(|| FlowEnds::new(plan.flows.len())),
            notes: None,
            tables: None,
            capture: None,
            deadlocks: Vec::new(),
            passed: None,
            records: Vec::new(),
            totals: Totals::default(),
            opcodes: Box::new([0; 256]),
            plan,
        };
        network.add_nodes()?;
        network.add_ports();
        network.add_faults();
        network.add_hop_limits();
        network.add_tables();
        network.add_slow_receivers();
        network.add_flows(queue);
        network.add_apps(queue);
        network.add_failures(queue);
        network.add_watchdogs(queue);
        network.add_samplers(queue);
        Ok(network)
    }

    fn add_nodes(&mut self) -> Result<(), BuildError> {
        let plan = Arc::clone(&self.plan);
        let adjacency = plan.topology.adjacency();
        for (node, description) in (0u32..).zip(&plan.topology.nodes) {
            let first_port = u32::try_from(adjacency.first_port_index(node)).unwrap_or(u32::MAX);
            let role = match description.kind {
                NodeKind::Host => {
                    let end_host = P::end_host(&plan, node, &adjacency);
                    self.hosts.push(Host {
                        node,
                        port: first_port,
                        end_host,
                        digest: 0,
                        stopped: false,
                        down: 0,
                    });
                    Role::Host(index(self.hosts.len()))
                }
                NodeKind::Switch { .. } => {
                    let buffer = P::buffer(&plan, node, &adjacency)?;
                    let priorities = P::priorities_in(&plan, node);
                    self.switches.push(Switch { node, buffer, priorities, unreturned: 0 });
                    Role::Switch(index(self.switches.len()))
                }
            };
            self.nodes.push(Node { role, first_port, order: P::Order::of_node(node) });
        }
        Ok(())
    }

    fn add_ports(&mut self) {
        let plan = Arc::clone(&self.plan);
        let adjacency = plan.topology.adjacency();
        for node in (0u32..).take(plan.topology.nodes.len()) {
            let is_switch = matches!(self.nodes[node as usize].role, Role::Switch(_));
            for (number, neighbour) in (0u16..).zip(adjacency.ports_of(node)) {
                let marking =
                    is_switch.then(|| P::marking(&plan, node, number, neighbour)).flatten();
                let place = u32::try_from(self.ports.len()).unwrap_or(u32::MAX);
                let lossy = self.shared.is_lossy(place);
                self.ports.push(NetworkPort {
                    port: Port::with_flow_control(
                        P::link(&plan, neighbour),
                        Scheduler::new(&P::scheduler(&plan, node, number)),
                        P::flow_control(&plan, node, number),
                    )
                    .with_extras(P::port_extras(&plan, node, number)),
                    in_flight: Fifo::default(),
                    far: self.far_end(&adjacency, neighbour, lossy),
                    node,
                    number,
                    free_armed: false,
                    free_tie: Tie::default(),
                    timeout_armed: SimTime::NEVER,
                    marking: marking.map(Box::new),
                    doomed: 0,
                    captured: None,
                    counters: PortCounters::default(),
                });
            }
        }
    }

    /// The other end of a port's link.
    fn far_end(&self, adjacency: &Adjacency, neighbour: &Neighbour, lossy: bool) -> FarEnd {
        let number = adjacency.port_of_link(neighbour.node, neighbour.link).unwrap_or(0);
        let port = adjacency.first_port_index(neighbour.node) + number;
        FarEnd {
            port: u32::try_from(port).unwrap_or(u32::MAX),
            role: self.nodes[neighbour.node as usize].role,
            number: u16::try_from(number).unwrap_or(u16::MAX),
            special: lossy,
            cuts_through: self.plan.cuts_through(neighbour.node),
        }
    }

    /// Has the links watched that fault rules name.
    fn add_faults(&mut self) {
        let place_of = |node: NodeId, port: u16| {
            self.nodes[node as usize].first_port as usize + usize::from(port)
        };
        let Some(faults) = Faults::new(&self.plan, self.ports.len(), place_of) else { return };
        for (place, port) in (0u32..).zip(&mut self.ports) {
            port.far.special |= faults.watches(place);
        }
        self.faults = Some(faults);
        self.notes.get_or_insert_default();
    }

    /// Tells every host of its flows, and arms the first starts.
    fn add_flows(&mut self, queue: &mut EventQueue<Event>) {
        let plan = Arc::clone(&self.plan);
        for (number, flow) in (0u32..).zip(&plan.flows) {
            for node in [flow.source, flow.destination] {
                if let Role::Host(host) = self.nodes[node as usize].role {
                    self.hosts[host as usize].end_host.expect(number, flow);
                }
            }
        }
        let Self { starts, order, nodes, .. } = self;
        starts.arm(&plan, |node, time, ticket| {
            let tie = order.reserve(&mut nodes[node as usize].order);
            queue.push(EventKey { time, tie }, Event::FlowStart { ticket });
        });
    }

    /// Arms the wake-ups of hosts on which programs start.
    fn add_apps(&mut self, queue: &mut EventQueue<Event>) {
        self.operations.open_connections = index(self.plan.connections.len() + 1);
        if self.plan.connections.is_empty() {
            return;
        }
        for host in (0u32..).take(self.hosts.len()) {
            let key = EventKey { time: SimTime::ZERO, tie: Tie::default() };
            self.arm_host_timeout(key, host, queue);
        }
    }
}

/// The place of the last of `len` items.
fn index(len: usize) -> u32 {
    u32::try_from(len - 1).unwrap_or(u32::MAX)
}
