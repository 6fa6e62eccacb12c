//! What is stuck, in a network in which nothing moves: queue pairs, and egress queues.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_transport::Standing;
use rocelab_units::SimTime;

use super::multicast::{Ways, is_to_group};
use super::node::Role;
use super::overview::Overview;
use super::packet::{Body, Packet, PacketOf};
use crate::profile::{HostPacket, Inspect, Profile};
use crate::record::StuckQueue;

/// A queue pair that is stuck.
#[derive(Clone, Debug)]
pub(crate) struct StuckQueuePair {
    pub(crate) host: NodeId,
    pub(crate) qpn: u32,
    pub(crate) peer: NodeId,
    /// Whether it is the end that posted the work: the flow's source, or the client.
    pub(crate) posted: bool,
    pub(crate) flow: Option<u32>,
    pub(crate) connection: Option<u32>,
    /// What it waits for, but for its port.
    pub(crate) standing: Standing,
    /// What it waits for that is no matter of its own, if that is known.
    pub(crate) awaits: Option<Awaited>,
    /// Whether its host's port is paused for its priority, and its link up.
    pub(crate) is_paused: bool,
    pub(crate) link_is_up: bool,
    pub(crate) host_is_down: bool,
    pub(crate) priority: u8,
    /// Packets between it and its peer that are in queues of switches, and the first such queue.
    pub(crate) in_queues: u64,
    pub(crate) first_at: Option<(NodeId, u16)>,
    /// Of these queues, those that are paused.
    pub(crate) held_at: Vec<StuckQueue>,
}

/// What a queue pair waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// It has not begun: its host asks for the MAC address of its next hop.
    Address,
    /// The host of a member of its program.
    Host(NodeId),
}

/// An egress queue of a switch that holds frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FullQueue {
    pub(crate) place: StuckQueue,
    pub(crate) bytes: u32,
    pub(crate) is_paused: bool,
    pub(crate) link_is_up: bool,
}

/// Packets that wait, by the host and queue pair that they go to.
#[derive(Debug, Default)]
pub(crate) struct WaitingPackets {
    to: BTreeMap<(NodeId, u32), Waiting>,
}

/// Packets that wait for the same end.
#[derive(Debug)]
struct Waiting {
    packets: u64,
    /// The first port.
    first: (NodeId, u16),
    /// Queues of them that are paused.
    held: Vec<StuckQueue>,
}

/// Both ends of a flow or connection: hosts and queue pairs.
type Ends = [(NodeId, u32); 2];

impl StuckQueuePair {
    /// Its place among all: flows first, then connections; of each the end that posted.
    pub(crate) fn place(&self) -> (bool, Option<u32>, Option<u32>, bool) {
        (self.flow.is_none(), self.flow, self.connection, !self.posted)
    }
}

impl<'a, P: Profile> Overview<'a, P> {
    /// The queue pairs, at hosts that are here, of flows that have started and not `ended`, and of
    /// connections on which operations are `open`.
    pub(crate) fn stuck_queue_pairs(
        self,
        now: SimTime,
        ended: &[bool],
        open: &[u32],
        waiting: &WaitingPackets,
    ) -> Vec<StuckQueuePair> {
        let mut stuck = Vec::new();
        for ((number, flow), ended) in (0u32..).zip(&self.0.plan.flows).zip(ended) {
            if *ended || flow.start > now || flow.is_tcp() {
                continue;
            }
            let ends = [(flow.source, flow.source_qpn), (flow.destination, flow.destination_qpn)];
            let rules = (flow.priority, flow.entropy);
            self.note_stuck(&mut stuck, waiting, (Some(number), None), rules, ends);
        }
        for &number in open {
            let connection = &self.0.plan.connections[number as usize];
            let ends = connection.ends.map(|end| (end.host, end.qpn));
            let subject = (None, Some(number));
            let rules = (connection.priority, connection.entropy);
            self.note_stuck(&mut stuck, waiting, subject, rules, ends);
        }
        stuck
    }

