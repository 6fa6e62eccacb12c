//! Faults by rule: what links do to frames that they should deliver as they are.
//!
//! Rules are asked when the last bit of a frame has reached the far end of a link, before the node
//! there sees it: the sender's port was occupied as by any other frame. Only links that a rule
//! watches are led here; all others know nothing of faults. What a rule counts and rolls belongs to
//! one link direction, so that no link changes another's faults.

mod held;

mod rules;

use rocelab_engine::EventKey;
use rocelab_fabric::PacketId;
use rocelab_units::{Duration, SimTime};

use self::held::Held;
pub(super) use self::held::HeldBack;
pub use self::rules::FaultCounts;
use self::rules::Seen;
pub(in crate::network) use self::rules::{Direction, Faults};
use super::core::Network;
use super::event::Event;
use super::packet::Body;
use super::passed::Passed;
use crate::FaultAction;
use crate::profile::{HostPacket, Profile};
use crate::record::DropCause;

/// A network in which rules watch links.
#[derive(Debug)]
pub(super) struct FaultyLinks<'a, P: Profile>(pub(in crate::network) &'a mut Network<P>);

impl<P: Profile> FaultyLinks<'_, P> {
    /// A frame passes the faults of the link that `port` sends on, and releases those that waited
    /// for it.
    pub(super) fn advance(&mut self, key: EventKey, port: u32, id: PacketId) {
        let is_rdma = matches!(self.0.pool.get(id).body, Body::Rdma(_));
        self.arrive_in_line(key, port, id);
        if is_rdma {
            self.release_overtaken(key, port);
        }
    }

    /// Delays a frame and all behind it.
    pub(super) fn delay(&mut self, key: EventKey, port: u32, id: PacketId, delay: Duration) {
        let is_rdma = matches!(self.0.pool.get(id).body, Body::Rdma(_));
        let due = key.time.saturating_add(delay);
        let Some(held) = self.held(port) else { return };
        let is_first = held.line.is_empty();
        held.line.push_back((id, due));
        if is_first {
            self.arm_held(port, due, Event::LineDue { port });
        }
        if is_rdma {
            self.release_overtaken(key, port);
        }
    }

    /// Holds a frame back until so many packets have passed, or so much time.
    pub(super) fn hold_back(
        &mut self,
        key: EventKey,
        port: u32,
        id: PacketId,
        (behind, within): (u32, Duration),
    ) {
        let due = key.time.saturating_add(within);
        let Some(held) = self.held(port) else { return };
        held.back.push(HeldBack { id, behind, due });
        self.arm_held(port, due, Event::HoldDue { port });
    }

    /// The first frame in line is due.
    #[cold]
    pub(in crate::network) fn line_due(&mut self, key: EventKey, port: u32) {
        while let Some(held) = self.held(port)
            && let Some(&(id, due)) = held.line.front()
        {
            if due > key.time {
                return self.arm_held(port, due, Event::LineDue { port });
            }
            held.line.pop_front();
            self.0.arrive_at_node(key, port, id);
        }
    }

    /// A frame was held back for long enough.
    #[cold]
    pub(in crate::network) fn hold_due(&mut self, key: EventKey, port: u32) {
        if let Some(id) = self.held(port).and_then(|held| held.take_due(key.time)) {
            self.arrive_in_line(key, port, id);
        }
    }

    fn release_overtaken(&mut self, key: EventKey, port: u32) {
        if let Some(held) = self.held(port) {
            held.count_passed();
        }
        while let Some(id) = self.held(port).and_then(Held::take_overtaken) {
            self.arrive_in_line(key, port, id);
        }
    }

    /// A frame arrives, or waits behind one that is delayed.
    fn arrive_in_line(&mut self, key: EventKey, port: u32, id: PacketId) {
        match self.held(port) {
            Some(held) if !held.line.is_empty() => held.line.push_back((id, key.time)),
            _ => self.0.arrive_at_node(key, port, id),
        }
    }

    /// An event at the node that the link leads to.
    fn arm_held(&mut self, port: u32, time: SimTime, event: Event) {
        let node = self.0.ports[self.0.ports[port as usize].far.port as usize].node;
        let tie = self.0.reserve(node);
        self.0.queue.push(EventKey { time, tie }, event);
    }

    fn held(&mut self, port: u32) -> Option<&mut Held> {
        self.0.features.faults.as_mut()?.direction(port).map(|direction| &mut direction.held)
    }

    /// A frame has crossed the link that `port` sends on, which rules watch.
    pub(super) fn pass_faults(&mut self, key: EventKey, port: u32, id: PacketId) {
        match self.judge(key.time, port, id) {
            None => self.advance(key, port, id),
            Some((rule, FaultAction::Drop)) => {
                let receiving = self.0.ports[port as usize].far.port;
                self.0.drop_frame(key, receiving, None, id, DropCause::Fault(rule));
            }
            Some((_, FaultAction::Duplicate)) => {
                let copy = self.0.duplicate(id);
                self.advance(key, port, id);
                self.advance(key, port, copy);
            }
            Some((_, FaultAction::Corrupt(part))) => {
                if let Some(notes) = &mut self.0.side.notes {
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
        let faults = self.0.features.faults.as_mut()?;
        let packet = self.0.pool.get(id);
        if matches!(packet.body, Body::Stack(_)) {
            return None; // Rules are about RDMA packets and pause frames.
        }
        let seen = Seen {
            time,
            destination: packet.destination,
            packet: match packet.body {
                Body::Rdma(ref body) => body.as_rdma(),
                Body::Stack(_) | Body::Pfc(_) => None,
            },
            identification: self
                .0
                .side
                .notes
                .as_ref()
                .map_or(0, |notes| notes.of(id).identification),
        };
        faults.judge(&self.0.plan.faults, port, &seen)
    }
}

impl<P: Profile> Network<P> {
    /// A second frame like the first, with all that is kept beside it.
    pub(super) fn duplicate(&mut self, id: PacketId) -> PacketId {
        let copy = self.pool.insert(*self.pool.get(id));
        self.course.totals.frames_created += 1;
        self.side.copy(id, copy);
        if let Some(passed) = &mut self.features.passed {
            passed.push(Passed::Doubled { packet: id, copy });
        }
        copy
    }
}
