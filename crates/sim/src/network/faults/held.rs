//! Frames that arrive later than they could: delayed with all behind them, or held back behind
//! some.

use std::collections::VecDeque;

use rocelab_engine::EventKey;
use rocelab_fabric::PacketId;
use rocelab_units::{Duration, SimTime};

use crate::network::packet::Body;
use crate::network::{Event, Network};
use crate::profile::Profile;

/// The frames of one link direction that have crossed the link and not arrived.
#[derive(Debug, Default)]
pub(in crate::network) struct Held {
    /// In the order of arrival, each with the time before which it does not arrive. That of the
    /// first one has an event.
    pub(in crate::network) line: VecDeque<(PacketId, SimTime)>,
    /// Held back behind others, oldest first.
    pub(in crate::network) back: Vec<HeldBack>,
}

/// A frame that others overtake.
#[derive(Clone, Copy, Debug)]
pub(in crate::network) struct HeldBack {
    pub(in crate::network) id: PacketId,
    /// Packets that are still to pass.
    pub(in crate::network) behind: u32,
    /// When it arrives at the latest.
    pub(in crate::network) due: SimTime,
}

impl Held {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.line.is_empty() && self.back.is_empty()
    }

    /// Another packet has passed.
    fn count_passed(&mut self) {
        for held in &mut self.back {
            held.behind = held.behind.saturating_sub(1);
        }
    }

    /// The oldest that has waited for enough packets.
    fn take_overtaken(&mut self) -> Option<PacketId> {
        let place = self.back.iter().position(|held| held.behind == 0)?;
        Some(self.back.remove(place).id)
    }

    /// The oldest that is due now, unless it has gone before. It is not known by its place in the pool,
    /// which depends on how a network is cut.
    fn take_due(&mut self, now: SimTime) -> Option<PacketId> {
        let place = self.back.iter().position(|held| held.due == now)?;
        Some(self.back.remove(place).id)
    }
}

impl<P: Profile> Network<P> {
    /// A frame passes the faults of the link that `port` sends on, and releases those that waited
    /// for it.
    pub(super) fn advance(&mut self, key: EventKey, port: u32, id: PacketId) {
        let is_rdma = matches!(self.pool.get(id).body, Body::Rdma(_));
        self.arrive_in_line(key, port, id);
        if is_rdma {
            self.release_overtaken(key, port);
        }
    }

    /// Delays a frame and all behind it.
    pub(super) fn delay(&mut self, key: EventKey, port: u32, id: PacketId, delay: Duration) {
        let is_rdma = matches!(self.pool.get(id).body, Body::Rdma(_));
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
            self.arrive_at_node(key, port, id);
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
            _ => self.arrive_at_node(key, port, id),
        }
    }

    /// An event at the node that the link leads to.
    fn arm_held(&mut self, port: u32, time: SimTime, event: Event) {
        let node = self.ports[self.ports[port as usize].far.port as usize].node;
        let tie = self.reserve(node);
        self.queue.push(EventKey { time, tie }, event);
    }

    fn held(&mut self, port: u32) -> Option<&mut Held> {
        self.faults.as_mut()?.direction(port).map(|direction| &mut direction.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two frames that are held back until the same instant go in the order in which they came, whatever
    /// their places in the pool.
    #[test]
    fn the_oldest_that_is_due_goes_first() {
        let at = SimTime::from_ps;
        let held_back = |(id, due)| HeldBack { id: PacketId(id), behind: 2, due: at(due) };
        let back = [(5, 90), (9, 70), (2, 70)].map(held_back).to_vec();
        let mut held = Held { back, ..Held::default() };
        let mut take = |due| held.take_due(at(due)).map(|id| id.0);
        assert_eq!([60, 70, 70, 70, 90].map(&mut take), [None, Some(9), Some(2), None, Some(5)]);
    }
}
