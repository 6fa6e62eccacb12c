//! Where the windows end in which parts of a network run.
//!
//! A window is as long as a frame takes at the least over a link that is cut: what a part sends in it
//! reaches another part behind its end. What comes from outside all parts, such as a link that fails,
//! happens in each of them, and a window ends before it: all that was sent until then is on its link.

use rocelab_units::{Duration, SimTime};

use crate::network::{Cut, Setting};
use crate::profile::Profile;

/// Where windows end.
#[derive(Debug)]
pub(super) struct Windows {
    /// The least time that a frame, or a transfer over NVLink, takes from part to part.
    lookahead: Duration,
    outside: Outside,
}

impl Windows {
    /// Where a topology is cut like this.
    pub(super) fn over<P: Profile>(setting: &Setting<P>, cut: &Cut) -> Self {
        let outside = Outside::new(setting.plan());
        let links = cut.links().iter().copied();
        Self { lookahead: setting.lookahead_between(links, |node| cut.part_of(node)), outside }
    }

    /// The last instant of the window that begins with what happens next, at `next`; none if that is
    /// behind `limit`, which no window reaches beyond.
    pub(super) fn end(&self, next: SimTime, limit: SimTime) -> Option<SimTime> {
        if next > limit {
            return None;
        }
        let before = |time: SimTime| SimTime::from_ps(time.ps().saturating_sub(1));
        // At a multiple of its length, as windows of units do: so none of those is split.
        let over = next.ps().checked_rem(self.lookahead.ps()).unwrap_or(0);
        let begin = SimTime::from_ps(next.ps() - over);
        let reached = before(begin.saturating_add(self.lookahead)).max(next);
        Some(reached.min(before(self.outside.after(next))).min(limit))
    }
}

/// When something happens that no node causes.
#[derive(Debug)]
struct Outside {
    /// Times of failures, ascending.
    steps: Vec<SimTime>,
    /// Time between two looks of the watchdogs.
    poll: Option<Duration>,
}

impl Outside {
    fn new(plan: &crate::Plan) -> Self {
        Self {
            steps: plan.failures.steps.iter().map(|step| step.at).collect(),
            poll: plan.failures.switch_watchdog.as_ref().map(|watchdog| watchdog.poll),
        }
    }

    /// The first such time after `now`.
    fn after(&self, now: SimTime) -> SimTime {
        let step = self.steps.partition_point(|&step| step <= now);
        let step = self.steps.get(step).copied().unwrap_or(SimTime::NEVER);
        let look = self.poll.map_or(SimTime::NEVER, |poll| {
            let poll = poll.ps().max(1);
            SimTime::from_ps((now.ps() / poll).saturating_add(1).saturating_mul(poll))
        });
        step.min(look)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ps: u64) -> SimTime {
        SimTime::from_ps(ps)
    }

    /// Windows of 100 ps, but for what happens outside.
    fn windows(steps: &[u64], poll: Option<u64>) -> Windows {
        let outside = Outside {
            steps: steps.iter().map(|&step| at(step)).collect(),
            poll: poll.map(|poll| at(poll).since(SimTime::ZERO)),
        };
        Windows { lookahead: at(100).since(SimTime::ZERO), outside }
    }

    fn end(windows: &Windows, next: u64) -> Option<u64> {
        windows.end(at(next), at(10_000)).map(SimTime::ps)
    }

    #[test]
    fn a_window_ends_before_the_first_frame_from_another_part() {
        let windows = windows(&[], None);
        assert_eq!([0, 7, 9_000].map(|next| end(&windows, next)), [99, 99, 9_099].map(Some));
    }

    #[test]
    fn a_window_ends_at_the_limit_and_none_begins_behind_it() {
        let windows = windows(&[], None);
        assert_eq!(
            [9_950, 10_000, 10_001].map(|next| end(&windows, next)),
            [Some(9_999), Some(10_000), None]
        );
        assert_eq!(windows.end(SimTime::NEVER, SimTime::from_ps(u64::MAX - 1)), None);
        assert_eq!(windows.end(at(u64::MAX - 5), SimTime::NEVER), Some(at(u64::MAX - 1)));
    }

    /// One that begins with what happens outside goes on until the next of that.
    #[test]
    fn a_window_ends_before_what_happens_outside() {
        let windows = windows(&[50, 130, 130, 131], None);
        assert_eq!(
            [0, 49, 50, 129, 130, 131, 132].map(|next| end(&windows, next)),
            [49, 49, 99, 129, 130, 199, 199].map(Some)
        );
    }

    #[test]
    fn a_window_ends_before_the_watchdogs_look() {
        let windows = windows(&[150], Some(70));
        assert_eq!(
            [0, 69, 70, 140, 150, 209].map(|next| end(&windows, next)),
            [69, 69, 99, 149, 199, 209].map(Some)
        );
    }

    /// Where frames take no time at all, a window is one instant.
    #[test]
    fn a_window_has_at_least_one_instant() {
        let windows = Windows { lookahead: Duration::ZERO, ..windows(&[], None) };
        assert_eq!(end(&windows, 7), Some(7));
    }
}
