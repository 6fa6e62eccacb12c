//! The part of a run that its results are about.

use rocelab_units::SimTime;

/// The part of a run that flows, operations, links and percentiles are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasurePlan {
    /// Its begin.
    pub from: SimTime,
    /// Its end, later than its begin; without it, that of the run.
    pub to: Option<SimTime>,
}

impl MeasurePlan {
    /// Whether what starts at a time is counted.
    pub fn counts(&self, start: SimTime) -> bool {
        start >= self.from && self.to.is_none_or(|to| start < to)
    }

    /// Whether it has neither a begin nor an end of its own.
    pub fn is_the_whole_run(&self) -> bool {
        self.from == SimTime::ZERO && self.to.is_none()
    }

    /// Begin and end (ps); without an end of its own it ends later than everything.
    pub fn bounds_ps(&self) -> (u64, u64) {
        (self.from.ps(), self.to.map_or(u64::MAX, SimTime::ps))
    }

    /// Begin and end in a run that ended at a time; both are the same if the run was over before.
    pub fn within(&self, end: SimTime) -> (SimTime, SimTime) {
        let to = self.to.map_or(end, |to| to.min(end));
        (self.from.min(to), to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_starts_in_it_counts() {
        let at = SimTime::from_ps;
        let window = MeasurePlan { from: at(10), to: Some(at(20)) };
        let counted = [9, 10, 19, 20].map(|time| window.counts(at(time)));
        assert_eq!(counted, [false, true, true, false]);
        assert!(MeasurePlan { to: None, ..window }.counts(at(1_000)));
    }

    #[test]
    fn it_ends_with_the_run() {
        let at = SimTime::from_ps;
        let window = MeasurePlan { from: at(10), to: Some(at(20)) };
        let within = [30, 15, 5].map(|end| window.within(at(end)));
        assert_eq!(within, [(at(10), at(20)), (at(10), at(15)), (at(5), at(5))]);
    }
}
