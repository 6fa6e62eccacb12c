//! Packets that leave, pass and arrive.

use std::rc::Rc;

use rocelab_fabric::PacketId;
use rocelab_units::SimTime;
use rocelab_wire::MULTICAST_QPN;

use super::super::sent_frames::Loss;
use super::super::traffic::{Owner, Traffic, traffic_of};
use super::super::trail::{Hop, Trail};
use super::Probes;
use super::arrival::{Arriving, Delivered};
use crate::network::watch::{Carried, FrameView, Passed, View};

impl Probes<'_> {
    /// A packet has crossed the link of `port`; at a switch it goes on by `egress`, at a host it
    /// leaves the network. A frame that a port already sends, which was not looked at, is `started`.
    pub(super) fn arrive(
        &mut self,
        network: View<'_>,
        now: SimTime,
        arriving: &Arriving,
        started: &mut Vec<(u32, FrameView, Owner)>,
    ) -> Option<Delivered> {
        let Arriving { id, port, egress, destination, pair, .. } = *arriving;
        let hop = self.trails.last_hop(id)?;
        hop.arrived = now.ps();
        if hop.crossed == 0 {
            hop.crossed = now.ps();
        }
        let node = network.node_behind(port);
        if network.nic(node).is_none() {
            if egress != u16::MAX {
                let port = network.port_of(node, egress);
                if let Some((_, trail)) = self.trails.get_mut(id) {
                    trail.waits_at = Some(port);
                }
                let sent = self.ports.open(network, port, now).filter(|frame| frame.id == id);
                started.extend(sent.map(|frame| (port, frame, Owner::of(network, &frame))));
            }
            return None;
        }
        let (_, trail) = self.trails.take(id)?;
        trail.note_arrival();
        let trail = Rc::new(trail);
        let surveys = self.surveys();
        let takes_time = self.plan.host_models.contains_key(&node);
        let both = &mut self.pairs[pair].pair;
        let end = both.end_of(destination, &arriving.packet);
        if !surveys {
            both.note_received(network, end, now, (&trail, &arriving.packet));
        }
        if takes_time {
            self.pairs[pair].arrived[end] = Some(Rc::clone(&trail));
        }
        Some(Delivered { pair, end, trail })
    }

    /// A frame starts at a port.
    pub(super) fn start(&mut self, network: View<'_>, now: SimTime, port: u32, frame: &FrameView) {
        let traffic = traffic_of(network, frame);
        let (Some(packet), Some(place)) =
            (&frame.packet, traffic.and_then(|one| self.pairs.place_of_frames(one)))
        else {
            return;
        };
        let (node, _) = network.place_of_port(port);
        let hop = Hop { port, start: now.ps(), crossed: 0, kept: 0, arrived: 0 };
        if network.nic(node).is_some() {
            let surveys = self.surveys();
            let pair = &mut self.pairs[place].pair;
            let end = 1 - pair.end_of(frame.destination, packet);
            let answers = if surveys { None } else { pair.note_sent(end, now, packet) };
            self.trails.begin(frame.id, (place, Trail::new(packet, hop, answers)));
            self.note_crossed(place, port);
        } else if let Some((pair, trail)) = self.trails.get_mut(frame.id)
            && *pair == place
        {
            let since = trail.arrived();
            trail.hops.push(hop);
            trail.waits_at = None;
            let queue = (port, trail.marking);
            self.note_crossed(place, port);
            self.note_wait(network, place, frame, queue, (since, now.ps()));
        }
        let next = network.node_behind(port);
        if network.nic(next).is_none() && frame.egress != u16::MAX {
            self.ports.open(network, network.port_of(next, frame.egress), now);
        }
    }

    /// What came through links that are special, and what was dropped.
    pub(super) fn passed(
        &mut self,
        network: View<'_>,
        now: SimTime,
        passed: &[Passed],
        started: &mut Vec<(u32, FrameView, Owner)>,
    ) -> Vec<Delivered> {
        let mut delivered = Vec::new();
        for (index, one) in passed.iter().enumerate() {
            match *one {
                Passed::Doubled { packet, copy } => self.trails.copy(packet, copy),
                Passed::Kept { packet } => {
                    if let Some(hop) = self.trails.last_hop(packet) {
                        hop.kept = now.ps();
                    }
                }
                Passed::Dropped { packet, node, ingress, egress, cause } => {
                    let time = now.ps();
                    self.lose(
                        network,
                        packet,
                        Loss { left: 0, time, node, ingress, egress, cause },
                    );
                }
                Passed::Arrived { packet: id, .. } if is_dropped(id, &passed[index + 1..]) => {}
                Passed::Arrived { packet: id, port, egress, destination, body } => {
                    let is_to_group = matches!(&body, Some(Carried::Rdma(packet)) if packet.dest_qp() == MULTICAST_QPN);
                    let frame = FrameView { id, destination, packet: body, egress, is_to_group };
                    let (Some(packet), Some(pair)) = (body, self.pair_of(network, &frame)) else {
                        continue;
                    };
                    let arriving = Arriving { id, port, egress, destination, packet, pair };
                    delivered.extend(self.arrive(network, now, &arriving, started));
                }
            }
        }
        delivered
    }

    /// A packet is gone, and if it was followed, its trail. Of what is sent to a multicast group, only a copy is missed that would have come to
    /// the member.
    fn lose(&mut self, network: View<'_>, id: PacketId, loss: Loss) {
        let Some((place, trail)) = self.trails.take(id) else { return };
        let was_last = trail.note_drop();
        let is_missed = match self.pairs[place].pair.traffic {
            Traffic::Flow(flow) => network.leads_to_member(flow, (loss.node, loss.egress)),
            Traffic::Connection(_) => None,
        };
        if is_missed.unwrap_or(was_last) && !self.surveys() {
            let loss = Loss { left: trail.left(), ..loss };
            self.pairs[place].pair.note_lost(&trail, loss);
        }
    }
}

/// Whether a frame that has arrived is dropped by what happens then.
fn is_dropped(id: PacketId, then: &[Passed]) -> bool {
    let fate = then.iter().find_map(|one| match *one {
        Passed::Dropped { packet, .. } if packet == id => Some(true),
        Passed::Arrived { packet, .. } | Passed::Doubled { copy: packet, .. } if packet == id => {
            Some(false) // Another frame has its place.
        }
        _ => None,
    });
    fate == Some(true)
}
