//! What a run leaves behind, in the terms of the network: numbers of nodes and ports.

mod deadlock;
mod integrity;
mod totals;
mod transfer;

use rocelab_engine::EventKey;
use rocelab_fabric::{DropReason, IngressCause, NodeId};
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_transport::CompletionStatus;
use rocelab_units::{Bandwidth, Duration, SimTime};

pub use self::deadlock::{Deadlock, StuckQueue};
pub use self::integrity::{IntegrityReport, Promise, Violation};
pub use self::totals::{
    Layer2Totals, NeighbourTotals, SwitchNotifications, Totals, TrafficKind, Traversals,
};
pub use self::transfer::{
    DistantTransfer, NvlinkCounts, NvlinkDeparture, NvlinkTransfer, NvlinkUse, TransferKind,
};
use crate::Plan;

/// Something worth keeping, with its place in the order of events.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Record {
    /// When, and where in the order.
    pub key: EventKey,
    /// What.
    pub kind: RecordKind,
}

/// What happened.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub enum RecordKind {
    /// A flow is over, well or badly.
    FlowEnd(FlowEnd),
    /// The source of a flow of TCP knows that it is over.
    FlowAcknowledged(FlowAcknowledged),
    /// A priority of a port was paused or resumed.
    Pause(PauseChange),
    /// A port asks the other end of its link to pause.
    PauseRequest(PauseRequest),
    /// A frame was dropped.
    Drop(FrameDropped),
    /// The length of one egress queue.
    Queue(QueueLength),
    /// Frames that a port marked.
    Marks(MarksCounted),
    /// What a port sent.
    Use(PortUse),
    /// How fast a flow may be.
    Rate(FlowRate),
    /// What was accepted of a flow.
    Goodput(FlowGoodput),
    /// A watchdog takes a queue for one in a storm, or no longer.
    Storm(QueueStorm),
    /// An operation of an application is over, well or badly.
    OperationEnd(OperationEnd),
    /// A priority is no reason any more for a pause that others may be a reason for too.
    PauseWithdrawal(PauseWithdrawal),
    /// What an ingress port and priority of a switch holds.
    Ingress(IngressHeld),
    /// How much of a switch's memory is in use.
    Memory(MemoryHeld),
    /// How one end of a flow is.
    Flow(FlowState),
}

impl RecordKind {
    /// Whether it can have been recorded in a run of `plan`.
    pub(crate) fn fits(&self, plan: &Plan) -> bool {
        let is_flow = |flow: u32| (flow as usize) < plan.flows.len();
        let is_node = |node: NodeId| (node as usize) < plan.topology.nodes.len();
        match self {
            Self::FlowEnd(end) => is_flow(end.flow),
            Self::FlowAcknowledged(known) => is_flow(known.flow),
            Self::Rate(rate) => is_flow(rate.flow),
            Self::Goodput(goodput) => is_flow(goodput.flow),
            Self::Flow(state) => is_flow(state.flow) && is_node(state.node),
            Self::OperationEnd(end) => {
                (end.connection as usize) < plan.connections.len()
                    && usize::from(end.kind) < plan.app_of(end.connection).kinds.len()
            }
            Self::Drop(dropped) => {
                let of_plan = |rule: u32| (rule as usize) < plan.faults.len();
                let is_cause = |cause| !matches!(cause, DropCause::Fault(rule) if !of_plan(rule));
                is_node(dropped.node) && is_cause(dropped.cause)
            }
            Self::Pause(_)
            | Self::PauseRequest(_)
            | Self::PauseWithdrawal(_)
            | Self::Queue(_)
            | Self::Marks(_)
            | Self::Use(_)
            | Self::Ingress(_)
            | Self::Memory(_)
            | Self::Storm(_) => is_node(self.place().0),
        }
    }

    /// Its place among what nodes do because of one event from outside: by node, or of flows, of
    /// which some end together at the end of a window, by flow.
    pub(crate) fn place(&self) -> (NodeId, u32) {
        match self {
            Self::FlowEnd(end) => (0, end.flow),
            Self::Rate(rate) => (0, rate.flow),
            Self::Goodput(goodput) => (1, goodput.flow),
            Self::Flow(state) => (state.node, state.flow),
            Self::FlowAcknowledged(_) | Self::OperationEnd(_) => (0, 0),
            Self::Pause(change) => (change.node, 0),
            Self::PauseRequest(request) => (request.node, 0),
            Self::PauseWithdrawal(withdrawal) => (withdrawal.node, 0),
            Self::Drop(dropped) => (dropped.node, 0),
            Self::Queue(length) => (length.node, 0),
            Self::Marks(counted) => (counted.node, 0),
            Self::Use(port) => (port.node, 0),
            Self::Ingress(held) => (held.node, 0),
            Self::Memory(held) => (held.node, 0),
            Self::Storm(storm) => (storm.place.node, 0),
        }
    }
}

