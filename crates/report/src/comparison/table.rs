//! A comparison as text.

use std::fmt::Write as _;

use super::grid::grid;
use super::{Comparison, Figure, Setting};
use crate::numbers;

/// Settings that are listed. Scenarios with long lists may differ in thousands.
const SETTINGS: usize = 20;
/// Groups that are columns; more are rows.
const COLUMNS: usize = 3;

/// First the settings, then a line for each figure, with the ratio to the first run's value after
/// each value.
pub(super) fn side_by_side(comparison: &Comparison) -> String {
    let Comparison { runs, settings, figures, branches, .. } = comparison;
    let mut labels = Vec::new();
    let mut cells = Vec::new();
    if branches.iter().any(Option::is_some) {
        labels.push("Branch".to_owned());
        cells.push(branches.iter().map(|one| one.clone().unwrap_or("-".to_owned())).collect());
    }
    for setting in settings.iter().take(SETTINGS) {
        labels.push(setting.key.clone());
        cells.push((0..runs.len()).map(|run| setting.text(run).to_owned()).collect());
    }
    let of_settings = labels.len();
    for figure in figures {
        labels.push(figure.name.clone());
        cells.push((0..runs.len()).map(|run| with_ratio(figure, run)).collect());
    }
    let mut text = grid(&labels, runs, &cells);
    let is_folded = text.contains("\n\n");
    if is_folded && of_settings > 0 {
        // Keys are long, and figures are wide: by themselves both may fit.
        text = grid(&labels[..of_settings], runs, &cells[..of_settings]);
        text.push('\n');
        text += &grid(&labels[of_settings..], runs, &cells[of_settings..]);
    }
    text += &more_settings(settings.iter().skip(SETTINGS).filter(|one| one.differs()).count());
    text
}

fn with_ratio(figure: &Figure, run: usize) -> String {
    let text = &figure.texts[run];
    match (run, figure.ratios[run]) {
        (0, _) => text.clone(),
        (_, Some(ratio)) => format!("{text}  x{}", numbers::ratio(ratio)),
        (_, None) => format!("{text}      -"),
    }
}

/// How many settings that differ are not in the table.
fn more_settings(more: usize) -> String {
    match more {
        0 => String::new(),
        1 => "\n1 more setting differs; --json has all\n".to_owned(),
        _ => format!("\n{more} more settings differ; --json has all\n"),
    }
}

/// The mean of each figure in each group, with the least and the greatest of its runs. Figures that
/// are the same in all runs follow in one paragraph.
pub(super) fn by_group(comparison: &Comparison) -> String {
    let Comparison { runs, groups, figures, .. } = comparison;
    let (counts, named) = (groups.len(), if groups.len() == 1 { "group" } else { "groups" });
    let mut text = format!(
        "{} runs in {counts} {named}; mean (least..greatest) over the runs of a group\n",
        runs.len()
    );
    text += &unusual(comparison);
    text.push('\n');
    let (same, different): (Vec<&Figure>, Vec<&Figure>) =
        figures.iter().partition(|figure| figure.is_same);
    let labels: Vec<String> = groups
        .iter()
        .map(|group| match group.runs.len() {
            1 => group.name.clone(),
            several => format!("{} x{several}", group.name),
        })
        .collect();
    let heads: Vec<String> = different.iter().map(|figure| figure.head()).collect();
    let cell = |figure: &&Figure, group: usize| figure.band_text(group, groups[group].runs.len());
    text += &if groups.len() <= COLUMNS {
        let rows = different.iter().map(|one| (0..groups.len()).map(|group| cell(one, group)));
        grid(&heads, &labels, &rows.map(Iterator::collect).collect::<Vec<_>>())
    } else {
        let rows = (0..groups.len()).map(|group| different.iter().map(move |one| cell(one, group)));
        grid(&labels, &heads, &rows.map(Iterator::collect).collect::<Vec<_>>())
    };
    text += &constant(&same);
    let is_left_out = |one: &&Setting| one.differs() && !comparison.named_by.contains(&one.key);
    text += &more_settings(comparison.settings.iter().filter(is_left_out).count());
    text
}

/// Runs that were interrupted, and branches.
fn unusual(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (run, name) in comparison.runs.iter().enumerate() {
        if comparison.incomplete[run] {
            let _ = writeln!(text, "{name}: INTERRUPTED; its figures hold until then");
        }
        if let Some(branch) = &comparison.branches[run] {
            let _ = writeln!(text, "{name}: {branch}");
        }
    }
    text
}

/// The figures that are the same in all runs. What no run has is left out.
fn constant(same: &[&Figure]) -> String {
    let known = same.iter().filter(|figure| figure.values.iter().any(Option::is_some));
    let each: Vec<String> =
        known.map(|figure| format!("{} {}", figure.name, figure.texts[0])).collect();
    if each.is_empty() {
        return String::new();
    }
    format!("\nThe same in all runs: {}\n", each.join(", "))
}
