//! One figure in all runs, and in all groups.

use std::collections::BTreeSet;

use rocelab_results::{GoodputRule, Millionths, Summary};
use serde::Serialize;

use super::Group;
use super::definitions::{Definition, Reading};
use crate::numbers::{Unit, count, scale_of};

/// A figure in all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its name, such as `FCT p99` or `disk read: latency p99`.
    pub name: String,
    /// Unit of the numbers: `ps`, `bit/s`, `byte`, `millionths`, `1/s`, or empty for counts.
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
    /// The values of each group.
    pub bands: Vec<Band>,
}

/// A figure over the runs of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Band {
    /// The mean of the known values; `None` if there is none, or if they are goodputs by different
    /// rules. It is a lower bound if any value is.
    pub mean: Option<f64>,
    /// The least value.
    pub min: Option<u64>,
    /// The greatest value.
    pub max: Option<u64>,
    /// Runs that have the figure.
    pub known: usize,
    /// Whether a value is only a lower bound.
    pub is_lower_bound: bool,
}

impl Figure {
    pub(super) fn of(definition: &Definition, runs: &[&Summary], groups: &[Group]) -> Self {
        let readings: Vec<Reading> = runs.iter().map(|run| (definition.read)(run)).collect();
        let has_rules = readings.iter().any(|one| one.rule.is_some());
        let rule = |one: &Reading| one.rule.flatten();
        let mut figure = Self {
            name: definition.name.clone(),
            unit: definition.unit,
            values: readings.iter().map(|one| one.value).collect(),
            ratios: Vec::new(),
            lower_bounds: readings.iter().map(|one| one.is_lower_bound).collect(),
            rules: if has_rules { readings.iter().map(rule).collect() } else { Vec::new() },
            texts: readings.iter().map(|one| one.text(definition.unit)).collect(),
            bands: Vec::new(),
        };
        figure.ratios = (0..runs.len()).map(|run| figure.ratio(run)).collect();
        figure.bands = groups.iter().map(|group| figure.band(&group.runs)).collect();
        figure
    }

    /// A run's value divided by the first run's, if both have the same meaning.
    fn ratio(&self, run: usize) -> Option<Millionths> {
        let is_bound = self.lower_bounds[run] || self.lower_bounds[0];
        if is_bound || self.rules.get(run) != self.rules.first() {
            return None;
        }
        Millionths::ratio(self.values[run]?, self.values[0]?)
    }

    fn band(&self, runs: &[usize]) -> Band {
        let with: Vec<usize> =
            runs.iter().copied().filter(|&run| self.values[run].is_some()).collect();
        let rules: BTreeSet<String> = with
            .iter()
            .filter_map(|&run| self.rules.get(run))
            .map(|rule| format!("{rule:?}"))
            .collect();
        if rules.len() > 1 {
            return Band { known: with.len(), ..Band::default() };
        }
        let values: Vec<u64> = with.iter().filter_map(|&run| self.values[run]).collect();
        let sum: u128 = values.iter().copied().map(u128::from).sum();
        Band {
            mean: (!values.is_empty()).then(|| sum as f64 / values.len() as f64),
            min: values.iter().min().copied(),
            max: values.iter().max().copied(),
            known: values.len(),
            is_lower_bound: with.iter().any(|&run| self.lower_bounds[run]),
        }
    }

    /// Whether all groups have the same single value, or none has a value.
    pub(super) fn is_constant(&self) -> bool {
        self.values.iter().collect::<BTreeSet<_>>().len() <= 1
            && self.lower_bounds.iter().all(|is_bound| !is_bound)
    }

    /// The unit that fits the greatest value.
    pub(super) fn scale(&self) -> Unit {
        scale_of(self.unit, self.values.iter().flatten().copied().max().unwrap_or(0))
    }

    /// The name, with the unit of the values in [`band_text`](Self::band_text).
    pub(super) fn head(&self) -> String {
        match self.scale().name.trim() {
            "" => self.name.clone(),
            unit => format!("{} [{unit}]", self.name),
        }
    }

