//! The native model: the InfiniBand transport over RoCE v1 and v2, pauses with quanta by frames of
//! the link layer (PFC and others), shared-buffer switches that mark at the queue's end.

mod app;
mod congestion_points;
mod connecting;
mod connections;
mod host;
mod integrity;
mod marking;
mod monitor;
mod nvlink;
mod packet;
mod stacks;
mod starts;
mod state;
mod wires;

pub(crate) use app::SlotView;
pub(crate) use connections::GSI_QPN;
pub use host::VerbsHost;
pub use marking::EcnMarking;
use rocelab_engine::{NodeOrder, RngStream};
use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{
    CreditControl, CreditedBuffer, GeneralBuffer, InputQueues, Link, LinkController, NodeId,
    PortExtras, RouteError, Routes, SchedulerConfig, SwitchBuffer,
};
pub use starts::StartsByHost;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};

use self::wires::{Wires, goes_here};
use super::{DistantTransfer, Profile, Routing, Shared};
use crate::profile::BuildError;
use crate::{InfiniBandPorts, Plan};

/// The native model.
#[derive(Clone, Copy, Debug)]
pub struct Roce;

impl Profile for Roce {
    type Link = Link;
    type FlowControl = LinkController;
    type Buffer = SwitchBuffer;
    type Marking = EcnMarking;
    type Routing = Routes;
    type Order = NodeOrder;
    type EndHost = VerbsHost;
    type Starts = StartsByHost;
    type Shared = LinkLoss;

    const RECORDS_EVERY_RESUME: bool = false;

    fn last_instant(stop: SimTime) -> SimTime {
        stop
    }

    fn shared(
        plan: &Plan,
        ports: &[(NodeId, u16)],
        is_here: impl Fn(NodeId) -> bool,
    ) -> Result<LinkLoss, BuildError> {
        Ok(LinkLoss::new(plan, ports, is_here))
    }

    fn base_rtt(plan: &Plan, _shared: &LinkLoss) -> Duration {
        plan.common_queue_pair().base_rtt
    }

    fn link(plan: &Plan, neighbour: &Neighbour) -> Link {
        let link = &plan.topology.links[neighbour.link as usize];
        let delay = link.delay + plan.latency_of(neighbour.node);
        if plan.infiniband.is_some() {
            return Link::infiniband(link.rate, delay);
        }
        Link::new(link.rate, delay)
    }

    fn flow_control(plan: &Plan, node: NodeId, port: u16, adjacency: &Adjacency) -> LinkController {
        if let Some(config) = InfiniBandPorts(plan).credits_at(node, port, adjacency) {
            return LinkController::Credits(Box::new(CreditControl::new(config)));
        }
        let control = plan.flow_control_at(node, port, adjacency);
        let quanta = plan.port_at(node, port).pause_quanta;
        control
            .controller(quanta)
            .expect("all but credits, which are of InfiniBand, work by pauses")
    }

    fn input_queues(plan: &Plan, node: NodeId, adjacency: &Adjacency) -> Option<Box<InputQueues>> {
        InfiniBandPorts(plan).input_queues(node, adjacency)
    }

    fn scheduler(plan: &Plan, node: NodeId, port: u16) -> SchedulerConfig {
        if let Some(infiniband) = &plan.infiniband {
            return SchedulerConfig::VirtualLanes(infiniband.arbitration.clone());
        }
        plan.port_at(node, port).scheduler.clone()
    }

    fn port_extras(plan: &Plan, node: NodeId, port: u16) -> Option<Box<PortExtras>> {
        plan.port_extras(node, port)
    }

    fn priorities_in(plan: &Plan, switch: NodeId) -> Vec<u8> {
        plan.priorities_in(switch)
    }

