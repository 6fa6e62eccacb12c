//! What the end of the run left open: up to where its oldest packet is.

use std::rc::Rc;

use super::super::category::{Category, Stage};
use super::super::course::Leg;
use super::super::trail::{Hop, Trail};
use super::{Parts, Spot};

impl Parts<'_> {
    /// A leg whose oldest packet is this one, which is under way, or not answered yet.
    pub(super) fn unfinished(&mut self, leg: &Leg, trail: &Rc<Trail>) -> Option<()> {
        let pair = self.pair;
        let (sender, other) = (&pair.ends[leg.sender].log, &pair.ends[1 - leg.sender].log);
        let Some(answered) = trail.answers.as_ref().filter(|_| !self.has_left(trail, sender.port))
        else {
            self.sender(Stage::Sender, sender, (leg.from, trail.left()));
            self.way_until(Stage::Request, trail, leg.to)?;
            if self.leads_to(trail, other) && trail.arrived() > 0 {
                self.at_other_end(leg, trail);
            }
            return Some(());
        };
        self.up_to_answer(leg, answered, trail)?;
        self.way_until(Stage::Answer, trail, leg.to)
    }

    /// Whether a packet left by this port first.
    fn has_left(&self, trail: &Trail, port: u32) -> bool {
        trail.hops.first().is_some_and(|hop| hop.port == port)
    }

    /// The packet is at the other end, which has not answered, or whose answer has not left.
    fn at_other_end(&mut self, leg: &Leg, trail: &Rc<Trail>) {
        let (place, arrived) = (1 - leg.sender, trail.arrived());
        let pair = self.pair;
        let end = &pair.ends[place].log;
        if end.is_tcp {
            return self.stack(end, trail, leg.to);
        }
        if pair.asks_for_result(place, trail) {
            return self.sender(Stage::Responder, end, (arrived, leg.to));
        }
        let spot = Spot { stage: Stage::Responder, place: (0, self.name(end.node)) };
        let answer = pair.answer_to(place, trail);
        let ready = answer.map_or(leg.to, |answered| answered.ready);
        self.add(&spot, (Category::AckCoalescing, None), (arrived, ready));
        self.wait(&spot, end.port, pair.priority, (ready, leg.to));
    }

    /// A packet's way, up to where it is at a time (picoseconds).
    fn way_until(&mut self, stage: Stage, trail: &Trail, to: u64) -> Option<()> {
        let Some((last, before)) = trail.hops.split_last() else { return Some(()) };
        let number = 2 * before.len() + 1;
        if last.arrived > 0 {
            self.way(stage, trail)?;
            if let Some(port) = trail.waits_at {
                let spot = Spot { stage, place: (number + 1, self.port_name(port)) };
                self.wait(&spot, port, trail.marking, (last.arrived, to));
            }
            return Some(());
        }
        self.waits_between(stage, trail);
        for (number, hop) in (1..).step_by(2).zip(before) {
            self.link(stage, number, hop)?;
        }
        if last.crossed > 0 {
            // A fault rule delays it, or a slow receiver keeps it.
            return self.link(stage, number, &Hop { arrived: to, ..*last });
        }
        self.on_link(stage, number, last, to);
        Some(())
    }

    /// A frame is still on a link.
    fn on_link(&mut self, stage: Stage, number: usize, hop: &Hop, to: u64) {
        let network = self.known.network;
        let log = self.known.ports.get(hop.port);
        let sent = log.and_then(|log| log.occupied_until(hop.start)).unwrap_or(hop.start).min(to);
        let at_end = sent.saturating_add(network.delay_of(hop.port).ps()).min(to);
        let on_link = Spot { stage, place: (number, self.port_name(hop.port)) };
        let in_node = Spot { stage, place: (number, self.name(network.node_behind(hop.port))) };
        self.add(&on_link, self.serialisation(hop.port, hop.start), (hop.start, sent));
        self.add(&on_link, (Category::Propagation, None), (sent, at_end));
        self.add(&in_node, (Category::SwitchLatency, None), (at_end, to));
    }
}
