//! A workload as graphs.

use std::collections::BTreeMap;
use std::path::Path;

use crate::trace::WORLD;
use crate::{
    CollectiveKind, Engine, Label, Node, Operation, Options, RankBuilder, RankGraph, Reference,
    Trace, TraceError,
};

use super::groups::Span;
use super::row::{Communication, CommunicationKind, Row};
use super::workload::{Policy, Workload};

/// What smaller exchanges are raised to (bytes).
const LEAST_BYTES: u64 = 4096;
/// Nodes of all ranks that are made at most.
const MOST_NODES: usize = 1 << 25;
/// Picoseconds of a nanosecond.
const NANOSECOND: u64 = 1_000;

/// Makes graphs of one training step. `ranks` is the number of ranks for a file that does not say it.
///
/// Each rank goes forward through all rows: it computes, then exchanges, and waits for that. Then it goes backward: it
/// computes the input gradient and exchanges it, and waits; it computes the weight gradient, and exchanges that while it goes
/// on; the weights are updated when that is done. Before a row of `checkpoint_initiates` it repeats the forward work from the
/// last row of `checkpoints` at or before it, else from the first. Nothing is sent between pipeline stages.
/// Of `MICRO`, only the weight gradient of the first row is done.
///
/// # Errors If the file does not say how many ranks there are and `ranks` does not either, a row has both all-reduce and
/// all-to-all in one column, or the policy is not one of transformers, `DATA`, `MODEL` or `MICRO`.
pub fn convert(
    workload: &Workload,
    ranks: Option<u32>,
    options: &Options,
) -> Result<Trace, TraceError> {
    let path = &workload.path;
    if let Policy::Other(name) = workload.policy {
        let message = format!("how {name} divides its work is not known here");
        let help = "use HYBRID_TRANSFORMER_FWD_IN_BCKWD, HYBRID_TRANSFORMER, DATA, MODEL or MICRO";
        return Err(TraceError::new(path, message, help).at(1, 1));
    }
    let stated = workload.parallelism.map(|parallelism| parallelism.gpus);
    if let (Some(stated), Some(given)) = (stated, ranks)
        && stated != given
    {
        let message = format!("all_gpus: {stated} is not the {given} ranks asked for");
        return Err(TraceError::new(path, message, "leave out --ranks").at(1, 1));
    }
    let Some(count) = stated.or(ranks).filter(|count| *count > 0) else {
        let message = "it does not say how many GPUs there are";
        return Err(TraceError::new(path, message, "give the number of ranks, as --ranks N"));
    };
    let repeated = repeated(workload);
    let again: usize = repeated.iter().map(|(row, first)| row - first + 1).sum();
    // A row has at most 7 nodes, and its repeated forward work 2.
    let each = workload.rows.len().saturating_mul(7).saturating_add(again.saturating_mul(2));
    if each.saturating_mul(count as usize) > MOST_NODES {
        let message =
            format!("{each} operations on each of {count} GPUs are more than {MOST_NODES}");
        return Err(TraceError::new(path, message, "give fewer GPUs or rows"));
    }
    let mut groups = Trace::world(count);
    let of_rank = workload.parallelism.map(|parallelism| parallelism.of_trace(&mut groups));
    let ranks = (0..count).map(|rank| {
        let groups = of_rank
            .as_ref()
            .map(|of_rank| [0, 1, 2, 3].map(|span: usize| of_rank[span][rank as usize]));
        Maker::new(workload, rank, groups, options).graph(&repeated)
    });
    let ranks = ranks.collect::<Result<_, _>>()?;
    Ok(Trace { groups, ranks })
}

/// For each row before whose backward work forward work is repeated, the row with which that begins.
fn repeated(workload: &Workload) -> BTreeMap<usize, usize> {
    let mut checkpoints = workload.checkpoints.clone();
    checkpoints.sort_unstable();
    let first = |row: usize| {
        let before = checkpoints.partition_point(|checkpoint| *checkpoint <= row);
        before.checked_sub(1).map_or(0, |last| checkpoints[last])
    };
    workload.checkpoint_initiates.iter().map(|&row| (row, first(row))).collect()
}

