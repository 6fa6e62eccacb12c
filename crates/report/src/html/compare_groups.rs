//! The page that compares many runs, by group.

use rocelab_results::{FlowRecord, Results, ResultsError};
use serde::Serialize;

use super::envelope::BINS;
use super::flows::{Completion, completion};
use super::overview::{Fact, Overview};
use super::page::{Column, page};
use super::rules::Rule;
use super::verdicts::{Level, Verdict, verdict};
use crate::comparison::{Comparison, Group};
use crate::numbers::{count, counted};

/// Runs that are named one by one in the sentences at the top.
const NAMED: usize = 8;
/// Settings whose values are listed at the top.
const SETTINGS: usize = 12;

/// The data that the scripts of the page draw.
#[derive(Debug, Serialize)]
struct Data {
    kind: &'static str,
    name: &'static str,
    begin_ps: u64,
    end_ps: u64,
    bins: u32,
    comparison: Comparison,
    /// For each group, the completion of all flows of its runs.
    completions: Vec<Completion>,
}

/// Many runs as one HTML file: what differs between them, each figure in each group, and all runs in a
/// table.
///
/// # Errors As [`report_html`](super::report_html), for any of them.
pub(super) fn groups_html(
    results: &[Results],
    comparison: Comparison,
) -> Result<String, ResultsError> {
    let of_group = |group: &Group| -> Result<Completion, ResultsError> {
        let members: Vec<&Results> = group.runs.iter().map(|&run| &results[run]).collect();
        let (flows, end_ps) = flows_of(&members)?;
        Ok(completion(&flows, end_ps))
    };
    let completions = comparison.groups.iter().map(of_group).collect::<Result<_, _>>()?;
    let end_ps = results.iter().map(|one| one.summary().simulated_ps).max().unwrap_or(0);
    let (runs, groups) = (comparison.runs.len() as u64, comparison.groups.len() as u64);
    let title = format!("{} in {}", counted(runs, "run"), counted(groups, "group"));
    let column = Column { name: title.clone(), overview: overview(&comparison) };
    let data = Data {
        kind: "groups",
        name: "comparison",
        begin_ps: 0,
        end_ps,
        bins: BINS,
        comparison,
        completions,
    };
    Ok(page(&title, &[column], &data))
}

/// The flows of several runs as if all had ended at the same time, and that time (ps). An open flow
/// stays open for as long as it was.
fn flows_of(runs: &[&Results]) -> Result<(Vec<FlowRecord<'static>>, u64), ResultsError> {
    let end_ps = runs.iter().map(|one| one.summary().simulated_ps).max().unwrap_or(0);
    let mut all = Vec::new();
    for run in runs {
        let later_ps = end_ps - run.summary().simulated_ps;
        for flow in run.flows()? {
            let flow = flow?;
            let start_ps = flow.start_ps.saturating_add(later_ps);
            all.push(FlowRecord { start_ps, ..flow });
        }
    }
    Ok((all, end_ps))
}

/// What the runs are, and what is unusual about some.
fn overview(comparison: &Comparison) -> Overview {
    let fact = |name: &'static str, value: String| Fact { name: name.into(), value };
    let seeds = comparison.groups.iter().map(|group| group.runs.len());
    let (least, most) = (seeds.clone().min().unwrap_or(0), seeds.max().unwrap_or(0));
    let in_each = if least == most { least.to_string() } else { format!("{least} to {most}") };
    let mut facts = vec![
        fact("Runs", count(comparison.runs.len() as u64)),
        fact("Groups (all but the seed is equal)", count(comparison.groups.len() as u64)),
        fact("Runs in a group", in_each),
    ];
    let differing = comparison.settings.iter().filter(|one| one.differs());
    facts.extend(differing.clone().take(SETTINGS).map(|setting| {
        let mut values: Vec<&str> = Vec::new();
        for run in 0..comparison.runs.len() {
            if !values.contains(&setting.text(run)) {
                values.push(setting.text(run));
            }
        }
        let more = values.len().saturating_sub(NAMED);
        let mut value = values.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        if more > 0 {
            value += &format!(" and {more} more");
        }
        Fact { name: setting.key.clone().into(), value }
    }));
    let more = differing.count().saturating_sub(SETTINGS);
    if more > 0 {
        facts.push(fact("More settings that differ", count(more as u64)));
    }
    let verdicts = unusual(comparison);
    Overview { verdicts, facts, percentiles: Vec::new(), completed: Vec::new() }
}

/// Interrupted runs, and branches.
fn unusual(comparison: &Comparison) -> Vec<Verdict> {
    let named = |is: &dyn Fn(usize) -> bool| -> Vec<&String> {
        let all = comparison.runs.iter().enumerate();
        all.filter(|(run, _)| is(*run)).map(|(_, name)| name).collect()
    };
    let list = |names: &[&String]| {
        let some: Vec<_> = names.iter().take(NAMED).map(|name| name.as_str()).collect();
        let more = if names.len() > NAMED { ", ..." } else { "" };
        format!("{}{more}", some.join(", "))
    };
    let mut verdicts = Vec::new();
    let interrupted = named(&|run| comparison.incomplete[run]);
    if !interrupted.is_empty() {
        let text = format!("Interrupted, so that figures hold until then: {}.", list(&interrupted));
        verdicts.push(verdict(Level::Bad, text, Rule::Interrupted));
    }
    let branches = named(&|run| comparison.branches[run].is_some());
    if !branches.is_empty() {
        let text = format!("Branches of other runs: {}.", list(&branches));
        verdicts.push(verdict(Level::Note, text, Rule::Branch));
    }
    verdicts
}
