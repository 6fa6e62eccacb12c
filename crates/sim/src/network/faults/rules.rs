//! Rules, with what they count and roll on each link.

use std::collections::VecDeque;

use rocelab_engine::RngStream;
use rocelab_fabric::{LinkFlowControl, NodeId, PacketId};
use rocelab_transport::Packet as RdmaPacket;
use rocelab_units::SimTime;

use super::held::{Held, HeldBack};
use crate::{FaultAction, FaultChoice, FaultRule, Plan};

/// The rules of a run and what they did.
#[derive(Debug)]
pub(in crate::network) struct Faults {
    pub(in crate::network) directions: Vec<Direction>,
    /// By port of all, that sends: the place among `directions`, or [`UNWATCHED`].
    pub(in crate::network) of_port: Vec<u32>,
    /// Frames that are not held any longer, in the order in which they go on.
    pub(in crate::network) released: VecDeque<PacketId>,
}

/// A port on whose link no rule acts.
pub(in crate::network) const UNWATCHED: u32 = u32::MAX;

/// One direction of a link that rules watch.
#[derive(Debug, Default)]
pub(in crate::network) struct Direction {
    /// In the order of the scenario.
    pub(in crate::network) rules: Vec<RuleOnLink>,
    pub(in crate::network) held: Held,
}

/// A rule's count and dice on one link direction.
#[derive(Debug)]
pub(in crate::network) struct RuleOnLink {
    /// Its place among all rules.
    pub(in crate::network) rule: u32,
    pub(in crate::network) matched: u64,
    pub(in crate::network) acted: u64,
    pub(in crate::network) dice: RngStream,
}

rocelab_state::state!(RuleOnLink { values: matched, acted, dice; kept: rule });

/// How often a rule met frames that match, and acted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Frames that matched.
    pub matched: u64,
    /// Frames that it picked of those.
    pub acted: u64,
}

/// What a rule sees of a frame.
pub(in crate::network) struct Seen<'a> {
    pub(in crate::network) time: SimTime,
    pub(in crate::network) destination: NodeId,
    /// None of a pause frame.
    pub(in crate::network) packet: Option<&'a RdmaPacket>,
    /// What control a pause frame is of.
    pub(in crate::network) control: Option<LinkFlowControl>,
    pub(in crate::network) identification: u16,
}

impl Faults {
    /// The rules of `plan`, if it has any; `place_of` gives the place of a port that is here.
    pub(in crate::network) fn new(
        plan: &Plan,
        ports: usize,
        place_of: impl Fn(NodeId, u16) -> Option<u32>,
    ) -> Option<Box<Self>> {
        let mut faults = Self {
            directions: Vec::new(),
            of_port: vec![UNWATCHED; ports],
            released: VecDeque::new(),
        };
        for (number, rule) in (0u32..).zip(&plan.faults) {
            for &(node, port) in &rule.links {
                let Some(place) = place_of(node, port) else { continue };
                let place = place as usize;
                if faults.of_port[place] == UNWATCHED {
                    faults.of_port[place] = u32::try_from(faults.directions.len()).ok()?;
                    faults.directions.push(Direction::default());
                }
                let direction = &mut faults.directions[faults.of_port[place] as usize];
                let node = &plan.topology.nodes[node as usize].name;
                let stream = format!("fault/{}/{node}/{port}", rule.name);
                let dice = RngStream::new(plan.seed, &stream);
                direction.rules.push(RuleOnLink { rule: number, matched: 0, acted: 0, dice });
            }
        }
        (!plan.faults.is_empty()).then(|| Box::new(faults))
    }

    /// Whether a rule watches the link that `port` sends on.
    pub(in crate::network) fn watches(&self, port: u32) -> bool {
        self.of_port[port as usize] != UNWATCHED
    }

    /// Whether frames are held on the link that `port` sends on.
    pub(in crate::network) fn holds_frames_on(&self, port: u32) -> bool {
        let direction = self.directions.get(self.of_port[port as usize] as usize);
        direction.is_some_and(|direction| !direction.held.is_empty())
    }

