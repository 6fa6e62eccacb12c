//! PSNs of packets whose checksum is wrong.

use std::collections::VecDeque;

use rocelab_wire::Psn;

use super::missing::Gap;

/// Number of runs of consecutive PSNs that are remembered; the oldest is forgotten first.
const REMEMBERED: usize = 32;

/// Most PSNs of a run: more than any window, and few enough that before and after are certain.
const LONGEST: u32 = 1 << 16;

/// The PSNs of packets that were captured with a wrong checksum, so that nothing in them is certain.
///
/// Their PSN may itself be what is wrong. It is believed only where it fits: in a gap of the other packets.
#[derive(Debug, Default)]
pub(super) struct Damaged(VecDeque<Run>);

/// Consecutive PSNs.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: Psn,
    count: u32,
}

impl Run {
    fn end(&self) -> Psn {
        self.first.wrapping_add(self.count)
    }
}

impl Damaged {
    /// Adds a packet that takes `count` PSNs.
    pub(super) fn add(&mut self, psn: Psn, count: u32) {
        let count = count.min(LONGEST);
        if let Some(last) = self.0.back_mut()
            && last.end() == psn
            && last.count + count <= LONGEST
        {
            last.count += count;
            return;
        }
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(Run { first: psn, count });
    }

    /// The parts of a gap, in their order: those that damaged packets explain, and the others.
    pub(super) fn split(&self, first: Psn, count: u32) -> Vec<Gap> {
        let end = first.wrapping_add(count);
        let mut parts = Vec::new();
        let mut at = first;
        while at.is_before(end) {
            let to = |psn: Psn| if psn.is_before(end) { psn } else { end };
            let inside =
                self.0.iter().find(|run| !at.is_before(run.first) && at.is_before(run.end()));
            let next = match inside {
                Some(run) => to(run.end()),
                None => {
                    let later =
                        self.0.iter().map(|run| run.first).filter(|first| first.is_after(at));
                    later.fold(
                        end,
                        |nearest, first| if first.is_before(nearest) { first } else { nearest },
                    )
                }
            };
            let count = next.distance_from(at).unsigned_abs();
            parts.push(Gap { first: at, count, reported: false, damaged: inside.is_some() });
            at = next;
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(damaged: &Damaged, first: u32, count: u32) -> Vec<(u32, u32, bool)> {
        let parts = damaged.split(Psn::new(first), count);
        parts.iter().map(|gap| (gap.first.value(), gap.count, gap.damaged)).collect()
    }

    #[test]
    fn a_gap_is_divided_where_damaged_packets_are() {
        let mut damaged = Damaged::default();
        assert_eq!(split(&damaged, 5, 3), [(5, 3, false)]);
        damaged.add(Psn::new(6), 1);
        damaged.add(Psn::new(7), 1);
        damaged.add(Psn::new(2), 1);
        assert_eq!(split(&damaged, 6, 2), [(6, 2, true)]);
        assert_eq!(split(&damaged, 7, 1), [(7, 1, true)]);
        assert_eq!(
            split(&damaged, 0, 10),
            [(0, 2, false), (2, 1, true), (3, 3, false), (6, 2, true), (8, 2, false)]
        );
        damaged.add(Psn::new(0xff_ffff), 3);
        // A read of 4 GiB, whose length may be what is wrong.
        damaged.add(Psn::new(100), u32::MAX);
        damaged.add(Psn::new(100 + LONGEST), u32::MAX);
        assert_eq!(split(&damaged, 99, 3), [(99, 1, false), (100, 2, true)]);
        assert_eq!(split(&damaged, 0xff_fffe, 3), [(0xff_fffe, 1, false), (0xff_ffff, 2, true)]);
    }
}