/// What has ended at a host.
#[derive(Clone, Copy, Debug)]
pub enum HostEnd {
    /// A flow.
    Flow(FlowEnd),
    /// A flow of TCP, as its source sees it.
    Acknowledged(FlowAcknowledged),
    /// An operation of an application.
    Operation(OperationEnd),
    /// The last operation of a connection, or of a member of a program.
    Closed,
    /// A transfer over NVLink leaves, which ends nothing by itself.
    Transfer(NvlinkDeparture),
}

/// All of a flow of TCP is acknowledged, as its source sees: the flow ended before, when its
/// destination had all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct FlowAcknowledged {
    /// Its number in the plan.
    pub flow: u32,
    /// Segments that its source sent again.
    pub retransmitted_packets: u64,
}

/// The end of a flow.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct FlowEnd {
    /// Its number in the plan.
    pub flow: u32,
    /// How it ended.
    pub status: CompletionStatus,
    /// When its last message completed.
    pub finished: SimTime,
    /// Packets that its source sent again. Of a flow of TCP only
    /// [the source](FlowAcknowledged) knows, and here it is 0.
    pub retransmitted_packets: u64,
    /// Why it failed, if not for its queue pair; the status is then `Flushed`.
    pub failure: Option<FlowFailure>,
}

impl FlowEnd {
    /// Whether all its messages completed.
    pub(crate) fn is_success(&self) -> bool {
        self.status == CompletionStatus::Success
    }
}

/// Why a flow failed, if not for its queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum FlowFailure {
    /// The peer's connection manager never answered.
    ConnectionTimedOut,
    /// The peer's connection manager rejected the connection.
    ConnectionRejected,
    /// The own connection manager has no room for it.
    ConnectionRefused,
    /// On an unreliable service: so many messages never arrived.
    MessagesLost(u64),
    /// The next hop did not answer when it was asked for its MAC address.
    AddressUnresolved,
}

impl FlowFailure {
    /// A number of its own, above 0.
    pub(crate) const fn number(self) -> u64 {
        match self {
            Self::ConnectionTimedOut => 1,
            Self::ConnectionRejected => 2,
            Self::ConnectionRefused => 3,
            Self::MessagesLost(_) => 4,
            Self::AddressUnresolved => 5,
        }
    }
}

/// The end of an operation of an application, at its client.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct OperationEnd {
    /// Its connection, by its place in the plan.
    pub connection: u32,
    /// Which of the operations that may be open at once.
    pub slot: u16,
    /// Its number within the connection, from 0.
    pub operation: u64,
    /// Its kind, by its place in the application.
    pub kind: u16,
    /// When it started.
    pub start: SimTime,
    /// Payload of all its messages (bytes); of a program, what its member has posted since the last one.
    pub payload: u64,
    /// How it ended.
    pub status: CompletionStatus,
    /// What the client's last atomic operation found in the server's memory.
    pub found: Option<u64>,
}

impl OperationEnd {
    /// Whether its last step is done.
    pub(crate) fn is_success(&self) -> bool {
        self.status == CompletionStatus::Success
    }
}

/// A ping of one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Ping {
    /// The host that is pinged.
    pub to: NodeId,
    /// When it was posted; [`SimTime::NEVER`] for one that was not, because its host was dead.
    pub sent: SimTime,
    /// From then until its answer was found; none if it was not.
    pub took: Option<Duration>,
}

/// An operation of an application that has started and not ended.
#[derive(Clone, Copy, Debug)]
pub struct OpenOperation {
    /// Its connection, by its place in the plan.
    pub connection: u32,
    /// Which of the operations that may be open at once.
    pub slot: u16,
    /// Its number within the connection, from 0.
    pub operation: u64,
    /// Its kind, by its place in the application.
    pub kind: u16,
    /// When it started.
    pub start: SimTime,
}

/// A priority of a port's transmitter was told to stop or may go on.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct PauseChange {
    /// The node that is told.
    pub node: NodeId,
    /// Its port.
    pub port: u16,
    /// Which priority.
    pub priority: u8,
    /// Pause time that the frame asks for, in quanta; 0 without a frame, and to go on.
    pub quanta: u16,
    /// What changes.
    pub event: PauseEvent,
}

