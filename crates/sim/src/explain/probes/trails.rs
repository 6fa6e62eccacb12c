//! The ways of packets that are followed, from where they start to where they arrive or are lost.

use std::rc::Rc;

use rocelab_fabric::{NodeId, PacketId};
use rocelab_units::SimTime;

use super::super::sent_frames::Loss;
use super::super::traffic::{Owner, traffic_of};
use super::super::trail::{Hop, Trail};
use super::Probes;
use crate::network::Network;
use crate::network::watch::{Carried, FrameView, Passed};

/// What is known of an arrival before it happens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arriving {
    pub(super) id: PacketId,
    pub(super) port: u32,
    pub(super) egress: u16,
    pub(super) destination: NodeId,
    pub(super) packet: Carried,
    pub(super) pair: u32,
}

/// A packet that has arrived at an end of a pair.
pub(super) struct Delivered {
    pub(super) pair: u32,
    pub(super) end: usize,
    pub(super) trail: Rc<Trail>,
}

impl Probes<'_> {
    /// The pair of a packet that is followed: the frame at its place in the pool is that packet.
    pub(super) fn pair_of(&self, network: &Network, frame: &FrameView) -> Option<u32> {
        let (pair, _) = self.trails.get(frame.id.0 as usize)?.as_ref()?;
        let place = self.place_of(traffic_of(network, frame)?)?;
        (place == *pair).then_some(place)
    }

    pub(super) fn hop_of(&mut self, id: PacketId) -> Option<&mut Hop> {
        let (_, trail) = self.trails.get_mut(id.0 as usize)?.as_mut()?;
        trail.hops.last_mut()
    }

    /// A packet has crossed the link of `port`; at a switch it goes on by `egress`, at a host it
    /// leaves the network. A frame that a port already sends, which was not looked at, is `started`.
    pub(super) fn arrive(
        &mut self,
        network: &Network,
        now: SimTime,
        arriving: &Arriving,
        started: &mut Vec<(u32, FrameView, Owner)>,
    ) -> Option<Delivered> {
        let Arriving { id, port, egress, destination, pair, .. } = *arriving;
        let hop = self.hop_of(id)?;
        hop.arrived = now.ps();
        if hop.crossed == 0 {
            hop.crossed = now.ps();
        }
        let node = network.node_behind(port);
        if network.nic(node).is_none() {
            if egress != u16::MAX {
                let port = network.port_of(node, egress);
                if let Some(Some((_, trail))) = self.trails.get_mut(id.0 as usize) {
                    trail.waits_at = Some(port);
                }
                let sent = self.ports.open(network, port, now).filter(|frame| frame.id == id);
                started.extend(sent.map(|frame| (port, frame, Owner::of(network, &frame))));
            }
            return None;
        }
        let (_, trail) = self.trails[id.0 as usize].take()?;
        trail.note_arrival();
        let trail = Rc::new(trail);
        let both = &mut self.pairs[pair as usize].pair;
        let end = both.end_of(destination, &arriving.packet);
        if self.blocked.is_none() {
            both.note_received(network, end, now, (&trail, &arriving.packet));
        }
        Some(Delivered { pair, end, trail })
    }

    /// A frame starts at a port.
    pub(super) fn start(&mut self, network: &Network, now: SimTime, port: u32, frame: &FrameView) {
        let traffic = traffic_of(network, frame);
        let (Some(packet), Some(place)) =
            (&frame.packet, traffic.and_then(|one| self.place_of(one)))
        else {
            return;
        };
        let (node, _) = network.place_of_port(port);
        let hop = Hop { port, start: now.ps(), crossed: 0, kept: 0, arrived: 0 };
        let index = frame.id.0 as usize;
        if network.nic(node).is_some() {
            let pair = &mut self.pairs[place as usize].pair;
            let end = 1 - pair.end_of(frame.destination, packet);
            let answers =
                if self.blocked.is_none() { pair.note_sent(end, now, packet) } else { None };
            if self.trails.len() <= index {
                self.trails.resize_with(index + 1, || None);
            }
            let trail = Trail::new(packet, hop, answers);
            self.trails[index] = Some((place, trail));
            self.note_crossed(place, port);
        } else if let Some(Some((pair, trail))) = self.trails.get_mut(index)
            && *pair == place
        {
            let since = trail.arrived();
            trail.hops.push(hop);
            trail.waits_at = None;
            let queue = (port, trail.priority);
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
        network: &Network,
        now: SimTime,
        passed: &[Passed],
        started: &mut Vec<(u32, FrameView, Owner)>,
    ) -> Vec<Delivered> {
        let mut delivered = Vec::new();
        for (index, one) in passed.iter().enumerate() {
            match *one {
                Passed::Doubled { packet, copy } => self.note_copy(packet, copy),
                Passed::Kept { packet } => {
                    if let Some(hop) = self.hop_of(packet) {
                        hop.kept = now.ps();
                    }
                }
                Passed::Dropped { packet, node, ingress, egress, cause } => {
                    let time = now.ps();
                    self.lose(packet, Loss { left: 0, time, node, ingress, egress, cause });
                }
                Passed::Arrived { packet: id, .. } if is_dropped(id, &passed[index + 1..]) => {}
                Passed::Arrived { packet: id, port, egress, destination, body } => {
                    let frame = FrameView { id, destination, packet: body, egress };
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

    /// A packet that is followed is now two.
    fn note_copy(&mut self, packet: PacketId, copy: PacketId) {
        let Some(Some((pair, trail))) = self.trails.get_mut(packet.0 as usize) else { return };
        let trail = (*pair, trail.copied());
        let index = copy.0 as usize;
        if self.trails.len() <= index {
            self.trails.resize_with(index + 1, || None);
        }
        self.trails[index] = Some(trail);
    }

    /// A packet is gone, and if it was followed, its trail.
    fn lose(&mut self, id: PacketId, loss: Loss) {
        let lost = self.trails.get_mut(id.0 as usize).and_then(Option::take);
        let Some((place, trail)) = lost.filter(|(_, trail)| trail.note_drop()) else { return };
        if self.blocked.is_none() {
            let loss = Loss { left: trail.left(), ..loss };
            self.pairs[place as usize].pair.note_lost(&trail, loss);
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