    /// Delays a frame until `due`, and all behind it; true if it is the first in line.
    pub(in crate::network) fn delay(&mut self, port: u32, id: PacketId, due: SimTime) -> bool {
        let Some(direction) = self.direction(port) else { return false };
        direction.held.line.push_back((id, due));
        direction.held.line.len() == 1
    }

    /// Holds a frame back behind others.
    pub(in crate::network) fn hold_back(&mut self, port: u32, held: HeldBack) {
        if let Some(direction) = self.direction(port) {
            direction.held.back.push(held);
        }
    }

    /// A frame goes on, or waits behind one that is delayed.
    pub(in crate::network) fn join_line(&mut self, now: SimTime, port: u32, id: PacketId) {
        match self.direction(port) {
            Some(Direction { held, .. }) if !held.line.is_empty() => held.line.push_back((id, now)),
            _ => self.released.push_back(id),
        }
    }

    /// Another packet has passed: those go on that have waited for enough.
    pub(in crate::network) fn release_overtaken(&mut self, now: SimTime, port: u32) {
        if let Some(direction) = self.direction(port) {
            direction.held.count_passed();
        }
        while let Some(direction) = self.direction(port)
            && let Some(id) = direction.held.take_overtaken()
        {
            self.join_line(now, port, id);
        }
    }

    /// The oldest that is held back until now, if it goes on at once.
    pub(in crate::network) fn take_due(&mut self, now: SimTime, port: u32) -> Option<PacketId> {
        let id = self.direction(port)?.held.take_due(now)?;
        self.join_line(now, port, id);
        self.released.pop_front()
    }

    /// Whether frames are held back anywhere.
    pub(in crate::network) fn holds_frames(&self) -> bool {
        self.directions.iter().any(|direction| !direction.held.is_empty())
    }

    /// What each of so many rules did so far, in the order of the scenario.
    pub(in crate::network) fn counts(&self, rules: usize) -> Vec<FaultCounts> {
        let mut counts = vec![FaultCounts::default(); rules];
        for on_link in self.directions.iter().flat_map(|direction| &direction.rules) {
            let count = &mut counts[on_link.rule as usize];
            count.matched += on_link.matched;
            count.acted += on_link.acted;
        }
        counts
    }

    pub(in crate::network) fn direction(&mut self, port: u32) -> Option<&mut Direction> {
        let place = *self.of_port.get(port as usize)?;
        self.directions.get_mut(place as usize)
    }

    /// The first rule that acts on the frame, and how. Rules after it do not see the frame.
    pub(in crate::network) fn judge_by_rules(
        &mut self,
        rules: &[FaultRule],
        port: u32,
        seen: &Seen<'_>,
    ) -> Option<(u32, FaultAction)> {
        let direction = self.directions.get_mut(self.of_port[port as usize] as usize)?;
        for on_link in &mut direction.rules {
            let rule = &rules[on_link.rule as usize];
            if rule.frames.matches(seen.time, seen.destination, seen.packet, seen.control) {
                on_link.matched += 1;
                if on_link.picks(rule, seen.identification) {
                    on_link.acted += 1;
                    return Some((on_link.rule, rule.action));
                }
            }
        }
        None
    }
}

impl RuleOnLink {
    /// Whether the rule acts on the frame that was just counted as a match.
    pub(in crate::network) fn picks(&mut self, rule: &FaultRule, identification: u16) -> bool {
        let picked = match rule.choice {
            FaultChoice::All => true,
            FaultChoice::Nth(nth) => self.matched == nth,
            FaultChoice::Every(every) => self.matched.is_multiple_of(every),
            FaultChoice::Probability(probability) => self.dice.uniform() < probability,
            FaultChoice::IpIdentification => identification & 0xff == 0xff,
        };
        picked && self.acted < rule.limit
    }
}
