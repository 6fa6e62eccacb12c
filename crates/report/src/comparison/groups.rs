//! Which runs belong together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

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

/// What runs have beside their settings. All lists have an entry for each run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs<'r> {
    /// Their names, which are distinct.
    pub(super) names: &'r [String],
    pub(super) seeds: &'r [u64],
    /// What they are branches of.
    pub(super) branches: &'r [Option<String>],
    /// The folders that their directories are in: of all points of a sweep the same.
    pub(super) folders: &'r [PathBuf],
}

/// What the names of groups are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) groups: Vec<Group>,
    /// The keys of the settings that are in their names.
    pub(super) by: Vec<String>,
}

impl Group {
    /// The groups of runs, in the order of their first runs.
    pub(super) fn all_of(runs: Runs<'_>, settings: &[Setting]) -> Named {
        let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for run in 0..runs.names.len() {
            alike.entry(signature(runs, settings, run)).or_default().push(run);
        }
        let mut members: Vec<Vec<usize>> =
            alike.into_values().flat_map(|alike| without_twins(runs, alike)).collect();
        members.sort_by_key(|group| group[0]);
        let (names, by) = names(&members, runs, settings);
        let groups = names.into_iter().zip(members).map(|(name, runs)| Self { name, runs });
        Named { groups: groups.collect(), by }
    }
}

/// What the runs of a group have in common.
fn signature<'s>(runs: Runs<'s>, settings: &'s [Setting], run: usize) -> Vec<&'s Option<String>> {
    let texts = settings.iter().map(|setting| &setting.texts[run]);
    std::iter::once(&runs.branches[run]).chain(texts).collect()
}

/// Groups of runs that have the same settings. The same seed twice is no band: something else must be
/// different, such as the program. Then runs in one folder, such as the points of a sweep, belong
/// together.
fn without_twins(runs: Runs<'_>, alike: Vec<usize>) -> Vec<Vec<usize>> {
    let seeds: BTreeSet<u64> = alike.iter().map(|&run| runs.seeds[run]).collect();
    if seeds.len() == alike.len() {
        return vec![alike];
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for run in alike {
        let has_room = |group: &&mut Vec<usize>| {
            runs.folders[group[0]] == runs.folders[run]
                && group.iter().all(|&one| runs.seeds[one] != runs.seeds[run])
        };
        match groups.iter_mut().find(has_room) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups
}

/// Distinct names for groups, and the keys of the settings in them: by their labels, else by those
/// settings that tell them apart, and what they are branches of; if nothing does, by their first
/// runs. Groups with the same settings have the name of their first run behind that.
fn names(
    members: &[Vec<usize>],
    runs: Runs<'_>,
    settings: &[Setting],
) -> (Vec<String>, Vec<String>) {
    let firsts: Vec<usize> = members.iter().map(|group| group[0]).collect();
    let wanted: BTreeSet<_> = firsts.iter().map(|&run| signature(runs, settings, run)).collect();
    let is_label = |setting: &&Setting| setting.key.starts_with("labels.");
    let labels: Vec<&Setting> = settings.iter().filter(is_label).collect();
    for candidates in [labels, by_importance(settings)] {
        let chosen = telling(&candidates, &firsts);
        let name = |&run: &usize| {
            let parts = chosen.iter().filter_map(|setting| part(setting, run, &chosen));
            parts.chain(runs.branches[run].clone()).collect::<Vec<_>>().join(", ")
        };
        let names: Vec<String> = firsts.iter().map(name).collect();
        let distinct = names.iter().collect::<BTreeSet<_>>().len();
        if distinct == wanted.len() && names.iter().all(|name| !name.is_empty()) {
            let keys = chosen.iter().map(|setting| setting.key.clone()).collect();
            return (told_apart(&names, &firsts, runs), keys);
        }
    }
    (firsts.into_iter().map(|run| runs.names[run].clone()).collect(), Vec::new())
}

/// The names, with the run behind those that several groups have.
fn told_apart(names: &[String], firsts: &[usize], runs: Runs<'_>) -> Vec<String> {
    let mut often: BTreeMap<&String, usize> = BTreeMap::new();
    for name in names {
        *often.entry(name).or_default() += 1;
    }
    let each = names.iter().zip(firsts);
    each.map(|(name, &run)| match often[name] {
        1 => name.clone(),
        _ => format!("{name} ({})", runs.names[run]),
    })
    .collect()
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
        in_folders(seeds, settings, &vec![""; seeds.len()])
    }

    fn in_folders(
        seeds: &[u64],
        settings: &[Setting],
        folders: &[&str],
    ) -> Vec<(String, Vec<usize>)> {
        let names: Vec<String> = (0..seeds.len()).map(|run| format!("run-{run}")).collect();
        let folders: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
        let branches = vec![None; seeds.len()];
        let runs = Runs { names: &names, seeds, branches: &branches, folders: &folders };
        let groups = Group::all_of(runs, settings).groups;
        groups.into_iter().map(|group| (group.name, group.runs)).collect()
    }

    /// A run that is there twice does not take the names of the others away.
    #[test]
    fn only_twins_are_named_by_their_runs() {
        let settings = [setting("labels.study", &["a", "b", "b", "c"])];
        let names: Vec<_> = groups(&[1, 1, 1, 1], &settings).into_iter().map(|one| one.0).collect();
        assert_eq!(names, ["study a", "study b (run-1)", "study b (run-2)", "study c"]);
    }

    /// The run beside a sweep is a group of its own, and those of the sweep stay together.
    #[test]
    fn the_seeds_of_a_sweep_stay_together_beside_another_run() {
        let settings = [setting("labels.study", &["a", "a", "a", "b"])];
        let found = in_folders(&[1, 1, 2, 1], &settings, &["", "points", "points", "points"]);
        let expected =
            [("study a (run-0)", vec![0]), ("study a (run-1)", vec![1, 2]), ("study b", vec![3])];
        assert_eq!(found, expected.map(|(name, runs)| (name.to_owned(), runs)));
        // Folders do not matter where every seed is there once.
        let found = in_folders(&[1, 2], &[], &["a", "b"]);
        assert_eq!(found.len(), 1);
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
        let settings = [
            setting("failure[0].at", &["1ms", "2ms", "2ms"]),
            setting("failure[1].at", &["3ms", "3ms", "4ms"]),
        ];
        let names: Vec<_> = groups(&[1, 1, 1], &settings).into_iter().map(|one| one.0).collect();
        assert_eq!(names[0], "failure[0].at 1ms, failure[1].at 3ms");
        assert_eq!(names[2], "failure[0].at 2ms, failure[1].at 4ms");
        let one = [setting("failure[0].at", &["1ms", "2ms"])];
        let names: Vec<_> = groups(&[1, 1], &one).into_iter().map(|one| one.0).collect();
        assert_eq!(names, ["at 1ms", "at 2ms"]);
    }

    #[test]
    fn a_branch_is_not_in_the_group_of_whole_runs() {
        let names = ["a", "b"].map(str::to_owned);
        let branches = [None, Some("branch of a at 5.00 ms: stop=9ms".to_owned())];
        let folders = [PathBuf::new(), PathBuf::new()];
        let (seeds, branches) = (&[1, 2], &branches);
        let runs = Runs { names: &names, seeds, branches, folders: &folders };
        assert_eq!(Group::all_of(runs, &[]).groups.len(), 2);
    }
}
