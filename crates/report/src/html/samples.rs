//! Sampled quantities. To add a file of samples, add an entry to [`SAMPLED`].

use std::collections::{BTreeMap, BTreeSet};

use rocelab_results::{
    FlowStatus, Results, ResultsError, SampleInterval, SeriesFile, SeriesReader, SeriesSample,
};
use serde::Serialize;

use super::envelope::{Steps, Window};
use super::marking::marking_thresholds;
use super::ports::Ports;
use super::resolved::Resolved;
use super::sampled_ports::sampled_ports;

/// The meaning of the numbers in a figure or table column; the page formats them accordingly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Quantity {
    Text,
    Count,
    /// A duration (ps).
    Time,
    /// A time since the start of the run (ps).
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
    /// Its identifier within the page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) quantity: Quantity,
    /// The section `[sample.NAME]` of a scenario that enables it.
    section: &'static str,
    /// The file with the samples.
    file: SeriesFile,
    /// Thresholds that are drawn with the series that has the greatest values: what they are called, and their column
    /// in the same file.
    limits: &'static [(&'static str, &'static str)],
    holds: Holds,
    /// What to do if there are no samples.
    pub(crate) missing: &'static str,
}

/// The period for which a sample is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// From its time until the next sample.
    After,
    /// The interval that ends at its time.
    Before,
}

/// What to do without close samples of flows.
const FLOWS_MISSING: &str = "Flows were not looked at closely. Put [sample.flows] with interval, and perhaps flows, into \
                             the scenario, and run it again.";

/// What to do without samples of ingress ports.
const INGRESS_MISSING: &str = "What ingress ports hold was not sampled. Put [sample.ingress] with interval and ports \
                               into the scenario, and run it again.";

/// All quantities that may be sampled, in the order of the page.
pub(crate) const SAMPLED: [Sampled; 12] = [
    Sampled {
        id: "queue",
        title: "Queues",
        quantity: Quantity::Bytes,
        section: "queues",
        file: SeriesFile { path: "queues.csv", value: "queue_bytes" },
        limits: &[],
        holds: Holds::After,
        missing: "Queues were not sampled. Put [sample.queues] with interval and ports into the \
                  scenario, and run it again.",
    },
    Sampled {
        id: "ingress",
        title: "Memory held by ingress ports",
        quantity: Quantity::Bytes,
        section: "ingress",
        file: SeriesFile { path: "samples/ingress.csv", value: "held_bytes" },
        limits: &[("XOFF", "xoff_bytes"), ("XON", "xon_bytes")],
        holds: Holds::After,
        missing: INGRESS_MISSING,
    },
    Sampled {
        id: "headroom",
        title: "Headroom in use",
        quantity: Quantity::Bytes,
        section: "ingress",
        file: SeriesFile { path: "samples/ingress.csv", value: "headroom_bytes" },
        limits: &[("reserved", "headroom_limit_bytes")],
        holds: Holds::After,
        missing: INGRESS_MISSING,
    },
    Sampled {
        id: "shared-pool",
        title: "Shared pools of switches",
        quantity: Quantity::Bytes,
        section: "ingress",
        file: SeriesFile { path: "samples/memory.csv", value: "shared_bytes" },
        limits: &[("size", "shared_limit_bytes")],
        holds: Holds::After,
        missing: INGRESS_MISSING,
    },
    Sampled {
        id: "rate",
        title: "Allowed rates",
        quantity: Quantity::Rate,
        section: "rates",
        file: SeriesFile { path: "samples/rates.csv", value: "rate_bps" },
        limits: &[],
        holds: Holds::After,
        missing: "Flows were not sampled. Put [sample.rates] with interval, and perhaps flows, into \
                  the scenario, and run it again.",
    },
    Sampled {
        id: "flow-goodput",
        title: "Goodput of flows",
        quantity: Quantity::Rate,
        section: "rates",
        file: SeriesFile { path: "samples/rates.csv", value: "goodput_bps" },
        limits: &[],
        holds: Holds::Before,
        missing: "Flows were not sampled. Put [sample.rates] with interval, and perhaps flows, into \
                  the scenario, and run it again.",
    },
    Sampled {
        id: "rtt",
        title: "Round trips",
        quantity: Quantity::Time,
        section: "flows",
        file: SeriesFile { path: "samples/flows.csv", value: "rtt_ps" },
        limits: &[],
        holds: Holds::After,
        missing: FLOWS_MISSING,
    },
    Sampled {
        id: "in-flight",
        title: "Bytes in flight",
        quantity: Quantity::Bytes,
        section: "flows",
        file: SeriesFile { path: "samples/flows.csv", value: "in_flight_bytes" },
        limits: &[],
        holds: Holds::After,
        missing: FLOWS_MISSING,
    },
    Sampled {
        id: "cnps",
        title: "CNPs of flows",
        quantity: Quantity::Count,
        section: "flows",
        file: SeriesFile { path: "samples/flows.csv", value: "cnps" },
        limits: &[],
        holds: Holds::Before,
        missing: FLOWS_MISSING,
    },
    Sampled {
        id: "out-of-order",
        title: "Packets out of order",
        quantity: Quantity::Count,
        section: "flows",
        file: SeriesFile { path: "samples/flows.csv", value: "out_of_order" },
        limits: &[],
        holds: Holds::Before,
        missing: FLOWS_MISSING,
    },
    Sampled {
        id: "marks",
        title: "ECN marks",
        quantity: Quantity::Count,
        section: "marks",
        file: SeriesFile { path: "samples/marks.csv", value: "marks" },
        limits: &[],
        holds: Holds::Before,
        missing: "Marks were not sampled. Put [sample.marks] with interval and ports into the \
                  scenario, and run it again. The table of links has their sums.",
    },
    Sampled {
        id: "utilisation",
        title: "Sending rates of ports",
        quantity: Quantity::Rate,
        section: "utilisation",
        file: SeriesFile { path: "samples/utilisation.csv", value: "rate_bps" },
        limits: &[],
        holds: Holds::Before,
        missing: "What ports send was not sampled. Put [sample.utilisation] with interval and ports \
                  into the scenario, and run it again. The table of links has the means.",
    },
];

