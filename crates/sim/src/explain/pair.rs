//! Two queue pairs that talk to each other, or the ends of a TCP connection: what each end did, and what made it answer.

mod remains;

use std::collections::VecDeque;
use std::rc::Rc;

use rocelab_fabric::NodeId;
use rocelab_transport::Packet as RdmaPacket;
use rocelab_transport::tcp::TcpSegment;
use rocelab_units::SimTime;
use rocelab_wire::{Opcode, Psn};

pub(super) use self::remains::{Posted, Remains};
use super::acknowledgement::Acknowledgement;
use super::host_log::HostLog;
use super::sent_frames::{Loss, PacketKind, Sent};
use super::stack_log::StackLog;
use super::traffic::{
    Traffic, asks_for_result, carries_data, is_acknowledgement, is_result, loss_signal,
};
use super::trail::{Answered, Trail};
use crate::network::watch::{Carried, View};
use crate::{Plan, Side};

/// The source of a flow, or the client of a connection, by its place among the ends.
pub(super) const SOURCE: usize = 0;
/// The other one.
pub(super) const DESTINATION: usize = 1;

/// Two ends that are followed.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) traffic: Traffic,
    /// Priority 0 to 7.
    pub(super) priority: u8,
    /// Parameters of queue pairs, by their place in the plan.
    pub(super) queue_pairs: u32,
    pub(super) ends: [PairEnd; 2],
    path_mtu: u32,
}

/// One of them.
#[derive(Debug)]
pub(super) struct PairEnd {
    pub(super) log: HostLog,
    /// What made it answer, of answers that are yet to leave.
    to_answer: VecDeque<Rc<Answered>>,
    /// When it made the last answer (picoseconds).
    answered: Option<u64>,
    /// Answers that wait in its NIC.
    waiting_answers: usize,
    /// The last packet that arrived here.
    last_request: Option<Rc<Trail>>,
    /// Requests for READ data or of atomic operations, with the number of packets that answer them.
    results: Vec<(Rc<Answered>, u32)>,
    /// Of TCP, and then nothing else but the log.
    stack: Option<Box<StackLog>>,
}

/// The next hop whose address a flow may have to wait for.
fn asked(plan: &Plan, number: u32) -> Option<(u32, NodeId)> {
    let flow = &plan.flows[number as usize];
    let way = (flow.source, flow.destination, !flow.is_tcp());
    Some((number, plan.roce.neighbours.as_ref()?.asked(plan, way)?))
}

impl Pair {
    pub(super) fn new(plan: &Plan, network: View<'_>, traffic: Traffic) -> Self {
        let (ends, priority, queue_pairs, tcp) = match traffic {
            Traffic::Flow(flow) => {
                let flow = &plan.flows[flow as usize];
                let ends =
                    [(flow.source, flow.source_qpn), (flow.destination, flow.destination_qpn)];
                (ends, flow.priority, flow.queue_pairs, flow.is_tcp().then_some(flow))
            }
            Traffic::Connection(connection) => {
                let connection = &plan.connections[connection as usize];
                let ends = [Side::Client, Side::Server].map(|side| connection.end(side));
                let ends = ends.map(|end| (end.host, end.qpn));
                (ends, connection.priority, connection.queue_pairs, None)
            }
        };
        let [a, b] = ends;
        let mut ends = [(a, b), (b, a)]
            .map(|(end, peer)| PairEnd::new(HostLog::new(network, end, peer, tcp.is_some())));
        if let Traffic::Flow(flow) = traffic {
            ends[SOURCE].log.asks_for = asked(plan, flow);
        }
        if let Some(flow) = tcp {
            for (end, expected) in ends.iter_mut().zip([0, flow.bytes]) {
                end.stack = Some(Box::new(StackLog::new(flow.source_psn, expected)));
            }
        }
        Self { traffic, priority, queue_pairs, ends, path_mtu: plan.path_mtu() }
    }

    /// The end that a packet to a host goes to.
    pub(super) fn end_of(&self, host: NodeId, packet: &Carried) -> usize {
        let [source, _] = &self.ends;
        let is_source = source.log.node == host && source.log.number == packet.to();
        if is_source { SOURCE } else { DESTINATION }
    }

