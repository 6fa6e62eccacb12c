//! Goodput: the payload that receivers accepted, over a period in which the run was busy.

use serde::{Deserialize, Serialize};

use crate::DeliveryLog;
use crate::flow::bits_per_second;

/// The rate at which receivers accepted payload.
///
/// A few flows that complete long after all others would lower a mean over the whole run without
/// limit. So the period of the mean leaves them out, by a [rule](GoodputRule) that depends on when
/// flows started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goodput {
    /// The rule for the period.
    pub rule: GoodputRule,
    /// Payload that was accepted in the period (bytes).
    pub bytes: u64,
    /// Length of the period, above zero (ps).
    pub duration_ps: u64,
    /// What was accepted after the period. `None` if it is the whole run; older builds left it out
    /// where flows started all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<GoodputTail>,
}

/// The rule for the period of the goodput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GoodputRule {
    /// From the first start to the last one, if these are at least half of the run apart: flows
    /// started all the time. The period ends with the last bin of the [log](DeliveryLog) that ends
    /// by the last start, so up to 1 / 2,048 earlier: payload that came after that start is
    /// excluded.
    BetweenStarts,
    /// From the first start until 95 % of all accepted payload was accepted. This rule applies if
    /// [most](is_most) of what started arrived.
    #[serde(rename = "until-95-percent")]
    Until95Percent,
    /// From the first start to the end of the run. It applies if much of what started never
    /// arrived: then the time without it must count.
    WholeRun,
    /// The measuring window of the scenario, up to its end or that of the run.
    MeasuredWindow,
}

/// What was accepted after the period: by one rule the last 5 % of the payload, by another the
/// payload after the last start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoodputTail {
    /// Payload (bytes).
    pub bytes: u64,
    /// From the end of the period to the end of the run (ps).
    pub duration_ps: u64,
}

/// Whether `part` is at least 95 % of `whole`.
pub fn is_most(part: u64, whole: u64) -> bool {
    u128::from(part) * 20 >= u128::from(whole) * 19
}

/// When flows, or operations, started, and when the last of them ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct RunSpan {
    /// The first start (ps).
    pub first_start_ps: u64,
    /// The last start (ps).
    pub last_start_ps: u64,
    /// The last completion; the end of the run if something did not complete (ps).
    pub end_ps: u64,
}

impl RunSpan {
    /// The span of something that started at a time, and is not known to have ended.
    pub const fn starting_at(start_ps: u64) -> Self {
        Self { first_start_ps: start_ps, last_start_ps: start_ps, end_ps: start_ps }
    }

    /// The span of both together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            first_start_ps: self.first_start_ps.min(other.first_start_ps),
            last_start_ps: self.last_start_ps.max(other.last_start_ps),
            end_ps: self.end_ps.max(other.end_ps),
        }
    }

    /// The same span, extended to at least `end_ps`.
    #[must_use]
    pub fn until(self, end_ps: u64) -> Self {
        Self { end_ps: self.end_ps.max(end_ps), ..self }
    }
}

impl Goodput {
    /// The goodput of a log of accepted payload. `has_mostly_arrived` says whether [most](is_most)
    /// of what started arrived. `None` if nothing was accepted, or no time passed.
    pub fn of(accepted: &DeliveryLog, run: RunSpan, has_mostly_arrived: bool) -> Option<Self> {
        let RunSpan { first_start_ps, last_start_ps, end_ps } = run;
        let starting = last_start_ps.saturating_sub(first_start_ps);
        let all = end_ps.saturating_sub(first_start_ps);
        let total = accepted.total();
        if starting > 0 && u128::from(starting) * 2 >= all.into() {
            let before = accepted.bytes_before(first_start_ps);
            let until = accepted.bin_start(last_start_ps);
            let bytes = accepted.bytes_before(until).saturating_sub(before);
            let duration_ps = until.saturating_sub(first_start_ps);
            if bytes > 0 && duration_ps > 0 {
                let rule = GoodputRule::BetweenStarts;
                let rest = GoodputTail {
                    bytes: total - before - bytes,
                    duration_ps: end_ps.saturating_sub(until),
                };
                return Some(Self { rule, bytes, duration_ps, tail: Some(rest) });
            }
        }
        if !has_mostly_arrived {
            let rule = GoodputRule::WholeRun;
            let whole = Self { rule, bytes: total, duration_ps: all, tail: None };
            return (total > 0 && all > 0).then_some(whole);
        }
        let bytes = total - total / 20;
        let reached = if bytes > 0 { accepted.time_of(bytes)?.min(end_ps) } else { return None };
        let duration_ps = reached.saturating_sub(first_start_ps);
        let tail =
            GoodputTail { bytes: total - bytes, duration_ps: end_ps.saturating_sub(reached) };
        let rule = GoodputRule::Until95Percent;
        (duration_ps > 0).then_some(Self { rule, bytes, duration_ps, tail: Some(tail) })
    }

