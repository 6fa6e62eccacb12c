//! Pings that cannot be sent, or not be answered in time: no error, but seldom what was meant.

use rocelab_fabric::NodeId;

use crate::ideal::UnloadedPings;
use crate::plan::{MonitoringPlan, Plan, p_keys_match};
use crate::scenario::Fault;

/// What a mesh has to no effect.
pub(super) fn notes(plan: &Plan) -> Vec<Fault> {
    let Some(mesh) = &plan.monitoring else { return Vec::new() };
    late_start(plan, mesh)
        .into_iter()
        .chain(short_timeout(plan, mesh))
        .chain(other_partitions(plan, mesh))
        .collect()
}

/// Pings that would begin when the run is over.
fn late_start(plan: &Plan, mesh: &MonitoringPlan) -> Option<Fault> {
    let stop = plan.stop.filter(|&stop| mesh.rules.start >= stop)?;
    let text = format!("the run stops at {stop}, before the first ping");
    let fault = Fault::at("monitoring.start", text).value(mesh.rules.start.to_string());
    Some(fault.help("give an earlier time, or a later `stop`"))
}

/// A timeout in which no ping is answered, even without any load.
fn short_timeout(plan: &Plan, mesh: &MonitoringPlan) -> Option<Fault> {
    let mut unloaded = UnloadedPings::new(plan)?;
    let mut short = mesh.pairs().filter_map(|pair| {
        let time = unloaded.time_of(pair)?;
        (time > mesh.rules.timeout).then_some((pair, time))
    });
    let (pair, time) = short.next()?;
    let text = format!(
        "all pings of {} are lost: a ping and its answer take {time} without any load{}",
        named(plan, pair),
        others(short.count())
    );
    let fault = Fault::at("monitoring.timeout", text).value(mesh.rules.timeout.to_string());
    Some(fault.help("give more than the round trip of the longest path"))
}

/// Pairs whose hosts drop what the other sends: pings are in the default partition.
fn other_partitions(plan: &Plan, mesh: &MonitoringPlan) -> Option<Fault> {
    let p_key = |host: NodeId| plan.roce.partitions.table(host)[0];
    let mut parted = mesh.pairs().filter(|&(from, to)| !p_keys_match(p_key(from), p_key(to)));
    let pair = parted.next()?;
    let text = format!(
        "all pings of {} are lost: both hosts are limited members of the default partition{}",
        named(plan, pair),
        others(parted.count())
    );
    Some(
        Fault::at("monitoring.pairs", text).help(
            "leave those pairs out, or let one of the two be a full member of partition 0x7fff",
        ),
    )
}

fn named(plan: &Plan, (from, to): (NodeId, NodeId)) -> String {
    let name = |host: NodeId| &plan.topology.nodes[host as usize].name;
    format!("`{}` to `{}`", name(from), name(to))
}

fn others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", and another pair is like that".into(),
        more => format!(", and {more} other pairs are like that"),
    }
}
