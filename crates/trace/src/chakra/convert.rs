//! Chakra's nodes as graphs.

use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::FxHashMap;

use crate::trace::{Group, Trace, WORLD};
use crate::{
    CollectiveKind, Engine, Node, Operation, Options, RankBuilder, RankGraph, Reference, TraceError,
};

use super::attributes::Attributes;
use super::{File, Groups};

/// Picoseconds of a microsecond.
const MICROSECOND: u64 = 1_000_000;

/// Makes graphs of the files of all ranks. `groups` may be empty; what metadata nodes describe is added.
///
/// Data dependencies are followed, and control dependencies if `options` says so. Control dependencies on nodes that are
/// not in the file are counted, and ignored. Indices of nodes have the order of their ids.
///
/// # Errors If a rank is missing or there twice, a node cannot be understood and moves data or takes time, a data
/// dependency names no node, nodes wait for each other in a cycle, or a group is wrong.
pub fn convert(files: &[File], groups: &Groups, options: &Options) -> Result<Trace, TraceError> {
    let files = by_rank(files)?;
    let ranks = u32::try_from(files.len()).unwrap_or(u32::MAX);
    let mut groups = groups.clone();
    for file in &files {
        for read in file.nodes.iter().filter(|read| read.node.kind == 1) {
            groups.add(Attributes { file, read })?;
        }
    }
    let (groups, indices) =
        groups.resolve(ranks, files.first().map_or(Path::new(""), |file| &file.path))?;
    let context = Context { ranks, groups: &groups, indices: &indices, options };
    let ranks = files.iter().map(|file| context.rank(file)).collect::<Result<_, _>>()?;
    Ok(Trace { groups, ranks })
}

/// Files in the order of their ranks, which are 0, 1, 2 and so on.
fn by_rank(files: &[File]) -> Result<Vec<&File>, TraceError> {
    let mut files: Vec<_> = files.iter().collect();
    files.sort_by_key(|file| file.rank);
    for (expected, file) in (0_u32..).zip(&files) {
        if file.rank < expected {
            let message = format!("rank {} has two files", file.rank);
            return Err(TraceError::new(&file.path, message, "give one file of each rank"));
        }
        if file.rank > expected {
            let message = format!("rank {} is there, and rank {expected} is not", file.rank);
            return Err(TraceError::new(&file.path, message, "give the files of all ranks from 0"));
        }
    }
    Ok(files)
}

/// What all ranks have in common.
struct Context<'a> {
    ranks: u32,
    groups: &'a [Group],
    indices: &'a BTreeMap<String, u32>,
    options: &'a Options,
}

