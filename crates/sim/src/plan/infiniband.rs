//! A subnet of InfiniBand: lanes, buffers, and what the subnet manager decided.

use std::collections::BTreeSet;
use std::sync::Arc;

use rocelab_fabric::topology::{Adjacency, Cabling, Neighbour};
use rocelab_fabric::{
    CreditConfig, DATA_LANES, FecnConfig, FecnMarker, InputQueues, MIN_FRAME, NodeId, StaticRoute,
    Topology, VlArbitration, blocks_of,
};
use rocelab_subnet::{
    AdaptiveGroups, Engine, ForwardingTables, Guid, Node, NodeKind, Options, PortId, Routing,
    ServiceLevels, Subnet,
};
use rocelab_units::{Bandwidth, Bytes, Duration};
use rocelab_wire::{CREDIT_BLOCK_LEN, DELIMITERS_LEN, FlowControlPacket};

use super::Plan;
use crate::scenario::VlBuffer;

/// Byte times of a flow control packet, its delimiters included.
#[expect(clippy::cast_possible_truncation, reason = "8")]
const FLOW_CONTROL_LEN: u32 = (FlowControlPacket::LEN + DELIMITERS_LEN) as u32;

/// Bytes of a block.
#[expect(clippy::cast_possible_truncation, reason = "64")]
const BLOCK: u32 = CREDIT_BLOCK_LEN as u32;

/// The node GUIDs of switches and channel adapters begin here.
const SWITCH_GUIDS: u64 = 0x20_0000;
const ADAPTER_GUIDS: u64 = 0x10_0000;

/// A subnet of InfiniBand.
#[derive(Clone, Debug)]
pub struct InfiniBandPlan {
    /// Virtual lanes for data: 1 to 8.
    pub data_vls: u8,
    /// The lane of each service level.
    pub lane_of: [u8; DATA_LANES],
    /// Which lane of a port sends first.
    pub arbitration: VlArbitration,
    /// The buffer of a lane at a port.
    pub vl_buffer: VlBuffer,
    /// The least time between two flow control packets of a lane while data waits.
    pub update_interval: Duration,
    /// When switches set FECN; none: never.
    pub congestion_control: Option<FecnConfig>,
    /// Ports of switches that set FECN without credits too, whatever the mask says.
    pub victim_ports: BTreeSet<(NodeId, u16)>,
    /// Who routes, and how.
    pub manager: SubnetManagerPlan,
    /// What it decided of the whole network.
    pub routed: Arc<RoutedSubnet>,
}

/// The subnet manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubnetManagerPlan {
    /// The routing engine.
    pub engine: Engine,
    /// Each port of a host has 2 to the power of it LIDs.
    pub lmc: u8,
    /// Root switches; without them, the engine finds them.
    pub roots: Option<Vec<NodeId>>,
    /// Data lanes that the engine may use.
    pub lanes: u8,
    /// Whether switches choose among the ports of the least hops.
    pub is_adaptive: bool,
    /// The tables of the engine `file`.
    pub tables: Option<ForwardingTables>,
    /// The service levels of the engine `file`.
    pub levels: Option<ServiceLevels>,
}

/// LIDs, forwarding tables and service levels.
#[derive(Clone, Debug)]
pub struct RoutedSubnet {
    /// The subnet, whose nodes have the numbers of the topology's.
    pub subnet: Subnet,
    /// The tables, and the engine that made them.
    pub routing: Routing,
    /// What switches choose among, where they do.
    pub groups: Option<AdaptiveGroups>,
    /// By node of the topology: the end port of a host.
    end_ports: Vec<Option<usize>>,
    /// The numbers of ports, where a file says them.
    cabling: Option<Arc<Cabling>>,
}

impl SubnetManagerPlan {
    /// The subnet that a network is over the links that are `active`. The subnet manager is at the first host that has a link.
    ///
    /// # Errors
    /// Why it is none.
    pub fn subnet(topology: &Topology, active: &[bool], lmc: u8) -> Result<Subnet, String> {
        let adjacency = topology.adjacency();
        let has_link = |&host: &NodeId| {
            let mut ports = adjacency.ports_of(host).iter();
            ports.any(|far| active.get(far.link as usize) == Some(&true))
        };
        let manager = topology.hosts().find(has_link).or_else(|| topology.hosts().next());
        let manager = manager.unwrap_or(0);
        let subnet = Subnet::new(subnet_topology(topology, active)?, manager as usize, lmc);
        subnet.map_err(|error| error.to_string())
    }

