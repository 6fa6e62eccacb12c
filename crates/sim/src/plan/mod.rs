//! What will run: everything that can be wrong with a scenario was found on the way here, in `planning/`.

mod capture;
mod connection;
mod failures;
mod faults;
mod flow;
mod headroom;
mod host_model;
mod infiniband;
mod ingress;
mod links;
mod markings;
mod measure;
mod monitoring;
mod multicast;
mod neighbours;
mod nvlink;
mod opcodes;
mod parameters;
mod partitions;
mod profile;
mod resweeps;
mod roce;
mod rules;
mod sampling;
mod slow_receiver;
mod streams;
mod switches;
mod tcp;
mod workloads;

use std::collections::BTreeMap;
use std::sync::Arc;

use rocelab_engine::RngStream;
use rocelab_fabric::{
    KnownHosts, NodeId, Priority, RouteError, Routes, ShaperConfig, StaticRoute, SwitchConfig,
    Topology,
};
use rocelab_transport::{HostSchedulerConfig, QueuePairProfile, Service};
use rocelab_units::SimTime;

pub use self::capture::CapturePlan;
pub use self::connection::{ConnectionEndPlan, ConnectionPlan};
pub use self::failures::{FailureChange, FailurePlan, FailureStep};
pub use self::faults::{FaultAction, FaultChoice, FaultRule, FrameSelector};
pub use self::flow::FlowPlan;
pub use self::host_model::HostModel;
pub(crate) use self::infiniband::packets_in;
pub use self::infiniband::{
    InfiniBandPlan, InfiniBandPorts, RoutedSubnet, SubnetManagerPlan, subnet_topology,
};
pub use self::ingress::IngressPlan;
pub use self::links::{LinkPlan, LinkPlans};
pub use self::markings::Markings;
pub(crate) use self::markings::SentMarkings;
pub use self::measure::MeasurePlan;
pub(crate) use self::monitoring::{ANSWER, MAX_PINGS, Pings};
pub use self::monitoring::{MonitoringPlan, PingRules, PingingHost};
pub use self::multicast::{MulticastGroup, MulticastPlan, MulticastSending};
pub use self::neighbours::NeighbourPlan;
pub(crate) use self::nvlink::network_connections;
pub use self::opcodes::OpcodeSet;
pub(crate) use self::parameters::queues;
pub(crate) use self::partitions::p_keys_match;
pub use self::partitions::{PartitionChoice, Partitions, QueuePairKeys};
pub use self::profile::{HpccNs3Plan, LinkDown, ProfilePlan, QueueMonitor, RateThresholds};
pub(crate) use self::resweeps::Resweep;
pub use self::roce::{CmPlan, RocePlan};
pub use self::sampling::{FlowSamplingPlan, PortSamplingPlan, SamplingPlan};
pub use self::slow_receiver::SlowReceiver;
pub use self::streams::{StreamPlan, StreamsPlan};
pub use self::switches::SwitchOverrides;
pub use self::tcp::TcpPlan;
pub use self::workloads::WorkloadsPlan;
use crate::address;
use crate::scenario::OnDeadlock;
use crate::workload::AppPlan;
pub use crate::workload::{NvlinkDomain, NvlinkPlan};

/// A scenario that is known to be runnable.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario's name: its file's name without the ending.
    pub name: String,
    /// What tells the run from others.
    pub labels: BTreeMap<String, String>,
    /// Where every random stream starts.
    pub seed: u64,
    /// When the run ends even if flows are unfinished; without it, when the last flow ends.
    pub stop: Option<SimTime>,
    /// Whose rules hold.
    pub profile: ProfilePlan,
    /// How frames look.
    pub roce: RocePlan,
    /// Links and switches of InfiniBand in place of Ethernet.
    pub infiniband: Option<InfiniBandPlan>,
    /// Nodes and links.
    pub topology: Topology,
    /// For each link of the topology, whether frames may cross it: a spanning tree blocks some.
    pub active_links: Vec<bool>,
    /// What single links do otherwise.
    pub links: LinkPlans,
    /// Routes that are set by hand, one for each switch and host.
    pub static_routes: Vec<StaticRoute>,
    /// What switches know of hosts.
    pub known_hosts: KnownHosts,
    /// The parameters of all switches, but for what some do otherwise.
    pub switch: SwitchConfig,
    /// What single switches and ports do otherwise.
    pub switch_overrides: SwitchOverrides,
    /// What ports of switches ask of frames as they come in.
    pub ingress: Vec<IngressPlan>,
    /// Parameters of queue pairs: one for each congestion control in use, and so at least one. They
    /// differ in nothing else, but for what follows from it.
    pub queue_pairs: Vec<Arc<QueuePairProfile>>,
    /// The code points of frames.
    pub markings: Markings,
    /// How hosts share their ports among stacks and priorities.
    pub host_scheduler: HostSchedulerConfig,
    /// The most that a host sends, by priority.
    pub host_shapers: BTreeMap<Priority, ShaperConfig>,
    /// What hosts' TCP does; none where no flow is of TCP.
    pub tcp: Option<TcpPlan>,
    /// What hosts send that is of no workload.
    pub streams: StreamsPlan,
    /// What flows are asked for by.
    pub workloads: WorkloadsPlan,
    /// In order of start time, then of the scenario's text.
    pub flows: Vec<FlowPlan>,
    /// In the order of kinds of workload, then of the scenario's text.
    pub apps: Vec<AppPlan>,
    /// Those of each application side by side.
    pub connections: Vec<ConnectionPlan>,
    /// What links do to frames, in the order in which rules are asked.
    pub faults: Vec<FaultRule>,
    /// Hosts of servers that NVLink joins.
    pub nvlink: NvlinkPlan,
    /// What breaks.
    pub failures: FailurePlan,
    /// NICs that handle what arrives no faster than they can, by host.
    pub slow_receivers: BTreeMap<NodeId, SlowReceiver>,
    /// Hosts that take time.
    pub host_models: BTreeMap<NodeId, HostModel>,
    /// Hosts that ping each other.
    pub monitoring: Option<MonitoringPlan>,
    /// Whether payload bytes are real and compared at the end.
    pub integrity: bool,
    /// Whether the run ends with a deadlock.
    pub on_deadlock: OnDeadlock,
    /// Which ports are captured.
    pub capture: Option<CapturePlan>,
    /// The part of the run that its results are about; all of it without.
    pub measure: Option<MeasurePlan>,
    /// What is sampled.
    pub sampling: SamplingPlan,
}

