//! The rules of HPCC's ns-3 simulator, for runs that give its numbers: whole nanoseconds, byte
//! sequence numbers, pauses that are on or off, marks as a frame leaves, and the order of events
//! and of random numbers that its results hang on.
//!
//! What its congestion controls compute is not here: they are the native ones.

mod glibc_random;
mod host;
mod marking;
mod shared;
mod starts;

pub use host::ByteSequenceHost;
pub use marking::DequeueMarking;
use rocelab_engine::InsertionOrder;
use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{
    HpccNs3Buffer, HpccNs3Port, HpccNs3Routes, NodeId, OnOffFlowControl, RouteError,
    SchedulerConfig, ThresholdMarker, TruncatingLink,
};
use rocelab_units::{Duration, SimTime};
pub use shared::Commons;
pub use starts::StartsByFile;

use super::{Profile, Routing};
use crate::profile::BuildError;
use crate::{HpccNs3Plan, Plan};

/// The rules of HPCC's ns-3 simulator.
#[derive(Clone, Copy, Debug)]
pub struct HpccNs3;

impl Profile for HpccNs3 {
    type Link = TruncatingLink;
    type FlowControl = OnOffFlowControl;
    type Buffer = HpccNs3Buffer;
    type Marking = DequeueMarking;
    type Routing = HpccNs3Routes;
    type Order = InsertionOrder;
    type EndHost = ByteSequenceHost;
    type Starts = StartsByFile;
    type Shared = Commons;

    const RECORDS_EVERY_RESUME: bool = true;

    /// The end of a run was scheduled before all that happens in it, so it comes first.
    fn last_instant(stop: SimTime) -> SimTime {
        SimTime::from_ps(stop.ps().saturating_sub(1))
    }

    fn shared(
        plan: &Plan,
        _ports: &[(NodeId, u16)],
        _is_here: impl Fn(NodeId) -> bool,
    ) -> Result<Commons, BuildError> {
        Commons::new(plan, rules(plan))
    }

    fn base_rtt(_plan: &Plan, shared: &Commons) -> Duration {
        shared.base_rtt
    }

    fn link(plan: &Plan, neighbour: &Neighbour) -> TruncatingLink {
        let link = &plan.topology.links[neighbour.link as usize];
        TruncatingLink::new(link.rate, link.delay)
    }

    fn flow_control(_: &Plan, _: NodeId, _: u16, _: &Adjacency) -> OnOffFlowControl {
        OnOffFlowControl::new()
    }

    fn scheduler(_: &Plan, _: NodeId, _: u16) -> SchedulerConfig {
        SchedulerConfig::RoundRobin
    }

    fn buffer(
        plan: &Plan,
        switch: NodeId,
        adjacency: &Adjacency,
    ) -> Result<HpccNs3Buffer, BuildError> {
        let port = |neighbour: &Neighbour| {
            let link = &plan.topology.links[neighbour.link as usize];
            HpccNs3Port { rate: link.rate, delay: link.delay }
        };
        let ports: Vec<_> = adjacency.ports_of(switch).iter().map(port).collect();
        HpccNs3Buffer::new(rules(plan).buffer_bytes, &ports, plan.nic_rate()).map_err(|error| {
            let switch = plan.topology.nodes[switch as usize].name.clone();
            BuildError::Buffer { switch, error }
        })
    }

    fn marking(
        plan: &Plan,
        _switch: NodeId,
        _port: u16,
        neighbour: &Neighbour,
        _adjacency: &Adjacency,
    ) -> Option<DequeueMarking> {
        let rate = plan.topology.links[neighbour.link as usize].rate;
        let rules = Some(rules(plan)).filter(|rules| rules.mark)?;
        let thresholds = rules.ecn.iter().find(|thresholds| thresholds.rate == rate)?;
        let marker =
            ThresholdMarker { kmin: thresholds.kmin, kmax: thresholds.kmax, pmax: thresholds.pmax };
        Some(DequeueMarking::new(marker))
    }

    fn routing(plan: &Plan, active: &[bool]) -> Result<HpccNs3Routes, RouteError> {
        HpccNs3Routes::over(&plan.topology, active)
    }

    fn end_host(plan: &Plan, host: NodeId, adjacency: &Adjacency) -> ByteSequenceHost {
        ByteSequenceHost::new(plan, rules(plan), host, adjacency)
    }

    fn starts(plan: &Plan, _is_here: impl Fn(NodeId) -> bool) -> StartsByFile {
        StartsByFile::new(plan)
    }
}

impl Routing for HpccNs3Routes {
    #[inline]
    fn egress(
        &self,
        switch: NodeId,
        source: NodeId,
        destination: NodeId,
        flow_hash: u32,
    ) -> Option<u16> {
        Self::egress(self, switch, destination, source, flow_hash)
    }

    fn next_hops(&self, switch: NodeId, destination: NodeId) -> &[u16] {
        Self::next_hops(self, switch, destination)
    }
}

/// The rules' parameters.
///
/// # Panics
/// If the plan goes by other rules.
fn rules(plan: &Plan) -> &HpccNs3Plan {
    plan.profile.hpcc_ns3().expect("a network of this profile is made from a plan of it")
}
