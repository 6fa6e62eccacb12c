//! Reduces time series to a size that can be drawn, without losing a peak.

/// Number of parts into which a figure divides its time.
pub(crate) const BINS: u32 = 800;

/// The time that a figure spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) begin_ps: u64,
    /// Not before `begin_ps`.
    pub(crate) end_ps: u64,
}

impl Window {
    /// The beginning of part `bin` of `bins` equal parts (ps).
    pub(crate) fn edge(self, bins: u32, bin: u32) -> u64 {
        let after = u128::from(self.length_ps()) * u128::from(bin) / u128::from(bins.max(1));
        self.begin_ps + u64::try_from(after).unwrap_or(0)
    }

    pub(crate) fn length_ps(self) -> u64 {
        self.end_ps.saturating_sub(self.begin_ps)
    }
}

/// A quantity that keeps its value until it changes: instants (ps) in ascending order, each with
/// the new value. Before the first instant it is 0.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Steps {
    points: Vec<(u64, u64)>,
}

impl Steps {
    /// Makes steps of changes in any order: instant (ps) and the amount by which the value rises or
    /// falls.
    pub(crate) fn of_changes(mut changes: Vec<(u64, i64)>) -> Self {
        changes.sort_unstable();
        let mut steps = Self::default();
        let mut value = 0_i64;
        for (time, change) in changes {
            value = value.saturating_add(change);
            steps.set(time, u64::try_from(value).unwrap_or(0));
        }
        steps
    }

    /// Sets the value from `time_ps` on, which is not before the last instant.
    pub(crate) fn set(&mut self, time_ps: u64, value: u64) {
        match self.points.last_mut() {
            Some(last) if last.0 >= time_ps => last.1 = value,
            _ => self.points.push((time_ps, value)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    pub(crate) fn largest(&self) -> u64 {
        self.points.iter().map(|point| point.1).max().unwrap_or(0)
    }

    /// The last instant at which the value changed, or 0 (ps).
    pub(crate) fn end_ps(&self) -> u64 {
        self.points.last().map_or(0, |point| point.0)
    }

    #[cfg(test)]
    pub(crate) fn last(&self) -> Option<(u64, u64)> {
        self.points.last().copied()
    }

    /// Two values for each of `bins` equal parts of the window: the least and the greatest value of
    /// the quantity in that part, in the order in which they occurred.
    pub(crate) fn envelope(&self, window: Window, bins: u32) -> Vec<u64> {
        let mut values = Vec::with_capacity(2 * bins as usize);
        let mut next = self.points.partition_point(|point| point.0 <= window.begin_ps);
        let mut current = next.checked_sub(1).map_or(0, |before| self.points[before].1);
        for bin in 0..bins {
            let end = window.edge(bins, bin + 1);
            let (mut least, mut greatest) = (current, current);
            let mut rises = true;
            // The last part includes its end, so that the last instant is not left out.
            while let Some(&(time, value)) = self.points.get(next)
                && (time < end || (time == end && bin + 1 == bins))
            {
                if value < least {
                    (least, rises) = (value, false);
                }
                if value > greatest {
                    (greatest, rises) = (value, true);
                }
                current = value;
                next += 1;
            }
            values.extend(if rises { [least, greatest] } else { [greatest, least] });
        }
        values
    }

    /// The greatest value in each of `bins` equal parts of the window.
    pub(crate) fn peaks(&self, window: Window, bins: u32) -> Vec<u64> {
        self.envelope(window, bins).chunks(2).map(|pair| pair[0].max(pair[1])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(end_ps: u64) -> Window {
        Window { begin_ps: 0, end_ps }
    }

    fn steps(points: &[(u64, u64)]) -> Steps {
        let mut steps = Steps::default();
        for (time, value) in points {
            steps.set(*time, *value);
        }
        steps
    }

    #[test]
    fn a_peak_of_a_picosecond_is_seen() {
        let peak = steps(&[(0, 5), (1_234_567, 900), (1_234_568, 5)]);
        let values = peak.envelope(until(10_000_000), 10);
        assert_eq!(values.len(), 20);
        assert_eq!(values[2..4], [5, 900]);
        assert!(values.iter().enumerate().all(|(at, value)| at == 3 || *value == 5), "{values:?}");
    }

    #[test]
    fn a_fall_is_drawn_as_a_fall() {
        assert_eq!(steps(&[(0, 8), (15, 3)]).envelope(until(20), 2), [8, 8, 8, 3]);
        assert_eq!(steps(&[(5, 3)]).envelope(until(20), 2), [0, 3, 3, 3]);
    }

    #[test]
    fn the_last_instant_counts() {
        assert_eq!(steps(&[(20, 7)]).peaks(until(20), 2), [0, 7]);
        assert_eq!(steps(&[(0, 7)]).peaks(until(0), 2), [7, 7]);
    }

    #[test]
    fn a_window_may_begin_late() {
        let window = Window { begin_ps: 10, end_ps: 30 };
        assert_eq!(steps(&[(0, 8), (5, 4), (25, 3)]).envelope(window, 2), [4, 4, 4, 3]);
        assert_eq!(steps(&[(10, 8)]).envelope(window, 2), [8, 8, 8, 8]);
        assert_eq!([0, 1, 2].map(|bin| window.edge(2, bin)), [10, 20, 30]);
    }

    #[test]
    fn changes_add_up() {
        let open = Steps::of_changes(vec![(10, -1), (0, 1), (5, 1), (5, 1)]);
        assert_eq!(open, steps(&[(0, 1), (5, 3), (10, 2)]));
        assert_eq!((open.largest(), open.last()), (3, Some((10, 2))));
    }
}
