//! Follows one flow through a run: every packet of it, and the ports that they wait for.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use rocelab_engine::EventKey;
use rocelab_fabric::{NodeId, PacketId};
use rocelab_transport::{Packet as RdmaPacket, Transmit};
use rocelab_units::SimTime;
use rocelab_wire::{Opcode, Syndrome};

use super::category::LossSignal;
use super::host_log::HostLog;
use super::port_log::{Owner, PortLog};
use super::trail::{Answered, Hop, Trail};
use crate::network::watch::{FrameView, Passed, Watch};
use crate::network::{Event, FlowEnd, Network, Record, RecordKind};
use crate::{FlowPlan, Plan, Verb};

/// Follows one flow.
#[derive(Debug)]
pub(super) struct FlowProbe {
    pub(super) flow: u32,
    plan: FlowPlan,
    path_mtu: u32,
    ends: Option<Ends>,
    /// By port: those that packets of the flow have come by.
    ports: BTreeMap<u32, PortLog>,
    /// The same ports, by node.
    ports_at: BTreeMap<NodeId, Vec<u32>>,
    /// Packets of the flow on links and in queues, by their place in the pool.
    trails: BTreeMap<u32, Trail>,
    /// What made the destination answer, of answers that are yet to leave.
    to_answer: VecDeque<Rc<Answered>>,
    /// Answers that wait in the destination's NIC.
    waiting_answers: usize,
    /// The last packet that arrived at the destination.
    last_request: Option<Trail>,
    /// READ requests that arrived, with the number of packets that answer them.
    reads: Vec<(Rc<Answered>, u32)>,
    pub(super) end: Option<End>,
}

/// Both ends of the flow.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) source: HostLog,
    pub(super) destination: HostLog,
}

/// The end of the flow.
#[derive(Debug)]
pub(super) struct End {
    pub(super) time: u64,
    /// How; none if the run ended first.
    pub(super) end: Option<FlowEnd>,
    /// The packet whose arrival ended it, if one did.
    pub(super) arrival: Option<Trail>,
}

impl FlowProbe {
    pub(super) fn new(plan: &Plan, flow: u32) -> Self {
        Self {
            flow,
            plan: plan.flows[flow as usize].clone(),
            path_mtu: plan.path_mtu(),
            ends: None,
            ports: BTreeMap::new(),
            ports_at: BTreeMap::new(),
            trails: BTreeMap::new(),
            to_answer: VecDeque::new(),
            waiting_answers: 0,
            last_request: None,
            reads: Vec::new(),
            end: None,
        }
    }

    /// Both ends; none before the flow starts.
    pub(super) const fn ends(&self) -> Option<&Ends> {
        self.ends.as_ref()
    }

    /// What is known of a port.
    pub(super) fn port(&self, port: u32) -> Option<&PortLog> {
        self.ports.get(&port)
    }

    /// Whether a frame is of this flow.
    fn is_own(&self, frame: &FrameView<'_>) -> bool {
        let plan = &self.plan;
        frame.packet.is_some_and(|packet| {
            let to = (frame.destination, packet.dest_qp());
            to == (plan.source, plan.source_qpn) || to == (plan.destination, plan.destination_qpn)
        })
    }

    fn owner(&self, network: &Network, frame: &FrameView<'_>) -> Owner {
        let Some(packet) = frame.packet else { return Owner::PauseFrames };
        if self.is_own(frame) {
            return if carries_data(packet) { Owner::Own } else { Owner::OwnControl };
        }
        match network.owner(frame.destination, packet.dest_qp()) {
            (Some(flow), _) => Owner::Flow(flow),
            (None, Some(connection)) => Owner::Connection(connection),
            (None, None) => Owner::Management,
        }
    }

    fn begin(&mut self, network: &Network, now: SimTime) {
        let plan = &self.plan;
        let ends = Ends {
            source: HostLog::new(network, plan.source, plan.source_qpn),
            destination: HostLog::new(network, plan.destination, plan.destination_qpn),
        };
        let ports = [ends.source.port, ends.destination.port];
        self.ends = Some(ends);
        for port in ports {
            self.look_at(network, port, now);
        }
    }

