//! Trains of equal frames that cross links, without walking from frame to frame.
//!
//! A frame starts at a port when it has arrived and the port is free:
//! s(i) = max(a(i), s(i - 1) + slot). If the arrivals are a maximum of lines in i, so are the
//! starts: a line that is steeper than the slot stays as it is, a flatter one becomes as steep as
//! the slot from its first frame on, and the port adds the line that begins when it becomes free.
//! There are never more lines than links crossed.

use std::cmp::Reverse;

use rocelab_units::{Bandwidth, Bytes, Duration};

use super::messages::Selection;

/// Preamble and start-of-frame delimiter before a frame, and the gap behind it, in bytes.
const PREAMBLE: u64 = 8;
const INTERPACKET_GAP: u64 = 12;

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub(super) rate: Bandwidth,
    pub(super) delay: Duration,
    /// Whether the switch at its end acts on the first 64 bytes.
    pub(super) cuts_through: bool,
    /// Whether frames may cross it side by side, as they do where each may take another path.
    pub(super) is_parallel: bool,
    /// Whether it is a link of Ethernet: with a preamble and a gap. One of InfiniBand has neither.
    pub(super) is_ethernet: bool,
}

impl Hop {
    /// From the start of one frame to the next, in ps.
    fn slot(&self, len: u64) -> u64 {
        if !self.is_ethernet {
            return self.rate.transmission_time(Bytes::new(len)).ps();
        }
        self.rate.transmission_time(Bytes::new(PREAMBLE + len + INTERPACKET_GAP)).ps()
    }

    /// From the start of a frame to its arrival (that of its first bytes, where it cuts through), in
    /// ps.
    fn flight(&self, len: u64) -> u64 {
        let len = if self.cuts_through { len.min(64) } else { len };
        let preamble = if self.is_ethernet { PREAMBLE } else { 0 };
        let sending = self.rate.transmission_time(Bytes::new(preamble + len));
        sending.ps().saturating_add(self.delay.ps())
    }
}

/// Equal frames; frame i, from 0, is ready at the maximum over the lines of first + i x step.
/// Times are in ps and stick at the end of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Train {
    count: u64,
    len: u64,
    lines: Vec<Line>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    first: u64,
    step: u64,
}

impl Train {
    /// `count` frames of `len` bytes, all ready at `time`.
    pub(super) fn at(time: u64, count: u64, len: u64) -> Self {
        Self { count, len, lines: vec![Line { first: time, step: 0 }] }
    }

    /// When the last frame is ready.
    pub(super) fn last(&self) -> u64 {
        self.time(self.count - 1)
    }

    /// One frame of `len` bytes for each selected frame, ready when that is; none if no frame is
    /// selected.
    pub(super) fn every(&self, selection: Selection, len: u64) -> Option<Self> {
        let after = self.count.checked_sub(selection.first + 1)?;
        let line = |line: &Line| Line {
            first: line.first.saturating_add(line.step.saturating_mul(selection.first)),
            step: line.step.saturating_mul(selection.step),
        };
        let lines = self.lines.iter().map(line).collect();
        Some(Self { count: after / selection.step + 1, len, lines })
    }

    /// The arrivals behind `hop`, whose port is free from `free` on, and afterwards from the new
    /// `free` on.
    pub(super) fn cross(self, hop: &Hop, free: &mut u64) -> Self {
        match self.count {
            _ if hop.is_parallel => self.cross_side_by_side(hop),
            1 => self.cross_alone(hop, free),
            _ => self.cross_in_row(hop, free),
        }
    }

    /// As [`Self::cross`] where no frame waits for another.
    fn cross_side_by_side(mut self, hop: &Hop) -> Self {
        let flight = hop.flight(self.len);
        for line in &mut self.lines {
            line.first = line.first.saturating_add(flight);
        }
        self
    }

    /// As [`Self::cross`] for one frame, whose lines are points: the latest one is all that counts.
    fn cross_alone(mut self, hop: &Hop, free: &mut u64) -> Self {
        let start = self.last().max(*free);
        *free = start.saturating_add(hop.slot(self.len));
        self.lines.clear();
        self.lines.push(Line { first: start.saturating_add(hop.flight(self.len)), step: 0 });
        self
    }