/// A port asks the other end of its link to pause, because of a priority.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct PauseRequest {
    /// The node that asks.
    pub node: NodeId,
    /// Its port.
    pub port: u16,
    /// Because of which priority.
    pub priority: u8,
    /// Bit p: priority p is paused then.
    pub holds: u8,
    /// In a switch: the port that most of the bytes wait for which came in by `port` in this priority.
    pub egress: Option<u16>,
    /// The priorities (bit p) whose pauses keep the queue there that these wait in; 0: none.
    pub egress_paused: u8,
}

/// A priority is no reason any more for a port to ask for a pause. Recorded only where several priorities may be the
/// reason of one pause.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct PauseWithdrawal {
    /// The node that asked.
    pub node: NodeId,
    /// Its port.
    pub port: u16,
    /// Which priority.
    pub priority: u8,
    /// Bit p: priority p was paused because of it.
    pub holds: u8,
}

/// What changes for a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum PauseEvent {
    /// It ran and must stop.
    Pause,
    /// It is paused and stays so for longer.
    Refresh,
    /// It may go on, by a frame; it was paused for this long.
    Resume(Duration),
    /// It may go on, for nobody asked again in time; it was paused for this long.
    Expire(Duration),
}

/// A frame was dropped.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct FrameDropped {
    /// Where.
    pub node: NodeId,
    /// The port it came in by.
    pub ingress: u16,
    /// The port it should have left by.
    pub egress: Option<u16>,
    /// Its priority.
    pub priority: u8,
    /// The number of its code points.
    pub marking: u8,
    /// Its bytes.
    pub frame_len: u16,
    /// Why.
    pub cause: DropCause,
}

/// A watchdog takes a queue for one in a storm, or no longer.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct QueueStorm {
    /// The queue.
    pub place: StuckQueue,
    /// At its end: how long it was one.
    pub lasted: Option<Duration>,
}

/// Why a frame was dropped.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub enum DropCause {
    /// The switch's memory did not take it.
    Buffer(DropReason),
    /// The link lost it.
    Link,
    /// A fault rule, by its place in the plan, lost it.
    Fault(u32),
    /// Its ICRC is wrong: a fault rule changed it on the way.
    Icrc,
    /// A bit of it has changed on the link, so that its FCS is wrong.
    FcsError,
    /// It is longer than the port takes.
    MtuExceeded,
    /// The link failed while it was on it, or while it waited for it.
    LinkDown,
    /// A watchdog does not let it wait for a queue in a storm.
    Watchdog,
    /// The host's NIC handles nothing that arrives.
    ReceiverStopped,
    /// The memory of the host's NIC is full.
    ReceiverFull,
    /// The switch has no way to its destination.
    NoRoute,
    /// The router knows no MAC address for its IP address, or no port for that.
    IncompleteArp,
    /// The bridge knows no port for its destination, and does not flood.
    UnknownDestination,
    /// The bridge knows its destination behind the port that it came in by.
    Filtered,
    /// Its hop limit (TTL) ended before it arrived.
    TtlExpired,
    /// The host is not its destination; or the router is not its next hop.
    ForeignDestination,
    /// The host is not a member of its multicast group.
    NotInGroup,
    /// The host has no such GID.
    WrongGid,
    /// It has no IP header, and the router is not a bridge for it.
    NotRoutable,
    /// Its P_Key is not that of its queue pair.
    PKey,
    /// Its Q_Key is not that of its queue pair.
    QKey,
    /// It did not meet a condition of the port that it came in by.
    Ingress(IngressCause),
}

