//! Which runs belong together.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Setting;

/// Runs that differ in nothing but the seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// What tells it from the other groups: its labels if these do, otherwise its settings.
    pub name: String,
    /// Its runs, by their number in [`Comparison::runs`](super::Comparison::runs).
    pub runs: Vec<usize>,
}

impl Group {
    /// The groups of runs, in the order of their first runs.
    pub(super) fn all_of(
        runs: &[String],
        seeds: &[u64],
        settings: &[Setting],
        branches: &[Option<String>],
    ) -> Vec<Self> {
        let is_same = |one: usize, other: usize| {
            branches[one] == branches[other]
                && settings.iter().all(|setting| setting.texts[one] == setting.texts[other])
        };
        let mut members: Vec<Vec<usize>> = Vec::new();
        for run in 0..runs.len() {
            // The same seed twice is no band: something else must be different, such as the program.
            let has_room = |group: &&mut Vec<usize>| {
                is_same(group[0], run) && group.iter().all(|&one| seeds[one] != seeds[run])
            };
            match members.iter_mut().find(has_room) {
                Some(group) => group.push(run),
                None => members.push(vec![run]),
            }
        }
        let names = names(&members, runs, settings, branches);
        names.into_iter().zip(members).map(|(name, runs)| Self { name, runs }).collect()
    }
}

/// Distinct names for groups: by their labels, else by those settings that tell them apart, and what
/// they are branches of; if nothing does, by their first runs.
fn names(
    members: &[Vec<usize>],
    runs: &[String],
    settings: &[Setting],
    branches: &[Option<String>],
) -> Vec<String> {
    let firsts: Vec<usize> = members.iter().map(|group| group[0]).collect();
    let is_label = |setting: &&Setting| setting.key.starts_with("labels.");
    let labels: Vec<&Setting> = settings.iter().filter(is_label).collect();
    for candidates in [labels, by_importance(settings)] {
        let chosen = telling(&candidates, &firsts);
        let name = |&run: &usize| {
            let parts = chosen.iter().filter_map(|setting| part(setting, run, &chosen));
            parts.chain(branches[run].clone()).collect::<Vec<_>>().join(", ")
        };
        let names: Vec<String> = firsts.iter().map(name).collect();
        let distinct = names.iter().collect::<BTreeSet<_>>().len();
        if distinct == names.len() && names.iter().all(|name| !name.is_empty()) {
            return names;
        }
    }
    firsts.into_iter().map(|run| runs[run].clone()).collect()
}

/// The algorithm first, then what all runs have: other keys mostly follow from these.
fn by_importance(settings: &[Setting]) -> Vec<&Setting> {
    let mut all: Vec<&Setting> = settings.iter().collect();
    all.sort_by_key(|setting| {
        (setting.key != ALGORITHM, setting.texts.iter().any(Option::is_none))
    });
    all
}

/// Of these settings, each that tells runs apart which those before it do not.
fn telling<'s>(settings: &[&'s Setting], runs: &[usize]) -> Vec<&'s Setting> {
    let distinct = |chosen: &[&Setting]| {
        let texts = |&run: &usize| chosen.iter().map(|one| &one.texts[run]).collect::<Vec<_>>();
        runs.iter().map(texts).collect::<BTreeSet<_>>().len()
    };
    let mut chosen = Vec::new();
    for &setting in settings {
        let before = distinct(&chosen);
        chosen.push(setting);
        if distinct(&chosen) == before {
            chosen.pop();
        }
    }
    chosen
}

/// The section of the algorithm of all flows.
const ALGORITHM: &str = "congestion_control";

/// A setting of a run in short: an algorithm by its value alone, others with the last part of the key,
/// or all of it if another setting ends alike.
fn part(setting: &Setting, run: usize, chosen: &[&Setting]) -> Option<String> {
    let text = setting.texts[run].as_deref()?;
    if setting.key == ALGORITHM {
        return Some(short_title(text, &setting.texts).to_owned());
    }
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let short = last(&setting.key);
    let is_taken = chosen.iter().filter(|other| last(&other.key) == short).count() > 1;
    Some(format!("{} {text}", if is_taken { &setting.key } else { &short }))
}

