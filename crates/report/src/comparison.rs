//! Compares the figures of several runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rocelab_results::{
    AlgorithmChoice, Distribution, GoodputRule, Millionths, Results, Statistic, Summary,
};
use serde::Serialize;

use crate::goodput;
use crate::numbers::{count, memory, rate, time};
use crate::percentiles::percentile_text;

/// A comparison of runs: the others with the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The names of the runs, which are distinct.
    pub runs: Vec<String>,
    /// For each run, whether it was interrupted: then its figures hold for the time up to its
    /// simulated time.
    pub incomplete: Vec<bool>,
    /// The congestion control of the runs, and those of its parameters that differ.
    pub settings: Vec<Setting>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// A setting in the scenarios of the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The key in a scenario, such as `congestion_control.dcqcn.preset`.
    pub key: String,
    /// The value in each run; `None` if the run's scenario does not have the key.
    pub texts: Vec<Option<String>>,
}

impl Setting {
    /// The settings of runs with these algorithms: one for each section that names an algorithm,
    /// and one for each parameter that several runs have with different values.
    fn all_of(runs: &[Vec<AlgorithmChoice>]) -> Vec<Self> {
        let sections: BTreeSet<&str> =
            runs.iter().flatten().map(|choice| choice.section.as_str()).collect();
        let mut settings = Vec::new();
        for section in sections {
            let chosen = runs.iter().map(|run| run.iter().find(|choice| choice.section == section));
            let chosen: Vec<_> = chosen.collect();
            let titles = chosen.iter().map(|choice| choice.map(AlgorithmChoice::title));
            settings.push(Self { key: section.to_owned(), texts: titles.collect() });
            let names: BTreeSet<_> =
                chosen.iter().flatten().map(|choice| choice.name.as_str()).collect();
            for name in names {
                let all: Vec<_> = chosen.iter().map(|&choice| of_name(choice, name)).collect();
                settings.extend(Self::differing(&format!("{section}.{name}"), &all));
            }
        }
        settings
    }

    /// The differing parameters of one algorithm in several runs.
    fn differing(section: &str, all: &[Option<&BTreeMap<String, String>>]) -> Vec<Self> {
        let keys: BTreeSet<&String> = all.iter().flatten().flat_map(|one| one.keys()).collect();
        let setting = |key: &String| {
            let texts = all.iter().map(|one| one.and_then(|one| one.get(key)).cloned()).collect();
            Self { key: format!("{section}.{key}"), texts }
        };
        let is_different = |setting: &Self| {
            let with_algorithm = all.iter().zip(&setting.texts).filter(|(one, _)| one.is_some());
            with_algorithm.map(|(_, text)| text).collect::<BTreeSet<_>>().len() > 1
        };
        keys.into_iter().map(setting).filter(is_different).collect()
    }

    /// The value in a run, as text.
    pub(crate) fn text(&self, run: usize) -> &str {
        self.texts[run].as_deref().unwrap_or("-")
    }
}

/// The parameters of an algorithm, if it has this name.
fn of_name<'a>(
    choice: Option<&'a AlgorithmChoice>,
    name: &str,
) -> Option<&'a BTreeMap<String, String>> {
    choice.filter(|choice| choice.name == name).map(|choice| &choice.parameters)
}

/// A figure in all runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// Its name, such as `FCT p99`.
    pub name: &'static str,
    /// Unit of the numbers: `ps`, `bit/s`, `byte`, `millionths`, or empty for counts.
    pub unit: &'static str,
    /// The value in each run; `None` if a run has no such figure.
    pub values: Vec<Option<u64>>,
    /// For each run, its value divided by the first run's value; `None` if one of the two is
    /// missing or only a lower bound, or if they are goodputs by different rules.
    pub ratios: Vec<Option<Millionths>>,
    /// For each run, whether the value is only a lower bound.
    pub lower_bounds: Vec<bool>,
    /// For each run, the rule of goodput; `None` in results of older builds. Empty for other
    /// figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Option<GoodputRule>>,
    /// The values in the form for people.
    pub texts: Vec<String>,
}

impl Figure {
    /// A run's value divided by the first run's, if both have the same meaning.
    fn ratio(&self, run: usize) -> Option<Millionths> {
        let is_bound = self.lower_bounds[run] || self.lower_bounds[0];
        if is_bound || self.rules.get(run) != self.rules.first() {
            return None;
        }
        Millionths::ratio(self.values[run]?, self.values[0]?)
    }
}