impl DropCause {
    /// A short name, as `summary.json` counts by.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Buffer(reason) => reason.name(),
            Self::Link => "link_loss",
            Self::Fault(_) => "fault",
            Self::Icrc => "icrc",
            Self::FcsError => "fcs_error",
            Self::MtuExceeded => "mtu_exceeded",
            Self::LinkDown => "link_down",
            Self::Watchdog => "watchdog",
            Self::ReceiverStopped => "receiver_stopped",
            Self::ReceiverFull => "receiver_full",
            Self::NoRoute => "no_route",
            Self::IncompleteArp => "incomplete_arp",
            Self::UnknownDestination => "unknown_destination",
            Self::Filtered => "filtered",
            Self::TtlExpired => "ttl_expired",
            Self::ForeignDestination => "foreign_destination",
            Self::NotInGroup => "not_in_group",
            Self::WrongGid => "wrong_gid",
            Self::NotRoutable => "not_routable",
            Self::PKey => "p_key",
            Self::QKey => "q_key",
            Self::Ingress(cause) => cause.name(),
        }
    }

    /// The name that is written so, if it is one.
    pub(crate) fn named(name: &str) -> Option<&'static str> {
        Self::names().find(|known| *known == name)
    }

    /// The names of all causes.
    fn names() -> impl Iterator<Item = &'static str> {
        const OTHERS: [DropCause; 20] = [
            DropCause::Link,
            DropCause::Fault(0),
            DropCause::Icrc,
            DropCause::FcsError,
            DropCause::MtuExceeded,
            DropCause::LinkDown,
            DropCause::Watchdog,
            DropCause::ReceiverStopped,
            DropCause::ReceiverFull,
            DropCause::NoRoute,
            DropCause::IncompleteArp,
            DropCause::UnknownDestination,
            DropCause::Filtered,
            DropCause::TtlExpired,
            DropCause::ForeignDestination,
            DropCause::NotInGroup,
            DropCause::WrongGid,
            DropCause::NotRoutable,
            DropCause::PKey,
            DropCause::QKey,
        ];
        let others = OTHERS.iter().map(Self::name);
        let ingress = IngressCause::NAMES.iter().copied();
        DropReason::NAMES.into_iter().chain(others).chain(ingress)
    }
}

/// The length of one egress queue.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct QueueLength {
    /// Which node.
    pub node: NodeId,
    /// Which of its ports.
    pub port: u16,
    /// Which priority.
    pub priority: u8,
    /// Bytes that wait, without the frame being sent.
    pub bytes: u32,
}

/// What an ingress port and priority of a switch holds. All amounts in bytes.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct IngressHeld {
    /// Which switch.
    pub node: NodeId,
    /// Which of its ports.
    pub port: u16,
    /// Which priority.
    pub priority: u8,
    /// In the reserve and in the shared pool.
    pub stored: u32,
    /// In the headroom.
    pub headroom: u32,
    /// The headroom that is reserved for it.
    pub headroom_limit: u32,
    /// XOFF and XON now; none for a lossy priority.
    pub thresholds: Option<(u64, u64)>,
}

/// How much of a switch's memory is in use. All amounts in bytes.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct MemoryHeld {
    /// Which switch.
    pub node: NodeId,
    /// In all.
    pub stored: u64,
    /// In the shared pool, and its size.
    pub shared: (u64, u64),
    /// In all headroom, and its size.
    pub headroom: (u64, u64),
}

/// Frames that a port marked since the sample before.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct MarksCounted {
    /// Which node.
    pub node: NodeId,
    /// Which of its ports.
    pub port: u16,
    /// How many.
    pub marks: u64,
}

/// What a port sent since the sample before.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct PortUse {
    /// Which node.
    pub node: NodeId,
    /// Which of its ports.
    pub port: u16,
    /// Bytes of frames that it started, preambles and gaps included.
    pub bytes: u64,
    /// The time since that sample.
    pub interval: Duration,
    /// The link's rate, the mean over it.
    pub capacity: Bandwidth,
}

/// What a congestion control allows a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Allowed {
    /// At most this rate.
    pub rate: Bandwidth,
    /// At most this much unacknowledged payload (bytes); none is no limit.
    pub window: Option<u64>,
}

/// How fast a flow may be, as its source knows, which sends the payload.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct FlowRate {
    /// Its number in the plan.
    pub flow: u32,
    /// What its congestion control allows now.
    pub allowed: Allowed,
}

/// How one end of a flow is: what only its source knows is only known there.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct FlowState {
    /// Its number in the plan.
    pub flow: u32,
    /// The end.
    pub node: NodeId,
    /// Unacknowledged payload that its congestion control allows (bytes); none is no limit.
    pub window: Option<u64>,
    /// Unacknowledged payload (bytes); none at its destination.
    pub in_flight: Option<u64>,
    /// The last round trip that was measured (ps).
    pub rtt_ps: Option<u64>,
    /// The congestion control's estimate of congestion (millionths).
    pub alpha_millionths: Option<u32>,
    /// CNPs that arrived since the sample before.
    pub cnps: u64,
    /// Data packets that arrived out of order since the sample before.
    pub out_of_order: u64,
}

/// What a host accepted of a flow.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct FlowGoodput {
    /// Its number in the plan.
    pub flow: u32,
    /// Payload accepted since the sample before, each byte once.
    pub bytes: u64,
    /// The time since that sample.
    pub interval: Duration,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Results count drops by these names: an ingress condition must not have that of another cause.
    #[test]
    fn causes_of_drops_have_different_names() {
        let mut names = BTreeSet::new();
        assert!(DropCause::names().all(|name| names.insert(name)), "{names:?}");
    }
}
