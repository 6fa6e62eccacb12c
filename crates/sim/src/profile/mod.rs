//! Profiles: whose rules a network goes by.
//!
//! [`Network`](crate::Network) is one for all; what differs between the native model of RoCE and
//! a reference model is named here, one seam each, and chosen at compile time, so that neither
//! pays for the other.
//!
//! | seam | trait | native ([`roce`]) | `hpcc-ns3` ([`hpcc_ns3`]) |
//! |---|---|---|---|
//! | time on the link: rounding, preamble, gap | [`Serialisation`] | `Link` | `TruncatingLink` |
//! | pauses: quanta or on and off | [`FlowControl`] | `LinkController` | `OnOffFlowControl` |
//! | switch memory | [`BufferPolicy`] | `SwitchBuffer` | `HpccNs3Buffer` |
//! | ECN: when, whom, whose dice | [`Marking`] | by key, own dice | as a frame leaves, common dice |
//! | equal-cost paths: hash, order of next hops | [`Routing`] | `Routes` | `HpccNs3Routes` |
//! | order of events of one instant | [`TieOrder`] | `NodeOrder` | `InsertionOrder` |
//! | arbitration, reliability, frame sizes | [`EndHost`], [`Inspect`], [`OtherStacks`] | the `Nic` of InfiniBand verbs | byte sequence numbers |
//! | how flows start | [`FlowStarts`] | each host by itself | in the order of the file |
//! | random streams that all share | [`Shared`] | none: one a component | the simulator's generators |

mod error;
pub mod hpcc_ns3;
mod inspect;
pub mod roce;
mod stack_frame;

use core::fmt;
use std::ops::Range;

use rocelab_engine::{EventKey, Tie, TieOrder};
use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{
    BufferPolicy, CongestionSample, FlowControl, InputQueues, NodeId, PortExtras, RouteError,
    SchedulerConfig, Serialisation, StartingPacket,
};
use rocelab_transport::congestion_control::Telemetry;
use rocelab_transport::{Content, HostSide, Packet as RdmaPacket, QueuePairProfile};
use rocelab_units::{Duration, SimTime};
use rocelab_wire::{Cnm, TelemetryHeader, TelemetryKind};

pub use self::error::BuildError;
pub use self::inspect::{FlowProgress, Inspect};
pub use self::stack_frame::{
    AcceptedPayload, NeighbourFrame, NeighbourKind, OtherStacks, StackDeparture, StackFrame,
};
pub use crate::record::{
    DistantTransfer, NvlinkCounts, NvlinkDeparture, NvlinkTransfer, NvlinkUse, TransferKind,
};
use crate::record::{HostEnd, TrafficKind};
use crate::{FlowPlan, Plan};

/// The rules that a network goes by.
pub trait Profile: fmt::Debug + Sized + 'static {
    /// When a frame that starts now is over.
    type Link: Serialisation;
    /// Pauses, at both ends.
    type FlowControl: FlowControl;
    /// Switch memory.
    type Buffer: BufferPolicy;
    /// ECN.
    type Marking: Marking<Self::Shared>;
    /// Equal-cost paths.
    type Routing: Routing;
    /// The order of events of one instant.
    type Order: TieOrder;
    /// The end host.
    type EndHost: EndHost<Self>;
    /// How flows start.
    type Starts: FlowStarts;
    /// What all nodes share.
    type Shared: Shared;

    /// Whether the end of a pause is recorded that was not in force: where pauses have no end by
    /// themselves, one such frame was lost before.
    const RECORDS_EVERY_RESUME: bool;

    /// The last instant whose events happen in a run that stops at `stop`.
    fn last_instant(stop: SimTime) -> SimTime;

    /// What all nodes share, at the start; of ports this is about those of `ports`.
    ///
    /// # Errors
    /// If the topology has what cannot be represented.
    fn shared(
        plan: &Plan,
        ports: &[(NodeId, u16)],
        is_here: impl Fn(NodeId) -> bool,
    ) -> Result<Self::Shared, BuildError>;

    /// The time that telemetry is averaged over: the largest base round-trip time.
    fn base_rtt(plan: &Plan, shared: &Self::Shared) -> Duration;

    /// The link behind a port, towards the node at its other end.
    fn link(plan: &Plan, neighbour: &Neighbour) -> Self::Link;

    /// Pauses at a port.
    fn flow_control(
        plan: &Plan,
        node: NodeId,
        port: u16,
        adjacency: &Adjacency,
    ) -> Self::FlowControl;

    /// Queues by input port, at the ports of a switch that has such.
    fn input_queues(plan: &Plan, node: NodeId, adjacency: &Adjacency) -> Option<Box<InputQueues>> {
        _ = (plan, node, adjacency);
        None
    }

    /// The discipline of a port.
    fn scheduler(plan: &Plan, node: NodeId, port: u16) -> SchedulerConfig;

    /// What few ports have, of this one.
    fn port_extras(plan: &Plan, node: NodeId, port: u16) -> Option<Box<PortExtras>> {
        _ = (plan, node, port);
        None
    }

    /// In a switch: the priority of frames of each marking, by number; those of the eight priorities come first.
    fn priorities_in(plan: &Plan, switch: NodeId) -> Vec<u8> {
        _ = (plan, switch);
        (0..8).collect()
    }

    /// A switch's memory.
    ///
    /// # Errors
    /// If it cannot be divided as asked.
    fn buffer(
        plan: &Plan,
        switch: NodeId,
        adjacency: &Adjacency,
    ) -> Result<Self::Buffer, BuildError>;

    /// Marking at a switch's port, if there is any.
    fn marking(
        plan: &Plan,
        switch: NodeId,
        port: u16,
        neighbour: &Neighbour,
        adjacency: &Adjacency,
    ) -> Option<Self::Marking>;

    /// The routes over the links that are `active`.
    ///
    /// # Errors
    /// If there is no way through the topology.
    fn routing(plan: &Plan, active: &[bool]) -> Result<Self::Routing, RouteError>;

    /// A host.
    fn end_host(plan: &Plan, host: NodeId, adjacency: &Adjacency) -> Self::EndHost;

    /// The flows whose source is one of those hosts; none has started.
    fn starts(plan: &Plan, is_here: impl Fn(NodeId) -> bool) -> Self::Starts;
}