    /// From now on looks at a port, if it does not yet.
    fn look_at(&mut self, network: &Network, port: u32, now: SimTime) {
        if self.ports.contains_key(&port) {
            return;
        }
        let log = PortLog::open(network, port, now, |frame| self.owner(network, frame));
        self.ports_at.entry(log.node).or_default().push(port);
        self.ports.insert(port, log);
    }

    /// A packet of the flow has crossed the link of `port`; at a switch it goes on by `egress`.
    fn arrive(&mut self, network: &Network, now: SimTime, id: PacketId, port: u32, egress: u16) {
        let Some(trail) = self.trails.get_mut(&id.0) else { return };
        let Some(hop) = trail.hops.last_mut() else { return };
        hop.arrived = now.ps();
        if hop.crossed == 0 {
            hop.crossed = now.ps();
        }
        let node = network.node_behind(port);
        if network.nic(node).is_none() && egress != u16::MAX {
            self.look_at(network, network.port_of(node, egress), now);
        }
    }

    /// What arrived at a host with this event leaves the network; gives it.
    fn deliver(&mut self, network: &Network, arrived: &[(PacketId, u32)]) -> Vec<Trail> {
        let at_host = |port: u32| network.nic(network.node_behind(port)).is_some();
        let ids = arrived.iter().filter(|&&(_, port)| at_host(port));
        ids.filter_map(|(id, _)| self.trails.remove(&id.0)).collect()
    }

    /// A frame of the flow starts at a port.
    fn start(&mut self, network: &Network, now: SimTime, port: u32, frame: &FrameView<'_>) {
        let Some(packet) = frame.packet else { return };
        let (node, _) = network.place_of_port(port);
        let hop = Hop { port, start: now.ps(), crossed: 0, arrived: 0 };
        if network.nic(node).is_some() {
            let answers = self.cause_of(node, packet);
            let (psn, priority) = (packet.psn(), packet.priority());
            let trail = Trail { psn, priority, hops: vec![hop], answers };
            self.trails.insert(frame.id.0, trail);
            if let Some(ends) = &mut self.ends
                && carries_data(packet)
            {
                let end =
                    if node == self.plan.source { &mut ends.source } else { &mut ends.destination };
                end.note_sent(now, packet.psn());
            }
        } else if let Some(trail) = self.trails.get_mut(&frame.id.0) {
            trail.hops.push(hop);
        }
        let next = network.node_behind(port);
        if network.nic(next).is_none() && frame.egress != u16::MAX {
            self.look_at(network, network.port_of(next, frame.egress), now);
        }
    }

    /// What a packet that leaves the destination is the answer to.
    fn cause_of(&mut self, node: NodeId, packet: &RdmaPacket) -> Option<Rc<Answered>> {
        if node != self.plan.destination {
            return None;
        }
        if packet.opcode().is_rdma_read_response() {
            let covers = |(answered, packets): &&(Rc<Answered>, u32)| {
                let distance = packet.psn().wrapping_sub(answered.request.psn) & 0x00ff_ffff;
                distance < *packets
            };
            return self.reads.iter().rev().find(covers).map(|(answered, _)| Rc::clone(answered));
        }
        if is_acknowledgement(packet) { self.to_answer.pop_front() } else { None }
    }

    /// Finds out how many answers the destination has made ready in this event, `left` of which
    /// have left, and notes what made it.
    fn note_answers(&mut self, network: &Network, now: SimTime, left: usize) {
        let Some(nic) = network.nic(self.plan.destination) else { return };
        let mine = |waiting: &&Transmit| {
            let to = (waiting.destination, waiting.packet.dest_qp());
            to == (self.plan.source, self.plan.source_qpn) && is_acknowledgement(&waiting.packet)
        };
        let waiting = nic.control_packets().filter(mine).count();
        let new = (waiting + left).saturating_sub(self.waiting_answers);
        self.waiting_answers = waiting;
        let Some(request) = &self.last_request else { return };
        for _ in 0..new {
            let answered = Answered { request: request.clone(), ready: now.ps() };
            self.to_answer.push_back(Rc::new(answered));
        }
    }

