//! Compares the figures of several runs.

mod definitions;
mod figure;
mod grid;
mod groups;
mod kinds;
mod settings;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rocelab_results::{Results, Summary};
use serde::Serialize;

pub use self::figure::{Band, Figure};
pub use self::groups::Group;
use self::groups::{Named, Runs};
pub use self::settings::Setting;
use crate::summary_table::branch_text;

/// The most runs that stand side by side. More, and seeds of one setting, are shown by group.
const SIDE_BY_SIDE: usize = 6;

/// A comparison of runs: the others with the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The names of the runs, which are distinct.
    pub runs: Vec<String>,
    /// For each run, whether it was interrupted: then its figures hold for the time up to its
    /// simulated time.
    pub incomplete: Vec<bool>,
    /// For each run, what it is a branch of; `None` if it is none.
    pub branches: Vec<Option<String>>,
    /// The seed of each run.
    pub seeds: Vec<u64>,
    /// The congestion control of the runs, and those of their effective parameters that differ: first
    /// those that somebody set, last those that follow from others.
    pub settings: Vec<Setting>,
    /// The runs by their settings: those of one group differ in nothing but the seed.
    pub groups: Vec<Group>,
    /// The keys of the settings that are in the names of the groups.
    pub named_by: Vec<String>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// Distinct names for the runs: their scenarios' names if these differ, otherwise the names of
/// their directories; where several have the same, the whole paths, and numbers for a path that is
/// there several times.
pub(crate) fn run_names(results: &[Results]) -> Vec<String> {
    let scenario = |one: &Results| one.summary().scenario.clone();
    let directory = |one: &Results| {
        one.path().file_name().unwrap_or(one.path().as_os_str()).to_string_lossy().into_owned()
    };
    let path = |one: &Results| one.path().display().to_string();
    let names: Vec<String> = results.iter().map(scenario).collect();
    if names.iter().collect::<BTreeSet<_>>().len() == names.len() {
        return names;
    }
    let names: Vec<String> = results.iter().map(directory).collect();
    let often = counts(&names);
    let longer = names.iter().zip(results);
    let names: Vec<String> =
        longer.map(|(name, one)| if often[name] > 1 { path(one) } else { name.clone() }).collect();
    numbered(names)
}

fn counts(names: &[String]) -> BTreeMap<String, usize> {
    let mut often = BTreeMap::new();
    for name in names {
        *often.entry(name.clone()).or_default() += 1;
    }
    often
}

/// The names, with ` (2)` behind the second time of one.
fn numbered(names: Vec<String>) -> Vec<String> {
    let mut often: BTreeMap<String, usize> = BTreeMap::new();
    let number = |name: String| {
        let seen = often.entry(name.clone()).or_default();
        *seen += 1;
        if *seen > 1 { format!("{name} ({seen})") } else { name }
    };
    names.into_iter().map(number).collect()
}

impl Comparison {
    /// Compares `results`, in this order.
    pub fn of(results: &[Results]) -> Self {
        let with_kinds = kinds::told_in_all(results);
        let summaries: Vec<&Summary> = with_kinds.iter().map(AsRef::as_ref).collect();
        let runs = run_names(results);
        let branches: Vec<_> =
            summaries.iter().map(|run| run.branch.as_ref().map(branch_text)).collect();
        let settings = Setting::all_of(results);
        let seeds: Vec<u64> = summaries.iter().map(|run| run.seed).collect();
        let folder = |one: &Results| one.path().parent().map(Path::to_owned).unwrap_or_default();
        let folders: Vec<PathBuf> = results.iter().map(folder).collect();
        let all = Runs { names: &runs, seeds: &seeds, branches: &branches, folders: &folders };
        let Named { groups, by: named_by } = Group::all_of(all, &settings);
        let definitions = definitions::of(&summaries);
        let figures = definitions.iter().map(|one| Figure::of(one, &summaries, &groups)).collect();
        let incomplete = summaries.iter().map(|run| run.incomplete).collect();
        Self { runs, incomplete, branches, seeds, settings, groups, named_by, figures }
    }

    /// Whether the runs are shown by group: if there are many, or if seeds of one setting are among
    /// them. Two runs always stand side by side.
    pub fn is_grouped(&self) -> bool {
        let has_seeds = self.groups.len() < self.runs.len();
        self.runs.len() > SIDE_BY_SIDE || (self.runs.len() > 2 && has_seeds)
    }

    /// The same as JSON. Ends with a newline.
    pub fn json(&self) -> String {
        // Text, numbers and ratios can always be represented in JSON.
        let mut json = serde_json::to_string_pretty(self).unwrap_or_default();
        json.push('\n');
        json
    }

    /// A table for a terminal. Ends with a newline.
    pub fn table(&self) -> String {
        if self.is_grouped() { table::by_group(self) } else { table::side_by_side(self) }
    }
}
