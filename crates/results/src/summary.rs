//! `summary.json`: the numbers of a run that are the same each time.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::words::{counted, microseconds};
use crate::{
    BranchRecord, CollectiveSummary, Distribution, FlowCounts, FrozenRecord, Goodput,
    IdleQueuePairRecord, MeasuredWindow, MessageCounts, Millionths, MonitoringSummary,
    Ns3RdmaCounts, NvlinkCounts, OperationCounts, PathMigrationRecord, SampleInterval, StallRecord,
    StreamRecord, TcpCounts, TransportFlows,
};

/// The content of `summary.json`. The same scenario and seed give the same bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The scenario's name.
    pub scenario: String,
    /// What tells the run from others; left out if nothing does.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The run that this one is a branch of; left out if it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<BranchRecord>,
    /// The seed of all random streams.
    pub seed: u64,
    /// RoCE version, 1 or 2; 0 on InfiniBand.
    pub roce_version: u8,
    /// What the subnet manager did, and credits; left out on Ethernet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infiniband: Option<InfiniBandCounts>,
    /// Whether the run was interrupted. Then all other values hold for the time up to
    /// `simulated_ps`.
    pub incomplete: bool,
    /// Digest of all events of frames and flows, in hexadecimal.
    pub digest: String,
    /// Simulated time at the end, in picoseconds.
    pub simulated_ps: u64,
    /// What a run by the rules of ns3-rdma counts beside; left out for other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ns3_rdma: Option<Ns3RdmaCounts>,
    /// Link traversals: each frame counts once for each link that it crosses.
    pub link_traversals: LinkTraversals,
    /// How many flows, and how they ended.
    pub flows: FlowCounts,
    /// Goodput of all flows, in bit/s; `None` if nothing was delivered.
    pub goodput_bps: Option<u64>,
    /// The period of the goodput; left out if there is no goodput. Older builds leave it out too:
    /// they counted the payload of completed flows over the time from the first start to the last
    /// completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<Goodput>,
    /// Completion times, in picoseconds; `None` if no flow completed.
    pub fct_ps: Option<Distribution<u64>>,
    /// Completion time over ideal completion time; `None` if no flow completed.
    pub slowdown: Option<Distribution<Millionths>>,
    /// Flows by transport (`rdma`, `tcp`); left out if there is no TCP.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub transports: BTreeMap<String, TransportFlows>,
    /// Counters of TCP; left out if there is no TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpCounts>,
    /// Traffic of hosts that is of no workload, in the order of stacks, then of the scenario; left out if there
    /// is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamRecord>,
    /// Pings between hosts; left out without `[monitoring]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitoring: Option<MonitoringSummary>,
    /// What went over NVLink; left out if no server has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvlink: Option<NvlinkCounts>,
    /// Messages of the flows of an unreliable service; left out for a reliable service, and without
    /// flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageCounts>,
    /// Operations of each application, in the order of the plan; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationCounts>,
    /// Collective operations of each workload that has any, in the order of the plan; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collectives: Vec<CollectiveSummary>,
    /// Dropped frames.
    pub drops: DropCounts,
    /// Dropped frames of lossless priorities by reason, without losses on links; left out if there
    /// are none. Copies of flooded frames that nobody needs are not counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lossless_drops: BTreeMap<String, u64>,
    /// Number of failures that began, by kind; left out if there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<String, u64>,
    /// The effect of each fault rule, in the order of the scenario; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRuleCounts>,
    /// The result of integrity mode; left out if it is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity: Option<IntegrityResult>,
    /// Priority flow control.
    pub pfc: PfcCounts,
    /// The flow control of links by the names of its frames, `PFC` or `PAUSE`; left out where all links have PFC, and on
    /// InfiniBand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_controls: Vec<String>,
    /// Number of times that a watchdog detected a storm of pauses; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub storms: u64,
    /// Deadlocks: queues that waited for each other, so that none could ever move; left out if
    /// there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deadlocks: Vec<DeadlockRecord>,
    /// Counters of NICs whose receivers handle frames at a limited rate; left out if there are
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow_receivers: Vec<SlowReceiverRecord>,
    /// Counters of flooding and learning; left out if all switches know every host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer2: Option<Layer2Counts>,
    /// Frames of ARP and Neighbour Discovery; left out if hosts do not ask for the MAC addresses of next hops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<NeighbourCounts>,
    /// What was stuck, if the run ended because nothing could move any more, or with a deadlock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled: Option<StallRecord>,
    /// Queue pairs that could send but did not, which is a fault of the model. At most 16; left out
    /// if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle_queue_pairs: Vec<IdleQueuePairRecord>,
    /// What pauses had held for long when the run ended; left out if there was nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<FrozenRecord>,
    /// Explicit congestion notification.
    pub ecn: EcnCounts,
    /// Congestion notification packets that hosts sent.
    pub cnps: u64,
    /// Congestion notification messages that switches sent (QCN); left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cnms: u64,
    /// Frames that switches added, as they sent one for a multicast group by several ports; left out if there were none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub multicast_copies: u64,
    /// Congestion notification packets that switches sent, besides [`Self::cnps`]; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub switch_cnps: u64,
    /// NAKs sent.
    pub naks: u64,
    /// RNR NAKs that requesters received; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rnr_naks: u64,
    /// Connections that were given up before an answer came: the timers of connection management
    /// are shorter than the round-trip time, or messages were lost; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late_connections: u64,
    /// Queue pairs that took their alternate paths, in order of time; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_migrations: Vec<PathMigrationRecord>,
    /// Completion events, each of which woke a sleeping program; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub completion_events: u64,
    /// Completions that programs found when they had been woken; left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub completions_after_events: u64,
    /// Local ACK timeouts.
    pub timeouts: u64,
    /// Data packets sent again.
    pub retransmissions: u64,
    /// The measuring window, in which flows, operations, goodput and percentiles are counted; left out without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<MeasuredWindow>,
    /// The sampling intervals, by the names of the sections of `[sample]`; left out if nothing was sampled.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sample_intervals: BTreeMap<String, SampleInterval>,
    /// Frames sent, by opcode.
    pub opcodes: BTreeMap<String, u64>,
}