    /// Notes the queue pair that posted, and the other one if it has something to send.
    /// `rules` are the priority and the entropy of both.
    fn note_stuck(
        self,
        stuck: &mut Vec<StuckQueuePair>,
        waiting: &WaitingPackets,
        (flow, connection): (Option<u32>, Option<u32>),
        rules: (u8, u32),
        ends: Ends,
    ) {
        let of_both = ends.iter().filter_map(|end| waiting.to.get(end));
        let in_queues = of_both.clone().map(|waiting| waiting.packets).sum();
        let first_at = of_both.clone().map(|waiting| waiting.first).min();
        let held_at: Vec<_> = of_both.flat_map(|waiting| &waiting.held).copied().collect();
        for (index, (host, qpn)) in ends.into_iter().enumerate() {
            let Role::Host(number) = self.0.nodes[host as usize].role else { continue };
            let state = &self.0.hosts[number as usize];
            let standing = state.end_host.standing(qpn).unwrap_or(Standing::NotConnected);
            if index > 0 && matches!(standing, Standing::NoWork | Standing::NotConnected) {
                continue;
            }
            let port = &self.0.ports[state.port as usize];
            let plan = &self.0.plan;
            let lane = plan.lane_of(plan.service_level((host, ends[1 - index].0), rules));
            let awaited_member = connection.filter(|_| index == 0).and_then(|connection| {
                Some((connection, state.end_host.awaited_member(connection)?))
            });
            let awaited_host = awaited_member
                .and_then(|(connection, member)| self.0.plan.host_of_member(connection, member));
            let waits_for_address =
                index == 0 && flow.is_some_and(|flow| state.end_host.waits_for_address(flow));
            stuck.push(StuckQueuePair {
                host,
                qpn,
                peer: ends[1 - index].0,
                posted: index == 0,
                flow,
                connection,
                standing,
                awaits: if waits_for_address {
                    Some(Awaited::Address)
                } else {
                    awaited_host.map(Awaited::Host)
                },
                is_paused: port.port.paused() & 1 << lane != 0,
                link_is_up: port.link_is_up(),
                host_is_down: state.down > 0,
                priority: rules.0,
                in_queues,
                first_at,
                held_at: held_at.clone(),
            });
        }
    }

    /// The egress queues of switches that hold frames, in order.
    pub(crate) fn full_queues(self) -> Vec<FullQueue> {
        let mut full = Vec::new();
        for port in self.0.own_ports() {
            if !matches!(self.0.nodes[port.node as usize].role, Role::Switch(_)) {
                continue;
            }
            for priority in 0..8 {
                let queue = port.port.queue_of(priority);
                let bytes = port.port.queued(queue);
                let same = |other: u8| port.port.queue_of(other) == queue;
                if bytes == 0 || (0..priority).any(same) {
                    continue;
                }
                let paused = (0..8)
                    .filter(|&other| same(other))
                    .find(|&other| port.port.paused() & 1 << other != 0);
                let priority = paused.unwrap_or(priority);
                let place = StuckQueue { node: port.node, port: port.number, priority };
                let (is_paused, link_is_up) = (paused.is_some(), port.link_is_up());
                full.push(FullQueue { place, bytes, is_paused, link_is_up });
            }
        }
        full
    }

    /// The hosts and queue pairs that a packet is for which waits at a port: several, if it is for a multicast group.
    fn addressed(
        self,
        ways: &mut Ways<'_, P>,
        (node, port): (NodeId, u16),
        packet: &Packet<PacketOf<P>>,
        dest_qp: u32,
    ) -> Vec<(NodeId, u32)> {
        let multicast = self.0.plan.roce.multicast.as_ref().filter(|_| is_to_group(packet));
        let sending =
            multicast.and_then(|multicast| multicast.sendings.get(packet.flow_hash as usize));
        let Some(sending) = sending else { return vec![(packet.destination, dest_qp)] };
        let leads = |&flow: &u32| ways.leads_to_member(flow, (node, Some(port))) == Some(true);
        let members = sending.flows.clone().filter(leads).map(|flow| {
            let flow = &self.0.plan.flows[flow as usize];
            (flow.destination, flow.destination_qpn)
        });
        members.collect()
    }

    /// Notes the packets that wait here.
    pub(crate) fn note_waiting(self, waiting: &mut WaitingPackets) {
        let mut ways = Ways::new(self.0.sight());
        for port in self.0.own_ports() {
            let place = (port.node, port.number);
            let paused = |queue: u8| {
                let of_queue = |&p: &u8| port.port.queue_of(p) == queue;
                let mut paused = (0..8).filter(|p| port.port.paused() & 1 << p != 0);
                let priority = paused.find(of_queue)?;
                Some(StuckQueue { node: port.node, port: port.number, priority })
            };
            port.port.for_each_waiting(&self.0.pool, |id, queue| {
                let packet = self.0.pool.get(id);
                let Body::Rdma(body) = &packet.body else { return };
                let Some(rdma) = body.as_rdma() else { return };
                let none = || Waiting { packets: 0, first: place, held: Vec::new() };
                for to in self.addressed(&mut ways, place, packet, rdma.dest_qp()) {
                    let waiting = waiting.to.entry(to).or_insert_with(none);
                    waiting.packets += 1;
                    waiting.first = place.min(waiting.first);
                    if let Some(held) = paused(queue)
                        && !waiting.held.contains(&held)
                    {
                        waiting.held.push(held);
                    }
                }
            });
        }
    }
}