impl Context<'_> {
    fn rank(&self, file: &File) -> Result<RankGraph, TraceError> {
        let mut sorted: Vec<_> = file.nodes.iter().collect();
        sorted.sort_by_key(|read| read.node.id);
        let mut builder = RankBuilder::new(file.rank, &file.path);
        let mut indices = FxHashMap::default();
        for read in &sorted {
            let node = self.node(Attributes { file, read })?;
            indices.insert(read.node.id, builder.node(node, read.label())?);
        }
        for (index, read) in (0_u32..).zip(&sorted) {
            for parent in &read.node.data_deps {
                let Some(&parent) = indices.get(parent) else {
                    let message =
                        format!("it waits for the data of node {parent}, which is not in the file");
                    let help = "write the trace again, with all nodes that others wait for";
                    return Err(Attributes { file, read }.error(message, help));
                };
                builder.wait(index, parent, Reference::Done);
            }
            for parent in &read.node.ctrl_deps {
                match indices.get(parent) {
                    Some(&parent) if self.options.control_dependencies => {
                        builder.wait(index, parent, Reference::Done);
                    }
                    Some(_) => {}
                    None => builder.dangles(),
                }
            }
        }
        if self.options.serialise_streams {
            serialise_streams(file, &indices, &mut builder)?;
        }
        builder.finish()
    }

    fn node(&self, node: Attributes<'_>) -> Result<Node, TraceError> {
        let is_cpu = node.flag("is_cpu_op")?;
        let engine = if is_cpu { Engine::Cpu(0) } else { Engine::Compute };
        let (operation, engine) = match node.read.node.kind {
            1 => (Operation::Marker, Engine::Unlimited),
            2 | 3 => (self.memory(node)?, engine),
            4 => (self.compute(node)?, engine),
            5 => (self.message(node, "comm_dst", "comm_src")?, communication(is_cpu)),
            6 => (self.message(node, "comm_src", "comm_dst")?, Engine::Unlimited),
            7 if node.value("comm_type").is_none() => (self.compute(node)?, Engine::Cpu(0)),
            7 => (self.collective(node)?, communication(is_cpu)),
            other => {
                let message =
                    format!("its type {other} is unknown, so what it moves or takes is too");
                return Err(node.error(message, "give it one of the types 1 to 7"));
            }
        };
        Ok(Node { operation, engine, cpu: 0, nic: 0 })
    }

    fn compute(&self, node: Attributes<'_>) -> Result<Operation, TraceError> {
        let micros = node.read.node.duration_micros;
        let duration = micros.checked_mul(MICROSECOND);
        let duration_ps = duration.and_then(|duration| self.options.scaled(duration));
        let duration_ps = duration_ps.ok_or_else(|| {
            let message = format!("duration_micros = {micros} is longer than 5000 hours");
            node.error(message, "give a shorter duration")
        })?;
        Ok(Operation::Compute { duration_ps })
    }

    /// A load or store, which takes what was recorded.
    fn memory(&self, node: Attributes<'_>) -> Result<Operation, TraceError> {
        if node.read.node.duration_micros == 0 {
            let message = "it moves data in memory, and no duration says how long it takes";
            return Err(node.error(message, "record duration_micros"));
        }
        self.compute(node)
    }

    /// A send or receive. `here` and `there` are the attributes of the peer's rank and of its own.
    fn message(
        &self,
        node: Attributes<'_>,
        there: &str,
        here: &str,
    ) -> Result<Operation, TraceError> {
        let peer = node.number(there)?;
        let own = node.file.rank;
        if peer >= self.ranks {
            let message = format!("{there} = {peer} is not among the {} ranks given", self.ranks);
            return Err(node.error(message, "give the files of all ranks, or mend the rank"));
        }
        if node.value(here).is_some() && node.number(here)? != own {
            let message =
                format!("{here} = {} is not the rank {own} of the file", node.number(here)?);
            return Err(node.error(message, "name the file by its rank, or mend the rank"));
        }
        let tag = node.value("comm_tag").map_or(Ok(0), |_| node.number("comm_tag"))?;
        let bytes = node.needed("comm_size", u64::MAX)?;
        Ok(match node.read.node.kind {
            5 => Operation::Send { peer, tag, bytes },
            _ => Operation::Receive { peer, tag, bytes },
        })
    }

    fn collective(&self, node: Attributes<'_>) -> Result<Operation, TraceError> {
        let group = self.group(node)?;
        let number = node.needed("comm_type", u64::MAX)?;
        let kind = match number {
            0 => CollectiveKind::AllReduce,
            1 => CollectiveKind::Reduce,
            2 => CollectiveKind::AllGather,
            5 => CollectiveKind::Broadcast,
            6 => CollectiveKind::AllToAll,
            7 => CollectiveKind::ReduceScatter,
            9 => {
                return Ok(Operation::Collective {
                    kind: CollectiveKind::Barrier,
                    group,
                    bytes: 0,
                });
            }
            _ => {
                let name = match number {
                    3 => "GATHER",
                    4 => "SCATTER",
                    8 => "REDUCE_SCATTER_BLOCK",
                    _ => "an unknown kind",
                };
                let message =
                    format!("comm_type = {number} ({name}) has no agreed meaning of comm_size");
                let help = "write it as one of ALL_REDUCE 0, REDUCE 1, ALL_GATHER 2, BROADCAST 5, \
                            ALL_TO_ALL 6, REDUCE_SCATTER 7, BARRIER 9, or as sends and receives";
                return Err(node.error(message, help));
            }
        };
        let size = node.needed("comm_size", u64::MAX)?;
        // The size of an all-gather is what one rank gives; in nccl-tests, what a rank gets.
        let factor = match kind {
            CollectiveKind::AllGather => self.groups[group as usize].ranks.len() as u64,
            _ => 1,
        };
        let bytes = size.checked_mul(factor).ok_or_else(|| {
            let message =
                format!("comm_size = {size} times {factor} ranks does not fit into 64 bits");
            node.error(message, "give a smaller comm_size")
        })?;
        Ok(Operation::Collective { kind, group, bytes })
    }

    fn group(&self, node: Attributes<'_>) -> Result<u32, TraceError> {
        if let Some(super::wire::Value::BoolList(list)) = node.value("involved_dim")
            && list.values.contains(&false)
        {
            let message =
                "involved_dim leaves out dimensions of a topology, which is not known here";
            return Err(node.error(message, "say the group by pg_name"));
        }
        let name = node.text("pg_name")?;
        let Some(&group) = self.indices.get(&name) else {
            let message = format!("pg_name = {name:?} is no group that is described");
            return Err(node.error(message, "give the file of communicator groups"));
        };
        let own = node.file.rank;
        if group != WORLD && !self.groups[group as usize].ranks.contains(&own) {
            let message = format!("rank {own} is not in group {name:?}");
            return Err(node.error(message, "mend the groups, or give those of this trace"));
        }
        Ok(group)
    }
}

fn communication(is_cpu: bool) -> Engine {
    if is_cpu { Engine::Cpu(0) } else { Engine::Communication }
}

/// Has each node wait for the one before it on the same stream, by time of start and id.
fn serialise_streams(
    file: &File,
    indices: &FxHashMap<u64, u32>,
    builder: &mut RankBuilder,
) -> Result<(), TraceError> {
    let mut streams: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for read in &file.nodes {
        if let Some(stream) = (Attributes { file, read }).integer("stream", u64::MAX)? {
            let times = streams.entry(stream).or_default();
            times.push((read.node.start_time_micros, read.node.id));
        }
    }
    for nodes in streams.values_mut() {
        nodes.sort_unstable();
        for pair in nodes.windows(2) {
            builder.wait(indices[&pair[1].1], indices[&pair[0].1], Reference::Done);
        }
    }
    Ok(())
}