    fn cross_in_row(mut self, hop: &Hop, free: &mut u64) -> Self {
        let slot = hop.slot(self.len);
        for line in &mut self.lines {
            line.step = line.step.max(slot);
        }
        self.lines.push(Line { first: *free, step: slot });
        self.drop_lower_lines();
        *free = self.last().saturating_add(slot);
        let flight = hop.flight(self.len);
        for line in &mut self.lines {
            line.first = line.first.saturating_add(flight);
        }
        self
    }

    fn time(&self, index: u64) -> u64 {
        let at = |line: &Line| line.first.saturating_add(line.step.saturating_mul(index));
        self.lines.iter().map(at).max().unwrap_or(0)
    }

    /// Drops lines that start no later than another that is at least as steep.
    fn drop_lower_lines(&mut self) {
        self.lines.sort_unstable_by_key(|line| Reverse((line.step, line.first)));
        let mut latest = None;
        self.lines.retain(|line| {
            let is_later = latest.is_none_or(|latest| line.first > latest);
            latest = latest.max(Some(line.first));
            is_later
        });
    }
}

#[cfg(test)]
mod tests {
    use rocelab_engine::RngStream;

    use super::*;

    /// Each frame by itself: the recurrence as it stands in the model.
    fn frame_by_frame(hops: &[Hop], trains: &[(u64, u64, u64)]) -> Vec<u64> {
        let mut free = vec![0; hops.len()];
        let mut arrivals = Vec::new();
        for &(ready, count, len) in trains {
            for _ in 0..count {
                let mut time = ready;
                for (hop, free) in hops.iter().zip(&mut free) {
                    time = time.max(*free);
                    *free = time + hop.slot(len);
                    time += hop.flight(len);
                }
                arrivals.push(time);
            }
        }
        arrivals
    }

    #[test]
    fn trains_arrive_as_their_frames_do() {
        let mut stream = RngStream::new(1, "trains");
        let rates = [1, 10, 25, 40, 100, 400, 3].map(Bandwidth::from_gbps);
        for _ in 0..500 {
            let hops: Vec<Hop> = (0..1 + stream.below(5))
                .map(|_| Hop {
                    rate: rates[usize::try_from(stream.below(7)).unwrap()],
                    delay: Duration::from_ps(stream.below(1_000_000)),
                    cuts_through: false,
                    is_parallel: false,
                    is_ethernet: true,
                })
                .collect();
            let trains: Vec<(u64, u64, u64)> = (0..1 + stream.below(6))
                .map(|i| (i * stream.below(500_000), 1 + stream.below(12), 64 + stream.below(1500)))
                .collect();
            let mut free = vec![0; hops.len()];
            let mut arrivals = Vec::new();
            for &(ready, count, len) in &trains {
                let train = hops
                    .iter()
                    .zip(&mut free)
                    .fold(Train::at(ready, count, len), |train, (hop, free)| {
                        train.cross(hop, free)
                    });
                arrivals.extend((0..count).map(|i| train.time(i)));
            }
            assert_eq!(arrivals, frame_by_frame(&hops, &trains), "{hops:?} {trains:?}");
        }
    }

    #[test]
    fn selected_frames_keep_their_times() {
        let train = Train { count: 10, len: 100, lines: vec![Line { first: 7, step: 3 }] };
        let every_fourth = train.every(Selection { first: 2, step: 4 }, 66).unwrap();
        assert_eq!(every_fourth.count, 2);
        assert_eq!([every_fourth.time(0), every_fourth.time(1)], [13, 25]);
        assert_eq!(train.every(Selection { first: 10, step: 1 }, 66), None);
    }

    #[test]
    fn endless_trains_stick_at_the_end_of_time() {
        let rate = Bandwidth::from_bps(1);
        let hop = Hop {
            rate,
            delay: Duration::ZERO,
            cuts_through: false,
            is_parallel: false,
            is_ethernet: true,
        };
        let mut free = 0;
        assert_eq!(Train::at(0, u64::MAX, 1500).cross(&hop, &mut free).last(), u64::MAX);
        assert_eq!(free, u64::MAX);
    }
}
