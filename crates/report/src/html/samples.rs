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
    /// What to do if it is not there.
    pub(crate) missing: &'static str,
}

/// All quantities that may be sampled, in the order in which they are drawn.
pub(crate) const SAMPLED: [Sampled; 3] = [
    Sampled {
        id: "queue",
        title: "Queues",
        quantity: Quantity::Bytes,
        file: SeriesFile { path: "queues.csv", value: "bytes" },
        missing: "Queues were not sampled. Put [sample.queues] with interval and ports into the \
                  scenario, and run it again.",
    },
    Sampled {
        id: "rate",
        title: "Sending rates",
        quantity: Quantity::Rate,
        file: SeriesFile { path: "samples/rates.csv", value: "rate_bps" },
        missing: "Rates were not sampled: there is no samples/rates.csv.",
    },
    Sampled {
        id: "marks",
        title: "ECN marks",
        quantity: Quantity::Count,
        file: SeriesFile { path: "samples/marks.csv", value: "marks" },
        missing: "Marks were not sampled: there is no samples/marks.csv. The table of links has \
                  their sums.",
    },
];

/// The samples of one quantity, by port and priority. What was not written between two samples was
/// zero.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    pub(crate) series: BTreeMap<(usize, Option<u8>), Steps>,
}

impl Sampled {
    /// Reads the file; `None` if there is none.
    pub(crate) fn read(
        &self,
        results: &Results,
        ports: &Ports,
    ) -> Result<Option<Samples>, ResultsError> {
        let Some(reader) = results.series(self.file)? else { return Ok(None) };
        let mut raw: BTreeMap<_, Vec<(u64, u64)>> = BTreeMap::new();
        let (mut interval, mut last_time) = (u64::MAX, None);
        for sample in reader {
            let sample = sample?;
            let apart = last_time.map_or(0, |last| sample.time_ps.saturating_sub(last));
            if apart > 0 {
                interval = interval.min(apart);
            }
            last_time = Some(sample.time_ps);
            let Some(direction) = ports.direction(&sample.node, sample.port) else { continue };
            let series = raw.entry((direction, sample.priority)).or_default();
            series.push((sample.time_ps, sample.value));
        }
        let filled = |(key, points): (_, Vec<_>)| (key, with_zeros(&points, interval));
        Ok(Some(Samples { series: raw.into_iter().map(filled).collect() }))
    }
}

/// The samples at `points`, `interval` ps apart where none is left out; zero where one is.
fn with_zeros(points: &[(u64, u64)], interval: u64) -> Steps {
    let mut steps = Steps::default();
    for &(time, value) in points {
        if let Some((last, _)) = steps.last()
            && time.saturating_sub(last) > interval
        {
            steps.set(last.saturating_add(interval), 0);
        }
        steps.set(time, value);
    }
    if let Some((last, _)) = steps.last()
        && interval < u64::MAX
    {
        steps.set(last.saturating_add(interval), 0);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::super::envelope::Window;
    use super::*;

    #[test]
    fn samples_that_are_left_out_were_zero() {
        let steps = with_zeros(&[(10, 5), (20, 6), (50, 7)], 10);
        assert_eq!(
            steps.envelope(Window { begin_ps: 0, end_ps: 80 }, 8),
            [0, 0, 0, 5, 5, 6, 6, 0, 0, 0, 0, 7, 7, 0, 0, 0]
        );
    }
}
