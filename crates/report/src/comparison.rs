//! The figures of several runs side by side.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rocelab_results::{Distribution, Millionths, Results, Summary};
use serde::Serialize;

use crate::numbers::{count, rate, time};

/// Runs side by side; the others are compared to the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The runs, by what tells them apart.
    pub runs: Vec<String>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// One figure of all runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// What it is, such as `FCT p99`.
    pub name: &'static str,
    /// Unit of the numbers: `ps`, `bit/s`, `millionths`, or empty for counts.
    pub unit: &'static str,
    /// Of each run; `None` where a run has no such figure.
    pub values: Vec<Option<u64>>,
    /// Of each run, value over the first run's value; `None` where there is no such ratio.
    pub ratios: Vec<Option<Millionths>>,
    /// The values as people read them.
    pub texts: Vec<String>,
}

/// What tells the runs apart: their scenarios' names if these differ, or else the names of their
/// directories, or else the whole paths.
pub(crate) fn run_names(results: &[Results]) -> Vec<String> {
    let scenario = |one: &Results| one.summary().scenario.clone();
    let directory = |one: &Results| {
        one.path().file_name().unwrap_or(one.path().as_os_str()).to_string_lossy().into_owned()
    };
    let path = |one: &Results| one.path().display().to_string();
    let ways: [&dyn Fn(&Results) -> String; 2] = [&scenario, &directory];
    for way in ways {
        let names: Vec<String> = results.iter().map(way).collect();
        if names.iter().collect::<BTreeSet<_>>().len() == names.len() {
            return names;
        }
    }
    results.iter().map(path).collect()
}

impl Comparison {
    /// Of `results`, in their order.
    pub fn of(results: &[Results]) -> Self {
        let summaries: Vec<&Summary> = results.iter().map(Results::summary).collect();
        let figure = |(name, unit, value): &(&'static str, &'static str, Read)| {
            let values: Vec<Option<u64>> = summaries.iter().map(|summary| value(summary)).collect();
            Figure {
                name,
                unit,
                ratios: values.iter().map(|value| ratio(*value, values[0])).collect(),
                texts: values.iter().map(|value| text(*value, unit)).collect(),
                values,
            }
        };
        let figures =
            if results.is_empty() { Vec::new() } else { FIGURES.iter().map(figure).collect() };
        Self { runs: run_names(results), figures }
    }

    /// The same as JSON. Ends with a newline.
    pub fn json(&self) -> String {
        // Text, integers and ratios always have a form in JSON.
        let mut json = serde_json::to_string_pretty(self).unwrap_or_default();
        json.push('\n');
        json
    }

    /// A table for a terminal: a line for each figure, and behind each value how many times the
    /// first run's it is. Ends with a newline.
    pub fn table(&self) -> String {
        let cells: Vec<Vec<String>> = self
            .figures
            .iter()
            .map(|figure| {
                let ratios = figure.ratios.iter().enumerate();
                let cell = |(text, (index, ratio)): (&String, (usize, &Option<Millionths>))| match (
                    index, ratio,
                ) {
                    (0, _) => text.clone(),
                    (_, Some(ratio)) => format!("{text}  x{ratio:.2}"),
                    (_, None) => format!("{text}      -"),
                };
                figure.texts.iter().zip(ratios).map(cell).collect()
            })
            .collect();
        let label = self.figures.iter().map(|figure| figure.name.len()).max().unwrap_or(0);
        let mut table = format!("{:label$}", "");
        let widths: Vec<usize> = (0..self.runs.len())
            .map(|run| {
                let widest = cells.iter().map(|row| row[run].chars().count()).max().unwrap_or(0);
                widest.max(self.runs[run].chars().count())
            })
            .collect();
        // Writing to a string does not fail.
        for (name, width) in self.runs.iter().zip(&widths) {
            let _ = write!(table, "  {name:>width$}");
        }
        table.push('\n');
        for (figure, row) in self.figures.iter().zip(&cells) {
            let _ = write!(table, "{:label$}", figure.name);
            for (cell, width) in row.iter().zip(&widths) {
                let _ = write!(table, "  {cell:>width$}");
            }
            table.push('\n');
        }
        table
    }
}

type Read = fn(&Summary) -> Option<u64>;

const FIGURES: [(&str, &str, Read); 25] = [
    ("Simulated", "ps", |run| Some(run.simulated_ps)),
    ("Flows completed", "", |run| Some(run.flows.completed)),
    ("Flows failed", "", |run| Some(run.flows.failed)),
    ("Flows unfinished", "", |run| Some(run.flows.unfinished)),
    ("Goodput", "bit/s", |run| Some(run.goodput_bps)),
    ("FCT mean", "ps", |run| Some(fct(run)?.mean)),
    ("FCT p50", "ps", |run| Some(fct(run)?.p50)),
    ("FCT p99", "ps", |run| Some(fct(run)?.p99)),
    ("FCT max", "ps", |run| Some(fct(run)?.max)),
    ("Slowdown mean", "millionths", |run| Some(slowdown(run)?.mean.0)),
    ("Slowdown p50", "millionths", |run| Some(slowdown(run)?.p50.0)),
    ("Slowdown p99", "millionths", |run| Some(slowdown(run)?.p99.0)),
    ("Slowdown max", "millionths", |run| Some(slowdown(run)?.max.0)),
    ("Pauses", "", |run| Some(run.pfc.pauses)),
    ("Time paused", "ps", |run| Some(run.pfc.paused_ps)),
    ("ECN marks", "", |run| Some(run.ecn.marks)),
    ("CNPs", "", |run| Some(run.cnps)),
    ("Failures", "", |run| Some(run.failures.values().sum())),
    ("Pause storms", "", |run| Some(run.failures.get("pause-storm").copied().unwrap_or(0))),
    ("Queues in storms", "", |run| Some(run.storms)),
    ("Deadlocks", "", |run| Some(run.deadlocks.len() as u64)),
    ("Drops", "", |run| Some(run.drops.total)),
    ("Lossless drops", "", |run| Some(run.lossless_drops.values().sum())),
    ("Watchdog drops", "", |run| Some(run.drops.by_reason.get("watchdog").copied().unwrap_or(0))),
    ("Retransmissions", "", |run| Some(run.retransmissions)),
];

fn fct(run: &Summary) -> Option<&Distribution<u64>> {
    run.fct_ps.as_ref()
}

fn slowdown(run: &Summary) -> Option<&Distribution<Millionths>> {
    run.slowdown.as_ref()
}

fn ratio(value: Option<u64>, first: Option<u64>) -> Option<Millionths> {
    Millionths::ratio(value?, first?)
}

fn text(value: Option<u64>, unit: &str) -> String {
    match (value, unit) {
        (None, _) => "-".to_owned(),
        (Some(value), "ps") => time(value),
        (Some(value), "bit/s") => rate(value),
        (Some(value), "millionths") => format!("{:.2}", Millionths(value)),
        (Some(value), _) => count(value),
    }
}
