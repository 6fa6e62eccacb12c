//! The page that compares several runs.

use rocelab_results::{FlowRecord, Results, ResultsError};
use serde::Serialize;

use super::compare_groups::groups_html;
use super::envelope::{BINS, Window};
use super::flows::{Completion, completion};
use super::latencies::{Latencies, latencies, name_alike};
use super::map::places;
use super::overview::{Fact, overview};
use super::page::{Column, page};
use super::pauses::Pauses;
use super::ports::Ports;
use super::samples::{SAMPLED, samples};
use super::timelines::{self, Span, TimeLine, figure};
use super::victims::Victims;
use crate::comparison::{Comparison, run_names};

/// The data that the scripts of a comparison draw.
#[derive(Debug, Serialize)]
struct Data {
    kind: &'static str,
    begin_ps: u64,
    end_ps: u64,
    bins: u32,
    runs: Vec<Run>,
    comparison: Comparison,
}

/// One of the runs.
#[derive(Debug, Serialize)]
struct Run {
    name: String,
    completion: Completion,
    latencies: Vec<Latencies>,
    timelines: Vec<TimeLine>,
}

/// The runs as one HTML file. A few runs: their figures in a table, and their distributions and time
/// lines in common figures, over the time of the longest run; all runs are compared to the first. Many
/// runs, or several seeds of the same settings: figures by group.
///
/// # Errors As [`report_html`](super::report_html), for any of them.
pub fn compare_html(results: &[Results]) -> Result<String, ResultsError> {
    let comparison = Comparison::of(results);
    if comparison.is_grouped() {
        return groups_html(results, comparison);
    }
    let end_ps = results.iter().map(|one| one.summary().simulated_ps).max().unwrap_or(0);
    let names = run_names(results);
    let mut flows: Vec<Vec<FlowRecord<'_>>> = Vec::new();
    for one in results {
        flows.push(one.flows()?.collect::<Result<_, _>>()?);
    }
    let figures =
        results.iter().zip(&flows).map(|(one, flows)| figure(flows, one.summary().simulated_ps));
    let begin_ps = figures.map(|figure| figure.begin_ps).min().unwrap_or(0);
    let window = Window { begin_ps, end_ps };
    let mut runs: Vec<Run> = Vec::new();
    let mut columns = Vec::new();
    for (place, ((one, name), flows)) in results.iter().zip(&names).zip(&flows).enumerate() {
        runs.push(run(one, name.clone(), flows, window)?);
        let mut overview = overview(one.summary(), one.run());
        // The settings that are compared come first.
        let settings = comparison.settings.iter();
        let settings = settings.map(|setting| {
            let value = setting.text(place).to_owned();
            Fact { name: setting.key.clone().into(), value }
        });
        overview.facts.splice(0..0, settings);
        columns.push(Column { name: name.clone(), overview });
    }
    name_alike(runs.iter_mut().map(|run| &mut run.latencies));
    let data = Data { kind: "compare", begin_ps, end_ps, bins: BINS, runs, comparison };
    Ok(page(&names.join(" / "), &columns, &data))
}

fn run(
    results: &Results,
    name: String,
    flows: &[FlowRecord<'_>],
    figure: Window,
) -> Result<Run, ResultsError> {
    let ports = Ports::read(results)?;
    let places = places(&ports, results.nodes()?, flows);
    let pauses = Pauses::read(results, &ports)?;
    let span = Span { figure, run_ps: results.summary().simulated_ps };
    let mut timelines = vec![
        timelines::open_flows(flows, span),
        timelines::goodput(flows, span),
        timelines::paused(&pauses, &ports, &places, span),
        timelines::held_back(&Victims::of(flows, &pauses, &ports, span.run_ps), span),
    ];
    for (sampled, samples) in SAMPLED.iter().zip(&samples(results, &ports)?) {
        timelines.extend(samples.iter().map(|one| timelines::largest(sampled, one, span)));
    }
    let completion = completion(flows, span.run_ps);
    Ok(Run { name, completion, latencies: latencies(results)?, timelines })
}
