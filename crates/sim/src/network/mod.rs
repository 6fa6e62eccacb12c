//! The network: the world that the engine runs. It alone schedules events, owns packets and keeps
//! records; hosts and switches only say what became of a frame.
//!
//! A frame's way is told by the modules in order: `host` takes it from a NIC, `transmit` puts
//! it on a link and takes it off at the other end, `switch` stores, marks and forwards it, and
//! `host` delivers it.

mod audit;
mod build;
mod capture;
mod congestion;
mod contents;
mod crossing;
mod deadlock;
mod deliveries;
mod departure;
mod digest;
mod event;
mod failure;
mod faults;
mod flooding;
mod hops;
mod host;
mod host_pauses;
mod idle_backlog;
mod integrity;
mod link_rates;
mod lost;
mod notes;
mod owners;
mod packet;
mod part;
mod path;
mod pause_request;
mod prefetch;
mod receiver;
mod sampling;
mod state;
mod stuck;
mod switch;
mod tables;
mod tcp;
mod telemetry;
mod translations;
mod transmit;
mod units;
pub(crate) mod watch;
mod watchdog;

use std::sync::Arc;

pub use audit::AuditError;
pub use build::Setting;
pub(crate) use capture::CapturedFrame;
pub(crate) use crossing::BatchOf;
use crossing::{MessageOf, Outbox};
pub(crate) use deadlock::Standstill;
pub use deliveries::Accepted;
use digest::Records;
pub(crate) use digest::digest_of;
pub use event::Event;
pub use faults::FaultCounts;
pub(crate) use idle_backlog::{IdleBacklog, every_nth_look};
pub(crate) use link_rates::LinkUse;
use packet::PacketPool;
use part::PortPlaces;
pub use part::{Cut, Part};
pub use receiver::ReceiverCounts;
use rocelab_engine::{EventKey, EventQueue, Tie, TieOrder, World};
use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{NodeId, PacketId, Port};
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::SimTime;
pub(crate) use state::SavedNetwork;
pub(crate) use stuck::{FullQueue, StuckQueuePair, WaitingPackets};
use telemetry::Telemetry;

use crate::Plan;
pub use crate::profile::BuildError;
use crate::profile::roce::Roce;
use crate::profile::{EndHost, FlowStarts, Profile};
pub use crate::record::{
    Deadlock, DropCause, FlowAcknowledged, FlowEnd, FlowFailure, FlowGoodput, FlowRate,
    FrameDropped, HostEnd, IntegrityReport, MacEntries, MarksCounted, OpenOperation, OperationEnd,
    PauseChange, PauseEvent, PauseRequest, PortUse, Promise, QueueLength, QueueStorm, Record,
    RecordKind, StuckQueue, Totals, TrafficKind, Traversals, Violation,
};

/// What frames between hosts carry under a profile.
type PacketOf<P> = <<P as Profile>::EndHost as EndHost<P>>::Packet;

/// All state of a part of a run: of all of it, if the network is not cut.
#[derive(Debug)]
pub struct Network<P: Profile = Roce> {
    plan: Arc<Plan>,
    /// The ports of the plan's topology.
    adjacency: Arc<Adjacency>,
    routing: Arc<P::Routing>,
    /// What is to happen.
    queue: EventQueue<Event>,
    /// The first routes, once there are others: those over all links.
    routing_when_whole: Option<Arc<P::Routing>>,
    rerouted: Arc<failure::Rerouted<P>>,
    pool: PacketPool<PacketOf<P>>,
    paths: path::Paths,
    nodes: Vec<Node<P>>,
    ports: Vec<NetworkPort<P>>,
    hosts: Vec<Host<P>>,
    switches: Vec<Switch<P>>,
    sampling: sampling::Sampling,
    order: P::Order,
    /// Of what no node causes: failures, and looks from outside.
    outside: <P::Order as TieOrder>::OfNode,
    shared: P::Shared,
    starts: P::Starts,
    flows: Flows,
    operations: Operations,
    deliveries: deliveries::Deliveries,
    /// For each link of the topology, whether frames may cross it.
    active_links: Vec<bool>,
    outages: failure::Outages,
    link_rates: link_rates::LinkRates,
    watchdogs: watchdog::Watchdogs,
    receivers: receiver::Receivers,
    idle_backlogs: idle_backlog::IdleBacklogs,
    /// What switches write into packets, where an algorithm asks for it.
    telemetry: Option<Box<Telemetry>>,
    /// What links do to frames, where rules say so.
    faults: Option<Box<faults::Faults>>,
    /// What packets carry beyond their header words.
    contents: contents::Contents,
    /// What selective acknowledgements of TCP say.
    sacks: tcp::Sacks,
    /// What is kept beside packets, where captures or faults ask for it.
    notes: Option<Box<notes::FrameNotes>>,
    /// Whose queue pairs are whose, where somebody asks who is not their host.
    owners: Option<Arc<owners::Owners>>,
    /// What switches know of hosts, where that is not everything.
    tables: Option<Box<tables::Tables>>,
    capture: Option<capture::Capture>,
    /// In integrity mode, and where messages may be lost.
    flow_ends: Option<integrity::FlowEnds>,
    /// While somebody looks: what came through links that are special.
    passed: Option<Vec<watch::Passed>>,
    records: Records,
    totals: Totals,
    /// RDMA packets that hosts sent, by opcode.
    opcodes: Box<[u64; 256]>,
    /// Which nodes are here, and where their ports are in `ports`.
    part: Part,
    places: PortPlaces,
    /// The unit of each node, if there is more than one.
    units: Vec<u32>,
    /// What goes to the other parts.
    outbox: Outbox<PacketOf<P>, MessageOf<P>>,
}

