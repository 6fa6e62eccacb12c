//! PSNs that were skipped.

use std::collections::VecDeque;

use rocelab_wire::Psn;

use crate::observation::Observation;

/// Number of gaps of a flow that are remembered; the oldest is forgotten first.
const REMEMBERED: usize = 32;

/// Consecutive PSNs that were not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) first: Psn,
    pub(super) count: u32,
    /// Whether the receiver missed them too, and reported it.
    pub(super) reported: bool,
    /// Whether packets with these PSNs were captured, with a wrong checksum: receivers miss them, the capture does not.
    pub(super) damaged: bool,
}

impl Gap {
    fn end(&self) -> Psn {
        self.first.wrapping_add(self.count)
    }

    /// What is told of it: nothing, if its packets are in the capture.
    pub(super) fn observation(&self) -> Option<Observation> {
        let Self { first, count, .. } = *self;
        (!self.damaged).then_some(Observation::Gap { first, count })
    }
}

/// The gaps of a flow that were not filled, oldest first.
#[derive(Debug, Default)]
pub(super) struct Missing(VecDeque<Gap>);

impl Missing {
    pub(super) fn add(&mut self, gap: Gap) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(gap);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, psn: Psn) -> bool {
        self.0.iter().any(|gap| !psn.is_before(gap.first) && psn.is_before(gap.end()))
    }

    /// How many PSNs are missing in the capture.
    pub(super) fn count(&self) -> u64 {
        self.0.iter().filter(|gap| !gap.damaged).map(|gap| u64::from(gap.count)).sum()
    }

    /// Removes `count` PSNs that have come late; returns whether any of them was missing.
    pub(super) fn fill(&mut self, psn: Psn, count: u32) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let end = psn.wrapping_add(count);
        let overlaps = |gap: &Gap| psn.is_before(gap.end()) && end.is_after(gap.first);
        let Some(index) = self.0.iter().position(overlaps) else { return false };
        let gap = self.0[index];
        let before = psn.distance_from(gap.first).max(0).unsigned_abs();
        let after = gap.end().distance_from(end).max(0).unsigned_abs();
        let rest = Gap { first: end, count: after, ..gap };
        match (before, after) {
            (0, 0) => drop(self.0.remove(index)),
            (0, _) => self.0[index] = rest,
            (_, 0) => self.0[index].count = before,
            (..) => {
                self.0[index].count = before;
                if self.0.len() < REMEMBERED {
                    self.0.insert(index + 1, rest);
                }
            }
        }
        true
    }

    /// Records that the receiver reported `psn` as missing. All later PSNs will be sent again too.
    pub(super) fn report(&mut self, psn: Psn) {
        for gap in &mut self.0 {
            gap.reported |= gap.end().is_after(psn);
        }
    }

    /// Removes gaps that are acknowledged, up to and including `psn`; returns the first of them
    /// that the receiver had not reported, and that is not in the capture.
    pub(super) fn acknowledge(&mut self, psn: Psn) -> Option<Gap> {
        let mut unexplained = None;
        while let Some(gap) = self.0.front().copied()
            && !gap.first.is_after(psn)
        {
            self.0.pop_front();
            if !gap.reported && !gap.damaged {
                unexplained = unexplained.or(Some(gap));
            }
        }
        unexplained
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(first: u32, count: u32) -> Gap {
        Gap { first: Psn::new(first), count, reported: false, damaged: false }
    }

    #[test]
    fn gaps_are_filled_from_any_side() {
        let mut missing = Missing::default();
        missing.add(gap(0xff_fffe, 5));
        assert!(missing.fill(Psn::new(0), 1), "the middle");
        assert_eq!(missing.count(), 4);
        assert!(missing.fill(Psn::new(0xff_fffe), 1) && missing.fill(Psn::new(2), 1));
        assert!(!missing.fill(Psn::new(0), 1));
        assert!(missing.fill(Psn::new(0xff_ffff), 1) && missing.fill(Psn::new(1), 9));
        assert!(missing.is_empty());
    }

    #[test]
    fn acknowledged_gaps_are_unexplained_unless_reported() {
        let mut missing = Missing::default();
        missing.add(gap(10, 2));
        missing.add(gap(20, 1));
        assert_eq!(missing.acknowledge(Psn::new(9)), None);
        missing.report(Psn::new(11));
        assert_eq!(missing.acknowledge(Psn::new(30)), None);
        missing.add(gap(40, 3));
        assert_eq!(missing.acknowledge(Psn::new(50)).map(|gap| gap.count), Some(3));
        missing.add(Gap { damaged: true, ..gap(60, 1) });
        assert_eq!((missing.count(), missing.contains(Psn::new(60))), (0, true));
        assert_eq!(missing.acknowledge(Psn::new(70)), None);
        assert!(missing.is_empty());
    }
}
