//! Faults by rule: what links do to frames that they should deliver as they are.
//!
//! Rules are asked when the last bit of a frame has reached the far end of a link, before the node
//! there sees it: the sender's port was occupied as by any other frame. Only links that a rule
//! watches are led here; all others know nothing of faults. What a rule counts and rolls belongs to
//! one link direction, so that no link changes another's faults.

mod held;

mod rules;

use rocelab_fabric::PacketId;
use rocelab_state::{Result, State as _, load_value, save_value};
use rocelab_units::SimTime;

use self::held::HeldBack;
pub use self::rules::FaultCounts;
pub(in crate::network) use self::rules::Faults;
use self::rules::Seen;
use super::event::Event;
use super::feature::{Arrival, Feature, Scene, SetUp, StateOf, Verdict};
use super::packet::Body;
use super::saved_packets::SavedPackets;
use crate::FaultAction;
use crate::profile::{HostPacket, Profile};
use crate::record::DropCause;
use crate::scenario::CorruptedPart;

impl<P: Profile> Feature<P> for Faults {
    fn set_up(mut network: SetUp<'_, P>) -> Option<Box<Self>> {
        let (plan, layout) = (network.plan, network.layout);
        let place_of = |node, number: u16| {
            let link = layout.adjacency.ports_of(node).get(usize::from(number))?.link;
            layout.port_at_link(node, link)
        };
        let faults = Self::new(plan, network.ports.len(), place_of)?;
        network.look_at_arrivals(|port, _| faults.watches(port));
        network.side.notes.get_or_insert_default();
        Some(faults)
    }

    fn judge(&mut self, arrival: &Arrival, mut scene: Scene<'_, P>) -> Verdict {
        let Arrival { key, port, id, .. } = *arrival;
        if !self.watches(port) {
            return Verdict::Continue;
        }
        match self.rule_for(arrival, &scene) {
            None => {
                if !self.holds_frames_on(port) {
                    return Verdict::Continue;
                }
                self.advance(arrival, &scene, id);
            }
            Some((rule, FaultAction::Drop)) => return Verdict::Drop(DropCause::Fault(rule)),
            Some((_, FaultAction::Duplicate)) => {
                let copy = scene.frames.duplicate(id);
                self.advance(arrival, &scene, id);
                self.advance(arrival, &scene, copy);
            }
            Some((_, FaultAction::Corrupt(CorruptedPart::Fcs))) => {
                return Verdict::Drop(DropCause::FcsError);
            }
            Some((_, FaultAction::Corrupt(part))) => {
                if let Some(notes) = &mut scene.frames.side.notes {
                    notes.corrupt(id, part);
                }
                self.advance(arrival, &scene, id);
            }
            Some((_, FaultAction::Delay(delay))) => {
                let due = key.time.saturating_add(delay);
                if self.delay(port, id, due) {
                    scene.timers.arm(arrival.far.node, due, Event::LineDue { port });
                }
                self.count_passed(arrival, &scene, id);
            }
            Some((_, FaultAction::Reorder { behind, within })) => {
                let due = key.time.saturating_add(within);
                self.hold_back(port, HeldBack { id, behind, due });
                scene.timers.arm(arrival.far.node, due, Event::HoldDue { port });
            }
        }
        Verdict::Hold
    }

    fn release(&mut self) -> Option<PacketId> {
        self.released.pop_front()
    }

    fn save(&self, of: StateOf, packets: &SavedPackets<'_>, to: &mut Vec<u8>) -> Result {
        let StateOf::Link(port) = of else { return Ok(()) };
        let Some(direction) = self.directions.get(self.of_port[port as usize] as usize) else {
            return Ok(());
        };
        direction.rules.save(to)?;
        save_value(&(direction.held.line.len() as u64), to)?;
        for &(id, due) in &direction.held.line {
            save_value(&due, to)?;
            packets.save(id, to)?;
        }
        save_value(&(direction.held.back.len() as u64), to)?;
        for &HeldBack { id, behind, due } in &direction.held.back {
            save_value(&(behind, due), to)?;
            packets.save(id, to)?;
        }
        Ok(())
    }

    fn load(&mut self, of: StateOf, packets: &mut SavedPackets<'_>, from: &mut &[u8]) -> Result {
        let StateOf::Link(port) = of else { return Ok(()) };
        let Some(direction) = self.direction(port) else { return Ok(()) };
        direction.rules.load(from)?;
        for _ in 0..load_value::<u64>(from)? {
            let due: SimTime = load_value(from)?;
            let id = packets.load(from)?;
            direction.held.line.push_back((id, due));
        }
        for _ in 0..load_value::<u64>(from)? {
            let (behind, due) = load_value(from)?;
            let id = packets.load(from)?;
            direction.held.back.push(HeldBack { id, behind, due });
        }
        Ok(())
    }
}

impl Faults {
    /// A frame passes the faults of its link, and lets those go that waited for it.
    fn advance<P: Profile>(&mut self, arrival: &Arrival, scene: &Scene<'_, P>, id: PacketId) {
        self.join_line(arrival.key.time, arrival.port, id);
        self.count_passed(arrival, scene, id);
    }

    /// A frame has passed, or is in line: those go that waited for it, if it is a packet.
    fn count_passed<P: Profile>(&mut self, arrival: &Arrival, scene: &Scene<'_, P>, id: PacketId) {
        if matches!(scene.frames.get(id).body, Body::Rdma(_)) {
            self.release_overtaken(arrival.key.time, arrival.port);
        }
    }

    /// The first frame in line on the link of a port, if it is due; if it is not, there is an event when it is.
    pub(super) fn take_first<P: Profile>(
        &mut self,
        now: SimTime,
        port: u32,
        scene: &mut Scene<'_, P>,
    ) -> Option<PacketId> {
        let line = &mut self.direction(port)?.held.line;
        let &(id, due) = line.front()?;
        if due > now {
            let node = scene.sight.ports[port as usize].far.node;
            scene.timers.arm(node, due, Event::LineDue { port });
            return None;
        }
        line.pop_front();
        Some(id)
    }

    fn rule_for<P: Profile>(
        &mut self,
        arrival: &Arrival,
        scene: &Scene<'_, P>,
    ) -> Option<(u32, FaultAction)> {
        let packet = scene.frames.get(arrival.id);
        if matches!(packet.body, Body::Stack(_)) {
            return None; // Rules are about RDMA packets and pause frames.
        }
        let notes = scene.frames.side.notes.as_ref();
        let seen = Seen {
            time: arrival.key.time,
            destination: packet.destination,
            packet: match packet.body {
                Body::Rdma(ref body) => body.as_rdma(),
                Body::Stack(_) | Body::Control(_) => None,
            },
            control: match packet.body {
                Body::Control(ref frame) => Some(frame.control()),
                Body::Stack(_) | Body::Rdma(_) => None,
            },
            identification: notes.map_or(0, |notes| notes.of(arrival.id).identification),
        };
        self.judge_by_rules(&scene.sight.plan.faults, arrival.port, &seen)
    }
}
