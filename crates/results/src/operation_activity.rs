//! What operations do in a period, whenever they started.

use crate::Millionths;

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// How many operations completed in a period, and for how long operations were open in it.
///
/// An operation that started in a measuring window may end after it, and one that ends in it may have
/// started before. A rate counts ends, and a mean counts time, so both look at all operations, and not
/// only at those that started in the window.
#[derive(Clone, Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(crate) struct OperationActivity {
    /// Operations that completed in the period.
    completed: u64,
    /// How long operations that ended were open in the period, all together (ps).
    ended_ps: u128,
    /// Starts of operations that are open at the end of the run (ps).
    open: Vec<u64>,
    /// Starts of failed operations of which nobody knows when they ended (ps).
    without_end: Vec<u64>,
}

/// A period of a run (ps): begin and end.
pub(crate) type Period = (u64, u64);

/// A period without bounds.
const ALWAYS: Period = (0, u64::MAX);

impl OperationActivity {
    /// Counts an operation that completed. Without a period, all of it counts.
    pub(crate) fn complete(&mut self, period: Option<Period>, start_ps: u64, end_ps: u64) {
        let is_in = period.is_none_or(|(from, to)| from <= end_ps && end_ps < to);
        self.completed += u64::from(is_in);
        self.end(period, start_ps, end_ps);
    }

    /// Counts an operation that failed.
    pub(crate) fn fail(&mut self, period: Option<Period>, start_ps: u64, end_ps: Option<u64>) {
        match end_ps {
            Some(end) => self.end(period, start_ps, end),
            None => self.without_end.push(start_ps),
        }
    }

    fn end(&mut self, period: Option<Period>, start_ps: u64, end_ps: u64) {
        self.ended_ps += u128::from(overlap(period.unwrap_or(ALWAYS), (start_ps, end_ps)));
    }

    /// Counts an operation that is open at the end of the run.
    pub(crate) fn remain_open(&mut self, start_ps: u64) {
        self.open.push(start_ps);
    }

    /// Operations that completed in a period, per second, rounded down; `None` if it has no length.
    pub(crate) fn per_second(&self, (from, to): Period) -> Option<u64> {
        let rate = u128::from(self.completed) * PS_PER_SECOND;
        rate.checked_div(to.saturating_sub(from).into()).map(saturated)
    }

    /// How many operations were open on average in a period; `None` if it has no length, or if it is
    /// not known how long a failed operation was open.
    pub(crate) fn open_mean(&self, period: Period, run_end_ps: u64) -> Option<Millionths> {
        let (from, to) = period;
        if self.without_end.iter().any(|start| *start < to) {
            return None;
        }
        let open = self.open.iter().map(|start| overlap(period, (*start, run_end_ps)));
        let open_ps = self.ended_ps + open.map(u128::from).sum::<u128>();
        let length = u128::from(to.saturating_sub(from));
        let scaled = open_ps.saturating_mul(Millionths::ONE.0.into()) + length / 2;
        scaled.checked_div(length).map(saturated).map(Millionths)
    }

    /// Adds what is counted of other operations.
    pub(crate) fn add(&mut self, other: &Self) {
        self.completed += other.completed;
        self.ended_ps += other.ended_ps;
        self.open.extend(&other.open);
        self.without_end.extend(&other.without_end);
    }
}

/// The time that two periods have in common (ps).
fn overlap((from, to): Period, (start, end): Period) -> u64 {
    end.min(to).saturating_sub(start.max(from))
}

fn saturated(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Period = (1_000, 3_000);

    /// The definition, over each instant of a period.
    fn open_on_average(operations: &[(u64, Option<u64>)], (from, to): Period) -> f64 {
        let is_open = |time: u64| {
            let open = |&&(start, end): &&(u64, Option<u64>)| {
                start <= time && end.is_none_or(|end| time < end)
            };
            operations.iter().filter(open).count() as f64
        };
        (from..to).map(is_open).sum::<f64>() / (to - from) as f64
    }

    #[test]
    fn a_window_counts_ends_and_time_in_it() {
        let operations = [
            (0, Some(999)),
            (200, Some(1_000)),
            (0, Some(3_500)),
            (1_500, Some(2_000)),
            (2_900, Some(2_999)),
            (2_900, Some(3_000)),
            (2_999, Some(3_001)),
            (3_100, Some(3_200)),
            (2_000, None),
            (500, None),
            (3_500, None),
        ];
        let mut activity = OperationActivity::default();
        for (start, end) in operations {
            match end {
                Some(end) => activity.complete(Some(WINDOW), start, end),
                None => activity.remain_open(start),
            }
        }
        assert_eq!(activity.per_second(WINDOW), Some(3 * 1_000_000_000_000 / 2_000));
        let mean = activity.open_mean(WINDOW, 4_000).unwrap();
        assert_eq!(mean.0 as f64 / 1e6, open_on_average(&operations, WINDOW));
    }

    /// What fails at an unknown time after the window does not matter to it.
    #[test]
    fn a_failure_at_an_unknown_time_leaves_the_mean_unknown() {
        let mut activity = OperationActivity::default();
        activity.fail(Some(WINDOW), 0, Some(2_000));
        activity.fail(Some(WINDOW), 3_000, None);
        assert_eq!(activity.open_mean(WINDOW, 4_000), Some(Millionths(500_000)));
        activity.fail(Some(WINDOW), 0, None);
        assert_eq!(activity.open_mean(WINDOW, 4_000), None);
        assert_eq!(activity.per_second(WINDOW), Some(0));
        assert_eq!(activity.per_second((5, 5)), None);
    }
}