    /// Whether it makes other tables after failures.
    pub(crate) fn reroutes(&self) -> bool {
        self.engine != Engine::File
    }

    /// Routes a network over the links that are `active`.
    ///
    /// # Errors
    /// Why the network is no subnet.
    pub fn route(&self, topology: &Topology, active: &[bool]) -> Result<RoutedSubnet, String> {
        let subnet = Self::subnet(topology, active, self.lmc)?;
        let place = |node: &NodeId| subnet.switches().iter().position(|&one| one == *node as usize);
        let roots = self.roots.as_ref().map(|roots| roots.iter().filter_map(place).collect());
        let (tables, levels) = (self.tables.clone(), self.levels.clone());
        let options = Options { lanes: self.lanes, roots, tables, levels };
        let routing = rocelab_subnet::route(&subnet, self.engine, &options);
        let groups =
            self.is_adaptive.then(|| AdaptiveGroups::new(&subnet, routing.engine, &options));
        let mut end_ports = vec![None; topology.nodes.len()];
        for (number, end_port) in subnet.end_ports().iter().enumerate() {
            if let Some(place) = end_ports.get_mut(end_port.id.node) {
                *place = Some(number);
            }
        }
        let cabling = topology.cabling.clone();
        Ok(RoutedSubnet { subnet, routing, groups: groups.flatten(), end_ports, cabling })
    }
}

impl RoutedSubnet {
    /// What switches do with packets for each LID of each host, in the order of switches, hosts and LIDs.
    pub fn routes(&self) -> Vec<StaticRoute> {
        let lids: Vec<_> = self.lids().collect();
        let mut routes = Vec::new();
        for switch in 0..self.subnet.switches().len() {
            for &(host, path_bits, lid) in &lids {
                let ports = self.ports_towards(switch, lid);
                if ports.is_empty() {
                    continue;
                }
                let switch = self.node_of(switch);
                routes.push(StaticRoute { switch, destination: host, path_bits, ports });
            }
        }
        routes.sort_by_key(|route| (route.switch, route.destination, route.path_bits));
        routes
    }

    /// The ports, counted from 0, by which a switch may forward packets to a LID: one, or those among which it chooses.
    fn ports_towards(&self, switch: usize, lid: u16) -> Vec<u16> {
        let tables = &self.routing.tables.forwarding;
        let ports = match &self.groups {
            Some(groups) => groups.ports(&self.subnet, tables, switch, lid),
            None => tables.port(switch, lid).into_iter().collect(),
        };
        let of_node = |port: u8| self.port_of(self.node_of(switch), port);
        ports.into_iter().filter_map(of_node).collect()
    }

    /// The node of the network that is a switch of the subnet.
    pub(crate) fn node_of(&self, switch: usize) -> NodeId {
        let node = self.subnet.switches().get(switch).copied();
        node.and_then(|node| u32::try_from(node).ok()).unwrap_or(NodeId::MAX)
    }

    /// The port of a node, counted from 0, that has this number in the subnet; none is port 0, a switch itself.
    pub(crate) fn port_of(&self, node: NodeId, number: u8) -> Option<u16> {
        match &self.cabling {
            Some(cabling) => cabling.port(node, number),
            None => u16::from(number).checked_sub(1),
        }
    }

