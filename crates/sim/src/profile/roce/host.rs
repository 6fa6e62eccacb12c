//! A host with verbs: its NIC, and the flows that its queue pairs belong to.

mod flows;
mod inspect;

use std::collections::BTreeSet;

use rocelab_engine::{EventKey, Place, mix};
use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Adjacency;
use rocelab_host::Later;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_transport::congestion_control::Telemetry;
use rocelab_transport::tcp::{SackBlocks, TcpHost};
use rocelab_transport::{
    Content, FIRST_QPN, HostScheduler, HostSide, Memory, Nic, NicConfig, Offer,
    Packet as RdmaPacket, QueuePair, QueuePairConfig, ReceiveQueueConfig, STACKS, Turn,
};
use rocelab_units::SimTime;
use rocelab_wire::{Psn, TelemetryHeader};

pub(super) use self::flows::is_of;
use self::flows::{poll_any, poll_plain, start_flow, start_resolved};

use super::Roce;
use super::app::{HostApps, SlotView};
use super::connecting::Connecting;
use super::connections::Connections;
use super::integrity::{Integrity, takes_receives};
use super::monitor::Monitor;
use super::stacks::{NIC, Stacks};
use crate::profile::{
    AcceptedPayload, Delivery, Departing, EndHost, OtherStacks, StackDeparture, StackFrame,
};
use crate::record::{FlowEnd, HostEnd};
use crate::{FlowPlan, Plan, Side};

type Context<'a> = crate::profile::Context<'a, Roce>;

/// A host whose flows are messages over reliable connections.
///
/// The fields stand in the order of their use: what every packet touches comes first.
#[derive(Debug)]
#[repr(C)]
pub struct VerbsHost {
    pub(super) node: NodeId,
    /// Whether there are only flows, all of them reliable connections without messages of their own or second paths, no
    /// other stacks, priorities that make no difference here, and payload is a length: what is asked first, so that
    /// the rest costs nothing.
    pub(super) is_plain: bool,
    /// Whether messages may be lost.
    pub(super) is_unreliable: bool,
    /// Bit n: the NIC may not send what is of priority n in this turn. The scheduler says so for each turn.
    pub(super) held: u8,
    /// The earliest wake-up that has been asked for.
    pub(super) armed: SimTime,
    /// Flows that ended otherwise than by a completion.
    pub(super) ends: Later<FlowEnd>,
    pub(super) nic: Nic,
    /// Queue pair k belongs to flow `queue_pairs[k].flow`.
    pub(super) queue_pairs: Vec<FlowState>,
    /// Only where connections are made by messages.
    pub(super) connections: Option<Box<Connections>>,
    /// On unreliable services: queue pair and PSN of the last packet of each message that arrived.
    pub(super) delivered: BTreeSet<(u32, u32)>,
    /// Only in integrity mode.
    pub(super) integrity: Option<Box<Integrity>>,
    /// Programs that run here, if there are any.
    pub(super) apps: Option<Box<HostApps>>,
    /// Its part in a mesh of pings, if it has one.
    pub(super) monitor: Option<Box<Monitor>>,
    /// Stacks beside the NIC, if it has any.
    pub(super) stacks: Option<Box<Stacks>>,
    /// Who sends next, of the NIC and the other stacks.
    pub(super) turns: Turns,
}

/// Who sends next.
#[derive(Debug)]
pub(super) struct Turns {
    pub(super) scheduler: HostScheduler,
    /// The place of the stack whose turn it is. The scheduler says so for each turn.
    pub(super) stack: u8,
}

/// A queue pair's flow.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct FlowState {
    pub(super) flow: u32,
    /// Messages that are not completed; counted at the source, and those that have not arrived at
    /// the destination of an unreliable service.
    pub(super) messages_left: u32,
}

impl FlowState {
    const NONE: Self = Self { flow: u32::MAX, messages_left: 0 };
}

/// What the two ends of a connection tell each other: numbers of 24 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionEnds {
    /// The own queue pair.
    pub(super) qpn: u32,
    /// The peer's.
    pub(super) dest_qp: u32,
    /// The PSN of the first packet to send.
    pub(super) initial_psn: u32,
    /// The PSN of the first packet to expect.
    pub(super) remote_initial_psn: u32,
}

