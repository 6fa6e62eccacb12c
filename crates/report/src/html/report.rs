//! The report of one run.

use rocelab_results::{FlowRecord, Results, ResultsError};
use serde::Serialize;

use super::busiest_link::busiest_links;
use super::envelope::BINS;
use super::fairness::fairness;
use super::flows::{Completion, completion};
use super::lanes::{Lane, lanes};
use super::map::{Map, map, places};
use super::mesh::{Mesh, mesh};
use super::operations::{Operations, operations};
use super::overview::overview;
use super::page::{Column, page};
use super::pause_tree::{PauseTree, pause_tree};
use super::pauses::Pauses;
use super::ports::Ports;
use super::queue_pictures::{HeatMap, heat_map, spread};
use super::samples::{SAMPLED, samples};
use super::settings::{ScenarioSetting, settings as tables_of};
use super::splits::{Split, splits};
use super::tables::{self, Table};
use super::timelines::{self, Span, TimeLine};
use super::victims::Victims;

/// The data that the scripts of a report draw.
#[derive(Debug, Serialize)]
struct Data {
    kind: &'static str,
    name: String,
    begin_ps: u64,
    end_ps: u64,
    bins: u32,
    settings: Vec<Table>,
    completion: Completion,
    splits: Vec<Split>,
    operations: Operations,
    timelines: Vec<TimeLine>,
    /// The percentiles of queues over ports.
    spread: Option<TimeLine>,
    heat_map: HeatMap,
    /// Only where hosts pinged each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    mesh: Option<Mesh>,
    map: Map,
    lanes: Vec<Lane>,
    lanes_omitted: usize,
    tree: PauseTree,
    tables: Vec<Table>,
}

/// One run as one HTML file, which needs no network and no other file.
///
/// If the run did not record something (sampled queues, for example), the page leaves it out and
/// says how to get it. Equal results give equal bytes. The size is limited, however large the run
/// is: series are drawn from the least and greatest values of equal parts of time, and tables keep
/// the most important rows.
///
/// # Errors [`ResultsError::Read`] if a file of the directory is missing, and
/// [`ResultsError::Malformed`] if one has the wrong format.
pub fn report_html(results: &Results) -> Result<String, ResultsError> {
    report_html_with(results, &[])
}

/// The same with what the scenario says, `settings`, which results alone cannot tell from defaults. Without any, the
/// page has no section about the scenario.
///
/// # Errors As [`report_html`].
pub fn report_html_with(
    results: &Results,
    settings: &[ScenarioSetting],
) -> Result<String, ResultsError> {
    let summary = results.summary();
    let end_ps = summary.simulated_ps;
    let ports = Ports::read(results)?;
    let flows: Vec<FlowRecord<'_>> = results.flows()?.collect::<Result<_, _>>()?;
    let places = places(&ports, results.nodes()?, &flows);
    let pauses = Pauses::read(results, &ports)?;
    let samples = samples(results, &ports)?;

    let mut further = busiest_links(&ports, end_ps, summary.infiniband.is_some());
    if !flows.is_empty() {
        further.push(fairness(&flows, end_ps));
    }
    let victims = Victims::of(&flows, &pauses, &ports, end_ps);
    let window = timelines::figure(&flows, end_ps);
    let span = Span { figure: window, run_ps: end_ps };
    let mut timelines = vec![
        timelines::open_flows(&flows, span),
        timelines::goodput(&flows, span),
        timelines::paused(&pauses, &ports, &places, span),
        timelines::held_back(&victims, span),
    ];
    let queues = SAMPLED.iter().position(|one| one.id == "queue");
    let queues = queues.and_then(|place| samples[place].as_ref());
    for (sampled, samples) in SAMPLED.iter().zip(&samples) {
        timelines.push(timelines::sampled(sampled, samples.as_ref(), &ports, span));
    }
    let (lanes, lanes_omitted) = lanes(&pauses, &ports, window);
    let (mesh, pings) = mesh(results)?.unzip();
    let data = Data {
        kind: "report",
        name: summary.scenario.clone(),
        begin_ps: window.begin_ps,
        end_ps,
        bins: BINS,
        settings: tables_of(settings),
        completion: completion(&flows, end_ps),
        splits: splits(&flows, end_ps),
        operations: operations(results, span)?,
        timelines,
        spread: spread(queues, span),
        heat_map: heat_map(queues, &ports, span),
        mesh,
        map: map(&ports, &places, &pauses, &samples, &summary.deadlocks, window),
        lanes,
        lanes_omitted,
        tree: pause_tree(&pauses, &ports),
        tables: all_tables(results, &flows, &ports, (&pauses, &victims, pings))?,
    };
    let overview = overview(summary, results.run()).with(further);
    let column = Column { name: summary.scenario.clone(), overview };
    Ok(page(&summary.scenario, &[column], &data))
}

/// All tables; what was stuck comes first, if there is any.
fn all_tables(
    results: &Results,
    flows: &[FlowRecord<'_>],
    ports: &Ports,
    (pauses, victims, pings): (&Pauses, &Victims, Option<Table>),
) -> Result<Vec<Table>, ResultsError> {
    let summary = results.summary();
    let mut list: Vec<Table> = tables::deadlocks(&summary.deadlocks).into_iter().collect();
    list.extend(tables::stalled(summary.stalled.as_ref()));
    list.extend(tables::storms(results)?);
    list.extend(tables::slow_receivers(&summary.slow_receivers));
    list.extend(tables::victims(victims, flows, (pauses, ports), summary.simulated_ps));
    list.extend(pings);
    list.extend(tables::hosts(results)?);
    list.extend(tables::memory(results)?);
    list.push(tables::flows(flows));
    list.push(tables::links(ports));
    list.push(tables::pauses(pauses, ports));
    list.push(tables::drops(results)?);
    Ok(list)
}
