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
    /// one for each parameter that several runs have with different values. The seed is none. What
    /// somebody set comes first: see [`Rank`].
    pub(super) fn all_of(results: &[Results]) -> Vec<Self> {
        let algorithms: Vec<_> = results.iter().map(algorithms).collect();
        let swept: Vec<String> = results.iter().filter_map(Results::point_settings).collect();
        let mut settings = labels(results);
        settings.extend(Self::of_algorithms(&algorithms));
        settings.extend(parameters(results, &algorithms));
        let sections: BTreeSet<&str> =
            algorithms.iter().flatten().map(|choice| choice.section.as_str()).collect();
        settings.sort_by_cached_key(|setting| setting.rank(&sections, &swept));
        settings
    }

    fn rank(&self, sections: &BTreeSet<&str>, swept: &[String]) -> Rank {
        let with: BTreeSet<&String> = self.texts.iter().flatten().collect();
        if self.key.starts_with("labels.") {
            Rank::Label
        } else if sections.contains(self.key.as_str()) {
            Rank::Algorithm
        } else if is_swept(&self.key, swept) {
            Rank::Swept
        } else if self.texts.iter().all(Option::is_some) {
            Rank::OfAll
        } else if with.len() > 1 {
            Rank::OfSome
        } else {
            Rank::Follows
        }
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

/// How likely somebody chose what a setting says. Results have the values of a scenario and the
/// defaults alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Label,
    Algorithm,
    /// A key of a sweep.
    Swept,
    /// All runs have it, with different values.
    OfAll,
    /// Only some runs have it, with different values.
    OfSome,
    /// All runs that have it have the same value: mostly the defaults of a table that other runs lack,
    /// such as `tcp`.
    Follows,
}

/// Whether points of a sweep set the key, or a table that it is in.
fn is_swept(key: &str, points: &[String]) -> bool {
    let plain = without_places(key);
    let tables = plain.match_indices('.').map(|(end, _)| &plain[..end]);
    let sets = |key: &str| {
        let (first, later) = (format!("{key}="), format!(" {key}="));
        points.iter().any(|point| point.starts_with(&first) || point.contains(&later))
    };
    tables.chain([plain.as_str()]).any(sets)
}

/// `workload.incast.bytes` of `workload.incast[0].bytes`.
fn without_places(key: &str) -> String {
    let mut parts = key.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once(']').map_or("", |(_, rest)| rest));
    std::iter::once(first.as_str()).chain(rest).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(key: &str, texts: &[&str]) -> Rank {
        let texts = texts.iter().map(|text| (!text.is_empty()).then(|| (*text).to_owned()));
        let setting = Setting { key: key.to_owned(), texts: texts.collect() };
        let swept = ["switch.alpha=1/2 workload.incast.bytes=1MB seed=3".to_owned()];
        setting.rank(&BTreeSet::from(["congestion_control"]), &swept)
    }

    #[test]
    fn what_somebody_set_comes_first() {
        let ranks = [
            rank("labels.study", &["a", ""]),
            rank("congestion_control", &["dcqcn", "none"]),
            rank("workload.incast[0].bytes", &["1MB", ""]),
            rank("roce.path_mtu", &["1024", "4096"]),
            rank("congestion_control.dcqcn.g", &["1/64", "1/16", ""]),
            rank("tcp.mss", &["1460", ""]),
        ];
        assert!(ranks.is_sorted() && ranks[0] < ranks[5], "{ranks:?}");
        assert_eq!(ranks[2], Rank::Swept);
        assert_eq!(rank("switch.alpha", &["1/2", "1/4"]), Rank::Swept);
        assert_eq!(rank("workload.incast[0].bytes_more", &["1", "2"]), Rank::OfAll);
        let swept = ["switch.ecn={ kmin = \"5KB\" }".to_owned()];
        assert!(is_swept("switch.ecn.kmin", &swept) && !is_swept("switch.alpha", &swept));
    }
}