impl Summary {
    /// All flows of the scenario by how they ended, those outside a measuring window too.
    pub fn all_flows(&self) -> FlowCounts {
        let outside = self.measured.map_or_else(FlowCounts::default, |of| of.flows_outside);
        self.flows.with(outside)
    }

    /// All operations that failed, those outside a measuring window too.
    pub fn failed_operations(&self) -> u64 {
        let outside = self.measured.map_or(0, |of| of.failed_operations_outside);
        self.operations.iter().map(|app| app.failed).sum::<u64>() + outside
    }

    /// What pauses links: `PFC`, `PAUSE`, or both.
    pub fn flow_control(&self) -> String {
        if self.infiniband.is_some() {
            return "Credits".to_owned();
        }
        match self.flow_controls.as_slice() {
            [] => "PFC".to_owned(),
            names => names.join(" and "),
        }
    }

    /// Completes a summary of an older build: it then says which percentiles have too few values,
    /// and which are only lower bounds.
    #[must_use]
    pub(crate) fn completed(mut self) -> Self {
        let missing = |flows: &FlowCounts| flows.failed.saturating_add(flows.unfinished);
        let counts = self.flows;
        let (values, lost) = (counts.completed, missing(&counts));
        self.fct_ps = self.fct_ps.map(|of| of.completed(values, lost));
        self.slowdown = self.slowdown.map(|of| of.completed(values, lost));
        for own in self.transports.values_mut() {
            let (values, lost) = (own.flows.completed, missing(&own.flows));
            own.fct_ps = own.fct_ps.map(|of| of.completed(values, lost));
            own.slowdown = own.slowdown.map(|of| of.completed(values, lost));
        }
        for app in &mut self.operations {
            let (values, lost) = (app.completed, app.failed.saturating_add(app.unfinished));
            app.latency_ps = app.latency_ps.map(|of| of.completed(values, lost));
            for kind in app.kinds.values_mut() {
                kind.latency_ps = kind.latency_ps.map(|of| of.completed(kind.completed, 0));
            }
        }
        self
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Link traversals: each frame counts once for each link that it crosses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkTraversals {
    /// All frames.
    pub total: u64,
    /// Frames with payload, and READ requests.
    pub data: u64,
    /// ACKs and NAKs.
    pub ack: u64,
    /// CNPs, PFC and PAUSE frames.
    pub control: u64,
}

/// Flooding and learning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer2Counts {
    /// Times that a switch sent a frame by all ports of its broadcast domain.
    pub floods: u64,
    /// Frames that flooding made.
    pub flooded_frames: u64,
    /// MAC addresses that a switch learnt: they were unknown before, or behind another port.
    pub mac_learnt: u64,
    /// MAC entries that were looked up and had expired.
    pub mac_aged: u64,
}

/// Frames of ARP and Neighbour Discovery that were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeighbourCounts {
    /// Questions: ARP requests, Neighbour Solicitations. Copies that bridges make are not counted.
    pub solicitations: u64,
    /// Answers: ARP replies, Neighbour Advertisements.
    pub advertisements: u64,
}

