//! Sampled quantities. A file more that a run may leave is an entry more in [`SAMPLED`].

use std::collections::BTreeMap;

use rocelab_results::{Results, ResultsError, SeriesFile};
use serde::Serialize;

use super::envelope::Steps;
use super::ports::Ports;

/// What the numbers of a figure or a table column are; the page formats them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Quantity {
    Text,
    Count,
    /// How long something takes (ps).
    Time,
    /// When something is, from the start of the run (ps).
    Moment,
    Bytes,
    /// Bits per second.
    Rate,
    /// A ratio; in [maps](super::map), thousandths.
    Ratio,
}

/// A quantity that a run may sample.
#[derive(Debug)]
pub(crate) struct Sampled {
    /// Its name within the page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) quantity: Quantity,
    /// Where it is.
    file: SeriesFile,
    holds: Holds,
    /// What to do if it is not there.
    pub(crate) missing: &'static str,
}

/// For which time a sample stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// From its time on, until the next.
    After,
    /// For the interval that ends at its time.
    Before,
}

/// All quantities that may be sampled, in the order in which they are drawn.
pub(crate) const SAMPLED: [Sampled; 5] = [
    Sampled {
        id: "queue",
        title: "Queues",
        quantity: Quantity::Bytes,
        file: SeriesFile { path: "queues.csv", value: "bytes" },
        holds: Holds::After,
        missing: "Queues were not sampled. Put [sample.queues] with interval and ports into the \
                  scenario, and run it again.",
    },
    Sampled {
        id: "rate",
        title: "Allowed rates",
        quantity: Quantity::Rate,
        file: SeriesFile { path: "samples/rates.csv", value: "rate_bps" },
        holds: Holds::After,
        missing: "Flows were not sampled. Put [sample.rates] with interval, and perhaps flows, into \
                  the scenario, and run it again.",
    },
    Sampled {
        id: "flow-goodput",
        title: "Goodput of flows",
        quantity: Quantity::Rate,
        file: SeriesFile { path: "samples/rates.csv", value: "goodput_bps" },
        holds: Holds::Before,
        missing: "Flows were not sampled. Put [sample.rates] with interval, and perhaps flows, into \
                  the scenario, and run it again.",
    },
    Sampled {
        id: "marks",
        title: "ECN marks",
        quantity: Quantity::Count,
        file: SeriesFile { path: "samples/marks.csv", value: "marks" },
        holds: Holds::Before,
        missing: "Marks were not sampled. Put [sample.marks] with interval and ports into the \
                  scenario, and run it again. The table of links has their sums.",
    },
    Sampled {
        id: "utilisation",
        title: "Sending rates of ports",
        quantity: Quantity::Rate,
        file: SeriesFile { path: "samples/utilisation.csv", value: "rate_bps" },
        holds: Holds::Before,
        missing: "What ports send was not sampled. Put [sample.utilisation] with interval and ports \
                  into the scenario, and run it again. The table of links has the means.",
    },
];

/// The samples of one quantity. What was not written between two samples was zero.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    pub(crate) series: BTreeMap<Sampler, Steps>,
}

/// What a series of samples is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sampler {
    /// The direction that the port sends in.
    pub(crate) direction: usize,
    pub(crate) priority: Option<u8>,
    pub(crate) flow: Option<u64>,
}

impl Sampler {
    /// `leaf-0:4 p3`, or `flow 7 of host-1`.
    pub(crate) fn label(self, ports: &Ports) -> String {
        if let Some(flow) = self.flow {
            return format!("flow {flow} of {}", ports.directions[self.direction].record.from);
        }
        let port = ports.label(self.direction);
        self.priority.map_or(port.clone(), |number| format!("{port} p{number}"))
    }
}

/// A sample on its way into a series.
#[derive(Clone, Copy, Debug)]
struct Point {
    time: u64,
    /// The sampling time before it at which anything was written.
    since: u64,
    value: u64,
}

impl Sampled {
    /// Reads the file; `None` if there is none.
    pub(crate) fn read(
        &self,
        results: &Results,
        ports: &Ports,
    ) -> Result<Option<Samples>, ResultsError> {
        let Some(reader) = results.series(self.file)? else { return Ok(None) };
        let mut raw: BTreeMap<Sampler, Vec<Point>> = BTreeMap::new();
        let mut times = Times::default();
        for sample in reader {
            let sample = sample?;
            times.note(sample.time_ps);
            let Some(direction) = ports.direction(&sample.node, sample.port) else { continue };
            let of = Sampler { direction, priority: sample.priority, flow: sample.flow };
            let (time, since, value) = (sample.time_ps, times.before, sample.value);
            raw.entry(of).or_default().push(Point { time, since, value });
        }
        let interval = times.interval();
        let run_ps = results.summary().simulated_ps;
        let steps = |points: &[Point]| steps(points, interval, self.holds, run_ps);
        Ok(Some(Samples {
            series: raw.into_iter().map(|(of, points)| (of, steps(&points))).collect(),
        }))
    }
}

