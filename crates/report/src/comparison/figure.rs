//! One figure in all runs, and in all groups.

use std::collections::BTreeSet;

use rocelab_results::{GoodputRule, Millionths, Summary};
use serde::Serialize;

use super::Group;
use super::definitions::{Definition, Reading};
use crate::numbers::{Unit, count, scale_of, significant, unit_within};

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
    /// Whether all that is told of it is the same in all runs, and known in full.
    pub is_same: bool,
    /// The values of each group.
    pub bands: Vec<Band>,
    /// For each run, what its value holds for: a part of its text.
    #[serde(skip)]
    qualifiers: Vec<Option<String>>,
}

/// A figure over the runs of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    /// Whether a value is only a lower bound. Then the mean and the greatest value are, too.
    pub is_lower_bound: bool,
    /// Whether the least value is only a lower bound.
    pub is_min_lower_bound: bool,
    /// What the values hold for, such as `of 560` or a rule of goodput; `None` if it is the same in
    /// all groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qualifier: Option<String>,
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
            is_same: false,
            bands: Vec::new(),
            qualifiers: readings.into_iter().map(|one| one.qualifier).collect(),
        };
        figure.is_same = figure.is_same();
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
        let qualifier = self.qualifier(&with);
        if rules.len() > 1 {
            return Band { known: with.len(), qualifier, ..Band::default() };
        }
        let values: Vec<u64> = with.iter().filter_map(|&run| self.values[run]).collect();
        let sum: u128 = values.iter().copied().map(u128::from).sum();
        let min = values.iter().min().copied();
        // A bound at the least value changes nothing, if another run has just this value.
        let is_min_known =
            with.iter().any(|&run| self.values[run] == min && !self.lower_bounds[run]);
        Band {
            mean: (!values.is_empty()).then(|| sum as f64 / values.len() as f64),
            min,
            max: values.iter().max().copied(),
            known: values.len(),
            is_lower_bound: with.iter().any(|&run| self.lower_bounds[run]),
            is_min_lower_bound: !with.is_empty() && !is_min_known,
            qualifier,
        }
    }

    /// What the values of these runs hold for, if it is not the same in all runs.
    fn qualifier(&self, runs: &[usize]) -> Option<String> {
        let with = (0..self.values.len()).filter(|&run| self.values[run].is_some());
        let all: BTreeSet<_> = with.map(|run| &self.qualifiers[run]).collect();
        let mut own: Vec<&str> = Vec::new();
        for text in runs.iter().filter_map(|&run| self.qualifiers[run].as_deref()) {
            if !own.contains(&text) {
                own.push(text);
            }
        }
        if all.len() <= 1 || own.is_empty() {
            return None;
        }
        let more = if own.len() > QUALIFIERS { " / ..." } else { "" };
        Some(format!("{}{more}", own[..own.len().min(QUALIFIERS)].join(" / ")))
    }

    /// Whether all runs have the same exact value with the same words, or none has a value.
    fn is_same(&self) -> bool {
        fn is_one<T: PartialEq>(all: &[T]) -> bool {
            all.windows(2).all(|two| two[0] == two[1])
        }
        is_one(&self.values)
            && is_one(&self.texts)
            && is_one(&self.rules)
            && is_one(&self.qualifiers)
            && !self.lower_bounds.contains(&true)
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

    /// The mean of a group, and the least and greatest value if there are several; what they hold for,
    /// if that is not the same in all groups; of how many runs if some lack it.
    pub(super) fn band_text(&self, group: usize, runs: usize) -> String {
        let band = &self.bands[group];
        let Some(mean) = band.mean else {
            return if band.known > 0 { "rules differ".to_owned() } else { "-".to_owned() };
        };
        let mark = |is_bound| if is_bound { ">=" } else { "" };
        let upper = mark(band.is_lower_bound);
        let mut text = format!("{upper}{}", self.number(mean));
        if let (Some(min), Some(max), true) = (band.min, band.max, runs > 1 && band.min != band.max)
        {
            let (min, max) = (self.number(min as f64), self.number(max as f64));
            text += &format!(" ({}{min}..{upper}{max})", mark(band.is_min_lower_bound));
        }
        if let Some(qualifier) = &band.qualifier {
            text += &format!(" {qualifier}");
        }
        if band.known < runs {
            text += &format!(" {} of {runs}", band.known);
        }
        text
    }

    /// A number in the unit of the column, or with a smaller one: counts whole if they are, all others
    /// with three digits or more.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    fn number(&self, value: f64) -> String {
        let is_count = matches!(self.unit, "" | "1/s");
        if is_count && (value.fract() == 0.0 || value >= 1e4) {
            return count(value.round() as u64);
        }
        let column = self.scale();
        let unit = unit_within(self.unit, column, value);
        let text = significant(value / unit.scale as f64);
        if unit == column { text } else { format!("{text} {}", unit.name) }
    }
}

/// Qualifiers that are told of a group.
const QUALIFIERS: usize = 2;

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
        assert_eq!((none.band_text(0, 2).as_str(), none.is_same), ("-", true));
    }

    /// The mean of a lower bound and something else is one, too.
    #[test]
    fn a_lower_bound_makes_the_mean_one() {
        let max = figure(&[run(2, 100, 0), run(4, 100, 1)], "FCT max");
        assert_eq!(max.band_text(0, 2), ">=3.00 (2.00..>=4.00)");
        assert!(max.bands[0].is_lower_bound && !max.is_same);
        let all = figure(&[run(2, 100, 1), run(4, 100, 1)], "FCT max");
        assert_eq!(all.band_text(0, 2), ">=3.00 (>=2.00..>=4.00)");
        // Equal lower bounds are not the same value.
        assert!(!figure(&[run(4, 100, 1), run(4, 100, 1)], "FCT max").is_same);
    }

    /// The same number is not the same if other words stand behind it.
    #[test]
    fn what_is_the_same_has_the_same_words() {
        let [all, some] = [run(2, 100, 0), run(2, 100, 20)];
        let of = figure(&[all.clone(), some], "FCT of");
        assert_eq!((of.values[0], of.values[1], of.is_same), (Some(100), Some(100), false));
        assert_eq!(of.band_text(0, 2), "100 of 120");
        let broken_off = Summary { incomplete: true, ..all.clone() };
        let simulated = figure(&[all.clone(), broken_off], "Simulated");
        assert_eq!(
            (simulated.is_same, simulated.band_text(0, 2).as_str()),
            (false, "0 INTERRUPTED")
        );
        let with = |rule| {
            let goodput = Goodput { rule, bytes: 1, duration_ps: 1, tail: None };
            Summary { goodput_bps: Some(7), goodput: Some(goodput), ..all.clone() }
        };
        let runs = [with(GoodputRule::BetweenStarts), with(GoodputRule::WholeRun)];
        let goodput = figure(&runs, "Goodput");
        assert!(!goodput.is_same && figure(&[runs[0].clone(), runs[0].clone()], "Goodput").is_same);
        assert_eq!(
            goodput.bands[0].qualifier.as_deref(),
            Some("between starts / over the whole run")
        );
    }

    /// In a column of milliseconds, microseconds keep their digits.
    #[test]
    fn small_values_keep_their_digits() {
        let p50 = figure(&[run(2, 10, 0)], "FCT p50");
        assert_eq!(p50.number(123_456_789.0), "0.123");
        assert_eq!(p50.number(1_234_567.0), "1.23 us");
        assert_eq!(figure(&[run(2, 10, 0)], "Drops").number(0.012_345), "0.0123");
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