    /// The ends at a node; both, if it is not one node that something happens at.
    pub(super) fn ends_at(&self, node: Option<NodeId>) -> impl Iterator<Item = usize> + use<> {
        let here = |end: usize| node.is_none_or(|node| self.ends[end].log.node == node);
        let here = [here(SOURCE), here(DESTINATION)];
        [SOURCE, DESTINATION].into_iter().filter(move |&end| here[end])
    }

    /// A packet leaves the host of an end; gives what it is the answer to.
    pub(super) fn note_sent(
        &mut self,
        end: usize,
        now: SimTime,
        packet: &Carried,
    ) -> Option<Rc<Answered>> {
        let end = &mut self.ends[end];
        match packet {
            Carried::Rdma(packet) => end.note_packet_sent(now, packet),
            Carried::Tcp(segment) => end.note_segment_sent(now, segment),
            Carried::Stream(_) | Carried::Neighbour(_) => None, // They have no pair.
        }
    }

    /// A packet has arrived at an end.
    pub(super) fn note_received(
        &mut self,
        network: View<'_>,
        end: usize,
        now: SimTime,
        (trail, packet): (&Rc<Trail>, &Carried),
    ) {
        match packet {
            Carried::Rdma(packet) => self.note_packet_received(end, now, trail, packet),
            Carried::Tcp(segment) => {
                let end = &mut self.ends[end];
                let tcp = network.tcp(end.log.node);
                let through = tcp.and_then(|tcp| tcp.last_received(end.log.number));
                if let Some(stack) = &mut end.stack {
                    stack.note_arrived(trail, *segment, through.unwrap_or(now).ps());
                }
            }
            Carried::Stream(_) | Carried::Neighbour(_) => {}
        }
    }

    fn note_packet_received(
        &mut self,
        end: usize,
        now: SimTime,
        trail: &Rc<Trail>,
        packet: &RdmaPacket,
    ) {
        let end = &mut self.ends[end];
        if let Some(signal) = loss_signal(packet) {
            end.log.note_loss(now, signal);
        }
        if packet.opcode().is_congestion_notification() || packet.opcode().is_response() {
            return;
        }
        let packets = match packet.reth() {
            Some(reth) if packet.opcode() == Opcode::RcRdmaReadRequest => {
                Some(reth.dma_length.div_ceil(self.path_mtu).max(1))
            }
            _ => asks_for_result(packet).then_some(1),
        };
        if let Some(packets) = packets {
            end.results.push((Rc::new(Answered::new(trail, now.ps())), packets));
        }
        end.last_request = Some(Rc::clone(trail));
    }

    /// Finds out how many answers an end has made ready in this event, `left` of which have left,
    /// and notes what made it.
    pub(super) fn note_answers(
        &mut self,
        network: View<'_>,
        end: usize,
        now: SimTime,
        left: usize,
    ) {
        let other = &self.ends[1 - end].log;
        let to = (other.node, other.number);
        let place = end;
        let end = &mut self.ends[end];
        if end.stack.is_some() {
            return end.note_through_stack(network, now, (place == DESTINATION).then_some(left));
        }
        let Some(nic) = network.nic(end.log.node) else { return };
        let waiting = nic.control_packets().filter(|waiting| {
            (waiting.destination, waiting.packet.dest_qp()) == to
                && is_acknowledgement(&waiting.packet)
        });
        let staged = network.staged(end.log.port).filter(|frame| {
            let Some(Carried::Rdma(packet)) = &frame.packet else { return false };
            (frame.destination, packet.dest_qp()) == to && is_acknowledgement(packet)
        });
        let waiting = waiting.count() + staged.count();
        let new = (waiting + left).saturating_sub(end.waiting_answers);
        end.waiting_answers = waiting;
        let Some(request) = &end.last_request else { return };
        if new > 0 {
            end.answered = Some(now.ps());
        }
        for _ in 0..new {
            end.to_answer.push_back(Rc::new(Answered::new(request, now.ps())));
        }
    }

