//! Faults by rule: what links do to frames that they should deliver as they are.
//!
//! Rules are asked when the last bit of a frame has reached the far end of a link, before the node
//! there sees it: the sender's port was occupied as by any other frame. Only links that a rule
//! watches are led here; all others know nothing of faults. What a rule counts and rolls belongs to
//! one link direction, so that no link changes another's faults.

mod held;

use rocelab_engine::{EventKey, RngStream};
use rocelab_fabric::{NodeId, PacketId};
use rocelab_transport::Packet as RdmaPacket;
use rocelab_units::SimTime;

use self::held::Held;
pub(super) use self::held::HeldBack;
use super::packet::Body;
use super::watch::Passed;
use super::{DropCause, Network};
use crate::profile::{HostPacket, Profile};
use crate::{FaultAction, FaultChoice, FaultRule, Plan};

/// The rules of a run and what they did.
#[derive(Debug)]
pub(super) struct Faults {
    directions: Vec<Direction>,
    /// By port of all, that sends: the place among `directions`, or [`UNWATCHED`].
    of_port: Vec<u32>,
}

/// A port on whose link no rule acts.
const UNWATCHED: u32 = u32::MAX;

/// One direction of a link that rules watch.
#[derive(Debug, Default)]
pub(super) struct Direction {
    /// In the order of the scenario.
    pub(super) rules: Vec<RuleOnLink>,
    pub(super) held: Held,
}

/// A rule's count and dice on one link direction.
#[derive(Debug)]
pub(super) struct RuleOnLink {
    /// Its place among all rules.
    rule: u32,
    matched: u64,
    acted: u64,
    dice: RngStream,
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
struct Seen<'a> {
    time: SimTime,
    destination: NodeId,
    /// None of a pause frame.
    packet: Option<&'a RdmaPacket>,
    identification: u16,
}

impl Faults {
    /// The rules of `plan`, if it has any; `place_of` gives the place of a port that is here.
    pub(super) fn new(
        plan: &Plan,
        ports: usize,
        place_of: impl Fn(NodeId, u16) -> Option<u32>,
    ) -> Option<Box<Self>> {
        let mut faults = Self { directions: Vec::new(), of_port: vec![UNWATCHED; ports] };
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
    pub(super) fn watches(&self, port: u32) -> bool {
        self.of_port[port as usize] != UNWATCHED
    }

    /// Whether frames are held back anywhere.
    pub(super) fn holds_frames(&self) -> bool {
        self.directions.iter().any(|direction| !direction.held.is_empty())
    }

    /// What each of so many rules did so far, in the order of the scenario.
    fn counts(&self, rules: usize) -> Vec<FaultCounts> {
        let mut counts = vec![FaultCounts::default(); rules];
        for on_link in self.directions.iter().flat_map(|direction| &direction.rules) {
            let count = &mut counts[on_link.rule as usize];
            count.matched += on_link.matched;
            count.acted += on_link.acted;
        }
        counts
    }

    pub(super) fn direction(&mut self, port: u32) -> Option<&mut Direction> {
        let place = *self.of_port.get(port as usize)?;
        self.directions.get_mut(place as usize)
    }

    /// The first rule that acts on the frame, and how. Rules after it do not see the frame.
    fn judge(
        &mut self,
        rules: &[FaultRule],
        port: u32,
        seen: &Seen<'_>,
    ) -> Option<(u32, FaultAction)> {
        let direction = self.directions.get_mut(self.of_port[port as usize] as usize)?;
        for on_link in &mut direction.rules {
            let rule = &rules[on_link.rule as usize];
            if rule.frames.matches(seen.time, seen.destination, seen.packet) {
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
    fn picks(&mut self, rule: &FaultRule, identification: u16) -> bool {
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

impl<P: Profile> Network<P> {
    /// What each rule of the plan did so far, in the order of [`Plan::faults`].
    pub fn fault_counts(&self) -> Vec<FaultCounts> {
        self.faults.as_ref().map_or_else(Vec::new, |faults| faults.counts(self.plan.faults.len()))
    }

    /// A frame has crossed the link that `port` sends on, which rules watch.
    pub(super) fn pass_faults(&mut self, key: EventKey, port: u32, id: PacketId) {
        match self.judge(key.time, port, id) {
            None => self.advance(key, port, id),
            Some((rule, FaultAction::Drop)) => {
                let receiving = self.ports[port as usize].far.port;
                self.drop_frame(key, receiving, None, id, DropCause::Fault(rule));
            }
            Some((_, FaultAction::Duplicate)) => {
                let copy = self.duplicate(id);
                self.advance(key, port, id);
                self.advance(key, port, copy);
            }
            Some((_, FaultAction::Corrupt(part))) => {
                if let Some(notes) = &mut self.notes {
                    notes.corrupt(id, part);
                }
                self.advance(key, port, id);
            }
            Some((_, FaultAction::Delay(delay))) => self.delay(key, port, id, delay),
            Some((_, FaultAction::Reorder { behind, within })) => {
                self.hold_back(key, port, id, (behind, within));
            }
        }
    }

    fn judge(&mut self, time: SimTime, port: u32, id: PacketId) -> Option<(u32, FaultAction)> {
        let faults = self.faults.as_mut()?;
        let packet = self.pool.get(id);
        if matches!(packet.body, Body::Tcp(_)) {
            return None; // Rules are about RDMA packets and pause frames.
        }
        let seen = Seen {
            time,
            destination: packet.destination,
            packet: match packet.body {
                Body::Rdma(ref body) => body.as_rdma(),
                Body::Tcp(_) | Body::Pfc(_) => None,
            },
            identification: self.notes.as_ref().map_or(0, |notes| notes.of(id).identification),
        };
        faults.judge(&self.plan.faults, port, &seen)
    }

    /// A second frame like the first, with all that is kept beside it.
    pub(super) fn duplicate(&mut self, id: PacketId) -> PacketId {
        let copy = self.pool.insert(*self.pool.get(id));
        self.totals.frames_created += 1;
        if let Some(notes) = &mut self.notes {
            notes.copy(id, copy);
        }
        if let Some(telemetry) = &mut self.telemetry {
            telemetry.copy(id, copy);
        }
        self.contents.copy(id, copy);
        self.sacks.copy(id, copy);
        if let Some(passed) = &mut self.passed {
            passed.push(Passed::Doubled { packet: id, copy });
        }
        copy
    }
}
