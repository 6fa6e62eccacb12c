//! Two queue pairs that talk to each other: what each end did, and what made it answer.

use std::collections::VecDeque;
use std::rc::Rc;

use rocelab_fabric::NodeId;
use rocelab_transport::Packet as RdmaPacket;
use rocelab_units::SimTime;
use rocelab_wire::Opcode;

use super::host_log::HostLog;
use super::traffic::{Traffic, carries_data, is_acknowledgement, is_result, loss_signal};
use super::trail::{Answered, Trail};
use crate::{Network, Plan, Side};

/// The source of a flow, or the client of a connection, by its place among the ends.
pub(super) const SOURCE: usize = 0;
/// The other one.
pub(super) const DESTINATION: usize = 1;

/// Two queue pairs that are followed.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) traffic: Traffic,
    /// Priority 0 to 7.
    pub(super) priority: u8,
    /// Their parameters, by their place in the plan.
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
    /// Answers that wait in its NIC.
    waiting_answers: usize,
    /// The last packet that arrived here.
    last_request: Option<Rc<Trail>>,
    /// Requests for READ data or of atomic operations, with the number of packets that answer them.
    results: Vec<(Rc<Answered>, u32)>,
}

impl Pair {
    pub(super) fn new(plan: &Plan, network: &Network, traffic: Traffic) -> Self {
        let (ends, priority, queue_pairs) = match traffic {
            Traffic::Flow(flow) => {
                let flow = &plan.flows[flow as usize];
                let ends =
                    [(flow.source, flow.source_qpn), (flow.destination, flow.destination_qpn)];
                (ends, flow.priority, flow.queue_pairs)
            }
            Traffic::Connection(connection) => {
                let connection = &plan.connections[connection as usize];
                let ends = [Side::Client, Side::Server].map(|side| connection.end(side));
                (ends.map(|end| (end.host, end.qpn)), connection.priority, connection.queue_pairs)
            }
        };
        let ends = ends.map(|(node, qpn)| PairEnd::new(HostLog::new(network, node, qpn)));
        Self { traffic, priority, queue_pairs, ends, path_mtu: plan.path_mtu() }
    }

    /// The end that a packet to a host goes to.
    pub(super) fn end_of(&self, host: NodeId, packet: &RdmaPacket) -> usize {
        let [source, _] = &self.ends;
        let is_source = source.log.node == host && source.log.qpn == packet.dest_qp();
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
        packet: &RdmaPacket,
    ) -> Option<Rc<Answered>> {
        let end = &mut self.ends[end];
        if carries_data(packet) {
            end.log.note_sent(now, packet.psn(), is_result(packet));
        }
        if is_result(packet) {
            return end.result_of(packet.psn());
        }
        if is_acknowledgement(packet) { end.to_answer.pop_front() } else { None }
    }

    /// A packet arrives at an end.
    pub(super) fn note_received(
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
        if packet.opcode() == Opcode::Cnp || packet.opcode().is_response() {
            return;
        }
        let packets = match packet.reth() {
            Some(reth) if packet.opcode() == Opcode::RcRdmaReadRequest => {
                Some(reth.dma_length.div_ceil(self.path_mtu).max(1))
            }
            _ => packet.opcode().is_atomic().then_some(1),
        };
        if let Some(packets) = packets {
            let answered = Answered { request: Rc::clone(trail), ready: now.ps() };
            end.results.push((Rc::new(answered), packets));
        }
        end.last_request = Some(Rc::clone(trail));
    }

    /// Finds out how many answers an end has made ready in this event, `left` of which have left,
    /// and notes what made it.
    pub(super) fn note_answers(
        &mut self,
        network: &Network,
        end: usize,
        now: SimTime,
        left: usize,
    ) {
        let other = &self.ends[1 - end].log;
        let to = (other.node, other.qpn);
        let end = &mut self.ends[end];
        let Some(nic) = network.nic(end.log.node) else { return };
        let waiting = nic.control_packets().filter(|waiting| {
            (waiting.destination, waiting.packet.dest_qp()) == to
                && is_acknowledgement(&waiting.packet)
        });
        let waiting = waiting.count();
        let new = (waiting + left).saturating_sub(end.waiting_answers);
        end.waiting_answers = waiting;
        let Some(request) = &end.last_request else { return };
        for _ in 0..new {
            let answered = Answered { request: Rc::clone(request), ready: now.ps() };
            end.to_answer.push_back(Rc::new(answered));
        }
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
            waiting_answers: 0,
            last_request: None,
            results: Vec::new(),
        }
    }

    /// The request that READ data or the result of an atomic operation answers.
    fn result_of(&self, psn: u32) -> Option<Rc<Answered>> {
        let covers = |(answered, packets): &&(Rc<Answered>, u32)| {
            psn.wrapping_sub(answered.request.psn) & 0x00ff_ffff < *packets
        };
        self.results.iter().rev().find(covers).map(|(answered, _)| Rc::clone(answered))
    }
}
