//! What caused each pause: a tree for each root cause.

mod freed;
mod root;

use std::collections::BTreeMap;

pub(crate) use self::freed::Freed;
use self::root::Descent;
pub(crate) use self::root::Root;
use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Adjacency;
use rocelab_results::{PauseCause, PauseCauses};
use rocelab_units::SimTime;

use crate::Plan;
use crate::network::{PauseChange, PauseEvent, PauseRequest, QueueStorm, StuckQueue};

/// Collects pauses and what asked for them, in the order of events.
///
/// A switch asks for a pause when what came in by a port crosses a threshold. If the egress queue that
/// holds most of that is itself paused then, that pause is the cause of the new one; if not, that
/// queue is congested: a root cause. A host that asks for a pause is one too.
#[derive(Debug)]
pub(crate) struct PauseTree<'a> {
    plan: &'a Plan,
    adjacency: Adjacency,
    pauses: Vec<PauseCause>,
    /// Of each pause: where its chain begins.
    descents: Vec<Descent>,
    /// By deadlock: the ports of its cycle, as `switch:port`.
    cycles: Vec<Vec<String>>,
    /// By the port that asked and the priority that is paused then: why, the last time.
    reasons: BTreeMap<(NodeId, u16, u8), Reason>,
    /// By the port and priority that is paused: which pause it is.
    open: BTreeMap<(NodeId, u16, u8), usize>,
    /// Queues that watchdogs let go, and when (picoseconds).
    let_go: Vec<(u64, StuckQueue)>,
}

/// Why a pause was asked for.
#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
struct Reason {
    /// The priority that was the reason.
    priority: u8,
    /// The egress port that held most; none of a host.
    egress: Option<u16>,
    /// The pause that kept it.
    parent: Option<usize>,
}

// Cycles are known when all deadlocks are.
rocelab_state::state!(['a] PauseTree<'a> {
    values: pauses, descents, reasons, open, let_go;
    kept: plan, adjacency, cycles
});

impl<'a> PauseTree<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            adjacency: plan.topology.adjacency(),
            pauses: Vec::new(),
            descents: Vec::new(),
            cycles: Vec::new(),
            reasons: BTreeMap::new(),
            open: BTreeMap::new(),
            let_go: Vec::new(),
        }
    }

    /// A port asks the other end of its link to pause.
    pub(crate) fn request(&mut self, request: PauseRequest) {
        let PauseRequest { node, port, priority, holds, egress, egress_paused } = request;
        let open = |egress| {
            let first = std::iter::once(priority).chain(0..8);
            let mut of_queue = first.filter(|p| egress_paused & 1 << p != 0);
            of_queue.find_map(|p| self.open.get(&(node, egress, p)).copied())
        };
        let parent = egress.and_then(open);
        for held in (0..8).filter(|held| holds & 1 << held != 0) {
            self.reasons.insert((node, port, held), Reason { priority, egress, parent });
        }
    }

    /// A pause began, or ended.
    pub(crate) fn change(&mut self, time: SimTime, change: &PauseChange) {
        let place = (change.node, change.port, change.priority);
        match change.event {
            PauseEvent::Refresh => {}
            PauseEvent::Pause => self.begin(time, place),
            PauseEvent::Resume(_) | PauseEvent::Expire(_) => {
                if let Some(index) = self.open.remove(&place) {
                    self.pauses[index].end_ps = Some(time.ps());
                }
            }
        }
    }

    /// A watchdog takes a queue for one in a storm, or no longer.
    pub(crate) fn storm(&mut self, time: SimTime, storm: &QueueStorm) {
        if storm.lasted.is_none() {
            self.let_go.push((time.ps(), storm.place));
        }
    }

    fn begin(&mut self, time: SimTime, (node, port, priority): (NodeId, u16, u8)) {
        let Some(neighbour) = self.adjacency.ports_of(node).get(usize::from(port)) else { return };
        let asking = self.adjacency.port_of_link(neighbour.node, neighbour.link).unwrap_or(0);
        let asking = u16::try_from(asking).unwrap_or(u16::MAX);
        let reason = self.reasons.get(&(neighbour.node, asking, priority));
        let (egress, parent) = reason.map_or((None, None), |reason| (reason.egress, reason.parent));
        let because_of = reason.map_or(priority, |reason| reason.priority);
        let name = |node: NodeId| self.plan.topology.nodes[node as usize].name.clone();
        let waits_for = match egress {
            Some(egress) => format!("{}:{egress}", name(neighbour.node)),
            None => name(neighbour.node),
        };
        let queue = egress.map(|egress| (neighbour.node, egress, because_of));
        self.descend(parent, (node, port, priority), queue);
        self.open.insert((node, port, priority), self.pauses.len());
        self.pauses.push(PauseCause {
            node: name(node),
            port,
            priority,
            start_ps: time.ps(),
            end_ps: None,
            parent,
            waits_for,
            deadlock: None,
        });
    }

    /// When watchdogs let queues go (picoseconds), in order of time.
    pub(crate) fn let_go(&self) -> impl Iterator<Item = (u64, StuckQueue)> {
        self.let_go.iter().copied()
    }

    /// All pauses so far, in the order of their starts.
    pub(crate) fn pauses(&self) -> &[PauseCause] {
        &self.pauses
    }

    /// Which port each node has at which link.
    pub(crate) const fn adjacency(&self) -> &Adjacency {
        &self.adjacency
    }

    /// All pauses, in the order of their starts, with the deadlocks that
    /// [are known](Self::note_deadlocks).
    pub(crate) fn finish(self) -> PauseCauses {
        PauseCauses { pauses: self.pauses }
    }
}