    /// What the flow's own packets tell its ends on their arrival.
    fn receive(&mut self, now: SimTime, trail: &Trail, packet: &RdmaPacket, to_source: bool) {
        if to_source {
            let signal = loss_signal(packet);
            if let (Some(ends), Some(signal)) = (&mut self.ends, signal) {
                ends.source.note_loss(now, signal);
            }
            return;
        }
        if packet.opcode() == Opcode::Cnp {
            return;
        }
        if let (Verb::Read, Some(reth)) = (self.plan.verb, packet.reth()) {
            let packets = reth.dma_length.div_ceil(self.path_mtu).max(1);
            let answered = Answered { request: trail.clone(), ready: now.ps() };
            self.reads.push((Rc::new(answered), packets));
        }
        self.last_request = Some(trail.clone());
    }

    fn note_passed(&mut self, passed: &[Passed]) {
        for passed in passed {
            if let Passed::Doubled { packet, copy } = *passed
                && let Some(trail) = self.trails.get(&packet.0).cloned()
            {
                self.trails.insert(copy.0, trail);
            }
        }
    }

    fn is_started(&self, now: SimTime) -> bool {
        now >= self.plan.start
    }
}

/// What is known of an arrival before it happens.
#[derive(Clone, Copy, Debug)]
struct Arriving {
    flow_place: usize,
    id: PacketId,
    port: u32,
    egress: u16,
    packet: RdmaPacket,
    to_source: bool,
}

/// Follows several flows at once.
#[derive(Debug, Default)]
pub(super) struct Probes {
    pub(super) probes: Vec<FlowProbe>,
    arriving: Vec<Arriving>,
}

impl Probes {
    pub(super) fn new(plan: &Plan, flows: &[u32]) -> Self {
        let probes = flows.iter().map(|&flow| FlowProbe::new(plan, flow)).collect();
        Self { probes, arriving: Vec::new() }
    }
}

impl Probes {
    /// The run is over: flows that have started and not ended are not looked at any longer.
    pub(super) fn stop(&mut self, now: SimTime) {
        for probe in &mut self.probes {
            if probe.ends.is_some() && probe.end.is_none() {
                probe.end = Some(End { time: now.ps(), end: None, arrival: None });
            }
        }
    }
}

impl Watch for Probes {
    fn before(&mut self, network: &Network, key: EventKey, event: &Event) {
        self.arriving.clear();
        for (place, probe) in self.probes.iter_mut().enumerate() {
            if probe.end.is_some() || !probe.is_started(key.time) {
                continue;
            }
            if probe.ends.is_none() {
                probe.begin(network, key.time);
            }
            let Event::Arrive { port, packet: id } = *event else { continue };
            if !probe.trails.contains_key(&id.0) {
                continue;
            }
            let frame = network.frame(id);
            let Some(packet) = frame.packet.filter(|_| probe.is_own(&frame)) else { continue };
            if network.is_special(port) {
                let hop = probe.trails.get_mut(&id.0).and_then(|trail| trail.hops.last_mut());
                if let Some(hop) = hop {
                    hop.crossed = key.time.ps();
                }
                continue;
            }
            let to_source = frame.destination == probe.plan.source;
            let egress = frame.egress;
            let packet = *packet;
            self.arriving.push(Arriving { flow_place: place, id, port, egress, packet, to_source });
        }
    }

    fn after(
        &mut self,
        network: &Network,
        key: EventKey,
        event: &Event,
        passed: &[Passed],
        new: &[Record],
    ) {
        let node = network.node_of(event);
        for (place, probe) in self.probes.iter_mut().enumerate() {
            if probe.end.is_some() || probe.ends.is_none() {
                continue;
            }
            let elsewhere = node.is_some_and(|node| !probe.ports_at.contains_key(&node));
            if elsewhere && passed.is_empty() && self.arriving.is_empty() {
                continue;
            }
            let arriving = self.arriving.iter().filter(|arriving| arriving.flow_place == place);
            probe.follow(network, key.time, node, (arriving, passed), new);
        }
    }
}