/// An algorithm without its preset, if all runs that have it have the same preset.
fn short_title<'t>(title: &'t str, all: &[Option<String>]) -> &'t str {
    let name = |title: &'t str| title.split_once(" (preset ").map_or(title, |(name, _)| name);
    let same_name = all.iter().flatten().filter(|other| {
        other.split_once(" (preset ").map_or(other.as_str(), |(name, _)| name) == name(title)
    });
    if same_name.collect::<BTreeSet<_>>().len() == 1 { name(title) } else { title }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(key: &str, texts: &[&str]) -> Setting {
        let texts = texts.iter().map(|text| (!text.is_empty()).then(|| (*text).to_owned()));
        Setting { key: key.to_owned(), texts: texts.collect() }
    }

    fn groups(seeds: &[u64], settings: &[Setting]) -> Vec<(String, Vec<usize>)> {
        let runs: Vec<String> = (0..seeds.len()).map(|run| format!("run-{run}")).collect();
        let groups = Group::all_of(&runs, seeds, settings, &vec![None; seeds.len()]);
        groups.into_iter().map(|group| (group.name, group.runs)).collect()
    }

    #[test]
    fn seeds_of_one_setting_are_a_group() {
        let settings = [
            setting("congestion_control", &["dcqcn", "dcqcn", "hpcc", "hpcc"]),
            setting("workload.poisson.load", &["0.3", "0.3", "0.3", "0.5"]),
        ];
        let expected = [
            ("dcqcn, load 0.3".to_owned(), vec![0, 1]),
            ("hpcc, load 0.3".to_owned(), vec![2]),
            ("hpcc, load 0.5".to_owned(), vec![3]),
        ];
        assert_eq!(groups(&[1, 2, 1, 1], &settings), expected);
    }

    /// A key that only runs with one algorithm have follows from it.
    #[test]
    fn names_have_what_tells_groups_apart_and_no_more() {
        let settings = [
            setting(
                "congestion_control",
                &["dcqcn (preset paper)", "hpcc", "dcqcn (preset paper)"],
            ),
            setting("switch.ecn.kmin", &["100KB", "", "100KB"]),
            setting("workload.poisson.load", &["0.3", "0.3", "0.5"]),
        ];
        let names: Vec<_> = groups(&[1, 1, 1], &settings).into_iter().map(|one| one.0).collect();
        assert_eq!(names, ["dcqcn, load 0.3", "hpcc, load 0.3", "dcqcn, load 0.5"]);
        let presets = [setting("congestion_control", &["dcqcn (preset a)", "dcqcn (preset b)"])];
        let names: Vec<_> = groups(&[1, 1], &presets).into_iter().map(|one| one.0).collect();
        assert_eq!(names, ["dcqcn (preset a)", "dcqcn (preset b)"]);
    }

    /// Two runs with the same seed and settings would be a band of no width.
    #[test]
    fn the_same_run_twice_is_no_band() {
        let expected = [("run-0".to_owned(), vec![0, 2]), ("run-1".to_owned(), vec![1])];
        assert_eq!(groups(&[1, 1, 2], &[]), expected);
    }

    #[test]
    fn labels_name_groups_where_they_tell_them_apart() {
        let settings = [
            setting("labels.study", &["a", "a", "b"]),
            setting("switch.ecn.kmin", &["5KB", "5KB", "9KB"]),
        ];
        let names: Vec<_> = groups(&[1, 2, 1], &settings).into_iter().map(|one| one.0).collect();
        assert_eq!(names, ["study a", "study b"]);
    }

    #[test]
    fn keys_that_end_alike_are_told_in_full() {
        let settings =
            [setting("failure[0].at", &["1ms", "2ms"]), setting("failure[1].at", &["", "3ms"])];
        let names: Vec<_> = groups(&[1, 1], &settings).into_iter().map(|one| one.0).collect();
        assert_eq!(names, ["failure[0].at 1ms", "failure[0].at 2ms, failure[1].at 3ms"]);
    }

    #[test]
    fn a_branch_is_not_in_the_group_of_whole_runs() {
        let runs = ["a", "b"].map(str::to_owned);
        let branches = [None, Some("branch of a at 5.00 ms: stop=9ms".to_owned())];
        assert_eq!(Group::all_of(&runs, &[1, 2], &[], &branches).len(), 2);
    }
}
