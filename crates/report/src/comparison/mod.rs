//! Compares the figures of several runs.

mod definitions;
mod figure;
mod grid;
mod groups;
mod settings;
mod table;

use std::collections::BTreeSet;

use rocelab_results::{Results, Summary};
use serde::Serialize;

pub use self::figure::{Band, Figure};
pub use self::groups::Group;
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
    /// The congestion control of the runs, and those of their effective parameters that differ.
    pub settings: Vec<Setting>,
    /// The runs by their settings: those of one group differ in nothing but the seed.
    pub groups: Vec<Group>,
    /// The figures.
    pub figures: Vec<Figure>,
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
        let runs = run_names(results);
        let branches: Vec<_> =
            summaries.iter().map(|run| run.branch.as_ref().map(branch_text)).collect();
        let settings = Setting::all_of(results);
        let seeds: Vec<u64> = summaries.iter().map(|run| run.seed).collect();
        let groups = Group::all_of(&runs, &seeds, &settings, &branches);
        let definitions = definitions::of(&summaries);
        let figures = definitions.iter().map(|one| Figure::of(one, &summaries, &groups)).collect();
        let incomplete = summaries.iter().map(|run| run.incomplete).collect();
        Self { runs, incomplete, branches, seeds, settings, groups, figures }
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