    fn buffer(
        plan: &Plan,
        switch: NodeId,
        adjacency: &Adjacency,
    ) -> Result<SwitchBuffer, BuildError> {
        if plan.infiniband.is_some() {
            let ports = adjacency.ports_of(switch).iter();
            let sizes: Vec<_> =
                ports.map(|far| InfiniBandPorts(plan).lane_buffers(switch, far)).collect();
            let buffer = GeneralBuffer::Credited(CreditedBuffer::new(&sizes));
            return Ok(SwitchBuffer::General(Box::new(buffer)));
        }
        let config = plan.switch_at(switch);
        let headroom = plan.headroom(switch, adjacency);
        let buffer = SwitchBuffer::new(config, &headroom).map_err(|error| {
            let switch = plan.topology.nodes[switch as usize].name.clone();
            BuildError::Buffer { switch, error }
        })?;
        let is_measured = plan.sampling.ingress.is_some();
        Ok(if is_measured { buffer.measured(headroom.len()) } else { buffer })
    }

    fn marking(
        plan: &Plan,
        switch: NodeId,
        port: u16,
        neighbour: &Neighbour,
        adjacency: &Adjacency,
    ) -> Option<EcnMarking> {
        if plan.infiniband.is_some() {
            let marker = InfiniBandPorts(plan).forward_marks(switch, neighbour, adjacency)?;
            let name = &plan.topology.nodes[switch as usize].name;
            let dice = RngStream::new(plan.seed, &format!("fecn/{name}/{port}"));
            return Some(EcnMarking::forward(marker, dice));
        }
        let config = plan.port_at(switch, port);
        let name = &plan.topology.nodes[switch as usize].name;
        if let Some(qcn) = config.qcn.as_ref() {
            let dice = RngStream::new(plan.seed, &format!("qcn/{name}/{port}"));
            return Some(EcnMarking::notifying(qcn, dice));
        }
        let ecn = config.ecn.as_ref()?;
        let rate = plan.topology.links[neighbour.link as usize].rate;
        let dice = RngStream::new(plan.seed, &format!("ecn/{name}/{port}"));
        Some(EcnMarking::new(ecn, rate, dice))
    }

    fn routing(plan: &Plan, active: &[bool]) -> Result<Routes, RouteError> {
        plan.routes(active)
    }

    fn end_host(plan: &Plan, host: NodeId, adjacency: &Adjacency) -> VerbsHost {
        VerbsHost::new(plan, host, adjacency)
    }

    fn starts(plan: &Plan, is_here: impl Fn(NodeId) -> bool) -> StartsByHost {
        StartsByHost::new(plan, is_here)
    }
}

impl Routing for Routes {
    #[inline(always)] // It is asked for every frame that goes to a switch.
    fn egress(
        &self,
        switch: NodeId,
        _source: NodeId,
        destination: NodeId,
        flow_hash: u32,
    ) -> Option<u16> {
        Self::egress(self, switch, destination, flow_hash)
    }

    fn next_hops(&self, switch: NodeId, destination: NodeId) -> &[u16] {
        Self::next_hops(self, switch, destination)
    }

    #[inline]
    fn prefetch(&self, switch: NodeId, destination: NodeId) {
        if let Some(entry) = self.entry(switch, destination) {
            rocelab_engine::Place::of(entry).prefetch::<1>();
        }
    }
}

/// Loss on each direction of each link, and telemetry at each port, with their own dice; and what
/// messages of applications say.
#[derive(Debug)]
pub struct LinkLoss {
    /// By port of all, of the port that sends.
    directions: Vec<Option<(f64, RngStream)>>,
    /// By port of all, where telemetry is rounded at random.
    telemetry: Vec<RngStream>,
    messages: app::Messages,
    wires: Wires,
}

/// What is told to another part of a network.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub enum Distant {
    /// What a message says.
    Message(app::DistantMessage),
    /// What comes over NVLink.
    Transfer(DistantTransfer),
}