    /// The LIDs of hosts, each with its path bits: by how much it is above the base LID of its host.
    pub(crate) fn lids(&self) -> impl Iterator<Item = (NodeId, u8, u16)> + '_ {
        let all = (0u32..).zip(&self.end_ports);
        let hosts = all.filter_map(|(node, &end_port)| {
            let end_port = &self.subnet.end_ports()[end_port?];
            (end_port.kind == NodeKind::ChannelAdapter).then_some((node, end_port.lids))
        });
        hosts.flat_map(|(node, lids)| {
            (0..=u8::MAX).zip(lids.iter()).map(move |(path_bits, lid)| (node, path_bits, lid))
        })
    }

    /// Whether the subnet manager reaches a node.
    pub fn reaches(&self, node: NodeId) -> bool {
        self.end_ports.get(node as usize).is_some_and(Option::is_some)
    }

    /// The base LID of a node; none if the subnet manager does not reach it.
    pub fn lid(&self, node: NodeId) -> Option<u16> {
        let end_port = self.end_ports.get(node as usize).copied().flatten()?;
        Some(self.subnet.end_ports()[end_port].lids.base)
    }

    /// The LID of a node with the path bits in `entropy`, of which as many of the lowest bits count as the LMC says.
    pub(crate) fn lid_of_path(&self, node: NodeId, entropy: u32) -> Option<u16> {
        let end_port = self.end_ports.get(node as usize).copied().flatten()?;
        let lids = self.subnet.end_ports()[end_port].lids;
        #[expect(clippy::cast_possible_truncation, reason = "the count of LIDs has 16 bits")]
        Some(lids.base + (entropy & u32::from(lids.count - 1)) as u16)
    }

    /// Whether the engine, or a file, gives each path its service level.
    pub(crate) fn gives_levels(&self) -> bool {
        let tables = &self.routing.tables;
        tables.lanes > 1 || tables.service_levels.are_by_end_port()
    }

    /// The service level of packets from one host to another with the path bits in `entropy`, where the engine says so: none if it
    /// does not give any.
    pub fn service_level(&self, from: NodeId, to: NodeId, entropy: u32) -> Option<u8> {
        if !self.gives_levels() {
            return None;
        }
        let source = self.end_ports.get(from as usize).copied().flatten()?;
        Some(self.routing.tables.service_level(
            &self.subnet,
            source,
            self.lid_of_path(to, entropy)?,
        ))
    }
}

/// The nodes and cables of a network as a subnet manager finds them, over the links that are `active`. Nodes are in the order of the
/// network's, and have the GUIDs that ibsim gives.
///
/// # Errors
/// Why it is no subnet.
pub fn subnet_topology(
    topology: &Topology,
    active: &[bool],
) -> Result<rocelab_subnet::Topology, String> {
    let adjacency = topology.adjacency();
    if let Some(cabling) = &topology.cabling {
        return connected(cabling.subnet.without_cables(), topology, active, |node, port| {
            cabling.number(node, port).unwrap_or(u8::MAX)
        });
    }
    let mut subnet = rocelab_subnet::Topology::default();
    let (mut switches, mut adapters) = (SWITCH_GUIDS, ADAPTER_GUIDS);
    for (node, described) in (0u32..).zip(&topology.nodes) {
        let (kind, guid) = if topology.is_switch(node) {
            switches += 1;
            (NodeKind::Switch, switches - 1)
        } else {
            adapters += 2;
            (NodeKind::ChannelAdapter, adapters - 2)
        };
        let count = adjacency.ports_of(node).len();
        let ports = u8::try_from(count).map_err(|_| {
            format!(
                "{} has {count} ports, and a switch of InfiniBand has at most 254",
                described.name
            )
        })?;
        subnet
            .add(Node::new(kind, Guid::new(guid), &*described.name, ports))
            .map_err(|error| error.to_string())?;
    }
    connected(subnet, topology, active, |_, port| u8::try_from(port + 1).unwrap_or(u8::MAX))
}

/// The `subnet` with the cables that are `active`; `number_of` says the numbers of ports in it.
fn connected(
    mut subnet: rocelab_subnet::Topology,
    topology: &Topology,
    active: &[bool],
    number_of: impl Fn(NodeId, usize) -> u8,
) -> Result<rocelab_subnet::Topology, String> {
    let adjacency = topology.adjacency();
    for (number, link) in (0u32..).zip(&topology.links) {
        if active.get(number as usize) != Some(&true) {
            continue;
        }
        let end = |node: NodeId| {
            let port = adjacency.port_of_link(node, number).unwrap_or(0);
            PortId { node: node as usize, port: number_of(node, port) }
        };
        subnet.connect(end(link.a), end(link.b)).map_err(|error| error.to_string())?;
    }
    Ok(subnet)
}