impl ConnectionEnds {
    /// Both ends of a flow's connection as an exchange out of band tells them.
    pub(super) fn planned(described: &FlowPlan, is_source: bool) -> Self {
        let source = (described.source_qpn, described.source_psn);
        let destination = (described.destination_qpn, described.destination_psn);
        let (near, far) = if is_source { (source, destination) } else { (destination, source) };
        Self { qpn: near.0, dest_qp: far.0, initial_psn: near.1, remote_initial_psn: far.1 }
    }
}

impl VerbsHost {
    pub(super) fn new(plan: &Plan, node: NodeId, adjacency: &Adjacency) -> Self {
        let link = adjacency.ports_of(node).first();
        let line_rate = link.map(|port| plan.topology.links[port.link as usize].rate);
        let encapsulation_len = plan.roce.encapsulation_len(node);
        let mut nic = Nic::new(NicConfig {
            line_rate: line_rate.unwrap_or_default(),
            encapsulation_len,
            seed: plan.control_seed(node),
        });
        let integrity = plan.integrity.then(|| Box::new(Integrity::new(plan.seed)));
        if integrity.is_some() {
            nic.set_memory(Memory::open());
        }
        let model = plan.host_models.get(&node);
        if let Some(model) = model {
            nic.set_host(model.path(mix(plan.seed ^ u64::from(node) << 32)));
        }
        let apps = HostApps::new(plan, node, &mut nic);
        let monitor = Monitor::new(plan, node, &mut nic);
        let numbers: Vec<u32> = nic.queue_pairs().map(QueuePair::qpn).collect();
        if let Some(host) = nic.host_mut() {
            numbers.into_iter().for_each(|qpn| host.note_early_queue_pair(qpn));
        }
        let cm = plan.roce.connection_manager.as_ref();
        let is_unreliable = !plan.service().is_reliable();
        let stacks = Stacks::new(plan, node);
        let has_only_flows = apps.is_none() && stacks.is_none();
        let scheduler = plan.host_scheduler.build();
        let is_in_turns = !scheduler.minds_priorities();
        Self {
            node,
            nic,
            queue_pairs: Vec::new(),
            armed: SimTime::NEVER,
            is_plain: cm.is_none()
                && integrity.is_none()
                && has_only_flows
                && monitor.is_none()
                && is_in_turns
                && model.is_none()
                && !plan.has_alternate_paths()
                && !is_unreliable,
            is_unreliable,
            connections: cm.map(|cm| Box::new(Connections::new(plan, cm, node))),
            delivered: BTreeSet::new(),
            ends: Later::default(),
            integrity,
            apps,
            monitor,
            stacks,
            turns: Turns { scheduler, stack: 0 },
            held: 0,
        }
    }

    /// Its NIC, to look at.
    pub(crate) fn nic(&self) -> &Nic {
        &self.nic
    }

    /// Its TCP, to look at.
    pub(crate) fn tcp(&self) -> Option<&TcpHost> {
        self.stacks.as_ref()?.tcp.as_ref().map(|tcp| tcp.host())
    }

    /// The destination's queue pair, at the first packet for it. Both ends of the connection are
    /// known from the plan, as after an exchange out of band.
    #[cold]
    pub(super) fn create_responder(&mut self, plan: &Plan, qpn: u32) {
        let index = qpn.wrapping_sub(FIRST_QPN) as usize;
        let known = self.queue_pairs.get(index).map(|state| state.flow);
        if let Some(flow) = known.filter(|&flow| flow != u32::MAX) {
            let described = &plan.flows[flow as usize];
            let ends = ConnectionEnds::planned(described, described.source == self.node);
            self.create_queue_pair(plan, flow, ends);
        }
    }

    pub(super) fn create_queue_pair(&mut self, plan: &Plan, flow: u32, ends: ConnectionEnds) {
        let config = self.configuration(plan, flow, ends);
        let posts_receives = config.receive_queue == ReceiveQueueConfig::Own;
        self.nic.create_queue_pair(config);
        if posts_receives {
            Integrity::post_receives(&mut self.nic, flow, &plan.flows[flow as usize]);
        }
    }