impl LinkLoss {
    fn new(plan: &Plan, ports: &[(NodeId, u16)], is_here: impl Fn(NodeId) -> bool) -> Self {
        let adjacency = plan.topology.adjacency();
        let dice = |of: &str, node: NodeId, number: u16| {
            let node = &plan.topology.nodes[node as usize].name;
            RngStream::new(plan.seed, &format!("{of}/{node}/{number}"))
        };
        let loss = |&(node, number): &(NodeId, u16)| {
            let link = adjacency.ports_of(node).get(usize::from(number))?.link;
            let loss = plan.topology.links[link as usize].loss;
            (loss > 0.0).then(|| (loss, dice("loss", node, number)))
        };
        let rounded = if plan.rounds_telemetry() { ports } else { &[] };
        let telemetry = |&(node, number): &(NodeId, u16)| dice("telemetry", node, number);
        Self {
            directions: ports.iter().map(loss).collect(),
            telemetry: rounded.iter().map(telemetry).collect(),
            messages: app::Messages::new(plan, is_here),
            wires: Wires::default(),
        }
    }
}

impl LinkLoss {
    /// Whether a message that was posted in another part is for a host here.
    pub(crate) fn is_for_here(&self, message: &app::DistantMessage) -> bool {
        self.messages.is_for_here(message)
    }

    /// Whether what was told by another part is for a host here, and happens after `window`.
    pub(crate) fn fits_here(
        &self,
        plan: &Plan,
        told: &Distant,
        (window, is_here): (SimTime, impl Fn(NodeId) -> bool),
    ) -> bool {
        match told {
            Distant::Message(message) => self.is_for_here(message),
            Distant::Transfer(DistantTransfer { transfer, head }) => {
                head.time > window && goes_here(plan, transfer, is_here)
            }
        }
    }

    /// The dice of the link that a port sends on, if it loses frames.
    pub(crate) fn loss(&mut self, port: u32) -> Option<&mut RngStream> {
        self.directions[port as usize].as_mut().map(|(_, dice)| dice)
    }

    /// The dice of a port's telemetry, if it has any.
    pub(crate) fn rounding(&mut self, port: u32) -> Option<&mut RngStream> {
        self.telemetry.get_mut(port as usize)
    }
}

impl Shared for LinkLoss {
    type Message = Distant;

    fn take_messages(&mut self) -> Vec<(NodeId, Distant)> {
        let messages = self.messages.take_distant().into_iter();
        let transfers = self.wires.take_distant().into_iter();
        messages
            .map(|(host, message)| (host, Distant::Message(message)))
            .chain(transfers.map(|(host, transfer)| (host, Distant::Transfer(transfer))))
            .collect()
    }

    fn hear(&mut self, message: Distant) -> Option<DistantTransfer> {
        match message {
            Distant::Message(message) => {
                self.messages.hear(message);
                None
            }
            Distant::Transfer(transfer) => {
                self.wires.put(transfer.transfer);
                Some(transfer)
            }
        }
    }

    fn happens_at(message: &Distant) -> SimTime {
        match message {
            Distant::Message(_) => SimTime::NEVER,
            Distant::Transfer(transfer) => transfer.head.time,
        }
    }

    fn leave_by_nvlink(&mut self, transfer: DistantTransfer, elsewhere: Option<NodeId>) {
        match elsewhere {
            None => self.wires.put(transfer.transfer),
            Some(host) => self.wires.put_elsewhere(host, transfer),
        }
    }

    fn under_way_by_nvlink(&self) -> (u64, u64) {
        self.wires.totals()
    }

    fn is_lossy(&self, port: u32) -> bool {
        self.directions[port as usize].is_some()
    }

    fn loses(&mut self, port: u32) -> bool {
        match &mut self.directions[port as usize] {
            Some((probability, dice)) => dice.uniform() < *probability,
            None => false,
        }
    }

    fn telemetry_bits(&mut self, port: u32) -> u32 {
        let [a, b, c, d, ..] = self.telemetry[port as usize].bits().to_be_bytes();
        u32::from_be_bytes([a, b, c, d]) >> 1
    }
}