/// The samples of one quantity. A missing sample means zero.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    pub(crate) series: BTreeMap<Sampler, Steps>,
    /// Thresholds of the series with the greatest values, with their names.
    pub(crate) limits: Vec<(&'static str, Steps)>,
    /// The directions of ports that were sampled. Of others nothing is known, which is not zero.
    pub(crate) sampled: BTreeSet<usize>,
    /// When sampled flows were open. Before and after it a flow has no rate, which is not zero.
    pub(crate) open: BTreeMap<u64, Window>,
}

impl Samples {
    /// When the sampled port or flow had values: a flow while it was open, a port always (`None`).
    pub(crate) fn open(&self, of: Sampler) -> Option<Window> {
        self.open.get(&of.flow?).copied()
    }

    /// The series that has the greatest value, if it has any above zero.
    fn greatest(&self) -> Option<Sampler> {
        let order = |(of, steps): &(&Sampler, &Steps)| (steps.largest(), std::cmp::Reverse(**of));
        let (of, steps) = self.series.iter().max_by_key(order)?;
        (steps.largest() > 0).then_some(*of)
    }
}

/// What was sampled: a port, a flow there, or the whole node of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sampler {
    /// The direction in which the port sends.
    pub(crate) direction: usize,
    pub(crate) priority: Option<u8>,
    pub(crate) flow: Option<u64>,
    /// Whether it is of the whole node.
    pub(crate) of_node: bool,
}

impl Sampler {
    /// Where a sample was taken; `None` if there is no such port.
    fn of(sample: &SeriesSample, ports: &Ports) -> Option<Self> {
        let direction = ports.direction(&sample.node, sample.port)?;
        let (priority, flow, of_node) = (sample.priority, sample.flow, sample.of_node);
        Some(Self { direction, priority, flow, of_node })
    }

    /// `leaf-0:4 p3`, `flow 7 of host-1`, or `leaf-0`.
    pub(crate) fn label(self, ports: &Ports) -> String {
        if let Some(flow) = self.flow {
            return format!("flow {flow} of {}", ports.directions[self.direction].record.from);
        }
        if self.of_node {
            return ports.directions[self.direction].record.from.to_string();
        }
        let port = ports.label(self.direction);
        self.priority.map_or(port.clone(), |number| format!("{port} p{number}"))
    }
}