/// Dropped frames: in JSON, `total` and one key for each reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropCounts {
    /// For all reasons.
    pub total: u64,
    /// By reason.
    #[serde(flatten)]
    pub by_reason: BTreeMap<String, u64>,
}

impl DropCounts {
    /// Counts one dropped frame.
    pub fn add(&mut self, reason: &str) {
        self.add_frames(reason, 1);
    }

    /// Counts `frames` dropped frames.
    pub fn add_frames(&mut self, reason: &str, frames: u64) {
        self.total += frames;
        match self.by_reason.get_mut(reason) {
            Some(count) => *count += frames,
            None => {
                self.by_reason.insert(reason.to_owned(), frames);
            }
        }
    }
}

/// The effect of a fault rule, over all links that it watches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultRuleCounts {
    /// Its name.
    pub rule: String,
    /// `drop`, `duplicate`, `reorder`, `delay` or `corrupt`.
    pub action: String,
    /// Frames that matched it.
    pub matched: u64,
    /// Frames of these on which it acted.
    pub acted: u64,
}

/// The result of integrity mode: whether every completed flow has its bytes exactly once, in order
/// and unaltered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegrityResult {
    /// Flows that completed and were checked.
    pub flows: u64,
    /// Their payload, compared byte by byte.
    pub bytes: u64,
    /// Numbers of the flows that ended in an error: for them the transport guarantees nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<u64>,
    /// Number of violated guarantees; 0 in a correct run.
    pub violations: u64,
    /// The first violations, by flow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<IntegrityViolation>,
}

/// A violated guarantee of the transport.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegrityViolation {
    /// Number of the flow in the scenario, from 0.
    pub flow: u64,
    /// `lost`, `twice`, `out-of-order` or `altered`.
    pub kind: String,
    /// Position in the flow's payload, in bytes from its start.
    pub offset: u64,
    /// The expected content: up to 16 bytes in hexadecimal, or a count in words.
    pub expected: String,
    /// The actual content, in the same form.
    pub found: String,
}

/// Counters of a NIC whose receiver handles frames at a limited rate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowReceiverRecord {
    /// Its host.
    pub host: String,
    /// Frames that it handled.
    pub frames: u64,
    /// The largest number of bytes that waited in its memory.
    pub max_bytes: u64,
    /// Number of pauses that it requested.
    pub pauses: u64,
    /// Address translations that were needed, one for each page that a packet touches.
    pub translations: u64,
    /// Address translations that were not cached and had to be fetched.
    pub misses: u64,
}

/// A deadlock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlockRecord {
    /// When its last pause began, in picoseconds: from then on none of its queues could move.
    pub began_ps: u64,
    /// When it was detected, in picoseconds.
    pub found_ps: u64,
    /// Egress queues of which each waits for the next, and the last for the first.
    pub cycle: Vec<DeadlockedQueue>,
    /// Number of queues that cannot move, including those outside the cycle.
    pub queues: u64,
    /// Bytes that wait in them.
    pub bytes: u64,
    /// When routes were made anew last before it closed, in picoseconds: packets by earlier routes and by later ones may wait for
    /// each other. Left out if never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerouted_ps: Option<u64>,
    /// When a queue of the cycle could move again, in picoseconds; left out if none could before the
    /// run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freed_ps: Option<u64>,
    /// That queue, as `switch:port`, if its watchdog released it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<String>,
}