impl Plan {
    /// The host of a member of the program that a connection belongs to.
    pub(crate) fn host_of_member(&self, connection: u32, member: u32) -> Option<NodeId> {
        let app = self.connections.get(connection as usize)?.app;
        let program = self.apps.get(app as usize)?.program.as_ref()?;
        program.hosts.get(member as usize).copied()
    }

    /// Whether anything is measured at some times.
    pub(crate) fn is_sampled(&self) -> bool {
        !self.sampling.is_empty() || self.measure.is_some_and(|window| !window.is_the_whole_run())
    }

    /// Has the run end at this time (ps), where that of an earlier one was interrupted.
    pub fn stop_at(&mut self, ps: u64) {
        self.stop = Some(SimTime::from_ps(ps));
    }

    /// The parameters of both of a flow's queue pairs.
    pub fn queue_pairs_of(&self, flow: &FlowPlan) -> &Arc<QueuePairProfile> {
        &self.queue_pairs[flow.queue_pairs as usize]
    }

    /// The transport service of all flows.
    pub fn service(&self) -> Service {
        self.common_queue_pair().service
    }

    /// Parameters that all queue pairs have in common.
    pub(crate) fn common_queue_pair(&self) -> &QueuePairProfile {
        &self.queue_pairs[0]
    }

    /// The application of a connection.
    pub fn app_of(&self, connection: u32) -> &AppPlan {
        &self.apps[self.connections[connection as usize].app as usize]
    }

    /// The routes over the links that are `active`, the static ones among them, whose equal paths
    /// are chosen by the plan's seed.
    ///
    /// # Errors
    /// If the topology has what routes cannot represent.
    pub fn routes(&self, active: &[bool]) -> Result<Routes, RouteError> {
        let routes = Routes::new(&self.topology, active)?;
        if let Some(infiniband) = &self.infiniband {
            if active == self.active_links || !infiniband.manager.reroutes() {
                return Ok(routes.with_tables(&self.static_routes, active, infiniband.manager.lmc));
            }
            // The subnet manager routes what it reaches; other switches keep the tables that they have.
            let routed = infiniband.manager.route(&self.topology, active);
            let routed = routed.map_err(|_| RouteError::NoManager)?;
            let mut tables = routed.routes();
            let is_kept = |route: &&StaticRoute| !routed.reaches(route.switch);
            tables.extend(self.static_routes.iter().filter(is_kept).cloned());
            return Ok(routes.with_tables(&tables, active, infiniband.manager.lmc));
        }
        Ok(routes.with_hash_seed(self.seed).with_static_routes(&self.static_routes, active))
    }

    /// Hash of the addresses and ports of a TCP flow's segments, for equal-cost multipath: of those
    /// with data, or of the acknowledgements.
    pub(crate) fn segment_hash(&self, flow: &FlowPlan, with_data: bool) -> u32 {
        let Some(tcp) = &self.tcp else { return 0 };
        let (near, far) = flow.tcp_ports();
        let source = (tcp.address(flow.source), near);
        let destination = (tcp.address(flow.destination), far);
        if with_data {
            address::segment_hash(source, destination)
        } else {
            address::segment_hash(destination, source)
        }
    }

    /// Where the seeds of the congestion controls of a host come from.
    pub(crate) fn control_seed(&self, host: NodeId) -> u64 {
        RngStream::new(self.seed, &format!("congestion control {host}")).bits()
    }

    /// The name of the congestion control of a flow.
    pub fn congestion_control_of(&self, flow: &FlowPlan) -> &str {
        match &self.tcp {
            Some(tcp) if flow.is_tcp() => tcp.parameters.congestion_control.name(),
            _ => self.queue_pairs_of(flow).congestion_control.label(),
        }
    }
}
