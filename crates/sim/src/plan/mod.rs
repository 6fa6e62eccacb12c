//! What will run: everything that can be wrong with a scenario was found on the way here.

mod algorithms;
mod applications;
mod buffer;
mod build;
mod checks;
mod congestion_points;
mod connection;
mod connection_timers;
mod connections;
mod endless_tcp;
mod failures;
mod faults;
mod hop_limit;
mod hpcc_ns3;
mod ineffective;
mod integrity;
mod layer2;
mod numbering;
mod ports;
mod profile;
mod receivers;
mod resolve;
mod sampling;
mod service;
mod static_routes;
mod switches;
mod tables;
mod tcp;
mod telemetry;
mod topology;

use std::collections::BTreeMap;
use std::sync::Arc;

use rocelab_fabric::{NodeId, StaticRoute, SwitchConfig, Topology};
use rocelab_transport::{QueuePairProfile, Service};
use rocelab_units::{Duration, SimTime};
use rocelab_wire::Encapsulation;

use crate::scenario::{CaptureFormat, GidKind, OnDeadlock, Transport, Verb};
use crate::workload::AppPlan;

pub use build::MAX_FLOWS;
pub use connection::{ConnectionEndPlan, ConnectionPlan};
pub use failures::{FailureChange, FailurePlan, FailureStep};
pub use faults::{FaultAction, FaultChoice, FaultRule, FrameSelector, OpcodeSet};
pub use profile::{HpccNs3Plan, LinkDown, ProfilePlan, RateThresholds};
pub use receivers::SlowReceiver;
pub(crate) use resolve::default_ecn;
pub use switches::SwitchOverrides;
pub(crate) use switches::queues;
pub use tables::{MissingEntries, TablesPlan};
pub use tcp::TcpPlan;

/// A scenario that is known to be runnable.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario's name: its file's name without the ending.
    pub name: String,
    /// Where every random stream starts.
    pub seed: u64,
    /// When the run ends even if flows are unfinished; without it, when the last flow ends.
    pub stop: Option<SimTime>,
    /// Whose rules hold.
    pub profile: ProfilePlan,
    /// How frames look.
    pub roce: RocePlan,
    /// Nodes and links.
    pub topology: Topology,
    /// For each link of the topology, whether frames may cross it: a spanning tree blocks some.
    pub active_links: Vec<bool>,
    /// Routes that are set by hand, one for each switch and host.
    pub static_routes: Vec<StaticRoute>,
    /// What switches know of hosts.
    pub tables: TablesPlan,
    /// The parameters of all switches, but for what some do otherwise.
    pub switch: SwitchConfig,
    /// What single switches and ports do otherwise.
    pub switch_overrides: SwitchOverrides,
    /// Parameters of queue pairs: one for each congestion control in use, and so at least one. They
    /// differ in nothing else, but for what follows from it.
    pub queue_pairs: Vec<Arc<QueuePairProfile>>,
    /// What hosts' TCP does; none where no flow is of TCP.
    pub tcp: Option<TcpPlan>,
    /// In order of start time, then of the scenario's text.
    pub flows: Vec<FlowPlan>,
    /// In the order of kinds of workload, then of the scenario's text.
    pub apps: Vec<AppPlan>,
    /// Those of each application side by side.
    pub connections: Vec<ConnectionPlan>,
    /// What links do to frames, in the order in which rules are asked.
    pub faults: Vec<FaultRule>,
    /// What breaks.
    pub failures: FailurePlan,
    /// NICs that handle what arrives no faster than they can, by host.
    pub slow_receivers: BTreeMap<NodeId, SlowReceiver>,
    /// Whether payload bytes are real and compared at the end.
    pub integrity: bool,
    /// Whether the run ends with a deadlock.
    pub on_deadlock: OnDeadlock,
    /// Which ports are captured.
    pub capture: Option<CapturePlan>,
    /// What is sampled.
    pub sampling: SamplingPlan,
}

/// How frames look and which class they travel in.
#[derive(Clone, Debug)]
pub struct RocePlan {
    /// RoCE v1, or v2 over IPv4 or IPv6.
    pub encapsulation: Encapsulation,
    /// What the GIDs of v1 are made of.
    pub gid: GidKind,
    /// Whether frames carry an 802.1Q tag with the priority in its PCP.
    pub tagged: bool,
    /// VLAN identifier of each node (by [`NodeId`]; 0 for none).
    pub vlans: Vec<u16>,
    /// Hop limit or TTL of a new frame.
    pub hop_limit: u8,
    /// Where connections are made by messages; none: out of band, at no cost.
    pub connection_manager: Option<CmPlan>,
}