    /// That of a flow's queue pair.
    pub(super) fn configuration(
        &self,
        plan: &Plan,
        flow: u32,
        ends: ConnectionEnds,
    ) -> QueuePairConfig {
        let described = &plan.flows[flow as usize];
        let is_source = described.source == self.node;
        let peer = if is_source { described.destination } else { described.source };
        let posts_receives = self.integrity.is_some() && !is_source && takes_receives(described);
        let ConnectionEnds { qpn, dest_qp, initial_psn, remote_initial_psn } = ends;
        let priority =
            plan.service_level((self.node, peer), (described.priority, described.entropy));
        QueuePairConfig {
            qpn,
            dest_qp,
            destination: peer,
            entropy: plan.flow_hash(self.node, peer, described.entropy),
            more_entropies: plan.more_flow_hashes(self.node, peer, described.entropy),
            initial_psn,
            remote_initial_psn,
            priority,
            marking: plan.markings.of_queue_pair(described.marking, self.node, priority),
            receive_queue: if posts_receives {
                ReceiveQueueConfig::Own
            } else {
                ReceiveQueueConfig::Endless
            },
            q_key: plan.keys(described.queue_pairs).q_key,
            alternate_path: plan.alternate_path(
                (described.queue_pairs, described.entropy),
                (self.node, peer),
                is_source,
            ),
            profile: plan.queue_pairs_of(described).clone(),
        }
    }

    /// The places of open operations at the end of an application's connection that has a queue
    /// pair, in order.
    pub(crate) fn slots(&self, qpn: u32) -> impl Iterator<Item = SlotView> + '_ {
        self.apps.iter().flat_map(move |apps| apps.slots(qpn))
    }

    /// The packets of what is posted for one of them in its present turn, and not completed: the PSN
    /// of the first, and the one after the last.
    pub(crate) fn posted(&self, qpn: u32, slot: usize) -> Option<(Psn, Psn)> {
        self.apps.as_ref()?.posted(&self.nic, qpn, slot)
    }

    pub(super) fn state(&mut self, qpn: u32) -> &mut FlowState {
        let index = qpn.wrapping_sub(FIRST_QPN) as usize;
        if self.queue_pairs.len() <= index {
            self.queue_pairs.resize(index + 1, FlowState::NONE);
        }
        &mut self.queue_pairs[index]
    }
}

/// Whether another stack than the NIC sends next, on a host where that may be; if not, which data of the
/// NIC may.
#[cold]
fn prefers_stack(host: &mut VerbsHost, now: SimTime, paused: u8) -> bool {
    let minds_priorities = host.turns.scheduler.minds_priorities();
    if host.stacks.is_none() && !minds_priorities {
        return false;
    }
    if minds_priorities {
        host.nic.release(now);
    }
    let mut offers = [Offer::default(); STACKS];
    offers[NIC] = host.nic.in_host().offer(now, paused);
    if let Some(stacks) = &host.stacks {
        stacks.offer(paused, &mut offers);
    }
    let turn = host.turns.scheduler.next(&offers).unwrap_or(Turn::of(NIC));
    host.held = !turn.priorities;
    host.turns.stack = u8::try_from(turn.stack).unwrap_or(u8::MAX);
    turn.stack != NIC
}

/// When connections, applications or other stacks want to be woken.
#[cold]
fn special_timeout(host: &mut VerbsHost, now: SimTime) -> SimTime {
    let connections = host.connections.as_ref().map(|connections| connections.poll_timeout());
    let apps = host.apps.as_ref().map(|apps| apps.next_due());
    let stacks = host.stacks.as_ref().map(|stacks| stacks.poll_timeout());
    let pings = host.monitor.as_ref().map(|monitor| monitor.next());
    let own = host.nic.in_host().poll_timeout(now).min(host.ends.next());
    connections.into_iter().chain(apps).chain(stacks).chain(pings).min().unwrap_or(own).min(own)
}