/// Makes the graph of one rank.
struct Maker<'a> {
    workload: &'a Workload,
    path: &'a Path,
    options: &'a Options,
    /// The rank's group of each kind.
    groups: Option<[u32; 4]>,
    builder: RankBuilder,
    /// What the next step waits for.
    last: Option<u32>,
}

impl<'a> Maker<'a> {
    fn new(
        workload: &'a Workload,
        rank: u32,
        groups: Option<[u32; 4]>,
        options: &'a Options,
    ) -> Self {
        let path = &workload.path;
        let builder = RankBuilder::new(rank, path);
        Self { workload, path, options, groups, builder, last: None }
    }

    fn graph(mut self, repeated: &BTreeMap<usize, usize>) -> Result<RankGraph, TraceError> {
        let rows = &self.workload.rows;
        if self.workload.policy == Policy::Micro {
            if let Some(row) = rows.first() {
                self.part(row, "weight gradient", &row.weight_gradient)?;
            }
            return self.builder.finish();
        }
        for row in rows {
            self.part(row, "forward", &row.forward)?;
        }
        for (index, row) in rows.iter().enumerate().rev() {
            if let Some(&first) = repeated.get(&index) {
                for row in &rows[first..=index] {
                    self.part(row, "forward again", &row.forward)?;
                }
            }
            self.part(row, "input gradient", &row.input_gradient)?;
            self.compute(row, "weight gradient", row.weight_gradient.compute_ns)?;
            let on = self.last;
            self.exchange(row, "weight gradient", &row.weight_gradient)?;
            self.compute(row, "update", row.update_ns)?;
            self.last = on;
        }
        self.builder.finish()
    }

    /// Computes, then exchanges; what comes next waits for both.
    fn part(&mut self, row: &Row, name: &str, part: &Communication) -> Result<(), TraceError> {
        self.compute(row, name, part.compute_ns)?;
        self.exchange(row, name, part)
    }

    fn compute(&mut self, row: &Row, name: &str, time_ns: u64) -> Result<(), TraceError> {
        if time_ns == 0 {
            return Ok(());
        }
        let duration = time_ns.checked_mul(NANOSECOND);
        let duration_ps = duration.and_then(|duration| self.options.scaled(duration));
        let duration_ps = duration_ps.ok_or_else(|| {
            let message = format!("{name}: {time_ns} ns are longer than 5000 hours");
            TraceError::new(self.path, message, "give a shorter time").of_node(&row.name)
        })?;
        self.add(row, name, Operation::Compute { duration_ps }, Engine::Compute)
    }

    fn exchange(&mut self, row: &Row, name: &str, part: &Communication) -> Result<(), TraceError> {
        let kind = match part.kind {
            CommunicationKind::None => return Ok(()),
            CommunicationKind::AllReduce => CollectiveKind::AllReduce,
            CommunicationKind::AllGather => CollectiveKind::AllGather,
            CommunicationKind::ReduceScatter => CollectiveKind::ReduceScatter,
            CommunicationKind::AllToAll => CollectiveKind::AllToAll,
            CommunicationKind::AllReduceAllToAll => {
                let message =
                    format!("{name}: how ALLREDUCEALLTOALL divides its bytes is not known");
                let help = "write two rows, one with ALLREDUCE and one with ALLTOALL";
                return Err(TraceError::new(self.path, message, help).of_node(&row.name));
            }
        };
        if part.bytes == 0 {
            return Ok(());
        }
        let bytes = part.bytes.max(LEAST_BYTES);
        let span = Span::ALL.iter().position(|span| *span == part.span).unwrap_or(0);
        let group = self.groups.map_or(WORLD, |groups| groups[span]);
        self.add(row, name, Operation::Collective { kind, group, bytes }, Engine::Communication)
    }

    fn add(
        &mut self,
        row: &Row,
        name: &str,
        operation: Operation,
        engine: Engine,
    ) -> Result<(), TraceError> {
        let id = self.builder.len() as u64;
        let label = Label { id, name: format!("{} {name}", row.name).into() };
        let node = self.builder.node(Node { operation, engine, cpu: 0, nic: 0 }, label)?;
        if let Some(parent) = self.last {
            self.builder.wait(node, parent, Reference::Done);
        }
        self.last = Some(node);
        Ok(())
    }
}