/// Distinct names for the runs: their scenarios' names if these differ, otherwise the names of
/// their directories, otherwise the whole paths.
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
    /// Compares `results`, in this order.
    pub fn of(results: &[Results]) -> Self {
        let summaries: Vec<&Summary> = results.iter().map(Results::summary).collect();
        let figure = |(name, unit, value): &(&'static str, &'static str, Read)| {
            let each = || summaries.iter().map(|run| (*run, value(run)));
            let rule = |(run, _): (&Summary, _)| run.goodput.map(|goodput| goodput.rule);
            let is_goodput = is_goodput(name);
            let mut figure = Figure {
                name,
                unit,
                ratios: Vec::new(),
                lower_bounds: each().map(|(run, _)| is_lower_bound(run, name)).collect(),
                rules: if is_goodput { each().map(rule).collect() } else { Vec::new() },
                texts: each().map(|(run, value)| figure_text(run, name, value, unit)).collect(),
                values: each().map(|(_, value)| value).collect(),
            };
            figure.ratios = (0..summaries.len()).map(|run| figure.ratio(run)).collect();
            figure
        };
        let figures =
            if results.is_empty() { Vec::new() } else { FIGURES.iter().map(figure).collect() };
        // A scenario that cannot be read has no settings to show.
        let unreadable = |_| AlgorithmChoice {
            section: "congestion_control".to_owned(),
            name: "unknown (scenario.resolved.toml cannot be read)".to_owned(),
            parameters: Default::default(),
        };
        let algorithms =
            |one: &Results| one.algorithms().unwrap_or_else(|error| vec![unreadable(error)]);
        let settings = Setting::all_of(&results.iter().map(algorithms).collect::<Vec<_>>());
        let incomplete = summaries.iter().map(|run| run.incomplete).collect();
        Self { runs: run_names(results), incomplete, settings, figures }
    }

    /// The same as JSON. Ends with a newline.
    pub fn json(&self) -> String {
        // Text, integers and ratios can always be represented in JSON.
        let mut json = serde_json::to_string_pretty(self).unwrap_or_default();
        json.push('\n');
        json
    }

    /// A table for a terminal: first the congestion controls, then a line for each figure, with the
    /// ratio to the first run's value after each value. Ends with a newline.
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
        let names = self.figures.iter().map(|figure| figure.name.len());
        let label =
            names.chain(self.settings.iter().map(|setting| setting.key.len())).max().unwrap_or(0);
        let mut table = format!("{:label$}", "");
        let widths: Vec<usize> = (0..self.runs.len())
            .map(|run| {
                let widest = cells.iter().map(|row| row[run].chars().count()).max().unwrap_or(0);
                let settings =
                    self.settings.iter().map(|setting| setting.text(run).chars().count());
                widest.max(self.runs[run].chars().count()).max(settings.max().unwrap_or(0))
            })
            .collect();
        // Writing to a string cannot fail.
        for (name, width) in self.runs.iter().zip(&widths) {
            let _ = write!(table, "  {name:>width$}");
        }
        table.push('\n');
        for setting in &self.settings {
            let _ = write!(table, "{:label$}", setting.key);
            for (run, width) in widths.iter().enumerate() {
                let _ = write!(table, "  {:>width$}", setting.text(run));
            }
            table.push('\n');
        }
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

