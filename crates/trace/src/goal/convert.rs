//! GOAL as graphs, and graphs as GOAL.

use std::path::Path;

use crate::{
    Engine, Label, Node, Operation, Options, RankBuilder, RankGraph, Reference, Trace, TraceError,
};

use super::{Goal, Kind, Schedule, Statement};

/// Picoseconds of a nanosecond.
const NANOSECOND: u64 = 1_000;

/// Makes graphs of schedules. The index of a node is that of its statement.
///
/// # Errors If statements wait for each other in a cycle, or a calculation is too long.
pub fn to_trace(goal: &Goal, options: &Options) -> Result<Trace, TraceError> {
    let count = u32::try_from(goal.ranks.len()).unwrap_or(u32::MAX);
    let ranks = (0..count).zip(&goal.ranks).map(|(rank, schedule)| {
        let mut builder = RankBuilder::new(rank, &goal.path);
        for (id, (statement, label)) in schedule.statements.iter().zip(&schedule.labels).enumerate()
        {
            let label = Label { id: id as u64, name: label.clone() };
            let node = node(statement, options).ok_or_else(|| {
                let message = format!("calc {} is longer than 5000 hours", statement.size);
                TraceError::new(&goal.path, message, "give a shorter time").of_node(&label)
            })?;
            builder.node(node, label)?;
        }
        for &(statement, parent, reference) in &schedule.requires {
            builder.wait(statement, parent, reference);
        }
        builder.finish()
    });
    Ok(Trace { groups: Trace::world(count), ranks: ranks.collect::<Result<_, _>>()? })
}

fn node(statement: &Statement, options: &Options) -> Option<Node> {
    let Statement { kind, peer, tag, size, cpu, nic } = *statement;
    let (operation, engine) = match kind {
        Kind::Send => (Operation::Send { peer, tag, bytes: size }, Engine::Unlimited),
        Kind::Receive => (Operation::Receive { peer, tag, bytes: size }, Engine::Unlimited),
        Kind::Calc => {
            let duration_ps = options.scaled(size.checked_mul(NANOSECOND)?)?;
            (Operation::Compute { duration_ps }, Engine::Cpu(cpu))
        }
    };
    Some(Node { operation, engine, cpu, nic })
}

/// Makes schedules of graphs; `path` is what errors of the schedules name.
///
/// Computation is rounded to nanoseconds. That of a GPU is on the processor that posts messages. Markers, reductions and
/// copies take no time, since a trace says their bytes and no rate.
///
/// # Errors If there is a collective operation: GOAL has none, so [`expand`](crate::expand) first.
pub fn from_trace(trace: &Trace, path: &Path) -> Result<Goal, TraceError> {
    let ranks = trace.ranks.iter().map(schedule).collect::<Result<_, _>>()?;
    Ok(Goal { path: path.to_owned(), ranks })
}

fn schedule(graph: &RankGraph) -> Result<Schedule, TraceError> {
    let mut schedule = Schedule::default();
    for (index, (node, label)) in graph.nodes.iter().zip(&graph.labels).enumerate() {
        let statement = statement(node).ok_or_else(|| {
            let message = "GOAL has no collective operations";
            TraceError::new(&graph.source, message, "expand them into messages first")
                .of_node(label)
        })?;
        schedule.statements.push(statement);
        schedule.labels.push(format!("l{}", index + 1).into());
    }
    // By the node that waits, as people write them.
    let mut requires = Vec::new();
    for parent in 0..u32::try_from(graph.nodes.len()).unwrap_or(u32::MAX) {
        let both = [
            (graph.on_done(parent), Reference::Done),
            (graph.on_start(parent), Reference::Started),
        ];
        for (dependants, reference) in both {
            requires.extend(dependants.iter().map(|&dependant| (dependant, parent, reference)));
        }
    }
    requires.sort_by_key(|&(dependant, parent, _)| (dependant, parent));
    schedule.requires = requires;
    Ok(schedule)
}

/// A node as a statement; `None` of a collective operation.
pub(crate) fn statement(node: &Node) -> Option<Statement> {
    let Node { operation, engine, cpu, nic } = *node;
    let message = |kind, peer, tag, size| Statement { kind, peer, tag, size, cpu, nic };
    let calc = |size| {
        let cpu = match engine {
            Engine::Cpu(cpu) => cpu,
            // In LogGOPSim an operation does not wait for the end of another one on another processor, so a GPU's
            // computation must be on the one that posts messages.
            Engine::Compute | Engine::Communication | Engine::Unlimited => cpu,
        };
        Statement { kind: Kind::Calc, peer: 0, tag: 0, size, cpu, nic }
    };
    Some(match operation {
        Operation::Send { peer, tag, bytes } => message(Kind::Send, peer, tag, bytes),
        Operation::Receive { peer, tag, bytes } => message(Kind::Receive, peer, tag, bytes),
        Operation::Compute { duration_ps } => {
            calc(duration_ps.saturating_add(NANOSECOND / 2) / NANOSECOND)
        }
        Operation::Marker | Operation::Reduce { .. } | Operation::Copy { .. } => calc(0),
        Operation::Collective { .. } => return None,
    })
}
