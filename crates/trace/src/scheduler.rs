//! What a rank begins next: its dependencies, and what its engines are busy with.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::{Engine, RankGraph};

/// How many operations each engine carries out at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// Of each processor.
    pub cpu: u32,
    /// Of the computation of the GPU.
    pub compute: u32,
    /// Of the communication of the GPU.
    pub communication: u32,
}

impl Slots {
    /// As ASTRA-sim does: one operation on each.
    pub const ASTRA: Self = Self { cpu: 1, compute: 1, communication: 1 };

    /// Nothing ever waits for an engine.
    pub const UNLIMITED: Self = Self { cpu: u32::MAX, compute: u32::MAX, communication: u32::MAX };

    fn of(&self, engine: Engine) -> u32 {
        match engine {
            Engine::Cpu(_) => self.cpu,
            Engine::Compute => self.compute,
            Engine::Communication => self.communication,
            Engine::Unlimited => u32::MAX,
        }
    }
}

/// Says what a rank begins, and when. It knows no network, no clock and no other rank.
///
/// Whoever carries operations out calls [`start`](Self::start) once, then for each node that it is told to begin
/// [`started`](Self::started) and, later, [`done`](Self::done). Each call gives the nodes to begin now, in ascending order.
/// Of nodes that wait for an engine, that of the lowest index begins first; an engine that is free takes the next ready one.
///
/// Its state is plain, and can be saved: the graph and the slots are kept.
#[derive(Clone, Debug)]
pub struct Scheduler {
    graph: Arc<RankGraph>,
    slots: Slots,
    /// The engines that the graph uses, sorted.
    engines: Vec<Engine>,
    /// Of each node, how many others it waits for.
    waits: Vec<u32>,
    /// Of each engine, the nodes that wait for no other node, but for the engine.
    ready: Vec<BTreeSet<u32>>,
    /// Of each engine, how many nodes it carries out.
    busy: Vec<u32>,
    /// Nodes that are not done.
    left: u32,
}

rocelab_state::state!(Scheduler { values: waits, ready, busy, left; kept: graph, slots, engines });

impl Scheduler {
    /// Of a rank; nothing has begun.
    pub fn new(graph: Arc<RankGraph>, slots: Slots) -> Self {
        let engines: BTreeSet<_> = graph.nodes.iter().map(|node| node.engine).collect();
        let engines: Vec<_> = engines.into_iter().collect();
        let mut scheduler = Self {
            slots,
            waits: Vec::new(),
            ready: vec![BTreeSet::new(); engines.len()],
            busy: vec![0; engines.len()],
            left: 0,
            engines,
            graph,
        };
        scheduler.reset();
        scheduler
    }

    /// Goes back to where nothing has begun, for another iteration.
    pub fn reset(&mut self) {
        self.waits.clone_from(&self.graph.parents);
        self.ready.iter_mut().for_each(BTreeSet::clear);
        self.busy.fill(0);
        self.left = u32::try_from(self.graph.nodes.len()).unwrap_or(u32::MAX);
    }

    /// Begins: adds the nodes to begin now to `begin`.
    pub fn start(&mut self, begin: &mut Vec<u32>) {
        for node in 0..self.left {
            if self.waits[node as usize] == 0 {
                self.make_ready(node);
            }
        }
        self.take(begin);
    }

    /// Says that a node that was to begin has started, for those that wait for its start; adds the nodes to begin now.
    pub fn started(&mut self, node: u32, begin: &mut Vec<u32>) {
        if self.graph.on_start(node).is_empty() {
            return;
        }
        let graph = Arc::clone(&self.graph);
        self.release(graph.on_start(node));
        self.take(begin);
    }

    /// Says that a node that was to begin is done; adds the nodes to begin now.
    pub fn done(&mut self, node: u32, begin: &mut Vec<u32>) {
        let engine = self.engine(node);
        self.busy[engine] = self.busy[engine].saturating_sub(1);
        self.left = self.left.saturating_sub(1);
        let graph = Arc::clone(&self.graph);
        self.release(graph.on_done(node));
        self.take(begin);
    }

    /// Whether all nodes are done.
    pub fn is_over(&self) -> bool {
        self.left == 0
    }

    /// How many nodes are not done.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// The graph that it follows.
    pub fn graph(&self) -> &RankGraph {
        &self.graph
    }

    fn release(&mut self, dependants: &[u32]) {
        for &dependant in dependants {
            let waits = &mut self.waits[dependant as usize];
            *waits = waits.saturating_sub(1);
            if *waits == 0 {
                self.make_ready(dependant);
            }
        }
    }

    fn engine(&self, node: u32) -> usize {
        let engine = self.graph.nodes[node as usize].engine;
        self.engines.partition_point(|one| *one < engine)
    }

    fn make_ready(&mut self, node: u32) {
        let engine = self.engine(node);
        self.ready[engine].insert(node);
    }

    /// Gives free engines the ready nodes of the lowest index.
    fn take(&mut self, begin: &mut Vec<u32>) {
        let first = begin.len();
        for (engine, name) in self.engines.iter().enumerate() {
            while self.busy[engine] < self.slots.of(*name)
                && let Some(node) = self.ready[engine].pop_first()
            {
                self.busy[engine] += 1;
                begin.push(node);
            }
        }
        begin[first..].sort_unstable();
    }
}