/// A host or switch, and its ports.
#[derive(Debug)]
struct Node<P: Profile> {
    role: Role,
    /// Its first port among all ports.
    first_port: u32,
    order: <P::Order as TieOrder>::OfNode,
}

#[derive(Clone, Copy, Debug)]
enum Role {
    /// By its place among the hosts.
    Host(u32),
    /// By its place among the switches.
    Switch(u32),
    /// In another part of the network, by its number.
    Elsewhere(u32),
}

/// A port and the link that it sends on.
///
/// The fields stand in the order of their use. A frame that need not wait touches the first two cache lines; one that
/// waits also touches the queues, which are behind the first 40 bytes of `port`; the rest is for few frames.
#[derive(Debug)]
#[repr(C, align(64))]
struct NetworkPort<P: Profile> {
    /// The other end of the link.
    far: FarEnd,
    node: NodeId,
    /// What its node is.
    role: Role,
    /// The frame that was sent last; it may be gone.
    last: PacketId,
    /// Its marking is asked about frames that join a queue of more bytes than this.
    marks_above: u32,
    /// Its number within its node.
    number: u16,
    /// Whether what it sends is captured, noted for telemetry, cut through by the switch at the other
    /// end, or leaves this part of the network.
    departs_specially: bool,
    /// Whether its marking is asked about frames that leave a queue.
    marks_departures: bool,
    /// Whether a `PortFree` is in the event queue.
    free_armed: bool,
    /// Frames sent.
    frames: u64,
    /// Bytes sent, FCS included.
    bytes: u64,
    /// The place in the order that the transmission under way has reserved for its end.
    free_tie: Tie,
    port: Port<P::Link, P::FlowControl>,
    marking: Option<Box<P::Marking>>,
    /// Frames marked CE here.
    ecn_marks: u64,
    /// The earliest `PortTimeout` in the event queue.
    timeout_armed: SimTime,
    /// The longest that one priority's queue has been (bytes).
    max_queue_bytes: u32,
    /// Frames on the link, the next ones to arrive, that were lost when it went down.
    doomed: u32,
    /// Its interface in the capture.
    captured: Option<u16>,
}

/// What an arriving frame needs to know of where it is.
#[derive(Clone, Copy, Debug)]
struct FarEnd {
    /// The port.
    port: u32,
    /// Its node.
    node: NodeId,
    role: Role,
    /// The first port of its node, if that is in this part of the network.
    first_port: u32,
    /// Its number within its node.
    number: u16,
    /// The unit of its node, if the sender is not in it.
    beyond: u32,
    /// Whether arrivals are captured, may be lost, or are watched by fault rules.
    special: bool,
    /// In which events frames arrive there.
    takes: departure::Takes,
    /// Whether it is a switch that frames cut through.
    cuts_through: bool,
}

/// What is counted at every port.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortCounters {
    /// Frames sent.
    pub frames: u64,
    /// Bytes sent, FCS included.
    pub bytes: u64,
    /// Frames marked CE here.
    pub ecn_marks: u64,
    /// The longest that one priority's queue has been.
    pub max_queue_bytes: u32,
}

/// A host. The fields stand in the order of their use.
#[derive(Debug)]
#[repr(C, align(64))]
struct Host<P: Profile> {
    node: NodeId,
    port: u32,
    /// Of what arrived.
    digest: u64,
    end_host: P::EndHost,
    /// Whether it handles nothing that arrives.
    stopped: bool,
    /// How many failures hold it down.
    down: u32,
}

/// A switch. The fields stand in the order of their use.
#[derive(Debug)]
#[repr(C, align(64))]
struct Switch<P: Profile> {
    /// The priority here of frames of each priority.
    priorities: [u8; 8],
    buffer: P::Buffer,
    node: NodeId,
    /// Bytes of frames that were lost from its queues and are still accounted for.
    unreturned: u64,
}