/// Whether another stack than the NIC has something to send.
#[cold]
fn has_frame(stacks: Option<&Stacks>, paused: u8) -> bool {
    stacks.is_some_and(|stacks| stacks.is_ready(paused))
}

impl EndHost<Roce> for VerbsHost {
    type Packet = RdmaPacket;

    fn expect(&mut self, number: u32, flow: &FlowPlan) {
        if let Some(stacks) = &mut self.stacks
            && let Some(stack) = stacks.carrying_mut(flow)
        {
            return stack.expect(number, flow);
        }
        let is_source = flow.source == self.node;
        let qpn = if is_source { flow.source_qpn } else { flow.destination_qpn };
        if let Some(host) = self.nic.host_mut() {
            host.note_early_queue_pair(qpn);
        }
        // A queue pair that sends to a multicast group has several flows: the first stands for all.
        let state = self.state(qpn);
        if state.flow == u32::MAX {
            state.flow = number;
        }
        if self.is_unreliable && !is_source {
            let messages = u32::try_from(flow.messages().count()).unwrap_or(u32::MAX);
            self.state(qpn).messages_left = messages;
        }
        if let (Some(connections), false) = (&mut self.connections, is_source) {
            connections.expect(number, flow);
        }
        if let (Some(integrity), Some(memory)) = (&self.integrity, self.nic.memory_mut()) {
            integrity.place(memory, number, flow, is_source);
        }
    }

    #[inline]
    fn prefetch(&self, packet: &RdmaPacket) {
        if let Some(queue_pair) = self.nic.queue_pair(packet.dest_qp()) {
            Place::of(queue_pair).prefetch::<4>();
        }
    }

    #[inline]
    fn prefetch_wake_up<const STEP: usize>(&self) {
        let Some(due) = self.nic.first_paced() else { return };
        if STEP == 0 {
            Place::of(due).prefetch::<1>();
        } else if let Some(queue_pair) = self.nic.queue_pair_of(due) {
            Place::of(queue_pair).prefetch::<4>();
        }
    }

    fn start(&mut self, context: &mut Context<'_>, flows: &[u32]) {
        for &flow in flows {
            start_flow(self, context.plan, context.now.time, flow);
        }
    }

    #[inline(always)] // Into `deliver`, which see.
    fn receive(
        &mut self,
        context: &mut Context<'_>,
        arrival: &Delivery<RdmaPacket>,
        telemetry: Telemetry<'_>,
    ) -> bool {
        if !self.is_plain {
            Connecting(self).receive_specially(
                context.plan,
                context.now.time,
                arrival,
                telemetry,
                None,
            );
            return true;
        }
        let packet = &arrival.packet;
        if !self.nic.has_queue_pair(packet.dest_qp()) {
            self.create_responder(context.plan, packet.dest_qp());
        }
        self.nic.receive(context.now.time, packet, telemetry);
        true
    }

    fn receive_with(
        &mut self,
        context: &mut Context<'_>,
        arrival: &Delivery<RdmaPacket>,
        telemetry: Telemetry<'_>,
        content: Option<Content>,
    ) -> bool {
        Connecting(self).receive_specially(
            context.plan,
            context.now.time,
            arrival,
            telemetry,
            content,
        );
        true
    }

    fn host_side(&mut self) -> Option<&mut HostSide> {
        self.nic.host_mut()
    }

    #[inline(always)] // It is the greater part of what a host does to send, in both ways there are.
    fn poll_transmit(
        &mut self,
        context: &mut Context<'_>,
        paused: u8,
    ) -> Option<Departing<RdmaPacket>> {
        let (now, paused) = (context.now.time, paused | self.held);
        let transmit = if self.is_plain {
            self.nic.poll_transmit(now, paused)?
        } else {
            self.nic.in_host().poll_transmit(now, paused)?
        };
        Some(Departing {
            packet: transmit.packet,
            destination: transmit.destination,
            flow_hash: transmit.entropy,
            frame_len: transmit.frame_len,
        })
    }

    #[inline]
    fn take_telemetry(&mut self, packet: &RdmaPacket) -> Option<TelemetryHeader> {
        self.nic.take_telemetry(packet)
    }

