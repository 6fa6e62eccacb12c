//! Sampled queues of many ports at a glance: a heat map by port and time, and percentiles over ports.

use std::collections::BTreeMap;

use serde::Serialize;

use super::envelope::{BINS, Steps};
use super::ports::Ports;
use super::samples::{Quantity, Sampler, Samples};
use super::timelines::{Curve, Span, TimeLine};
use crate::numbers::count;

/// Number of columns of the heat map.
const COLUMNS: u32 = 200;
/// Number of rows of the heat map: the queues with the greatest values.
const MOST_ROWS: usize = 40;
/// Number of ports that support a 95th percentile.
const LEAST_PORTS: usize = 20;

/// A heat map: the greatest value of each queue in each of equal parts of the time.
#[derive(Debug, Default, Serialize)]
pub(crate) struct HeatMap {
    pub(crate) columns: u32,
    /// In the order of ports.
    pub(crate) rows: Vec<HeatRow>,
    /// Number of queues that are left out.
    pub(crate) omitted: usize,
}

/// A queue.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct HeatRow {
    pub(crate) label: String,
    /// Bytes.
    pub(crate) values: Vec<u64>,
}

/// The heat map of sampled queues; without rows if none was sampled, or all were always empty.
pub(crate) fn heat_map(queues: Option<&Samples>, ports: &Ports, span: Span) -> HeatMap {
    let Some(queues) = queues else { return HeatMap::default() };
    let mut all: Vec<(&Sampler, &Steps)> =
        queues.series.iter().filter(|(_, steps)| steps.largest() > 0).collect();
    all.sort_by_key(|(of, steps)| (std::cmp::Reverse(steps.largest()), **of));
    let omitted = all.len().saturating_sub(MOST_ROWS);
    all.truncate(MOST_ROWS);
    all.sort_by_key(|(of, _)| **of);
    let row = |(of, steps): (&Sampler, &Steps)| HeatRow {
        label: of.label(ports),
        values: steps.peaks(span.figure, COLUMNS),
    };
    HeatMap { columns: COLUMNS, rows: all.into_iter().map(row).collect(), omitted }
}

/// Greatest value, 95th percentile and median over all sampled ports, at each moment; `None` for fewer ports than a
/// 95th percentile needs.
pub(crate) fn spread(queues: Option<&Samples>, span: Span) -> Option<TimeLine> {
    let queues = queues?;
    let number = queues.sampled.len();
    if number < LEAST_PORTS || queues.series.is_empty() {
        return None;
    }
    let mut ports: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for (of, steps) in &queues.series {
        let peaks = ports.entry(of.direction).or_insert_with(|| vec![0; BINS as usize]);
        for (peak, value) in peaks.iter_mut().zip(steps.peaks(span.figure, BINS)) {
            *peak = value.max(*peak);
        }
    }
    // The value at a rank from the top, of values of which those of quiet ports are 0 (nearest rank).
    let from_top = [0, number - (number * 95).div_ceil(100), number - number.div_ceil(2)];
    let mut steps: [Steps; 3] = Default::default();
    for bin in 0..BINS {
        let mut values: Vec<u64> = ports.values().map(|peaks| peaks[bin as usize]).collect();
        values.sort_unstable_by(|one, other| other.cmp(one));
        for (steps, rank) in steps.iter_mut().zip(from_top) {
            steps.set(span.figure.edge(BINS, bin), values.get(rank).copied().unwrap_or(0));
        }
    }
    let names = ["longest", "95th percentile", "median"];
    let curves = names.iter().zip(&steps).map(|(name, steps)| Curve::new(name, steps, span));
    Some(TimeLine {
        id: "queue-spread",
        title: "Queues, percentiles over ports",
        quantity: Quantity::Bytes,
        note: format!(
            "Of the {} ports that were sampled, the longest queue of each.",
            count(number as u64)
        ),
        curves: curves.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::envelope::Window;
    use super::super::ports::tests::network;
    use super::*;

    const SPAN: Span = Span { figure: Window { begin_ps: 0, end_ps: 8_000 }, run_ps: 8_000 };

    /// Of 40 ports, 30 have queues: of 1 to 30 bytes, from the middle of the run on.
    fn queues() -> Samples {
        let series = (0..30_u8).map(|port| {
            let of =
                Sampler { direction: port.into(), priority: Some(3), flow: None, of_node: false };
            let mut steps = Steps::default();
            steps.set(4_000, u64::from(port) + 1);
            (of, steps)
        });
        Samples { series: series.collect(), sampled: (0..40).collect(), ..Samples::default() }
    }

    #[test]
    fn percentiles_count_the_ports_without_a_queue() {
        let line = spread(Some(&queues()), SPAN).unwrap();
        let at = |curve: usize, half: usize| line.curves[curve].values[half * BINS as usize + 100];
        // Of 40 values the 38th is the third from the top, the 20th the 21st from the top.
        assert_eq!([0, 1, 2].map(|curve| at(curve, 1)), [Some(30), Some(28), Some(10)]);
        assert_eq!([0, 1, 2].map(|curve| at(curve, 0)), [Some(0); 3]);
        let few = Samples { sampled: (0..19).collect(), ..queues() };
        assert!(spread(Some(&few), SPAN).is_none());
        assert!(spread(None, SPAN).is_none());
    }

    #[test]
    fn a_heat_map_has_a_row_for_each_queue() {
        let names: Vec<String> = (0..60).map(|host| format!("h{host}")).collect();
        let links: Vec<_> =
            (0_u16..).zip(&names).map(|(port, name)| ("leaf", port, &**name, 0)).collect();
        let map = heat_map(Some(&queues()), &network(&links), SPAN);
        assert_eq!((map.rows.len(), map.omitted), (30, 0));
        assert_eq!(map.rows[0].label, "leaf:0 p3");
        assert_eq!((map.rows[2].values[0], map.rows[2].values[199]), (0, 2 + 1));
        assert!(heat_map(None, &network(&links), SPAN).rows.is_empty());
    }
}