/// The progress of all flows.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
struct Flows {
    started: u64,
    completed: u32,
    failed: u32,
    last_end: SimTime,
}

/// The progress of all applications.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
struct Operations {
    /// Connections on which operations are open or to come.
    open_connections: u32,
    completed: u64,
    failed: u64,
    /// Payload of those that completed (bytes).
    payload: u64,
}

impl<P: Profile> Host<P> {
    /// Whether it drops all that arrives.
    fn handles_nothing(&self) -> bool {
        self.stopped || self.down > 0
    }
}

impl<P: Profile> NetworkPort<P> {
    /// What is counted here.
    fn counters(&self) -> PortCounters {
        let Self { frames, bytes, ecn_marks, max_queue_bytes, .. } = *self;
        PortCounters { frames, bytes, ecn_marks, max_queue_bytes }
    }

    /// The transmission under way, or the last one, is over then.
    #[inline]
    fn free_key(&self) -> EventKey {
        EventKey { time: self.port.free_at(), tie: self.free_tie }
    }

    /// Whether the transmitter is free for what happens at `now`.
    #[inline]
    fn is_free(&self, now: EventKey) -> bool {
        P::Order::is_over(self.free_key(), now)
    }
}

impl<P: Profile> Network<P> {
    /// Numbers of flows: completed, failed, and in all.
    pub fn flow_counts(&self) -> (u32, u32, usize) {
        (self.flows.completed, self.flows.failed, self.plan.flows.len())
    }

    /// Numbers of operations of applications: completed, and failed.
    pub fn operation_counts(&self) -> (u64, u64) {
        (self.operations.completed, self.operations.failed)
    }

    /// The operations of applications that have started and not ended, with their hosts.
    pub(crate) fn open_operations(&self) -> Vec<(NodeId, OpenOperation)> {
        let of_host = |host: &Host<P>| {
            let node = host.node;
            host.end_host.open_operations().into_iter().map(move |open| (node, open))
        };
        self.hosts.iter().flat_map(of_host).collect()
    }

    /// Whether an application goes on.
    pub(crate) fn has_open_connections(&self) -> bool {
        self.operations.open_connections > 0
    }

    /// Which part of the network it is.
    pub(crate) fn part(&self) -> &Part {
        &self.part
    }

    /// Frames on links and in queues.
    pub fn frames_in_network(&self) -> u32 {
        self.pool.live()
    }

    /// The counters of every port: node, port number, node and port number at the other end.
    pub fn ports(&self) -> impl Iterator<Item = PortView<'_, P>> {
        self.own_ports().iter().map(|port| {
            let peer = &self.ports[port.far.port as usize];
            PortView {
                node: port.node,
                number: port.number,
                peer_node: peer.node,
                peer_number: peer.number,
                port: &port.port,
                counters: port.counters(),
            }
        })
    }

    /// The ports of the nodes that are here.
    fn own_ports(&self) -> &[NetworkPort<P>] {
        &self.ports[..self.places.own]
    }

    /// The port of a node's link, if it is here: the node's own, or that at the other end of a link
    /// that is cut.
    fn port_at_link(&self, node: NodeId, link: u32) -> Option<u32> {
        self.places.at_link(node, link, &self.adjacency, self.part.cut())
    }

    /// What is counted as it happens.
    pub(crate) fn counted(&self) -> &Totals {
        &self.totals
    }

    /// The sums over this part of the network, up to `now`.
    pub fn totals(&self, now: SimTime) -> Totals {
        let mut totals = Totals { mac_entries: self.mac_entries(), ..self.totals.clone() };
        for port in self.own_ports() {
            totals.paused_time += port.port.paused_time(now);
            totals.ecn_marks += port.ecn_marks;
        }
        for (opcode, &count) in (0u8..=255).zip(self.opcodes.iter()) {
            if let (Ok(opcode), true) = (rocelab_wire::Opcode::try_from(opcode), count > 0) {
                totals.opcodes.insert(opcode.name(), count);
            }
        }
        totals
    }

    /// The sum of every host's counters.
    pub fn nic_counters(&self) -> rocelab_transport::Counters {
        let mut sum = rocelab_transport::Counters::default();
        for host in &self.hosts {
            sum += host.end_host.counters();
        }
        sum
    }

    /// The plan that this network runs.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Reserves a place in the order for an event that `node` causes.
    #[inline]
    fn reserve(&mut self, node: NodeId) -> Tie {
        self.order.reserve(&mut self.nodes[node as usize].order)
    }

    /// Reserves a place in the order for what no node causes: it comes before all that nodes cause
    /// at the same instant.
    fn reserve_outside(&mut self) -> Tie {
        self.order.reserve(&mut self.outside)
    }

    /// Packets that a flow's source has sent again.
    pub fn retransmitted_packets(&self, flow: u32) -> u64 {
        let plan = &self.plan.flows[flow as usize];
        let Role::Host(host) = self.nodes[plan.source as usize].role else { return 0 };
        self.hosts[host as usize].end_host.retransmissions(flow, plan)
    }

    /// Messages of a flow that have not arrived; `None` on a reliable service, where only the
    /// requester counts.
    pub fn undelivered_messages(&self, flow: u32) -> Option<u64> {
        let plan = &self.plan.flows[flow as usize];
        let Role::Host(host) = self.nodes[plan.destination as usize].role else { return None };
        let end_host = &self.hosts[host as usize].end_host;
        let may_lose = !self.plan.service().is_reliable() && !plan.is_tcp();
        may_lose.then(|| end_host.undelivered_messages(plan))
    }

    /// When the last flow or operation ended that has ended.
    pub fn last_flow_end(&self) -> SimTime {
        self.flows.last_end
    }

    /// Frames over links so far.
    pub fn traversals(&self) -> Traversals {
        self.totals.traversals
    }

    /// Grows as long as anything moves: flows that start, and RDMA packets over links.
    pub(crate) fn movements(&self) -> u64 {
        let Traversals { data, ack, .. } = self.totals.traversals;
        data + ack + self.totals.packets_delivered + self.flows.started
    }

    /// Whether something is bound to move that does not now: a flow that starts later, a queue
    /// pair whose pacing gap ends later, or a frame that a fault holds back, is on a link, or is being
    /// handled by a slow receiver.
    pub(crate) fn will_move(&self) -> bool {
        self.starts.has_more()
            || self.outages.has_more(&self.plan)
            || self.faults.as_ref().is_some_and(|faults| faults.holds_frames())
            || self.hosts.iter().any(|host| host.end_host.will_send())
            || self.handles_frames()
            || self.has_frames_on_links()
    }
}