const FIGURES: [(&str, &str, Read); 32] = [
    ("Simulated", "ps", |run| Some(run.simulated_ps)),
    ("Flows completed", "", |run| Some(run.flows.completed)),
    ("Flows failed", "", |run| Some(run.flows.failed)),
    ("Flows unfinished", "", |run| Some(run.flows.unfinished)),
    ("Flows frozen", "", |run| Some(run.frozen.as_ref().map_or(0, |frozen| frozen.flows))),
    ("Goodput", "bit/s", |run| run.goodput_bps),
    ("Goodput over", "ps", |run| Some(run.goodput?.duration_ps)),
    ("Goodput tail", "byte", |run| Some(run.goodput?.tail?.bytes)),
    ("Tail time", "ps", |run| Some(run.goodput?.tail?.duration_ps)),
    ("FCT of", "", |run| Some(fct(run)?.values)),
    ("FCT mean", "ps", |run| Some(fct(run)?.mean)),
    ("FCT p50", "ps", |run| fct(run)?.supported(Statistic::P50)),
    ("FCT p95", "ps", |run| fct(run)?.supported(Statistic::P95)),
    ("FCT p99", "ps", |run| fct(run)?.supported(Statistic::P99)),
    ("FCT max", "ps", |run| Some(fct(run)?.max)),
    ("Slowdown mean", "millionths", |run| Some(slowdown(run)?.mean.0)),
    ("Slowdown p50", "millionths", |run| Some(slowdown(run)?.supported(Statistic::P50)?.0)),
    ("Slowdown p95", "millionths", |run| Some(slowdown(run)?.supported(Statistic::P95)?.0)),
    ("Slowdown p99", "millionths", |run| Some(slowdown(run)?.supported(Statistic::P99)?.0)),
    ("Slowdown max", "millionths", |run| Some(slowdown(run)?.max.0)),
    ("Pauses", "", |run| Some(run.pfc.pauses)),
    ("Time paused", "ps", |run| Some(run.pfc.paused_ps)),
    ("ECN marks", "", |run| Some(run.ecn.marks)),
    ("CNPs", "", |run| Some(run.cnps)),
    ("Failures", "", |run| Some(sum(&run.failures))),
    ("Pause storms", "", |run| Some(run.failures.get("pause-storm").copied().unwrap_or(0))),
    ("Queues in storms", "", |run| Some(run.storms)),
    ("Deadlocks", "", |run| Some(run.deadlocks.len() as u64)),
    ("Drops", "", |run| Some(run.drops.total)),
    ("Lossless drops", "", |run| Some(sum(&run.lossless_drops))),
    ("Watchdog drops", "", |run| Some(run.drops.by_reason.get("watchdog").copied().unwrap_or(0))),
    ("Retransmissions", "", |run| Some(run.retransmissions)),
];

fn fct(run: &Summary) -> Option<&Distribution<u64>> {
    run.fct_ps.as_ref()
}

fn slowdown(run: &Summary) -> Option<&Distribution<Millionths>> {
    run.slowdown.as_ref()
}

/// The sum, which saturates because a damaged file may have any values.
fn sum(counts: &BTreeMap<String, u64>) -> u64 {
    counts.values().fold(0, |sum, count| sum.saturating_add(*count))
}

/// Whether a figure depends on the rule of goodput.
fn is_goodput(name: &str) -> bool {
    name.starts_with("Goodput") || name == "Tail time"
}

/// Whether a figure of a run is only a lower bound.
fn is_lower_bound(run: &Summary, name: &str) -> bool {
    let is_bound = |bound: Option<bool>| bound.unwrap_or(false);
    match name.split_once(' ') {
        Some(("FCT", key)) => is_bound(bound_of(fct(run), key)),
        Some(("Slowdown", key)) => is_bound(bound_of(slowdown(run), key)),
        _ => false,
    }
}

fn bound_of<T: Copy>(of: Option<&Distribution<T>>, key: &str) -> Option<bool> {
    Some(of?.is_lower_bound(statistic(key)?))
}

fn statistic(key: &str) -> Option<Statistic> {
    Statistic::ALL.into_iter().find(|statistic| statistic.name() == key)
}

/// A figure of a run in words: simulated time with a note if the run was interrupted, goodput with
/// its rule, percentiles with the number of flows and a note if they are only lower bounds.
fn figure_text(run: &Summary, name: &str, value: Option<u64>, unit: &str) -> String {
    match (name, name.split_once(' ')) {
        ("Simulated", _) if run.incomplete => format!("{}, INTERRUPTED", text(value, unit)),
        ("Goodput", _) => goodput::headline(run.goodput_bps, run.goodput.as_ref()),
        ("FCT of", _) => fct(run)
            .map_or("-".to_owned(), |of| format!("{} of {}", count(of.values), count(of.total()))),
        (_, Some(("FCT", key))) => marked(fct(run), key, value, unit),
        (_, Some(("Slowdown", key))) => marked(slowdown(run), key, value, unit),
        _ => text(value, unit),
    }
}

fn marked<T: Copy>(
    of: Option<&Distribution<T>>,
    key: &str,
    value: Option<u64>,
    unit: &str,
) -> String {
    match (of, statistic(key)) {
        (Some(of), Some(statistic)) => percentile_text(of, statistic, |_| text(value, unit)),
        _ => text(value, unit),
    }
}

fn text(value: Option<u64>, unit: &str) -> String {
    match (value, unit) {
        (None, _) => "-".to_owned(),
        (Some(value), "ps") => time(value),
        (Some(value), "bit/s") => rate(value),
        (Some(value), "byte") => memory(value),
        (Some(value), "millionths") => format!("{:.2}", Millionths(value)),
        (Some(value), _) => count(value),
    }
}
