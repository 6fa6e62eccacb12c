//! When a port is filled, and until when a flow may wait there.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::NodeId;

use super::paths::Visit;

/// A time, its beginning and its end (ps).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) since: u64,
    pub(super) until: u64,
}

impl Interval {
    pub(super) fn length(self) -> u64 {
        self.until - self.since
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        // What takes no time exists for a moment.
        let meets = |a: Self, b: Self| a.since < b.until.max(b.since.saturating_add(1));
        meets(self, other) && meets(other, self)
    }
}

/// A time for which a port is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) interval: Interval,
    /// The priorities of what fills it (bit p).
    pub(super) priorities: u8,
}

/// All that a port was full of.
pub(super) struct FilledTimes {
    /// In their order.
    pub(super) times: Vec<Filled>,
    /// Who has sent.
    pub(super) sources: BTreeSet<NodeId>,
}

/// What a source sends.
#[derive(Clone, Copy, Default)]
struct Sending {
    until: u64,
    /// How fast (bit/s).
    rate: u64,
    /// Of which priorities (bit p).
    priorities: u8,
}

/// What is sent to a port as a fluid: each source sends its flows one after the other at its rate, and what comes
/// faster than the port sends waits there.
pub(super) struct Filling {
    port_rate: u128,
    /// All is worked out until here (ps).
    now: u64,
    /// Those that send.
    sources: BTreeMap<NodeId, Sending>,
    /// All that have sent.
    all_sources: BTreeSet<NodeId>,
    /// Those that send by their ends.
    ends: BTreeSet<(u64, NodeId)>,
    /// How many of them send each priority.
    senders: [u32; 8],
    /// The sum of their rates (bit/s).
    arriving: u128,
    /// What waits (bit/s x ps).
    backlog: u128,
    /// Since when the port is full (ps), and of which priorities.
    full: Option<(u64, u8)>,
    /// Shorter ones are forgotten (ps).
    least: u64,
    filled: Vec<Filled>,
}

impl Filling {
    /// Of a port of this rate (bit/s), for those times that last for `least` (ps) or longer.
    pub(super) fn new(port_rate: u64, least: u64) -> Self {
        Self {
            port_rate: port_rate.into(),
            now: 0,
            sources: BTreeMap::new(),
            all_sources: BTreeSet::new(),
            ends: BTreeSet::new(),
            senders: [0; 8],
            arriving: 0,
            backlog: 0,
            full: None,
            least,
            filled: Vec::new(),
        }
    }

    /// A source has more to send, for so long at this rate (bit/s), of one priority; in the order of `start` (ps).
    pub(super) fn add(
        &mut self,
        start: u64,
        (source, priority): (NodeId, u8),
        rate: u64,
        lasts: u64,
    ) {
        // Who ends as another starts leaves no gap.
        self.end_sources(|end| end < start);
        self.run_to(start);
        let idle = Sending { until: start, ..Sending::default() };
        let old = self.sources.get(&source).copied().unwrap_or(idle);
        self.ends.remove(&(old.until, source));
        let bit = 1 << (priority & 7);
        self.senders[usize::from(priority & 7)] += u32::from(old.priorities & bit == 0);
        let new = Sending {
            until: old.until.saturating_add(lasts),
            rate: rate.max(old.rate),
            priorities: old.priorities | bit,
        };
        self.sources.insert(source, new);
        self.all_sources.insert(source);
        self.ends.insert((new.until, source));
        self.arriving += u128::from(new.rate - old.rate);
        self.judge();
    }

    /// When the port was full, if nothing more is added.
    pub(super) fn finish(mut self) -> FilledTimes {
        self.end_sources(|_| true);
        self.run_to(u64::MAX);
        self.close(u64::MAX);
        FilledTimes { times: self.filled, sources: self.all_sources }
    }

    fn end_sources(&mut self, is_over: impl Fn(u64) -> bool) {
        while let Some(&(end, source)) = self.ends.first().filter(|(end, _)| is_over(*end)) {
            self.run_to(end);
            self.ends.remove(&(end, source));
            let ended = self.sources.remove(&source).unwrap_or_default();
            self.arriving -= u128::from(ended.rate);
            for (priority, senders) in self.senders.iter_mut().enumerate() {
                *senders -= u32::from(ended.priorities >> priority & 1);
            }
            self.judge();
        }
    }

    /// Lets time pass in which no source begins or ends.
    fn run_to(&mut self, time: u64) {
        let passed = u128::from(time - self.now);
        if self.arriving >= self.port_rate {
            self.backlog += (self.arriving - self.port_rate) * passed;
        } else {
            let drained = (self.port_rate - self.arriving) * passed;
            if self.backlog > 0 && self.backlog <= drained {
                let lasts = self.backlog.div_ceil(self.port_rate - self.arriving);
                let lasts = u64::try_from(lasts).unwrap_or(u64::MAX);
                self.close(self.now.saturating_add(lasts));
            }
            self.backlog = self.backlog.saturating_sub(drained);
        }
        self.now = time;
    }

