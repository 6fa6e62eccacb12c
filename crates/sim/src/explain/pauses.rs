//! Whose fault a pause is.

use std::collections::BTreeMap;

use rocelab_fabric::topology::Neighbour;
use rocelab_fabric::{LinkFlowControl, NodeId};

use super::category::Cause;
use super::explanation::Part;
use crate::Plan;
use crate::network::{Deadlock, PauseEvent, Record, RecordKind};
use crate::pause_tree::{PauseTree, Root};

/// The pauses of a run so far, by the port that they hold.
#[derive(Debug)]
pub(super) struct Pauses<'a> {
    plan: &'a Plan,
    tree: PauseTree<'a>,
    /// By node, port and priority, in order of their starts: places in the tree.
    by_place: BTreeMap<(NodeId, u16, u8), Vec<usize>>,
}

impl<'a> Pauses<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self { plan, tree: PauseTree::new(plan), by_place: BTreeMap::new() }
    }

    /// Notes what concerns pauses.
    pub(super) fn note(&mut self, record: &Record) {
        match &record.kind {
            RecordKind::Pause(change) => {
                let known = self.tree.pauses().len();
                self.tree.change(record.key.time, change);
                if change.event == PauseEvent::Pause && self.tree.pauses().len() > known {
                    let place = (change.node, change.port, change.priority);
                    self.by_place.entry(place).or_default().push(known);
                }
            }
            RecordKind::PauseRequest(request) => self.tree.request(*request),
            RecordKind::PauseWithdrawal(withdrawal) => self.tree.withdraw(*withdrawal),
            RecordKind::Storm(storm) => self.tree.storm(record.key.time, storm),
            _ => {}
        }
    }

    /// The link of a port, and the node at its other end.
    pub(super) fn neighbour(&self, node: NodeId, port: u16) -> Option<&Neighbour> {
        self.tree.adjacency().ports_of(node).get(usize::from(port))
    }

    /// The flow control of the link of a port.
    pub(super) fn flow_control(&self, node: NodeId, port: u16) -> LinkFlowControl {
        self.plan.flow_control_at(node, port, self.tree.adjacency())
    }

    /// Says which of them were in deadlocks.
    pub(super) fn note_deadlocks(&mut self, deadlocks: &[Deadlock]) {
        self.tree.note_deadlocks(deadlocks);
    }

    /// All of them so far, and what led to them.
    pub(super) const fn tree(&self) -> &PauseTree<'a> {
        &self.tree
    }

    /// Where the chain of a pause began.
    pub(super) fn root(&self, pause: usize) -> Root<'_> {
        self.tree.root(pause)
    }

    /// Whether it is known for good where the chain of a pause began, if all deadlocks so far
    /// [are noted](Self::note_deadlocks).
    pub(super) fn is_settled(&self, pause: usize) -> bool {
        self.tree.is_settled(pause)
    }

    /// The pauses that hold one of the priorities (bit p) of a port at some time from `from` to `to`,
    /// each with the part of that time.
    pub(super) fn holding(
        &self,
        (node, port): (NodeId, u16),
        priorities: u8,
        (from, to): (u64, u64),
    ) -> impl Iterator<Item = (u64, u64, usize)> + '_ {
        let pauses = self.tree.pauses();
        let priorities = (0u8..8).filter(move |priority| priorities & 1 << priority != 0);
        let places = priorities.filter_map(move |one| self.by_place.get(&(node, port, one)));
        places.flat_map(move |places| {
            let ended = |&pause: &usize| pauses[pause].end_ps.is_some_and(|end| end <= from);
            let overlapping = places[places.partition_point(ended)..].iter();
            let overlapping = overlapping.take_while(move |&&pause| pauses[pause].start_ps < to);
            overlapping.map(move |&pause| {
                let end = pauses[pause].end_ps.unwrap_or(u64::MAX);
                (pauses[pause].start_ps.max(from), end.min(to), pause)
            })
        })
    }

    /// The pause that holds one of the priorities (bit p) of a port at a time, with its cause, but for
    /// [the root](Self::name_roots).
    pub(super) fn cause(
        &self,
        node: NodeId,
        port: u16,
        priorities: u8,
        time: u64,
    ) -> Option<Cause> {
        let pause = (0..8)
            .filter(|priority| priorities & 1 << priority != 0)
            .find_map(|priority| self.pause_at(node, port, priority, time))?;
        let neighbour = self.neighbour(node, port)?;
        let pauses = self.tree.pauses();
        Some(Cause::PausedBy {
            pause,
            by: self.plan.topology.nodes[neighbour.node as usize].name.clone(),
            waits_for: pauses[pause].waits_for.clone(),
            root: String::new(),
        })
    }

    /// Names the roots of the pauses that caused parts. They are not known before the run is over: what
    /// a pause is because of may turn out to be a deadlock after its victims have ended.
    pub(super) fn name_roots(&self, parts: &mut [Part]) {
        for part in parts {
            if let Some(Cause::PausedBy { pause, root, .. }) = &mut part.cause {
                *root = self.root(*pause).to_string();
            }
        }
    }

    fn pause_at(&self, node: NodeId, port: u16, priority: u8, time: u64) -> Option<usize> {
        let places = self.by_place.get(&(node, port, priority))?;
        let pauses = self.tree.pauses();
        let next = places.partition_point(|&pause| pauses[pause].start_ps <= time);
        let pause = places[next.checked_sub(1)?];
        let ended = pauses[pause].end_ps.is_some_and(|end| end <= time);
        (!ended).then_some(pause)
    }
}