/// All samples, in the order of [`SAMPLED`]; `None` for quantities without samples. Intervals are
/// only read if there are any samples.
pub(crate) fn samples(
    results: &Results,
    ports: &Ports,
) -> Result<Vec<Option<Samples>>, ResultsError> {
    let mut intervals = None;
    let resolved = Resolved::read(results);
    let nodes = results.nodes()?.unwrap_or_default();
    let mut all = Vec::with_capacity(SAMPLED.len());
    for sampled in &SAMPLED {
        let Some(reader) = results.series(sampled.file)? else {
            all.push(None);
            continue;
        };
        let intervals = match &mut intervals {
            Some(known) => known,
            unknown => unknown.insert(results.sample_intervals()?),
        };
        let mut samples = sampled.read(results, reader, intervals, ports)?;
        samples.sampled.extend(sampled_ports(&resolved, sampled.section, ports, &nodes));
        if let Some(greatest) = samples.greatest().filter(|_| sampled.id == "queue") {
            samples.limits = marking_thresholds(&resolved, &ports.directions[greatest.direction]);
        }
        all.push(Some(samples));
    }
    let open = open_times(results, all.iter().flatten())?;
    for samples in all.iter_mut().flatten() {
        let of_flows = samples.series.keys().filter_map(|of| of.flow);
        samples.open = of_flows.filter_map(|flow| Some((flow, *open.get(&flow)?))).collect();
    }
    Ok(all)
}

/// When the sampled flows were open. No file has the time at which a flow failed: it is taken as open until the
/// end of its samples.
fn open_times<'a>(
    results: &Results,
    samples: impl Iterator<Item = &'a Samples>,
) -> Result<BTreeMap<u64, Window>, ResultsError> {
    let mut last: BTreeMap<u64, u64> = BTreeMap::new();
    for (of, steps) in samples.flat_map(|samples| &samples.series) {
        let Some(flow) = of.flow else { continue };
        let end = last.entry(flow).or_default();
        *end = (*end).max(steps.end_ps());
    }
    let mut open = BTreeMap::new();
    if last.is_empty() {
        return Ok(open);
    }
    for flow in results.flows()? {
        let flow = flow?;
        let Some(&samples_end) = last.get(&flow.flow) else { continue };
        let end_ps = match (flow.fct_ps, flow.status) {
            (Some(fct), _) => flow.start_ps.saturating_add(fct),
            (None, FlowStatus::Unfinished) => results.summary().simulated_ps,
            (None, _) => samples_end,
        };
        let begin_ps = flow.start_ps;
        open.insert(flow.flow, Window { begin_ps, end_ps: end_ps.max(begin_ps) });
    }
    Ok(open)
}

/// Sampling intervals by the names of their sections.
type Intervals = BTreeMap<String, SampleInterval>;

/// A sample before it is in a series: its time (ps), and its value.
type Point = (u64, u64);

impl Sampled {
    fn read(
        &self,
        results: &Results,
        reader: SeriesReader,
        intervals: &Intervals,
        ports: &Ports,
    ) -> Result<Samples, ResultsError> {
        let interval = self.interval(results, intervals)?;
        let mut raw: BTreeMap<Sampler, Vec<Point>> = BTreeMap::new();
        for sample in reader {
            let sample = sample?;
            let Some(of) = Sampler::of(&sample, ports) else { continue };
            raw.entry(of).or_default().push((sample.time_ps, sample.value));
        }
        let run_ps = results.summary().simulated_ps;
        let steps = |points: &[Point]| steps(points, interval, self.holds, run_ps);
        let series: BTreeMap<Sampler, Steps> =
            raw.into_iter().map(|(of, points)| (of, steps(&points))).collect();
        let sampled = series.keys().map(|of| of.direction).collect();
        let mut samples = Samples { series, sampled, ..Samples::default() };
        if let Some(greatest) = samples.greatest() {
            samples.limits = self.limits_of(greatest, results, ports)?;
        }
        Ok(samples)
    }