    fn take_content(&mut self, packet: &RdmaPacket) -> Option<Content> {
        self.nic.take_content(packet)
    }

    #[inline]
    fn is_ready(&self, paused: u8) -> bool {
        self.nic.is_ready(paused) || (!self.is_plain && has_frame(self.stacks.as_deref(), paused))
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) -> bool {
        if self.armed != context.now.time {
            return false; // An earlier one was armed since; it has served this one's purpose.
        }
        self.armed = SimTime::NEVER;
        self.nic.handle_timeout(context.now.time);
        if !self.is_plain {
            self.nic.in_host().take_posted(context.now.time);
        }
        if self.connections.is_some() {
            Connecting(self).connections_timeout(context.plan, context.now.time);
        }
        if let Some(stacks) = &mut self.stacks {
            stacks.handle_timeout(context.now.time);
        }
        if let Some(monitor) = &mut self.monitor {
            monitor.handle_timeout(context.plan, context.now.time, &mut self.nic);
        }
        if let Some(apps) = &mut self.apps {
            let messages = &mut context.shared.messages;
            apps.handle_timeout(context.plan, messages, context.now.time, &mut self.nic);
        }
        true
    }

    /// One wake-up for the least of the NIC's timers and pacing gaps; a gap that ends while the
    /// port is busy is of no use before the port is free.
    #[inline]
    fn wake_up(&mut self, context: &mut Context<'_>, free_at: SimTime) -> Option<EventKey> {
        let mut time = self.nic.poll_timeout().min(self.nic.next_release().max(free_at));
        if !self.is_plain {
            time = time.min(special_timeout(self, context.now.time));
        }
        if time >= self.armed {
            return None;
        }
        self.armed = time;
        Some(EventKey { time, tie: context.reserve() })
    }

    fn receive_by_nvlink(&mut self, context: &mut Context<'_>, connection: u32) -> Option<u64> {
        let ends = &context.plan.connections[connection as usize].ends;
        let side = if ends[0].host == self.node { Side::Client } else { Side::Server };
        let transfer = context.shared.wires.take((connection, side));
        debug_assert!(transfer.is_some(), "something is under way to connection {connection}");
        let transfer = transfer?;
        self.apps.as_mut()?.receive_by_nvlink(context.now.time, &transfer);
        Some(transfer.fingerprint())
    }

    #[inline]
    fn may_have_ended(&self) -> bool {
        !self.is_plain || self.nic.has_completions()
    }

    #[inline]
    fn poll_end(&mut self, context: &mut Context<'_>) -> Option<HostEnd> {
        if !self.is_plain {
            if let Some(stacks) = &mut self.stacks
                && let Some(end) = stacks.poll_end(context.now.time)
            {
                return Some(end);
            }
            if self.apps.is_some() {
                return poll_any(self, context);
            }
            return Connecting(self)
                .poll_end_specially(context.plan, context.now.time)
                .map(HostEnd::Flow);
        }
        poll_plain(self, context.now.time).map(HostEnd::Flow)
    }
}

impl OtherStacks for VerbsHost {
    #[inline]
    fn is_their_turn(&mut self, now: SimTime, paused: u8) -> bool {
        !self.is_plain && prefers_stack(self, now, paused)
    }

    fn poll_frame(&mut self, now: SimTime, paused: u8) -> Option<StackDeparture> {
        let place = usize::from(self.turns.stack);
        self.stacks.as_mut()?.poll_transmit(place, now, paused | self.held)
    }

    fn receive_frame(
        &mut self,
        plan: &Plan,
        now: SimTime,
        frame: &StackFrame,
        sack: Option<&SackBlocks>,
    ) {
        if let Some(stacks) = &mut self.stacks {
            stacks.receive(plan, now, frame, sack);
            start_resolved(self, plan, now);
        }
    }

    #[inline]
    fn poll_accepted(&mut self) -> Option<AcceptedPayload> {
        if self.is_plain {
            return None;
        }
        self.stacks.as_mut()?.poll_accepted()
    }
}