impl FlowProbe {
    /// An event has happened, at `node` if it was at one.
    fn follow<'a>(
        &mut self,
        network: &Network,
        now: SimTime,
        node: Option<NodeId>,
        (arriving, passed): (impl Iterator<Item = &'a Arriving>, &[Passed]),
        new: &[Record],
    ) {
        let mut arrived = Vec::new();
        let mut packets = Vec::new();
        for one in arriving {
            self.arrive(network, now, one.id, one.port, one.egress);
            arrived.push((one.id, one.port));
            packets.push((one.packet, one.to_source));
        }
        self.note_passed(passed);
        let dropped = |record: &Record| matches!(record.kind, RecordKind::Drop(_));
        for passed in passed {
            let Passed::Arrived { packet: id, port, egress, destination, body } = *passed else {
                continue;
            };
            let frame = FrameView { id, destination, packet: body.as_ref(), egress };
            let known = self.trails.contains_key(&id.0) && self.is_own(&frame);
            if !known || new.iter().any(dropped) {
                continue;
            }
            self.arrive(network, now, id, port, egress);
            arrived.push((id, port));
            packets.extend(body.map(|packet| (packet, destination == self.plan.source)));
        }
        let delivered = self.deliver(network, &arrived);
        let mut arrival = None;
        if let (Some(trail), Some((packet, to_source))) = (delivered.last(), packets.last()) {
            self.receive(now, trail, packet, *to_source);
            arrival = Some(trail.clone());
        }
        self.look_around(network, now, node);
        self.note_end(now, new, arrival);
    }

    /// Looks at all ports and ends that the event may have changed.
    fn look_around(&mut self, network: &Network, now: SimTime, node: Option<NodeId>) {
        let ports: Vec<u32> = match node {
            Some(node) => self.ports_at.get(&node).cloned().unwrap_or_default(),
            None => self.ports.keys().copied().collect(),
        };
        let mut started = Vec::new();
        for port in ports {
            let Some(mut log) = self.ports.remove(&port) else { continue };
            let frame = log.look(network, now, |frame| self.owner(network, frame));
            self.ports.insert(port, log);
            if let Some(frame) = frame.filter(|frame| self.is_own(frame)) {
                started.push((port, frame));
            }
        }
        if node.is_none_or(|node| node == self.plan.destination) {
            let is_answer = |(port, frame): &&(u32, FrameView<'_>)| {
                network.place_of_port(*port).0 == self.plan.destination
                    && frame.packet.is_some_and(is_acknowledgement)
            };
            let left = started.iter().filter(is_answer).count();
            self.note_answers(network, now, left);
        }
        for (port, frame) in started {
            self.start(network, now, port, &frame);
        }
        if let Some(ends) = &mut self.ends {
            for end in [&mut ends.source, &mut ends.destination] {
                if node.is_none_or(|node| node == end.node) {
                    end.look(network, now);
                }
            }
        }
    }

    fn note_end(&mut self, now: SimTime, new: &[Record], arrival: Option<Trail>) {
        let end = new.iter().find_map(|record| match &record.kind {
            RecordKind::FlowEnd(end) if end.flow == self.flow => Some(*end),
            _ => None,
        });
        if let Some(end) = end {
            self.end = Some(End { time: now.ps(), end: Some(end), arrival });
        }
    }
}

/// Whether a packet is data or a request.
fn carries_data(packet: &RdmaPacket) -> bool {
    packet.opcode() != Opcode::Cnp && !is_acknowledgement(packet)
}

/// Whether a packet is an acknowledgement, positive or negative, and no READ data.
fn is_acknowledgement(packet: &RdmaPacket) -> bool {
    packet.sack().is_some()
        || packet.opcode().is_response() && !packet.opcode().is_rdma_read_response()
}

/// What a packet says of losses.
fn loss_signal(packet: &RdmaPacket) -> Option<LossSignal> {
    if packet.sack().is_some() {
        return Some(LossSignal::SelectiveAck);
    }
    match packet.aeth()?.syndrome {
        Syndrome::RnrNak { .. } => Some(LossSignal::ReceiverNotReady),
        Syndrome::Nak(_) => Some(LossSignal::Nak),
        _ => None,
    }
}