impl RocePlan {
    /// UDP source port (v2) or flow label (v1) of management datagrams.
    pub(crate) fn management_entropy(&self) -> u32 {
        /// The first port of the range that RoCE v2 sends from.
        const FIRST_PORT: u32 = 0xc000;
        if self.encapsulation == Encapsulation::V1 { 0 } else { FIRST_PORT }
    }
}

/// The connection manager of every host. Times are codes of 5 bits: 4.096 us x 2^n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CmPlan {
    /// Within which time a host answers, 0 to 31.
    pub response_timeout: u8,
    /// How often a message is sent again, 0 to 15.
    pub retries: u8,
    /// How long a packet may be on its way, 0 to 31.
    pub packet_lifetime: u8,
    /// Priority of its datagrams, 0 to 7.
    pub priority: u8,
}

/// One flow: one or more messages over a connection of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowPlan {
    /// The requester.
    pub source: NodeId,
    /// The responder.
    pub destination: NodeId,
    /// When the work is posted.
    pub start: SimTime,
    /// Payload bytes: from source to destination, or the other way for a READ.
    pub bytes: u64,
    /// Payload bytes of each of its messages but for the last, 1 to [`MAX_MESSAGE_BYTES`](crate::MAX_MESSAGE_BYTES); of a TCP
    /// flow all of them, as they are one stream.
    pub message_bytes: u64,
    /// What carries it.
    pub transport: Transport,
    /// The operation of every message.
    pub verb: Verb,
    /// Priority 0 to 7.
    pub priority: u8,
    /// Queue pair number at the source: 0x11 + k for the k-th queue pair of that host. Of a TCP flow
    /// k, for the k-th connection of that host.
    pub source_qpn: u32,
    /// Queue pair number at the destination, numbered alike.
    pub destination_qpn: u32,
    /// First packet sequence number of the source's requests, 24 bits. Of a TCP flow the sequence
    /// number of the first byte, 32 bits.
    pub source_psn: u32,
    /// First packet sequence number of the destination's requests; of a TCP flow that of its source.
    pub destination_psn: u32,
    /// UDP source port (v2: 0xC000 to 0xFFFF) or flow label (v1: 20 bits). Of a TCP flow the source's
    /// port, and in the upper half the destination's.
    pub entropy: u32,
    /// The parameters of its queue pairs, by their place in [`Plan::queue_pairs`]; 0 of a TCP flow.
    pub queue_pairs: u32,
}

impl Plan {
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
}

impl FlowPlan {
    /// The host that the payload goes to.
    pub fn receiver(&self) -> NodeId {
        if self.verb == Verb::Read { self.source } else { self.destination }
    }

    /// Whether TCP carries it.
    pub const fn is_tcp(&self) -> bool {
        matches!(self.transport, Transport::Tcp)
    }

    /// The sizes of the flow's messages in the order in which they are posted, all at its start.
    pub fn messages(&self) -> impl Iterator<Item = u64> + use<> {
        let (bytes, each) = (self.bytes, self.message_bytes.max(1));
        let count = bytes.div_ceil(each).max(1);
        (0..count).map(move |k| (bytes - k * each).min(each))
    }
}

/// Which ports are captured, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePlan {
    /// Node and its port number (from 0); both directions of the port are captured.
    pub ports: Vec<(NodeId, u16)>,
    /// Whether frames end with their FCS.
    pub fcs: bool,
    /// pcapng, or classic pcap (one file a port).
    pub format: CaptureFormat,
    /// Leading bytes that are kept of each frame.
    pub snap_length: u32,
}

/// What is sampled at regular intervals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SamplingPlan {
    /// Lengths of egress queues. Empty ones are left out.
    pub queues: Option<PortSamplingPlan>,
    /// Frames marked CE.
    pub marks: Option<PortSamplingPlan>,
    /// What ports send.
    pub utilisation: Option<PortSamplingPlan>,
    /// Rates of flows.
    pub rates: Option<FlowSamplingPlan>,
}

/// Ports that are sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSamplingPlan {
    /// Time between two samples, above zero.
    pub interval: Duration,
    /// Node and port number, each once.
    pub ports: Vec<(NodeId, u16)>,
}

/// Flows that are sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSamplingPlan {
    /// Time between two samples, above zero.
    pub interval: Duration,
    /// Numbers in the plan, ascending, each once.
    pub flows: Vec<u32>,
}