/// A port from outside.
#[derive(Clone, Copy, Debug)]
pub struct PortView<'a, P: Profile = Roce> {
    /// Its node.
    pub node: NodeId,
    /// Its number within the node.
    pub number: u16,
    /// The node at the other end of its link.
    pub peer_node: NodeId,
    /// The port number there.
    pub peer_number: u16,
    /// Its state.
    pub port: &'a Port<P::Link, P::FlowControl>,
    /// What was counted.
    pub counters: PortCounters,
}

impl<P: Profile> World for Network<P> {
    type Event = Event;

    #[inline(always)]
    fn queue(&self) -> &EventQueue<Event> {
        &self.queue
    }

    #[inline(always)]
    fn queue_mut(&mut self) -> &mut EventQueue<Event> {
        &mut self.queue
    }

    #[inline(always)] // Into the loop over events: a call for each costs ten instructions.
    fn handle(&mut self, key: EventKey, event: Event) {
        match event {
            Event::Forward { egress, ingress, packet } => {
                self.forward(key, (ingress, egress), packet);
            }
            Event::Deliver { host, packet } => {
                self.pool.get_mut(packet).end_on_link();
                self.host_receive(key, host, packet);
            }
            Event::Arrive { port, packet } => self.arrive(key, port, packet),
            Event::PortFree { port } => self.port_free(key, port),
            Event::PortTimeout { port } => self.port_timeout(key, port),
            Event::NicTimeout { host } => self.host_timeout(key, host),
            Event::FlowStart { ticket } => self.flow_start(key, ticket),
            Event::LineDue { port } => self.line_due(key, port),
            Event::HoldDue { port } => self.hold_due(key, port),
            Event::LinkFailure { link } => self.link_failure(key, link),
            Event::Failure { step } => self.failure_step(key, step),
            Event::Watchdog => self.watchdog(key),
            Event::Handled { host } => self.handled(key, host),
            Event::Sample { sampler } => self.sample(key, sampler),
        }
    }

    #[inline(always)]
    fn prefetch<const STEP: usize>(&self, event: &Event) {
        match STEP {
            0 => self.prefetch_named(event),
            1 => self.prefetch_behind(event),
            _ => self.prefetch_farther(event),
        }
    }

    fn unit_of(&self, event: &Event) -> Option<u32> {
        self.units.get(self.scene_of(event)? as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn what_every_frame_touches_of_a_port_is_two_cache_lines() {
        assert_eq!(size_of::<NetworkPort<Roce>>(), 5 * 64);
        assert_eq!(offset_of!(NetworkPort<Roce>, frames), 64);
        // The queues are 40 bytes behind the beginning of a port.
        assert_eq!(offset_of!(NetworkPort<Roce>, port), 2 * 64 - 40);
    }
}
