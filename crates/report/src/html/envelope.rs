//! Time series made small enough to draw, without losing a peak.

/// Stretches of time that a figure tells apart.
pub(crate) const BINS: u32 = 800;

/// A quantity that holds its value until it changes: instants (ps) in ascending order, and the value
/// from each on. Before the first instant it is 0.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Steps {
    points: Vec<(u64, u64)>,
}

impl Steps {
    /// Of changes in any order: instant (ps) and by how much the value rises or falls then.
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

    /// The value from `time_ps` on, which is not before the last one.
    pub(crate) fn set(&mut self, time_ps: u64, value: u64) {
        match self.points.last_mut() {
            Some(last) if last.0 >= time_ps => last.1 = value,
            _ => self.points.push((time_ps, value)),
        }
    }

    pub(crate) fn largest(&self) -> u64 {
        self.points.iter().map(|point| point.1).max().unwrap_or(0)
    }

    pub(crate) fn last(&self) -> Option<(u64, u64)> {
        self.points.last().copied()
    }

    /// Two values for each of `bins` equal parts of the time from 0 to `end_ps`: least and greatest
    /// of what the quantity was in that part, in the order in which they came.
    pub(crate) fn envelope(&self, end_ps: u64, bins: u32) -> Vec<u64> {
        let mut values = Vec::with_capacity(2 * bins as usize);
        let mut next = 0;
        let mut current = 0;
        for bin in 0..bins {
            let end = edge(end_ps, bins, bin + 1);
            if bin == 0 && self.points.first().is_some_and(|first| first.0 == 0) {
                current = self.points[0].1;
                next = 1;
            }
            let (mut least, mut greatest) = (current, current);
            let mut rises = true;
            // The last bin includes its end, so that nothing is left out.
            while let Some(&(time, value)) = self.points.get(next)
                && (time < end || bin + 1 == bins)
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

    /// The greatest value in each of `bins` equal parts of the time from 0 to `end_ps`.
    pub(crate) fn peaks(&self, end_ps: u64, bins: u32) -> Vec<u64> {
        self.envelope(end_ps, bins).chunks(2).map(|pair| pair[0].max(pair[1])).collect()
    }
}

/// Where the part `bin` of the time from 0 to `end_ps` begins (ps).
pub(crate) fn edge(end_ps: u64, bins: u32, bin: u32) -> u64 {
    let edge = u128::from(end_ps) * u128::from(bin) / u128::from(bins.max(1));
    u64::try_from(edge).unwrap_or(end_ps)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let values = peak.envelope(10_000_000, 10);
        assert_eq!(values.len(), 20);
        assert_eq!(values[2..4], [5, 900]);
        assert!(values.iter().enumerate().all(|(at, value)| at == 3 || *value == 5), "{values:?}");
    }

    #[test]
    fn a_fall_is_drawn_as_a_fall() {
        assert_eq!(steps(&[(0, 8), (15, 3)]).envelope(20, 2), [8, 8, 8, 3]);
        assert_eq!(steps(&[(5, 3)]).envelope(20, 2), [0, 3, 3, 3]);
    }

    #[test]
    fn the_last_instant_counts() {
        assert_eq!(steps(&[(20, 7)]).peaks(20, 2), [0, 7]);
        assert_eq!(steps(&[(0, 7)]).peaks(0, 2), [7, 7]);
    }

    #[test]
    fn changes_add_up() {
        let open = Steps::of_changes(vec![(10, -1), (0, 1), (5, 1), (5, 1)]);
        assert_eq!(open, steps(&[(0, 1), (5, 3), (10, 2)]));
        assert_eq!((open.largest(), open.last()), (3, Some((10, 2))));
    }
}