    /// The mean of a group, and the least and greatest value if there are several; of how many runs
    /// if some lack it.
    pub(super) fn band_text(&self, group: usize, runs: usize) -> String {
        let band = &self.bands[group];
        let Some(mean) = band.mean else {
            return if band.known > 0 { "rules differ".to_owned() } else { "-".to_owned() };
        };
        let scale = self.scale().scale;
        let mark = if band.is_lower_bound { ">=" } else { "" };
        let mut text = format!("{mark}{}", self.number(mean, scale));
        if let (Some(min), Some(max), true) = (band.min, band.max, runs > 1 && band.min != band.max)
        {
            let (min, max) = (self.number(min as f64, scale), self.number(max as f64, scale));
            text += &format!(" ({min}..{max})");
        }
        if band.known < runs {
            text += &format!(" {} of {runs}", band.known);
        }
        text
    }

    /// A number in a unit: counts whole if they are, all others with two decimals.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    fn number(&self, value: f64, scale: u64) -> String {
        if matches!(self.unit, "" | "1/s") && scale == 1 {
            return if value.fract() == 0.0 || value >= 1e4 {
                count(value.round() as u64)
            } else {
                format!("{value:.1}")
            };
        }
        format!("{:.2}", value / scale as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::definitions;
    use super::*;
    use rocelab_results::{Distribution, Goodput, Missing};

    /// A figure of runs that are all in one group.
    fn figure(runs: &[Summary], name: &str) -> Figure {
        let runs: Vec<&Summary> = runs.iter().collect();
        let group = Group { name: "all".to_owned(), runs: (0..runs.len()).collect() };
        let all = definitions::of(&runs);
        let definition = all.iter().find(|one| one.name == name).expect("a figure");
        Figure::of(definition, &runs, &[group])
    }

    fn run(fct_ms: u64, flows: usize, missing: u64) -> Summary {
        let fct_ps = Distribution::with_missing(
            &mut vec![fct_ms * 1_000_000_000; flows],
            &Missing::never(missing),
        );
        let mut run = Summary { fct_ps, ..Summary::default() };
        run.flows.total = flows as u64 + missing;
        run
    }

    #[test]
    fn a_band_is_the_mean_of_those_that_are_known() {
        let runs = [run(2, 100, 0), run(4, 100, 0), run(9, 10, 0)];
        let p99 = figure(&runs, "FCT p99");
        assert_eq!(p99.values[2], None, "of ten flows");
        assert_eq!(p99.head(), "FCT p99 [ms]");
        assert_eq!(p99.band_text(0, 3), "3.00 (2.00..4.00) 2 of 3");
        let none = figure(&[run(2, 10, 0), run(3, 10, 0)], "FCT p99");
        assert_eq!((none.band_text(0, 2).as_str(), none.is_constant()), ("-", true));
    }

    /// The mean of a lower bound and something else is one, too.
    #[test]
    fn a_lower_bound_makes_the_mean_one() {
        let max = figure(&[run(2, 100, 0), run(4, 100, 1)], "FCT max");
        assert_eq!(max.band_text(0, 2), ">=3.00 (2.00..4.00)");
        assert!(max.bands[0].is_lower_bound && !max.is_constant());
        // Equal lower bounds are not the same value.
        assert!(!figure(&[run(4, 100, 1), run(4, 100, 1)], "FCT max").is_constant());
    }

    #[test]
    fn goodputs_by_different_rules_have_no_mean() {
        let with = |rule| {
            let goodput = Goodput { rule, bytes: 1, duration_ps: 1, tail: None };
            let (goodput_bps, goodput) = (Some(goodput.bps()), Some(goodput));
            Summary { goodput_bps, goodput, ..run(1, 10, 0) }
        };
        let runs = [with(GoodputRule::BetweenStarts), with(GoodputRule::WholeRun)];
        let goodput = figure(&runs, "Goodput");
        assert_eq!(goodput.bands[0].mean, None);
        assert_eq!(goodput.band_text(0, 2), "rules differ");
    }
}
