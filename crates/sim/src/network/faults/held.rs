//! Frames that arrive later than they could: delayed with all behind them, or held back behind
//! some.

use std::collections::VecDeque;

use rocelab_fabric::PacketId;
use rocelab_units::SimTime;

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
    pub(in crate::network) fn is_empty(&self) -> bool {
        self.line.is_empty() && self.back.is_empty()
    }

    /// Takes all, in the order in which they came to be held.
    pub(in crate::network) fn take_all(&mut self) -> Vec<PacketId> {
        let line = self.line.drain(..).map(|(id, _)| id);
        line.chain(self.back.drain(..).map(|held| held.id)).collect()
    }

    /// Another packet has passed.
    pub(in crate::network) fn count_passed(&mut self) {
        for held in &mut self.back {
            held.behind = held.behind.saturating_sub(1);
        }
    }

    /// The oldest that has waited for enough packets.
    pub(in crate::network) fn take_overtaken(&mut self) -> Option<PacketId> {
        let place = self.back.iter().position(|held| held.behind == 0)?;
        Some(self.back.remove(place).id)
    }

    /// The oldest that is due now, unless it has gone before. It is not known by its place in the pool,
    /// which depends on how a network is cut.
    pub(in crate::network) fn take_due(&mut self, now: SimTime) -> Option<PacketId> {
        let place = self.back.iter().position(|held| held.due == now)?;
        Some(self.back.remove(place).id)
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
