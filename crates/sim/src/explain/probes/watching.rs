//! Before and after every event.

use std::rc::Rc;

use rocelab_engine::EventKey;
use rocelab_fabric::NodeId;
use rocelab_units::SimTime;

use super::super::pair::{DESTINATION, SOURCE};
use super::super::traffic::{Owner, Traffic, only_acknowledges, traffic_of};
use super::Probes;
use super::arrival::{Arriving, Delivered};
use super::pairs::{Followed, What};
use crate::network::watch::{FrameView, Passed, View, Watch};
use crate::network::{Event, Record, RecordKind};

impl Watch for Probes<'_> {
    fn before(&mut self, network: View<'_>, key: EventKey, event: &Event) {
        self.arriving = None;
        self.begin(network, key.time);
        let Some((port, id)) = network.arriving(event) else { return };
        if self.trails.get(id).is_none() {
            return;
        }
        let frame = network.frame(id);
        let (Some(packet), Some(pair)) = (frame.packet, self.pair_of(network, &frame)) else {
            return;
        };
        if network.is_special(port) {
            if let Some(hop) = self.trails.last_hop(id) {
                hop.crossed = key.time.ps();
            }
            return;
        }
        let FrameView { destination, egress, .. } = frame;
        self.arriving = Some(Arriving { id, port, egress, destination, packet, pair });
    }

    fn after(
        &mut self,
        network: View<'_>,
        key: EventKey,
        event: &Event,
        passed: &[Passed],
        new: &[Record],
    ) {
        let (now, node) = (key.time, network.node_of(event));
        new.iter().for_each(|record| self.pauses.note(record));
        let here = |node: NodeId| self.ports.has_any_at(node) || !self.pairs.at(node).is_empty();
        if self.arriving.is_none() && passed.is_empty() && node.is_some_and(|node| !here(node)) {
            return;
        }
        let mut started = Vec::new();
        let mut delivered = Vec::new();
        if let Some(arriving) = self.arriving.take() {
            let is_it = |one: &Passed| matches!(one, Passed::Dropped { packet, .. } if *packet == arriving.id);
            if !passed.iter().any(is_it) {
                delivered.extend(self.arrive(network, now, &arriving, &mut started));
            }
        }
        delivered.extend(self.passed(network, now, passed, &mut started));
        self.ports.look(network, now, node, &mut started);
        let pairs = self.changed(network, event, node, &delivered, &started);
        self.look(network, now, node, &pairs, &started);
        for (port, frame, _) in &started {
            self.start(network, now, *port, frame);
        }
        self.note_ends(network, now, node, &pairs, (delivered.last(), new));
        if self.ports.are_many() {
            self.forget(now);
        }
    }
}

impl Probes<'_> {
    /// Looks at the ends of pairs at `node` that the event may have changed, and at the answers that
    /// they have made ready.
    fn look(
        &mut self,
        network: View<'_>,
        now: SimTime,
        node: Option<NodeId>,
        pairs: &[u32],
        started: &[(u32, FrameView, Owner)],
    ) {
        if self.surveys() {
            return;
        }
        for &place in pairs {
            let Followed { pair, what, .. } = &mut self.pairs[place];
            if matches!(what, What::Nothing) {
                continue;
            }
            for end in pair.ends_at(node) {
                let (host, traffic) = (pair.ends[end].log.node, pair.traffic);
                let left = started.iter().filter(|(port, frame, owner)| {
                    *owner == Owner::Control(traffic)
                        && network.place_of_port(*port).0 == host
                        && frame.packet.as_ref().is_some_and(only_acknowledges)
                });
                pair.note_answers(network, end, now, left.count());
            }
        }
    }

    /// The pairs at `node` that an event may have changed: that of the packet which arrived, and of
    /// frames that left, if it can be no other.
    fn changed(
        &self,
        network: View<'_>,
        event: &Event,
        node: Option<NodeId>,
        delivered: &[Delivered],
        started: &[(u32, FrameView, Owner)],
    ) -> Vec<u32> {
        let Some(node) = node else { return self.pairs.anywhere() };
        let here = self.pairs.at(node);
        if here.is_empty() {
            return Vec::new();
        }
        let one_frame = match event {
            Event::PortFree { .. } => true,
            _ => event.arriving().is_some() && !delivered.is_empty(),
        };
        if !one_frame {
            return here.to_vec();
        }
        let sent = started.iter().filter_map(|(_, frame, _)| traffic_of(network, frame));
        let sent = sent.filter_map(|traffic| self.pairs.place_of_frames(traffic));
        let mut pairs: Vec<u32> = delivered.iter().map(|one| one.pair).chain(sent).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Looks at the ends that an event may have changed once more, after what left is known, and at
    /// what has ended.
    fn note_ends(
        &mut self,
        network: View<'_>,
        now: SimTime,
        node: Option<NodeId>,
        pairs: &[u32],
        (delivered, new): (Option<&Delivered>, &[Record]),
    ) {
        for &place in pairs {
            let Followed { pair, what, arrived } = &mut self.pairs[place];
            let ends = pair.ends_at(node);
            for end in pair.ends_at(node) {
                pair.ends[end].log.look(network, now);
            }
            let What::Operations(turns) = what else { continue };
            let Traffic::Connection(connection) = pair.traffic else { continue };
            let arrival = delivered.filter(|one| one.pair == place);
            let arrival = arrival.map(|one| (one.end, Rc::clone(&one.trail)));
            // Programs of hosts that take time hear of it later.
            let before = || pair.ends_at(node).find_map(|end| Some((end, arrived[end].clone()?)));
            let arrival = arrival.or_else(before);
            let mut ended = turns.follow(network, now, ends, arrival.as_ref(), new);
            let earliest = turns.earliest().unwrap_or(now.ps());
            self.note_given_up(network, place, now, &mut ended);
            for operated in &ended {
                self.explain_operation(network, place, connection, operated);
            }
            if !ended.is_empty() {
                self.pairs[place].pair.forget(earliest);
            }
        }
        for record in new {
            let RecordKind::FlowEnd(end) = &record.kind else { continue };
            let place = self.pairs.place_of(Traffic::Flow(end.flow));
            let arrival = delivered.filter(|one| place == Some(one.pair));
            let arrival = arrival.map(|one| Rc::clone(&one.trail));
            let before = || {
                let ends = if self.plan.service().is_reliable() { SOURCE } else { DESTINATION };
                self.pairs[place?].arrived[ends].clone()
            };
            let arrival = arrival.or_else(before);
            self.end_flow(network, end, arrival);
        }
    }
}