/// What an end host is given with each call.
#[derive(Debug)]
pub struct Context<'a, P: Profile> {
    /// The event.
    pub now: EventKey,
    /// What runs.
    pub plan: &'a Plan,
    /// What all nodes share.
    pub shared: &'a mut P::Shared,
    pub(crate) order: &'a mut P::Order,
    pub(crate) node: &'a mut <P::Order as TieOrder>::OfNode,
}

impl<P: Profile> Context<'_, P> {
    /// Reserves a place in the order of events.
    #[inline]
    pub fn reserve(&mut self) -> Tie {
        self.order.reserve(self.node)
    }
}

/// A host: what it does with packets, and when it wants to be woken. Harmless to ask once too
/// often only where the profile says so.
///
/// What its other [stacks](OtherStacks) do, and what can be [seen inside](Inspect), are traits of their own.
pub trait EndHost<P: Profile<EndHost = Self>>:
    Inspect<Self::Packet> + OtherStacks + fmt::Debug + Send
{
    /// What a frame between hosts carries.
    type Packet: HostPacket;

    /// A flow of which this host is one end will start.
    fn expect(&mut self, number: u32, flow: &FlowPlan) {
        _ = (number, flow);
    }

    /// Asks for memory that it will touch when this packet arrives, in a moment.
    #[inline]
    fn prefetch(&self, packet: &Self::Packet) {
        _ = packet;
    }

    /// Asks for memory that it will touch when it is woken, in a moment. There are two steps, of which the
    /// second follows what the first has asked for.
    #[inline]
    fn prefetch_wake_up<const STEP: usize>(&self) {}

    /// These flows start. The host is asked for a frame thereupon.
    fn start(&mut self, context: &mut Context<'_, P>, flows: &[u32]);

    /// A frame arrived that is for this host, with what switches wrote beside it. True if the host
    /// is to be asked for a frame.
    fn receive(
        &mut self,
        context: &mut Context<'_, P>,
        arrival: &Delivery<Self::Packet>,
        telemetry: Telemetry<'_>,
    ) -> bool;

    /// The same for a frame that may have content beside it too.
    fn receive_with(
        &mut self,
        context: &mut Context<'_, P>,
        arrival: &Delivery<Self::Packet>,
        telemetry: Telemetry<'_>,
        content: Option<Content>,
    ) -> bool {
        _ = content;
        self.receive(context, arrival, telemetry)
    }

    /// The host itself, if it takes time.
    fn host_side(&mut self) -> Option<&mut HostSide> {
        None
    }

    /// The next frame, given which priorities are paused (bit p). The transmitter is free.
    fn poll_transmit(
        &mut self,
        context: &mut Context<'_, P>,
        paused: u8,
    ) -> Option<Departing<Self::Packet>>;

    /// The telemetry that the frame takes along which was just handed out, if it is kept beside the
    /// packet. Asked once.
    fn take_telemetry(&mut self, packet: &Self::Packet) -> Option<TelemetryHeader>;

    /// The content that goes beside the frame which was just handed out, if it
    /// [has any](HostPacket::has_content). Asked once.
    fn take_content(&mut self, packet: &Self::Packet) -> Option<Content> {
        _ = packet;
        None
    }

    /// Whether the host is to be asked when the transmitter is free.
    fn is_ready(&self, paused: u8) -> bool;

    /// An event that [`wake_up`](Self::wake_up) asked for. True if the host is to be asked for a
    /// frame.
    fn handle_timeout(&mut self, context: &mut Context<'_, P>) -> bool;

    /// An event to schedule for the host, if one is due that has not been asked for; the
    /// transmitter is free at `free_at`.
    fn wake_up(&mut self, context: &mut Context<'_, P>, free_at: SimTime) -> Option<EventKey>;

    /// The first byte of what comes over NVLink is here, to an end of a connection: a number for what it says.
    fn receive_by_nvlink(&mut self, context: &mut Context<'_, P>, connection: u32) -> Option<u64> {
        _ = (context, connection);
        None
    }

    /// Whether [`poll_end`](Self::poll_end) may have something to say.
    #[inline]
    fn may_have_ended(&self) -> bool {
        true
    }

    /// The next flow or operation that has ended.
    fn poll_end(&mut self, context: &mut Context<'_, P>) -> Option<HostEnd>;
}

/// A packet between two end hosts, as the network sees it.
pub trait HostPacket: Copy + fmt::Debug + Send {
    /// Its priority, 0 to 7.
    fn priority(&self) -> u8;

    /// The number of its code points, by which switches choose a priority; by default those of its own.
    #[inline]
    fn marking(&self) -> u8 {
        self.priority()
    }

    /// It is for a queue pair of this number from here on.
    fn deliver_to(&mut self, qpn: u32) {
        _ = qpn;
    }

    /// What it is counted as.
    fn kind(&self) -> TrafficKind;

    /// Whether switches may mark it.
    fn is_markable(&self) -> bool;

    /// A switch marks it.
    fn mark(&mut self);

    /// Whether a switch has marked it.
    fn is_marked(&self) -> bool;

    /// One number for what it says.
    fn fingerprint(&self) -> u64;

    /// What switches write into it.
    fn telemetry(&self) -> Option<TelemetryKind>;

    /// Whether anything travels beside the packet: telemetry or content.
    #[inline]
    fn has_company(&self) -> bool {
        self.telemetry().is_some()
    }

    /// Whether content travels beside the packet.
    #[inline]
    fn has_content(&self) -> bool {
        false
    }

    /// The telemetry, where it is in the packet and not beside it.
    #[inline]
    fn own_telemetry(&self) -> Option<TelemetryHeader> {
        None
    }

    /// Changes the [telemetry that is in the packet](Self::own_telemetry).
    #[inline]
    fn set_own_telemetry(&mut self, header: TelemetryHeader) {
        _ = header;
    }

    /// A switch's notification of congestion in a priority (0 to 7) to queue pair `qpn`, where
    /// profiles have such.
    fn congestion_notification(qpn: u32, priority: u8, cnm: &Cnm) -> Option<Self> {
        _ = (qpn, priority, cnm);
        None
    }

    /// A switch's congestion notification packet (CNP) to queue pair `qpn`, whose receiver has this `profile`, and the
    /// bytes of its frame, where switches send such.
    fn congestion_notification_packet(
        qpn: u32,
        plan: &Plan,
        profile: &QueuePairProfile,
    ) -> Option<(Self, u16)> {
        _ = (qpn, plan, profile);
        None
    }

    /// The packet, if it is one of the InfiniBand transport.
    fn as_rdma(&self) -> Option<&RdmaPacket>;
}

/// A frame that leaves a host.
#[derive(Clone, Copy, Debug)]
pub struct Departing<R> {
    /// What it carries.
    pub packet: R,
    /// Where it goes.
    pub destination: NodeId,
    /// What equal-cost multipath goes by, as the profile's [`Routing`] has it.
    pub flow_hash: u32,
    /// Its bytes.
    pub frame_len: u16,
}

/// A frame that arrives at a host.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<R> {
    /// What it carries.
    pub packet: R,
    /// Where it comes from.
    pub source: NodeId,
    /// As it left.
    pub flow_hash: u32,
}

/// A frame that joins a queue of an egress port.
#[derive(Clone, Copy, Debug)]
pub struct Joining {
    /// Whether it may be marked.
    pub markable: bool,
    /// The queue, 0 to 7.
    pub queue: u8,
    /// Bytes of its frame, FCS included.
    pub len: u32,
    /// Bytes that wait in the queue, with it.
    pub queued: u32,
}

/// ECN at an egress port, or its congestion points. `queued` counts the bytes of the frame's
/// priority that wait there.
pub trait Marking<S>: fmt::Debug + Send {
    /// [`Self::on_enqueue`] need not be asked about a frame that joins a queue of no more bytes than
    /// this, its own among them.
    fn quiet_up_to(&self) -> u32 {
        u32::MAX
    }

    /// Whether [`Self::on_dequeue`] may ever mark.
    fn marks_departures(&self) -> bool {
        false
    }

    /// A frame joins the queue. True if it is marked, or if it cannot be marked and its sender is to
    /// be [notified](Self::take_sample).
    #[inline]
    fn on_enqueue(&mut self, shared: &mut S, frame: Joining) -> bool {
        _ = (shared, frame);
        false
    }

    /// What the sender of a frame is notified of that has just joined. Asked once.
    fn take_sample(&mut self) -> Option<CongestionSample> {
        None
    }

    /// In place of [`Self::on_dequeue`], where the port has credits: a packet starts. True if it is marked.
    fn on_start(&mut self, packet: &StartingPacket) -> bool {
        _ = packet;
        false
    }

    /// A frame leaves a queue, and does not count; `queued` says which, and its bytes. True if the
    /// frame is marked.
    #[inline]
    fn on_dequeue(
        &mut self,
        shared: &mut S,
        markable: bool,
        queued: impl FnOnce() -> (u8, u32),
    ) -> bool {
        _ = (shared, markable, queued);
        false
    }
}

/// Which port a switch forwards by.
pub trait Routing: fmt::Debug + Send + Sync {
    /// The egress port, if there is a way; `flow_hash` as the frame left its host.
    fn egress(
        &self,
        switch: NodeId,
        source: NodeId,
        destination: NodeId,
        flow_hash: u32,
    ) -> Option<u16>;

    /// The egress ports of all shortest ways, ascending. Only where switches
    /// [choose](rocelab_fabric::LoadBalancer) among them.
    fn next_hops(&self, switch: NodeId, destination: NodeId) -> &[u16] {
        let _ = (switch, destination);
        &[]
    }

    /// Asks for memory that it will look at for this switch and destination, in a moment.
    #[inline]
    fn prefetch(&self, switch: NodeId, destination: NodeId) {
        let _ = (switch, destination);
    }
}

/// What all nodes share: random streams, for the most part.
pub trait Shared: fmt::Debug + Send {
    /// What a message of an application says that is for a host in another part of the network, or what goes there over NVLink.
    type Message: fmt::Debug + Send;

    /// Takes what messages say that have been posted for hosts in other parts, with those hosts.
    fn take_messages(&mut self) -> Vec<(NodeId, Self::Message)> {
        Vec::new()
    }

    /// Hears what a message says that was posted in another part, before it arrives; of what comes over NVLink, the connection
    /// and end that it goes to, and when it does.
    fn hear(&mut self, message: Self::Message) -> Option<DistantTransfer>;

    /// When a message that was posted in another part makes something happen here by itself.
    fn happens_at(message: &Self::Message) -> SimTime {
        let _ = message;
        SimTime::NEVER
    }

    /// A transfer leaves over NVLink, for a host that is in another part if it is given.
    fn leave_by_nvlink(&mut self, transfer: DistantTransfer, elsewhere: Option<NodeId>) {
        _ = (transfer, elsewhere);
    }

    /// Transfers over NVLink that are under way to hosts of this part, and their payload (bytes).
    fn under_way_by_nvlink(&self) -> (u64, u64) {
        (0, 0)
    }

    /// Whether frames may be lost on the link that port number `port` of all sends on.
    fn is_lossy(&self, port: u32) -> bool;

    /// Whether a frame is lost on the link that port number `port` of all sends on.
    fn loses(&mut self, port: u32) -> bool;

    /// A switch asks for a pause or its end.
    #[inline]
    fn on_flow_control(&mut self) {}

    /// 31 random bits for telemetry at a switch's port, by its number of all.
    fn telemetry_bits(&mut self, port: u32) -> u32;
}

/// Which flows start when, in which order of events.
pub trait FlowStarts: fmt::Debug + Send {
    /// Schedules the first events: which host causes them, when, and by which ticket.
    fn arm(&mut self, plan: &Plan, schedule: impl FnMut(NodeId, SimTime, u32));

    /// The event of a ticket: schedules what follows, and gives the flows that start, all at one
    /// host, by their place in [`in_order`](Self::in_order).
    fn on_event(
        &mut self,
        plan: &Plan,
        now: SimTime,
        ticket: u32,
        schedule: impl FnMut(NodeId, SimTime, u32),
    ) -> Range<usize>;

    /// The host whose flows a ticket is for, if it is for those of one.
    fn host_of(&self, plan: &Plan, ticket: u32) -> Option<NodeId>;

    /// All flows, those of each event side by side.
    fn in_order(&self) -> &[u32];

    /// Whether flows are to start yet.
    fn has_more(&self) -> bool;
}