    /// The goodput of the log's [window](DeliveryLog::with_window), from a time to another, which is at most the end
    /// of the run (ps); of whatever started when. `None` if nothing was accepted, or the window has no length.
    pub fn of_window(accepted: &DeliveryLog, from_ps: u64, to_ps: u64) -> Option<Self> {
        let bytes = accepted.bytes_in_window();
        let duration_ps = to_ps.saturating_sub(from_ps);
        let rule = GoodputRule::MeasuredWindow;
        (bytes > 0 && duration_ps > 0).then_some(Self { rule, bytes, duration_ps, tail: None })
    }

    /// The rate in bit/s, rounded down.
    pub fn bps(&self) -> u64 {
        bits_per_second(self.bytes, self.duration_ps).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const US: u64 = 1_000_000;

    /// A log of flows of `bytes` each, accepted evenly between two times (us).
    fn log(flows: &[(u64, u64, u64)]) -> (DeliveryLog, RunSpan) {
        let mut log = DeliveryLog::with_origin(flows.iter().map(|flow| flow.0).min().unwrap() * US);
        let spans = flows.iter().map(|&(start, end, bytes)| {
            for packet in 0..1_000 {
                log.add(start * US + (end - start) * US * (packet + 1) / 1_000, bytes / 1_000);
            }
            RunSpan::starting_at(start * US).until(end * US)
        });
        let span = spans.reduce(RunSpan::with).unwrap();
        (log, span)
    }

    fn is_about(found: u64, expected: f64) -> bool {
        (found as f64 / expected - 1.0).abs() < 2e-3
    }

    #[test]
    fn one_slow_flow_does_not_divide_the_goodput_of_all_others() {
        // Ten flows of 100 Gbit/s for 100 us, and one that takes three times as long.
        let mut flows = vec![(0, 100, 1_250_000); 10];
        flows.push((0, 300, 50_000));
        let (log, span) = log(&flows);
        let goodput = Goodput::of(&log, span, true).unwrap();
        assert_eq!(goodput.rule, GoodputRule::Until95Percent);
        assert!(is_about(goodput.bps(), 1e12 + 50_000.0 * 8.0 / 300e-6), "{goodput:?}");
        let tail = goodput.tail.unwrap();
        assert_eq!(tail.bytes, 12_550_000 / 20);
        assert!(tail.duration_ps > 200 * US, "{tail:?}");
    }

    /// The width of the log's bins must not depend on the time of the last delivery.
    #[test]
    fn a_tail_of_any_length_leaves_the_goodput_as_it_is() {
        // Ten flows of 100 Gbit/s for 100 us, and one of 50 KB that takes 10,000 times as long.
        for end in [1_000, 100_000, 1_000_000, 1_000_000_000] {
            let mut flows = vec![(0, 100, 1_250_000); 10];
            flows.push((0, end, 50_000));
            let (log, span) = log(&flows);
            let goodput = Goodput::of(&log, span, true).unwrap();
            assert_eq!(goodput.rule, GoodputRule::Until95Percent);
            assert!((goodput.bps() as f64 / 1e12 - 1.0).abs() < 0.01, "{end}: {goodput:?}");
        }
    }

    #[test]
    fn flows_that_come_all_the_time_are_measured_while_they_come() {
        // One flow each 10 us, which takes 5 us; the last one takes 900.
        let mut flows: Vec<_> = (0..100).map(|k| (10 * k, 10 * k + 5, 1_000_000)).collect();
        flows.push((1_000, 1_900, 1_000_000));
        let (log, span) = log(&flows);
        let goodput = Goodput::of(&log, span, true).unwrap();
        assert_eq!(goodput.rule, GoodputRule::BetweenStarts);
        assert!(goodput.duration_ps <= 1_000 * US && is_about(goodput.duration_ps, 1e9));
        let rest = goodput.tail.unwrap();
        assert_eq!(rest.bytes, log.total() - goodput.bytes);
        assert_eq!(rest.duration_ps, 1_900 * US - goodput.duration_ps);
        assert!(is_about(goodput.bps(), 1e6 * 8.0 / 10e-6), "{goodput:?}");
        // If a run lasts longer, its flows do not start all the time any more.
        let longer = Goodput::of(&log, span.until(2_001 * US), true).unwrap();
        assert_eq!(longer.rule, GoodputRule::Until95Percent);
    }

    /// Payload within 1 / 2,048 after the last start is not counted as before it.
    #[test]
    fn what_comes_after_the_last_start_is_not_counted() {
        for last in [9_001, 10_000, 10_003, 16_775, 16_780] {
            let mut log = DeliveryLog::default();
            log.add(US, 1_000);
            (1..=10_000).for_each(|packet| log.add(last * US + packet * 82_000, 1_000));
            let starts = RunSpan::starting_at(0).with(RunSpan::starting_at(last * US));
            let goodput = Goodput::of(&log, starts.until((last + 820) * US), true).unwrap();
            assert_eq!((goodput.rule, goodput.bytes), (GoodputRule::BetweenStarts, 1_000));
            assert!(is_about(goodput.duration_ps, (last * US) as f64), "{goodput:?}");
            assert_eq!(goodput.tail.unwrap().bytes, 10_000_000);
        }
    }

    /// One of two flows makes no progress: the time in which nothing arrives counts.
    #[test]
    fn what_never_arrives_makes_the_goodput_that_of_the_whole_run() {
        let (log, span) = log(&[(0, 100, 1_250_000)]);
        let goodput = Goodput::of(&log, span.until(2_000 * US), is_most(log.total(), 2_500_000));
        let expected = Goodput {
            rule: GoodputRule::WholeRun,
            bytes: 1_250_000,
            duration_ps: 2_000 * US,
            tail: None,
        };
        assert_eq!(goodput, Some(expected));
        assert!(is_most(95, 100) && !is_most(94, 100) && is_most(0, 0));
        assert_eq!(Goodput::of(&DeliveryLog::default(), span, false), None);
    }

    #[test]
    fn no_window_is_zero() {
        let empty = DeliveryLog::default();
        for span in [RunSpan::starting_at(0), RunSpan::starting_at(0).until(5)] {
            assert_eq!(Goodput::of(&empty, span, true), None);
        }
        let mut at_once = DeliveryLog::with_origin(7);
        at_once.add(7, 100);
        assert_eq!(Goodput::of(&at_once, RunSpan::starting_at(7), true), None);
        // Nothing comes between the two starts.
        let mut late = DeliveryLog::default();
        late.add(100, 1_000);
        let span = RunSpan::starting_at(0).with(RunSpan::starting_at(90)).until(101);
        let goodput = Goodput::of(&late, span, true).unwrap();
        assert_eq!((goodput.rule, goodput.bytes), (GoodputRule::Until95Percent, 950));
        assert_eq!(goodput.duration_ps, 101);
    }

    proptest! {
        #[test]
        fn no_run_has_a_window_of_nothing(
            deliveries in prop::collection::vec((0_u64..1 << 45, 0_u64..9_000), 0..50),
            starts in prop::array::uniform2(0_u64..1 << 45),
            end in 0_u64..1 << 46,
        ) {
            let origin = starts[0].min(starts[1]);
            let mut log = DeliveryLog::with_origin(origin);
            deliveries.iter().for_each(|&(time, bytes)| log.add(time, bytes));
            let span = starts.map(RunSpan::starting_at).into_iter().reduce(RunSpan::with).unwrap();
            let goodput = Goodput::of(&log, span.until(end), true);
            if let Some(goodput) = goodput {
                prop_assert!(goodput.duration_ps > 0 && goodput.bytes > 0);
                prop_assert!(goodput.duration_ps <= span.until(end).end_ps - origin);
                let rest = goodput.tail.map_or(0, |tail| tail.bytes);
                prop_assert!(goodput.bytes + rest <= log.total());
            }
        }
    }
}