impl Plan {
    /// The service level of packets from a host to another that have a `priority` and an `entropy`: that of the path, where the routing
    /// engine gives one.
    pub fn service_level(
        &self,
        (from, to): (NodeId, NodeId),
        (priority, entropy): (u8, u32),
    ) -> u8 {
        let subnet = self.infiniband.as_ref().map(|plan| &plan.routed);
        let routed = subnet.and_then(|routed| routed.service_level(from, to, entropy));
        routed.unwrap_or(priority)
    }

    /// The lane of a service level; a priority as it is, on Ethernet.
    pub(crate) fn lane_of(&self, service_level: u8) -> u8 {
        let lane = |plan: &InfiniBandPlan| plan.lane_of[usize::from(service_level & 7)];
        self.infiniband.as_ref().map_or(service_level, lane)
    }

    /// The shortest frame on a link, without preamble and gap (bytes).
    pub(crate) fn shortest_frame(&self) -> u32 {
        if self.infiniband.is_some() { FLOW_CONTROL_LEN } else { MIN_FRAME }
    }
}

/// What the ports of an InfiniBand network are planned to have.
#[derive(Clone, Copy, Debug)]
pub struct InfiniBandPorts<'a>(pub &'a Plan);

impl InfiniBandPorts<'_> {
    /// The buffers of the lanes at the port of `node` behind which `neighbour` is (blocks of 64 bytes).
    pub fn lane_buffers(&self, node: NodeId, neighbour: &Neighbour) -> [u16; DATA_LANES] {
        let Some(plan) = &self.0.infiniband else { return [0; DATA_LANES] };
        let blocks = match plan.vl_buffer {
            VlBuffer::Fixed(bytes) => bytes.get() / CREDIT_BLOCK_LEN as u64,
            VlBuffer::Auto => self.looped_blocks(node, neighbour),
        };
        let blocks = u16::try_from(blocks).unwrap_or(u16::MAX);
        std::array::from_fn(|lane| if lane < usize::from(plan.data_vls) { blocks } else { 0 })
    }

    /// The FECN marks of the port of a switch behind which `neighbour` is, if it makes any.
    pub(crate) fn forward_marks(
        &self,
        switch: NodeId,
        neighbour: &Neighbour,
        adjacency: &Adjacency,
    ) -> Option<FecnMarker> {
        let plan = self.0.infiniband.as_ref()?;
        let config = plan.congestion_control.as_ref()?;
        if config.threshold == 0 {
            return None;
        }
        let leads_to_adapter = self.0.topology.is_host(neighbour.node);
        // The lanes of an input port have buffers of one size.
        let buffer = |input: &Neighbour| u32::from(self.lane_buffers(switch, input)[0]) * BLOCK;
        let buffers = adjacency.ports_of(switch).iter().map(buffer);
        let marker = FecnMarker::new(config, buffers, leads_to_adapter);
        let port = adjacency.port_of_link(switch, neighbour.link);
        let port = port.and_then(|port| u16::try_from(port).ok());
        let is_named = port.is_some_and(|port| plan.victim_ports.contains(&(switch, port)));
        Some(if is_named { marker.marking_as_victim() } else { marker })
    }

    /// How long the credits of a packet of the path MTU that comes in at the port of `node` behind which `neighbour` is are on
    /// their way.
    pub(crate) fn credit_round(&self, node: NodeId, neighbour: &Neighbour) -> CreditRound {
        let link = &self.0.topology.links[neighbour.link as usize];
        let time = |len: u32| link.rate.transmission_time(Bytes::new(len.into()));
        let latencies = self.0.latency_of(node) + self.0.latency_of(neighbour.node);
        let packet = time(self.largest());
        let update_interval = self.0.infiniband.as_ref().map(|plan| plan.update_interval);
        // A switch that stores packets frees their memory once it has sent them on.
        let is_stored = self.0.topology.is_switch(node) && !self.0.cuts_through(node);
        let on = if is_stored { packet } else { Duration::ZERO };
        let host = self.0.host_models.get(&node);
        let on = host.map_or(on, |model| model.profile.taking(self.largest().into()));
        let idle = packet + on + link.delay * 2 + latencies + time(FLOW_CONTROL_LEN);
        CreditRound { idle, busy: idle + packet + update_interval.unwrap_or_default() }
    }

    /// Bytes of a packet of the path MTU, with its delimiters.
    pub(crate) fn largest(&self) -> u32 {
        u32::try_from(self.0.largest_frame().get()).unwrap_or(u32::MAX)
    }

    /// Blocks of four of the largest packets, or of as many as fill a link whose other direction is busy, if those are more; each
    /// with an acknowledgement of what goes the other way.
    fn looped_blocks(&self, node: NodeId, neighbour: &Neighbour) -> u64 {
        let link = &self.0.topology.links[neighbour.link as usize];
        let largest = self.largest();
        let round = self.credit_round(node, neighbour).busy;
        let packets = packets_in(link.rate, round, largest).max(4);
        let blocks = u64::from(blocks_of(largest));
        let most = u64::from(FlowControlPacket::MAX_CREDITS) / blocks;
        (packets.min(most.max(1)) * (blocks + 1)).min(FlowControlPacket::MAX_CREDITS.into())
    }

    /// What the credits of a port follow from.
    pub(crate) fn credits_at(
        &self,
        node: NodeId,
        port: u16,
        adjacency: &Adjacency,
    ) -> Option<CreditConfig> {
        /// After which a flow control packet is due at the latest (IBTA 7.9.4), of a link of four lanes.
        const SYMBOL_TIMES: u64 = 65_536;
        const WIDTH: u64 = 4;
        let plan = self.0.infiniband.as_ref()?;
        let neighbour = adjacency.ports_of(node).get(usize::from(port))?;
        let link = &self.0.topology.links[neighbour.link as usize];
        let back = Neighbour { node, link: neighbour.link };
        Some(CreditConfig {
            buffer: self.lane_buffers(node, neighbour),
            far_buffer: self.lane_buffers(neighbour.node, &back),
            update_interval: plan.update_interval,
            is_lossy: self.may_lose_frames(neighbour.link, [node, neighbour.node], adjacency),
            heartbeat: link.rate.transmission_time(Bytes::new(SYMBOL_TIMES * WIDTH)),
        })
    }

    /// Whether frames may be lost on a link otherwise than by its failure.
    fn may_lose_frames(&self, link: u32, ends: [NodeId; 2], adjacency: &Adjacency) -> bool {
        let is_noisy =
            |number: u32| self.0.links.get(&number).is_some_and(|own| own.bit_error_rate.is_some());
        let leads_over = |&(node, port): &(NodeId, u16)| {
            let far = adjacency.ports_of(node).get(usize::from(port));
            ends.contains(&node) && far.is_some_and(|far| far.link == link)
        };
        let has_faults = || self.0.faults.iter().any(|rule| rule.links.iter().any(leads_over));
        self.0.topology.links[link as usize].loss > 0.0 || is_noisy(link) || has_faults()
    }

    /// Queues by lane and input port, in a switch of InfiniBand.
    pub(crate) fn input_queues(
        &self,
        node: NodeId,
        adjacency: &Adjacency,
    ) -> Option<Box<InputQueues>> {
        let plan = self.0.infiniband.as_ref().filter(|_| self.0.topology.is_switch(node))?;
        let inputs = u16::try_from(adjacency.ports_of(node).len()).unwrap_or(u16::MAX);
        Some(Box::new(InputQueues::new(plan.data_vls, inputs)))
    }
}

/// From the start of a packet to the arrival of its credits, at the sender of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CreditRound {
    /// Where nothing else goes the other way: the packet, its way on through a switch that stores it, the way there and back, and
    /// the flow control packet.
    pub(crate) idle: Duration,
    /// Where packets go the other way all the time: the flow control packet waits for `update_interval`, and for the packet
    /// that is being sent then.
    pub(crate) busy: Duration,
}

/// Packets of `len` bytes that a link carries in a time, the last one begun.
pub(crate) fn packets_in(rate: Bandwidth, time: Duration, len: u32) -> u64 {
    rate.bytes_in(time).get().div_ceil(u64::from(len).max(1))
}
