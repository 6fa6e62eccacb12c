//! Makes the graph of a rank, and refuses cycles.

use std::path::Path;

use rustc_hash::FxHashMap;

use crate::graph::Dependants;
use crate::{Label, Node, RankGraph, TraceError};

/// Nodes of a cycle that an error names.
const SHOWN: usize = 8;

/// When a node may begin, by another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// When the other one is done.
    Done,
    /// When the other one has started.
    Started,
}

/// The nodes and dependencies of a rank.
#[derive(Clone, Debug)]
pub struct RankBuilder {
    graph: RankGraph,
    done: Vec<(u32, u32)>,
    started: Vec<(u32, u32)>,
}

impl RankBuilder {
    /// Without nodes; `source` is the file that errors name.
    pub fn new(rank: u32, source: &Path) -> Self {
        let graph = RankGraph {
            rank,
            source: source.to_owned(),
            nodes: Vec::new(),
            labels: Vec::new(),
            parents: Vec::new(),
            on_done: Dependants::default(),
            on_start: Dependants::default(),
            dangling: 0,
        };
        Self { graph, done: Vec::new(), started: Vec::new() }
    }

    /// Adds a node; its index.
    ///
    /// # Errors If there are 2^32-1 nodes already.
    pub fn node(&mut self, node: Node, label: Label) -> Result<u32, TraceError> {
        let index = u32::try_from(self.graph.nodes.len()).ok().filter(|index| *index < u32::MAX);
        let index = index.ok_or_else(|| {
            let message = "a rank may have at most 4294967295 nodes";
            TraceError::new(&self.graph.source, message, "cut the trace")
        })?;
        self.graph.nodes.push(node);
        self.graph.labels.push(label);
        self.graph.parents.push(0);
        Ok(index)
    }

    /// Has `node` wait for `parent`. Both are indices of this rank.
    pub fn wait(&mut self, node: u32, parent: u32, reference: Reference) {
        self.graph.parents[node as usize] += 1;
        match reference {
            Reference::Done => self.done.push((parent, node)),
            Reference::Started => self.started.push((parent, node)),
        }
    }

    /// Counts a dependency that is ignored because its node is not in the file.
    pub fn dangles(&mut self) {
        self.graph.dangling += 1;
    }

    /// The number of nodes so far.
    pub fn len(&self) -> usize {
        self.graph.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.graph.nodes.is_empty()
    }

    /// What the file calls a node.
    pub fn label(&self, node: u32) -> &Label {
        &self.graph.labels[node as usize]
    }

    /// The graph.
    ///
    /// # Errors If nodes wait for each other in a cycle, or there are more than 2^32-1 dependencies.
    pub fn finish(self) -> Result<RankGraph, TraceError> {
        let Self { mut graph, done, started } = self;
        let nodes = graph.nodes.len();
        if done.len().max(started.len()) >= u32::MAX as usize {
            let message = "a rank may have at most 4294967295 dependencies";
            return Err(TraceError::new(&graph.source, message, "cut the trace"));
        }
        graph.on_done = Dependants::new(nodes, &done);
        graph.on_start = Dependants::new(nodes, &started);
        let ordered = graph.order();
        if ordered.len() == nodes { Ok(graph) } else { Err(cycle(&graph, &ordered)) }
    }
}

/// Names the nodes of one cycle among those that are not in `ordered`.
fn cycle(graph: &RankGraph, ordered: &[u32]) -> TraceError {
    let mut is_free = vec![false; graph.nodes.len()];
    for &node in ordered {
        is_free[node as usize] = true;
    }
    // A parent of each node of the rest that is of the rest too. Who goes from parent to parent comes to a cycle.
    let mut parent = FxHashMap::default();
    for node in (0_u32..).zip(&is_free).filter(|(_, free)| !**free).map(|(node, _)| node) {
        for &dependant in graph.on_done(node).iter().chain(graph.on_start(node)) {
            parent.entry(dependant).or_insert(node);
        }
    }
    let stuck = (0_u32..).zip(&is_free).find(|(node, free)| !**free && parent.contains_key(node));
    let mut path = vec![stuck.map_or(0, |(node, _)| node)];
    let mut place = FxHashMap::default();
    let first = loop {
        let last = path[path.len() - 1];
        if let Some(&first) = place.get(&last) {
            break first;
        }
        place.insert(last, path.len() - 1);
        match parent.get(&last) {
            Some(&next) => path.push(next),
            None => break 0,
        }
    };
    let label = |node: &u32| graph.labels[*node as usize].to_string();
    let cycle = &path[first..path.len() - 1];
    let mut names: Vec<_> = cycle.iter().take(SHOWN).map(label).collect();
    if cycle.len() > SHOWN {
        names.push(format!("{} more", cycle.len() - SHOWN));
    }
    names.push(label(path.last().unwrap_or(&0)));
    let message = format!("nodes wait for each other: {}", names.join(" waits for "));
    TraceError::new(&graph.source, message, "remove one of the dependencies")
        .of_node(label(path.last().unwrap_or(&0)))
}