    /// The thresholds of one series. Between samples that were left out they are as at the one before.
    fn limits_of(
        &self,
        of: Sampler,
        results: &Results,
        ports: &Ports,
    ) -> Result<Vec<(&'static str, Steps)>, ResultsError> {
        let mut limits = Vec::new();
        for &(name, value) in self.limits {
            let mut steps = Steps::default();
            for sample in results.series(SeriesFile { value, ..self.file })?.into_iter().flatten() {
                let sample = sample?;
                if Sampler::of(&sample, ports) == Some(of) {
                    let begin = if steps.is_empty() { 0 } else { sample.time_ps };
                    steps.set(begin, sample.value);
                    steps.set(sample.time_ps, sample.value);
                }
            }
            if !steps.is_empty() {
                limits.push((name, steps));
            }
        }
        Ok(limits)
    }

    /// The time between two samples.
    fn interval(
        &self,
        results: &Results,
        intervals: &Intervals,
    ) -> Result<SampleInterval, ResultsError> {
        if let Some(interval) = intervals.get(self.section).filter(|of| of.first_ps > 0) {
            return Ok(*interval);
        }
        Err(ResultsError::Malformed {
            path: results.path().join(self.file.path),
            reason: format!(
                "for how long its values hold is not known: scenario.resolved.toml beside it has no \
                 `sample.{}.interval` above zero",
                self.section
            ),
        })
    }
}

/// The steps of the samples at `points` of a run that ended at `run_ps`; a missing sample is zero.
/// Samples are taken at multiples of the interval. Quantities that are measured over an interval
/// have one more sample, at the end of the run, for the last, incomplete interval.
fn steps(points: &[Point], interval: SampleInterval, holds: Holds, run_ps: u64) -> Steps {
    let mut steps = Steps::default();
    let mut end = None;
    for &(time, value) in points {
        let (from, until) = match holds {
            Holds::After => (time, time.saturating_add(interval.from(time))),
            Holds::Before => (interval.start_of(time), time),
        };
        if let Some(end) = end.filter(|end| *end < from) {
            steps.set(end, 0);
        }
        steps.set(from, value);
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

    const TEN: SampleInterval = SampleInterval { first_ps: 10, double_after: None };
    const WINDOW: Window = Window { begin_ps: 0, end_ps: 80 };

    #[test]
    fn samples_that_are_left_out_were_zero() {
        let steps = steps(&[(10, 5), (20, 6), (50, 7)], TEN, Holds::After, 80);
        let expected = [0, 0, 0, 5, 5, 6, 6, 0, 0, 0, 0, 7, 7, 0, 0, 0];
        assert_eq!(steps.envelope(WINDOW, 8), expected);
    }

    #[test]
    fn what_counts_over_an_interval_is_drawn_over_it() {
        // The run ends in the middle of an interval.
        let steps = steps(&[(10, 5), (20, 6), (50, 7), (60, 8), (64, 9)], TEN, Holds::Before, 80);
        // In two parts, because the last part includes its end.
        let at = |time| steps.envelope(Window { begin_ps: time, end_ps: time + 1 }, 2)[0];
        let expected = [(0, 5), (9, 5), (10, 6), (20, 0), (39, 0), (40, 7), (50, 8), (60, 9)];
        assert_eq!(expected.map(|(time, _)| (time, at(time))), expected);
        assert_eq!(at(64), 0);
    }

    #[test]
    fn few_samples_far_apart_hold_for_their_interval_and_no_longer() {
        let after = steps(&[(10, 5), (50, 7)], TEN, Holds::After, 80);
        assert_eq!(after.envelope(WINDOW, 8)[2..8], [0, 5, 5, 0, 0, 0]);
        // If a run ended in its first interval, its sample holds from the start on.
        let before = steps(&[(7, 5)], TEN, Holds::Before, 7);
        assert_eq!(before.last(), Some((0, 5)));
    }

    #[test]
    fn a_curve_does_not_fall_because_the_run_is_over() {
        let points = [(10, 5), (20, 6)];
        assert_eq!(steps(&points, TEN, Holds::Before, 20).last(), Some((10, 6)));
        assert_eq!(steps(&points, TEN, Holds::Before, 21).last(), Some((20, 0)));
    }
}
