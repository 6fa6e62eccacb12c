//! From a plan to a network at time zero.

use std::sync::Arc;

use rocelab_engine::{EventKey, EventQueue, RngStream, Tie, TieCounter};
use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{
    BufferError, EcnMarker, Fifo, Link, NodeId, NodeKind, Port, RouteError, Routes, Scheduler,
    SharedBuffer,
};
use rocelab_transport::{FIRST_QPN, Nic, NicConfig};
use rocelab_units::SimTime;
use rocelab_wire::encapsulation_len;
use thiserror::Error;

use super::packet::PacketPool;
use super::{
    Event, FarEnd, Flows, Host, Loss, Marking, Network, NetworkPort, Node, PortCounters, Role,
    Switch, Totals,
};
use crate::Plan;

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

impl Network {
    /// The network of `plan` at time zero, with its first events in `queue`.
    ///
    /// # Errors
    /// If switch memory cannot be divided as asked, or a flow has no way.
    pub fn new(plan: Arc<Plan>, queue: &mut EventQueue<Event>) -> Result<Self, BuildError> {
        let routes = Routes::new(&plan.topology, &plan.active_links)?.with_hash_seed(plan.seed);
        let mut network = Self {
            routes,
            pool: PacketPool::default(),
            nodes: Vec::with_capacity(plan.topology.nodes.len()),
            ports: Vec::with_capacity(plan.topology.links.len() * 2),
            hosts: Vec::new(),
            switches: Vec::new(),
            samplers: Vec::new(),
            flows: Flows::new(&plan),
            capture: None,
            records: Vec::new(),
            totals: Totals::default(),
            opcodes: Box::new([0; 256]),
            plan,
        };
        network.add_nodes()?;
        network.add_ports();
        network.add_flows(queue);
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
                    let links = adjacency.ports_of(node);
                    let link = links.first().map(|n| &plan.topology.links[n.link as usize]);
                    self.hosts.push(Host {
                        node,
                        nic: Nic::new(nic_config(&plan, link.map(|l| l.rate).unwrap_or_default())),
                        port: first_port,
                        timeout_armed: SimTime::NEVER,
                        flows_end: 0,
                        next_flow: 0,
                        queue_pairs: Vec::new(),
                        digest: 0,
                    });
                    Role::Host(index(self.hosts.len()))
                }
                NodeKind::Switch { .. } => {
                    let buffer =
                        SharedBuffer::new(&plan.switch, &plan.headroom(node, &adjacency)).map_err(
                            |error| BuildError::Buffer { switch: description.name.clone(), error },
                        )?;
                    self.switches.push(Switch { node, buffer });
                    Role::Switch(index(self.switches.len()))
                }
            };
            self.nodes.push(Node { role, first_port, ties: TieCounter::new(node) });
        }
        Ok(())
    }

    fn add_ports(&mut self) {
        let plan = Arc::clone(&self.plan);
        let adjacency = plan.topology.adjacency();
        for node in (0u32..).take(plan.topology.nodes.len()) {
            let name = &plan.topology.nodes[node as usize].name;
            let is_switch = matches!(self.nodes[node as usize].role, Role::Switch(_));
            for (number, neighbour) in (0u16..).zip(adjacency.ports_of(node)) {
                let link = &plan.topology.links[neighbour.link as usize];
                let marking = plan.switch.ecn.as_ref().filter(|_| is_switch).map(|ecn| {
                    Box::new(Marking {
                        marker: EcnMarker::new(ecn, link.rate),
                        dice: RngStream::new(plan.seed, &format!("ecn/{name}/{number}")),
                    })
                });
                let loss = (link.loss > 0.0).then(|| Loss {
                    probability: link.loss,
                    dice: RngStream::new(plan.seed, &format!("loss/{name}/{number}")),
                });
                let far = self.far_end(&adjacency, neighbour, loss.is_some());
                self.ports.push(NetworkPort {
                    port: Port::new(
                        Link::new(link.rate, link.delay),
                        Scheduler::new(&plan.switch.scheduler),
                        plan.switch.pause_quanta,
                    ),
                    in_flight: Fifo::default(),
                    far,
                    node,
                    number,
                    free_armed: false,
                    free_tie: Tie::default(),
                    timeout_armed: SimTime::NEVER,
                    marking,
                    loss,
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
        }
    }

    /// Gives every host its flows and queue pair numbers, and arms each host's first flow.
    fn add_flows(&mut self, queue: &mut EventQueue<Event>) {
        let plan = Arc::clone(&self.plan);
        for (number, flow) in (0u32..).zip(&plan.flows) {
            for (node, qpn) in
                [(flow.source, flow.source_qpn), (flow.destination, flow.destination_qpn)]
            {
                let Role::Host(host) = self.nodes[node as usize].role else { continue };
                let queue_pairs = &mut self.hosts[host as usize].queue_pairs;
                let place = qpn.wrapping_sub(FIRST_QPN) as usize;
                if queue_pairs.len() <= place {
                    queue_pairs.resize(place + 1, u32::MAX);
                }
                queue_pairs[place] = number;
            }
        }
        let mut next = 0usize;
        for host in (0u32..).take(self.hosts.len()) {
            let state = &mut self.hosts[host as usize];
            state.next_flow = u32::try_from(next).unwrap_or(u32::MAX);
            let of_host = |flow: &&u32| plan.flows[**flow as usize].source == state.node;
            let first = self.flows.by_source.get(next).map(|&flow| &plan.flows[flow as usize]);
            let start = first.filter(|flow| flow.source == state.node).map(|flow| flow.start);
            next += self.flows.by_source[next..].iter().take_while(of_host).count();
            state.flows_end = u32::try_from(next).unwrap_or(u32::MAX);
            if let Some(time) = start {
                let tie = self.nodes[state.node as usize].ties.reserve();
                queue.push(EventKey { time, tie }, Event::FlowStart { host });
            }
        }
    }

    fn add_samplers(&mut self, queue: &mut EventQueue<Event>) {
        let Some(sampling) = &self.plan.sampling else { return };
        let mut nodes: Vec<NodeId> = sampling.ports.iter().map(|&(node, _)| node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        for (sampler, &node) in (0u32..).zip(&nodes) {
            let tie = self.nodes[node as usize].ties.reserve();
            queue.push(EventKey { time: SimTime::ZERO, tie }, Event::Sample { sampler });
        }
        self.samplers = nodes;
    }
}

impl Flows {
    fn new(plan: &Plan) -> Self {
        let mut by_source: Vec<u32> = (0u32..).take(plan.flows.len()).collect();
        by_source.sort_by_key(|&flow| {
            let flow = &plan.flows[flow as usize];
            (flow.source, flow.start)
        });
        let messages =
            |flow: &crate::FlowPlan| u32::try_from(flow.messages().count()).unwrap_or(u32::MAX);
        Self {
            by_source,
            messages_left: plan.flows.iter().map(messages).collect(),
            started: 0,
            completed: 0,
            failed: 0,
            last_end: SimTime::ZERO,
        }
    }
}

fn nic_config(plan: &Plan, line_rate: rocelab_units::Bandwidth) -> NicConfig {
    let len = encapsulation_len(plan.roce.encapsulation, plan.roce.tagged);
    NicConfig {
        line_rate,
        encapsulation_len: u16::try_from(len).unwrap_or(u16::MAX),
        ecn_capable: plan.roce.ecn,
    }
}

/// The place of the last of `len` items.
fn index(len: usize) -> u32 {
    u32::try_from(len - 1).unwrap_or(u32::MAX)
}
