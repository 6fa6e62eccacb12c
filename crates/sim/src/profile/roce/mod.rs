//! The native model: the InfiniBand transport over RoCE v1 and v2, IEEE 802.1Qbb pauses with
//! quanta, shared-buffer switches that mark at the queue's end.

mod app;
mod congestion_points;
mod connecting;
mod connections;
mod host;
mod integrity;
mod marking;
mod starts;
mod tcp;

pub(crate) use app::SlotView;
pub(crate) use connections::GSI_QPN;
pub use host::VerbsHost;
pub use marking::EcnMarking;
use rocelab_engine::{NodeOrder, RngStream};
use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{
    Link, NodeId, PortExtras, QuantaFlowControl, RouteError, Routes, SchedulerConfig, SwitchBuffer,
};
pub use starts::StartsByHost;

use rocelab_units::{Duration, SimTime};

use super::{Profile, Routing, Shared};
use crate::Plan;
use crate::network::BuildError;

/// The native model.
#[derive(Clone, Copy, Debug)]
pub struct Roce;

impl Profile for Roce {
    type Link = Link;
    type FlowControl = QuantaFlowControl;
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

    fn shared(plan: &Plan) -> Result<LinkLoss, BuildError> {
        Ok(LinkLoss::new(plan))
    }

    fn base_rtt(plan: &Plan, _shared: &LinkLoss) -> Duration {
        plan.common_queue_pair().base_rtt
    }

    fn link(plan: &Plan, neighbour: &Neighbour) -> Link {
        let link = &plan.topology.links[neighbour.link as usize];
        Link::new(link.rate, link.delay + plan.latency_of(neighbour.node))
    }

    fn flow_control(plan: &Plan, node: NodeId, port: u16) -> QuantaFlowControl {
        QuantaFlowControl::new(plan.port_at(node, port).pause_quanta)
    }

    fn scheduler(plan: &Plan, node: NodeId, port: u16) -> SchedulerConfig {
        plan.port_at(node, port).scheduler.clone()
    }

    fn port_extras(plan: &Plan, node: NodeId, port: u16) -> Option<Box<PortExtras>> {
        plan.port_extras(node, port)
    }

    fn priorities_in(plan: &Plan, switch: NodeId) -> [u8; 8] {
        plan.priorities_in(switch)
    }

    fn buffer(
        plan: &Plan,
        switch: NodeId,
        adjacency: &Adjacency,
    ) -> Result<SwitchBuffer, BuildError> {
        let config = plan.switch_at(switch);
        SwitchBuffer::new(config, &plan.headroom(switch, adjacency)).map_err(|error| {
            let switch = plan.topology.nodes[switch as usize].name.clone();
            BuildError::Buffer { switch, error }
        })
    }

    fn marking(
        plan: &Plan,
        switch: NodeId,
        port: u16,
        neighbour: &Neighbour,
    ) -> Option<EcnMarking> {
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

    fn starts(plan: &Plan) -> StartsByHost {
        StartsByHost::new(plan)
    }
}

impl Routing for Routes {
    #[inline]
    fn egress(
        &self,
        switch: NodeId,
        _source: NodeId,
        destination: NodeId,
        flow_hash: u32,
    ) -> Option<u16> {
        Self::egress(self, switch, destination, flow_hash)
    }
}

/// Loss on each direction of each link, with its own dice; and what messages of applications say.
#[derive(Debug)]
pub struct LinkLoss {
    /// By port of all, of the port that sends.
    directions: Vec<Option<(f64, RngStream)>>,
    telemetry: RngStream,
    messages: app::Messages,
}

impl LinkLoss {
    fn new(plan: &Plan) -> Self {
        let adjacency = plan.topology.adjacency();
        let mut directions = Vec::with_capacity(plan.topology.links.len() * 2);
        for (node, description) in (0u32..).zip(&plan.topology.nodes) {
            for (number, neighbour) in adjacency.ports_of(node).iter().enumerate() {
                let loss = plan.topology.links[neighbour.link as usize].loss;
                let dice =
                    || RngStream::new(plan.seed, &format!("loss/{}/{number}", description.name));
                directions.push((loss > 0.0).then(|| (loss, dice())));
            }
        }
        let telemetry = RngStream::new(plan.seed, "telemetry");
        Self { directions, telemetry, messages: app::Messages::new(plan) }
    }
}

impl Shared for LinkLoss {
    fn is_lossy(&self, port: u32) -> bool {
        self.directions[port as usize].is_some()
    }

    fn loses(&mut self, port: u32) -> bool {
        match &mut self.directions[port as usize] {
            Some((probability, dice)) => dice.uniform() < *probability,
            None => false,
        }
    }

    fn telemetry_bits(&mut self) -> u32 {
        let [a, b, c, d, ..] = self.telemetry.bits().to_be_bytes();
        u32::from_be_bytes([a, b, c, d]) >> 1
    }
}