/// Finds the interval of samples by their times, which come in order.
#[derive(Debug, Default)]
struct Times {
    last: Option<u64>,
    /// The time before the last one; 0 if there is none.
    before: u64,
    /// The least distance between two times, the last two left out: a run may end within an interval.
    least: Option<u64>,
}

impl Times {
    fn note(&mut self, time: u64) {
        match self.last {
            Some(last) if last >= time => {}
            Some(last) => {
                if self.before < last {
                    let apart = last - self.before;
                    self.least = Some(self.least.map_or(apart, |least| least.min(apart)));
                }
                self.before = last;
                self.last = Some(time);
            }
            None => self.last = Some(time),
        }
    }

    /// The interval; `None` if it cannot be told.
    fn interval(&self) -> Option<u64> {
        self.least.or_else(|| self.last.map(|last| last - self.before).filter(|apart| *apart > 0))
    }
}

/// The samples at `points` of a run that ended at `run_ps`, zero where one is left out.
fn steps(points: &[Point], interval: Option<u64>, holds: Holds, run_ps: u64) -> Steps {
    let interval = interval.unwrap_or(u64::MAX);
    let mut steps = Steps::default();
    let mut end = None;
    for point in points {
        let (from, until) = match holds {
            Holds::After => (point.time, point.time.saturating_add(interval)),
            Holds::Before => (point.time.saturating_sub(interval).max(point.since), point.time),
        };
        if let Some(end) = end.filter(|end| *end < from) {
            steps.set(end, 0);
        }
        steps.set(from, point.value);
        end = Some(until);
    }
    if let Some(end) = end.filter(|end| *end < run_ps) {
        steps.set(end, 0);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::super::envelope::Window;
    use super::*;

    const WINDOW: Window = Window { begin_ps: 0, end_ps: 80 };

    fn points(all: &[(u64, u64)]) -> (Vec<Point>, Option<u64>) {
        let mut times = Times::default();
        let point = |&(time, value): &(u64, u64)| {
            times.note(time);
            Point { time, since: times.before, value }
        };
        let points = all.iter().map(point).collect();
        (points, times.interval())
    }

    #[test]
    fn samples_that_are_left_out_were_zero() {
        let (points, interval) = points(&[(10, 5), (20, 6), (50, 7)]);
        let steps = steps(&points, interval, Holds::After, 80);
        let expected = [0, 0, 0, 5, 5, 6, 6, 0, 0, 0, 0, 7, 7, 0, 0, 0];
        assert_eq!(steps.envelope(WINDOW, 8), expected);
    }

    #[test]
    fn what_counts_over_an_interval_is_drawn_over_it() {
        // The run ends in the middle of an interval.
        let (points, interval) = points(&[(10, 5), (20, 6), (50, 7), (60, 8), (64, 9)]);
        assert_eq!(interval, Some(10));
        let steps = steps(&points, interval, Holds::Before, 80);
        // In halves, because the last part includes its end.
        let at = |time| steps.envelope(Window { begin_ps: time, end_ps: time + 1 }, 2)[0];
        let expected = [(0, 5), (9, 5), (10, 6), (20, 0), (39, 0), (40, 7), (50, 8), (60, 9)];
        assert_eq!(expected.map(|(time, _)| (time, at(time))), expected);
        assert_eq!(at(64), 0);
    }

    #[test]
    fn a_curve_does_not_fall_because_the_run_is_over() {
        let (points, interval) = points(&[(10, 5), (20, 6)]);
        assert_eq!(steps(&points, interval, Holds::Before, 20).last(), Some((10, 6)));
        assert_eq!(steps(&points, interval, Holds::Before, 21).last(), Some((20, 0)));
    }

    #[test]
    fn one_sample_has_no_interval() {
        let (points, interval) = points(&[(10, 5)]);
        // From 0 on, as far as anybody knows.
        assert_eq!(interval, Some(10));
        assert_eq!(steps(&points, None, Holds::After, 80).last(), Some((10, 5)));
    }
}
