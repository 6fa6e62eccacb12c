//! What caused each pause: a tree for each root cause.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Adjacency;
use rocelab_results::{PauseCause, PauseCauses};
use rocelab_units::SimTime;

use crate::Plan;
use crate::network::{PauseChange, PauseEvent, PauseRequest};

/// Collects pauses and what asked for them, in the order of events.
///
/// A switch asks for a pause when a frame crosses its threshold. If the queue that this frame is to
/// leave by is itself paused, then that pause is the cause of the new one; if not, that queue is
/// congested: a root cause. A host that asks for a pause is one too.
#[derive(Debug)]
pub(crate) struct PauseTree<'a> {
    plan: &'a Plan,
    adjacency: Adjacency,
    pauses: Vec<PauseCause>,
    /// By the port and priority that asked: why, the last time.
    requests: BTreeMap<(NodeId, u16, u8), PauseRequest>,
    /// By the port and priority that is paused: which pause it is.
    open: BTreeMap<(NodeId, u16, u8), usize>,
}

impl<'a> PauseTree<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            adjacency: plan.topology.adjacency(),
            pauses: Vec::new(),
            requests: BTreeMap::new(),
            open: BTreeMap::new(),
        }
    }

    /// A port asks the other end of its link to pause.
    pub(crate) fn request(&mut self, request: PauseRequest) {
        self.requests.insert((request.node, request.port, request.priority), request);
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

    fn begin(&mut self, time: SimTime, (node, port, priority): (NodeId, u16, u8)) {
        let Some(neighbour) = self.adjacency.ports_of(node).get(usize::from(port)) else { return };
        let asking = self.adjacency.port_of_link(neighbour.node, neighbour.link).unwrap_or(0);
        let asking = u16::try_from(asking).unwrap_or(u16::MAX);
        let request = self.requests.get(&(neighbour.node, asking, priority));
        let egress = request.and_then(|request| request.egress);
        let paused = request.map_or(0, |request| request.egress_paused);
        let open = |egress| {
            let first = std::iter::once(priority).chain(0..8);
            let mut of_queue = first.filter(|p| paused & 1 << p != 0);
            of_queue.find_map(|p| self.open.get(&(neighbour.node, egress, p)).copied())
        };
        let parent = egress.and_then(open);
        let name = |node: NodeId| self.plan.topology.nodes[node as usize].name.clone();
        let congested = match egress {
            Some(egress) => format!("{}:{egress}", name(neighbour.node)),
            None => name(neighbour.node),
        };
        self.open.insert((node, port, priority), self.pauses.len());
        self.pauses.push(PauseCause {
            node: name(node),
            port,
            priority,
            start_ps: time.ps(),
            end_ps: None,
            parent,
            waits_for: congested,
        });
    }

    /// What the first pause of the chain waited for that holds a priority of a port now, if one does.
    pub(crate) fn root_of(&self, node: NodeId, port: u16, priority: u8) -> Option<&str> {
        let mut pause = *self.open.get(&(node, port, priority))?;
        while let Some(parent) = self.pauses[pause].parent {
            pause = parent;
        }
        Some(&self.pauses[pause].waits_for)
    }

    /// All pauses so far, in the order of their starts.
    pub(crate) fn pauses(&self) -> &[PauseCause] {
        &self.pauses
    }

    /// Which port each node has at which link.
    pub(crate) const fn adjacency(&self) -> &Adjacency {
        &self.adjacency
    }

    /// All pauses, in the order of their starts.
    pub(crate) fn finish(self) -> PauseCauses {
        PauseCauses { pauses: self.pauses }
    }
}
