//! In which settings runs differ.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_results::{AlgorithmChoice, Results};
use serde::Serialize;

/// What stands in place of settings that cannot be read.
const UNREADABLE: &str = "unknown (scenario.resolved.toml cannot be read)";

/// A setting in the scenarios of the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The key in a scenario, such as `congestion_control.dcqcn.preset`.
    pub key: String,
    /// The value in each run; `None` if the run's scenario does not have the key.
    pub texts: Vec<Option<String>>,
}

impl Setting {
    /// The settings of runs: labels that differ, one for each section that names an algorithm, and
    /// one for each parameter that several runs have with different values. The seed is none.
    pub(super) fn all_of(results: &[Results]) -> Vec<Self> {
        let algorithms: Vec<_> = results.iter().map(algorithms).collect();
        let mut settings = labels(results);
        settings.extend(Self::of_algorithms(&algorithms));
        settings.extend(parameters(results, &algorithms));
        settings
    }

    /// One for each section that names an algorithm, and one for each parameter of an algorithm that
    /// differs between runs that have it.
    fn of_algorithms(runs: &[Vec<AlgorithmChoice>]) -> Vec<Self> {
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

    /// Whether runs have different values, or some have none.
    pub(crate) fn differs(&self) -> bool {
        self.texts.iter().collect::<BTreeSet<_>>().len() > 1
    }

    /// The value in a run, as text.
    pub(crate) fn text(&self, run: usize) -> &str {
        self.texts[run].as_deref().unwrap_or("-")
    }
}

/// The algorithms of a run. A scenario that cannot be read has no settings to show.
fn algorithms(results: &Results) -> Vec<AlgorithmChoice> {
    results.algorithms().unwrap_or_else(|_| {
        vec![AlgorithmChoice {
            section: "congestion_control".to_owned(),
            name: UNREADABLE.to_owned(),
            parameters: BTreeMap::new(),
        }]
    })
}

/// The parameters of an algorithm, if it has this name.
fn of_name<'a>(
    choice: Option<&'a AlgorithmChoice>,
    name: &str,
) -> Option<&'a BTreeMap<String, String>> {
    choice.filter(|choice| choice.name == name).map(|choice| &choice.parameters)
}

/// The labels that differ.
fn labels(results: &[Results]) -> Vec<Setting> {
    let labels: Vec<_> = results.iter().map(|one| one.summary().labels.clone()).collect();
    of_maps("labels.", &labels, |_| true)
}

/// The other parameters that differ: neither of algorithms, nor labels, nor the seed.
fn parameters(results: &[Results], algorithms: &[Vec<AlgorithmChoice>]) -> Vec<Setting> {
    // What is wrong with a scenario is told where its algorithms are.
    let read = results.iter().map(|one| one.parameters().unwrap_or_default());
    let all: Vec<BTreeMap<String, String>> = read.collect();
    let sections: BTreeSet<String> =
        algorithms.iter().flatten().map(|choice| format!("{}.", choice.section)).collect();
    let is_told = |key: &str| {
        key == "seed"
            || key.starts_with("labels.")
            || sections.iter().any(|section| key.starts_with(section.as_str()))
    };
    of_maps("", &all, |key| !is_told(key))
}

/// The keys of maps whose values differ, with a prefix.
fn of_maps(
    prefix: &str,
    all: &[BTreeMap<String, String>],
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<Setting> {
    let keys: BTreeSet<&String> = all.iter().flat_map(|one| one.keys()).collect();
    let setting = |key: &String| Setting {
        key: format!("{prefix}{key}"),
        texts: all.iter().map(|one| one.get(key).cloned()).collect(),
    };
    let wanted = keys.into_iter().filter(|key| is_wanted(key.as_str()));
    wanted.map(setting).filter(Setting::differs).collect()
}
