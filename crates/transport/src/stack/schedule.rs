//! Which end of a stream sends next, of all at one host.

use std::collections::BTreeSet;

use rocelab_units::SimTime;

/// The ends at a host, by when they send next. An end is known by its place among them.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// Those with nothing to send now, that will have something.
    idle: BTreeSet<(SimTime, u32)>,
    /// By priority: those with something to send now, by since when.
    ready: [BTreeSet<(SimTime, u32)>; 8],
}

/// What a schedule knows of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its place among all.
    pub(super) place: u32,
    /// Its priority, 0 to 7.
    pub(super) priority: u8,
    /// When it sends next, or wanted to.
    pub(super) due: SimTime,
    /// Whether it has something to send now.
    pub(super) is_ready: bool,
}

impl Schedule {
    /// Adds an end that is not there.
    pub(super) fn insert(&mut self, entry: Entry) {
        let Entry { place, due, .. } = entry;
        self.set_of(entry).insert((due, place));
    }

    /// Removes an end; `entry` says what it was inserted with.
    pub(super) fn remove(&mut self, entry: Entry) {
        let Entry { place, due, .. } = entry;
        let was_there = self.set_of(entry).remove(&(due, place));
        debug_assert!(was_there, "an end is scheduled as it is");
    }

    /// Bit p: an end of priority p has something to send now.
    pub(super) fn ready(&self) -> u8 {
        let bits = (0u8..).zip(&self.ready);
        bits.fold(0, |all, (priority, ready)| all | u8::from(!ready.is_empty()) << priority)
    }

    /// The place of the end that has waited longest and is not paused (bit p: priority p is); of several, the lowest.
    pub(super) fn first_ready(&self, paused: u8) -> Option<u32> {
        let priorities = (0u8..).zip(&self.ready);
        let unpaused = priorities.filter(|&(priority, _)| paused >> priority & 1 == 0);
        unpaused.filter_map(|(_, ready)| ready.first()).min().map(|&(_, place)| place)
    }

    /// When the next end has something to send that has nothing now, and its place.
    pub(super) fn first_idle(&self) -> Option<(SimTime, u32)> {
        self.idle.first().copied()
    }

    /// Whether an end has something left to send.
    pub(super) fn has_more(&self) -> bool {
        let waits = |set: &BTreeSet<(SimTime, u32)>| {
            set.first().is_some_and(|&(due, _)| due < SimTime::NEVER)
        };
        waits(&self.idle) || self.ready.iter().any(waits)
    }

    fn set_of(&mut self, entry: Entry) -> &mut BTreeSet<(SimTime, u32)> {
        if entry.is_ready {
            &mut self.ready[usize::from(entry.priority & 7)]
        } else {
            &mut self.idle
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(place: u32, priority: u8, due: u64, is_ready: bool) -> Entry {
        Entry { place, priority, due: SimTime::from_ps(due), is_ready }
    }

    #[test]
    fn who_has_waited_longest_is_first_and_paused_ends_wait() {
        let mut schedule = Schedule::default();
        for one in [entry(0, 3, 9, true), entry(1, 5, 4, true), entry(2, 3, 4, true)] {
            schedule.insert(one);
        }
        assert_eq!(schedule.ready(), 1 << 3 | 1 << 5);
        assert_eq!(schedule.first_ready(0), Some(1));
        assert_eq!(schedule.first_ready(1 << 5), Some(2));
        assert_eq!(schedule.first_ready(1 << 5 | 1 << 3), None);
        schedule.remove(entry(2, 3, 4, true));
        assert_eq!(schedule.first_ready(1 << 5), Some(0));
    }

    #[test]
    fn idle_ends_come_by_time_and_those_that_never_send_are_nothing_more() {
        let mut schedule = Schedule::default();
        schedule.insert(Entry { due: SimTime::NEVER, ..entry(0, 0, 0, false) });
        assert!(!schedule.has_more());
        schedule.insert(entry(1, 0, 7, false));
        assert_eq!(schedule.first_idle(), Some((SimTime::from_ps(7), 1)));
        assert!(schedule.has_more());
    }
}