    /// Of a TCP connection: the segment with which the destination had all payload.
    pub(super) fn completed_by(&mut self, now: SimTime) -> Option<Rc<Trail>> {
        let stack = self.ends[DESTINATION].stack.as_mut()?;
        stack.take_in(now.ps());
        stack.completed_by().cloned()
    }

    /// A packet was dropped.
    pub(super) fn note_lost(&mut self, trail: &Trail, loss: Loss) {
        let from = trail.hops.first().map(|hop| hop.port);
        for end in &mut self.ends {
            let is_own = from == Some(end.log.port);
            // Notifications are no answers.
            if if is_own { trail.carries_data } else { trail.answers.is_some() } {
                end.log.note_dropped(loss, is_own);
            }
        }
    }

    /// The answer to a packet at an end that is made and has not left.
    pub(super) fn answer_to(&self, end: usize, request: &Rc<Trail>) -> Option<&Answered> {
        let mut all = self.ends[end].to_answer.iter();
        all.find(|answered| Rc::ptr_eq(&answered.request, request)).map(Rc::as_ref)
    }

    /// Whether a packet at an end asks for READ data, or for an atomic operation.
    pub(super) fn asks_for_result(&self, end: usize, request: &Rc<Trail>) -> bool {
        let mut all = self.ends[end].results.iter();
        all.any(|(answered, _)| Rc::ptr_eq(&answered.request, request))
    }

    /// Nobody asks any longer for what was before `time` (picoseconds).
    pub(super) fn forget(&mut self, time: u64) {
        for end in &mut self.ends {
            end.log.forget(time);
            end.results.retain(|(answered, _)| answered.ready >= time);
        }
    }
}

impl PairEnd {
    fn new(log: HostLog) -> Self {
        Self {
            log,
            to_answer: VecDeque::new(),
            answered: None,
            waiting_answers: 0,
            last_request: None,
            results: Vec::new(),
            stack: None,
        }
    }

    fn note_packet_sent(&mut self, now: SimTime, packet: &RdmaPacket) -> Option<Rc<Answered>> {
        let (psn, is_result) = (packet.psn(), is_result(packet));
        if carries_data(packet) {
            let kind = match (is_result, asks_for_result(packet)) {
                (true, _) => PacketKind::Result,
                (false, true) => PacketKind::Request,
                (false, false) => PacketKind::Message,
            };
            self.log.note_sent(now, Sent::Packet { psn, kind });
        }
        if is_result {
            return self.result_of(psn);
        }
        if is_acknowledgement(packet) { self.to_answer.pop_front() } else { None }
    }

    fn note_segment_sent(&mut self, now: SimTime, segment: &TcpSegment) -> Option<Rc<Answered>> {
        let stack = self.stack.as_mut()?;
        if segment.payload_len == 0 {
            return stack.note_left();
        }
        let (from, to) = stack.part_of(segment);
        self.log.note_sent(now, Sent::Payload { from, to });
        None
    }

    /// Notes what has come through the stack of TCP, and the acknowledgements that this event has
    /// made here, `left` of which have left; none at the source, which makes none.
    fn note_through_stack(&mut self, network: View<'_>, now: SimTime, left: Option<usize>) {
        let Some(stack) = &mut self.stack else { return };
        if let Some((trail, through)) = stack.take_in(now.ps())
            && let Some(acknowledgement) = Acknowledgement::new(&trail, through)
        {
            self.log.note_acknowledged(acknowledgement);
        }
        if let Some(left) = left {
            stack.note_made(network, (self.log.node, self.log.number), now, left);
        }
    }

    fn has_empty_stack(&self) -> bool {
        self.stack.as_ref().is_none_or(|stack| stack.first_inbound().is_none())
    }

    /// The request that READ data or the result of an atomic operation answers.
    fn result_of(&self, psn: u32) -> Option<Rc<Answered>> {
        self.request_for(psn).cloned()
    }

    /// The last request that asks for the packet with a PSN.
    fn request_for(&self, psn: u32) -> Option<&Rc<Answered>> {
        let covers = |(answered, packets): &&(Rc<Answered>, u32)| {
            Psn::new(psn).wrapping_sub(answered.request.number).value() < *packets
        };
        self.results.iter().rev().find(covers).map(|(answered, _)| answered)
    }
}