    /// Whether the port is full from now on.
    fn judge(&mut self) {
        if self.arriving < self.port_rate && self.backlog == 0 {
            self.close(self.now);
        } else if self.arriving >= self.port_rate || self.full.is_some() {
            let senders = self.senders.iter().enumerate();
            let present = senders.filter(|(_, senders)| **senders > 0);
            let present = present.fold(0, |mask, (priority, _)| mask | 1 << priority);
            self.full.get_or_insert((self.now, 0)).1 |= present;
        }
    }

    fn close(&mut self, until: u64) {
        let Some((since, priorities)) = self.full.take() else { return };
        let interval = Interval { since, until };
        if interval.length() >= self.least {
            self.filled.push(Filled { interval, priorities });
        }
    }
}

/// What is there of one priority at a port, if nothing else holds it up.
#[derive(Default)]
pub(super) struct Waiting {
    /// Until when the port sends it (ps).
    sent_until: u64,
    /// Until when its sources send (ps).
    sources: BTreeMap<NodeId, u64>,
}

impl Waiting {
    /// The time of a flow that comes: behind those of its source, and of its priority at the port. It has so much to
    /// send (ps) at the rate of its source, and at that of the port.
    pub(super) fn add(&mut self, start: u64, visit: &Visit, lasts: u64, at_port: u64) -> Interval {
        let from_source = self.sources.entry(visit.source).or_default();
        *from_source = start.max(*from_source).saturating_add(lasts);
        self.sent_until = start.max(self.sent_until).saturating_add(at_port);
        Interval { since: start, until: self.sent_until.max(*from_source) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// When a port of 100 Gbit/s is full: start (ms), source, rate (Gbit/s) and time (ms) of each.
    fn filled(flows: &[(u64, NodeId, u64, u64)]) -> Vec<(u64, u64)> {
        let giga = 1_000_000_000;
        let mut filling = Filling::new(100 * giga, MS);
        for &(start, source, rate, lasts) in flows {
            filling.add(start * MS, (source, 3), rate * giga, lasts * MS);
        }
        let filled = filling.finish().times;
        assert!(filled.iter().all(|one| one.priorities == 1 << 3));
        filled.iter().map(|one| (one.interval.since / MS, one.interval.until / MS)).collect()
    }

    #[test]
    fn a_port_is_full_while_sources_at_one_time_are_as_fast_or_what_they_left_waits() {
        // One after the other; a chain of two at a time; all at once; with what waits.
        assert_eq!(filled(&[(0, 1, 25, 6), (10, 2, 25, 6), (20, 3, 25, 6), (30, 4, 25, 6)]), []);
        assert_eq!(filled(&[(0, 1, 25, 6), (5, 2, 25, 6), (10, 3, 25, 6), (15, 4, 25, 6)]), []);
        assert_eq!(filled(&[(0, 1, 50, 6), (2, 2, 50, 6)]), [(2, 6)]);
        assert_eq!(filled(&[(0, 1, 100, 4), (0, 2, 100, 4)]), [(0, 8)]);
        // 200 Gbit/s x ms wait at 2 ms, and get less by 50 Gbit/s.
        assert_eq!(filled(&[(0, 1, 150, 2), (0, 2, 50, 10)]), [(0, 6)]);
        // Two times; and two without a gap, of one source and of two.
        assert_eq!(filled(&[(0, 1, 100, 2), (5, 1, 100, 3)]), [(0, 2), (5, 8)]);
        assert_eq!(filled(&[(0, 1, 100, 2), (2, 2, 100, 3), (3, 2, 100, 1)]), [(0, 6)]);
        assert_eq!(filled(&[]), []);
    }

    #[test]
    fn priorities_that_fill_a_port_are_those_that_are_sent_meanwhile() {
        let mut filling = Filling::new(100, 10);
        // Of 2 before, of 3 and 4 together, of 5 while what they left waits, of 6 after.
        for (start, source, priority, rate, lasts) in [
            (0, 1, 2, 50, 10),
            (20, 2, 3, 100, 20),
            (25, 3, 4, 50, 15),
            (42, 4, 5, 1, 1),
            (90, 5, 6, 50, 10),
        ] {
            filling.add(start, (source, priority), rate, lasts);
        }
        let filled = filling.finish().times;
        assert_eq!(filled.len(), 1, "{filled:?}");
        let expected = 1 << 3 | 1 << 4 | 1 << 5;
        assert_eq!((filled[0].interval.since, filled[0].priorities), (20, expected));
    }

    #[test]
    fn intervals_overlap_if_they_have_a_moment_in_common() {
        let interval = |since, until| Interval { since, until };
        let filled = interval(10, 20);
        for (since, until, overlaps) in
            [(0, 10, false), (0, 11, true), (12, 12, true), (19, 30, true), (20, 30, false)]
        {
            assert_eq!(interval(since, until).overlaps(filled), overlaps, "{since} {until}");
            assert_eq!(filled.overlaps(interval(since, until)), overlaps, "{since} {until}");
        }
    }
}