/// One line: when, and which queues wait for each other.
impl fmt::Display for DeadlockRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = |queue: &DeadlockedQueue| {
            let class = class_of(queue.priority, queue.is_lane);
            format!("{}:{} ({class})", queue.switch, queue.port)
        };
        let cycle: Vec<_> = self.cycle.iter().map(queue).collect();
        let (began, queues) = (microseconds(self.began_ps), counted(self.queues, "queue"));
        write!(f, "deadlock at {began}: {queues} ")?;
        let (waits, waited) = match (self.freed_ps.map(microseconds), &self.watchdog) {
            (None, _) => ("waits", "can never move".to_owned()),
            (Some(freed), None) => ("waited", format!("could not move until {freed}")),
            (Some(freed), Some(place)) => (
                "waited",
                format!("could not move until {freed}, when the watchdog of {place} acted"),
            ),
        };
        // Others wait for those that wait for each other.
        let others = cycle.len() as u64 != self.queues;
        let these = if others { format!("{} of them", cycle.len()) } else { "these".to_owned() };
        let cycle = cycle.join(", ");
        write!(
            f,
            "{waited}; each of {these} {waits} for the next, and the last for the first: {cycle}"
        )?;
        match self.rerouted_ps.map(microseconds) {
            None => Ok(()),
            Some(at) => write!(
                f,
                "; routes had changed at {at}, and packets by earlier routes may have closed it with those by later ones"
            ),
        }
    }
}

/// An egress queue in a deadlock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlockedQueue {
    /// Name of the switch.
    pub switch: String,
    /// Its port, from 0.
    pub port: u16,
    /// Name of the switch at the other end of the link, which paused it, or whose credits it waits for.
    pub paused_by: String,
    /// Priority, or virtual lane of InfiniBand, 0 to 7.
    pub priority: u8,
    /// Whether it is a virtual lane.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lane: bool,
}

/// What a queue of a port is called by its priority, or by its virtual lane.
pub(crate) fn class_of(priority: u8, is_lane: bool) -> String {
    if is_lane { format!("VL {priority}") } else { format!("priority {priority}") }
}

/// A run on InfiniBand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InfiniBandCounts {
    /// The routing engine that made the tables.
    pub engine: String,
    /// The engine that was asked for, and why it refused the subnet; left out if it made the tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedEngine>,
    /// What the engine that was asked for refused after failures, in the order of time: once for each set of links that were up;
    /// left out if nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_reroutes: Vec<RefusedReroute>,
    /// How switches choose among ports (`greedy` or `bounded`); left out if the tables name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive_routing: Option<String>,
    /// Marks and notifications of congestion; left out if switches make no marks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<CongestionCounts>,
    /// Virtual lanes for data of each link.
    pub data_vls: u8,
    /// Lanes that the engine needed so that no credit loop closes; 1 for engines that do not see to that.
    pub lanes_needed: u8,
    /// Flow control packets that were sent.
    pub flow_control_packets: u64,
    /// Number of times that a lane of a port had a packet and no credits for it.
    pub credit_waits: u64,
    /// Time in which that was so, in picoseconds, added up over ports and lanes.
    pub credit_wait_ps: u64,
}

/// Marks and notifications of congestion on InfiniBand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CongestionCounts {
    /// Packets in which switches set FECN.
    pub fecn: u64,
    /// Congestion notification packets (CN) that reached the senders of marked packets.
    pub cn_received: u64,
    /// Acknowledgements with BECN that did.
    pub becn_acks_received: u64,
}

/// A routing engine that could not be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedEngine {
    /// Its name.
    pub engine: String,
    /// Why.
    pub reason: String,
}

/// Routes after a failure that the routing engine which was asked for did not make.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedReroute {
    /// When, in picoseconds.
    pub at_ps: u64,
    /// The engine that made the tables in its place; left out if they stayed as they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Why.
    pub reason: String,
}

/// Priority flow control, over all ports and priorities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PfcCounts {
    /// Number of times that a priority of a port was paused.
    pub pauses: u64,
    /// Number of times that a frame ended a pause.
    pub resumes: u64,
    /// Time paused, in picoseconds, added up over ports and priorities.
    pub paused_ps: u64,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EcnCounts {
    /// Frames marked CE.
    pub marks: u64,
}
