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
use crate::network::{
    PauseChange, PauseEvent, PauseRequest, PauseWithdrawal, QueueStorm, StuckQueue,
};

/// Collects pauses and what asked for them, in the order of events.
///
/// A switch asks for a pause when what came in by a port crosses a threshold. If the egress queue that
/// holds most of that is itself paused then, that pause is the cause of the new one; if not, that
/// queue is congested: a root cause. A host that asks for a pause is one too. Of several priorities that ask for the
/// same pause, the first that still does is its reason.
#[derive(Debug)]
pub(crate) struct PauseTree<'a> {
    plan: &'a Plan,
    adjacency: Adjacency,
    pauses: Vec<PauseCause>,
    /// Of each pause: where its chain begins.
    descents: Vec<Descent>,
    /// By deadlock: the ports of its cycle, as `switch:port`.
    cycles: Vec<Vec<String>>,
    /// By the port that asked and the priority that is paused then: why, in the order in which priorities asked.
    /// Those in force; where none is, the one that was the last to be.
    reasons: BTreeMap<(NodeId, u16, u8), Vec<Reason>>,
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
    /// Whether that priority asks no longer, as far as this is recorded.
    is_withdrawn: bool,
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
        let reason = Reason { priority, egress, parent, is_withdrawn: false };
        for held in (0..8).filter(|held| holds & 1 << held != 0) {
            let reasons = self.reasons.entry((node, port, held)).or_default();
            reasons.retain(|known| !known.is_withdrawn);
            match reasons.iter_mut().find(|known| known.priority == priority) {
                Some(known) => *known = reason,
                None => reasons.push(reason),
            }
        }
    }

    /// A priority is no reason any more for a port to ask for a pause.
    pub(crate) fn withdraw(&mut self, withdrawal: PauseWithdrawal) {
        let PauseWithdrawal { node, port, priority, holds } = withdrawal;
        for held in (0..8).filter(|held| holds & 1 << held != 0) {
            let Some(reasons) = self.reasons.get_mut(&(node, port, held)) else { continue };
            if reasons.len() > 1 {
                reasons.retain(|known| known.priority != priority);
            } else if let Some(last) = reasons.first_mut() {
                // Its pause may be on its way still.
                last.is_withdrawn |= last.priority == priority;
            }
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
        let reasons = self.reasons.get(&(neighbour.node, asking, priority));
        let reason = reasons.and_then(|reasons| reasons.first());
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
            because_of: (because_of != priority).then_some(because_of),
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rocelab_units::Duration;

    use super::*;
    use crate::{Planning, Scenario};

    /// One switch, number 3, that pauses whole links: host 0 is at its port 0.
    fn plan() -> Plan {
        let text = "[topology.single-switch]\nhosts = 3\n\
                    link = { rate = \"100Gbps\", cable = \"3m\" }\n\
                    [switch]\nflow_control = \"pause\"\nlossless = [3, 4]\n\
                    [workload.incast]\nsenders = 2\nbytes = \"1KB\"\n";
        let scenario = Scenario::parse(text, Path::new("pause.toml"), &[]);
        scenario.and_then(|scenario| scenario.plan()).unwrap()
    }

    /// A priority asks because of an egress queue.
    fn ask(tree: &mut PauseTree<'_>, priority: u8, egress: u16) {
        let (holds, egress) = (u8::MAX, Some(egress));
        tree.request(PauseRequest { node: 3, port: 0, priority, holds, egress, egress_paused: 0 });
    }

    fn withdraw(tree: &mut PauseTree<'_>, priority: u8) {
        tree.withdraw(PauseWithdrawal { node: 3, port: 0, priority, holds: u8::MAX });
    }

    /// What a pause of a priority waits for that begins now, and ends.
    fn cause(tree: &mut PauseTree<'_>, priority: u8) -> String {
        for event in [PauseEvent::Pause, PauseEvent::Expire(Duration::ZERO)] {
            let change = PauseChange { node: 0, port: 0, priority, quanta: 1, event };
            tree.change(SimTime::ZERO, &change);
        }
        tree.pauses().last().unwrap().waits_for.clone()
    }

    #[test]
    fn the_first_that_asked_and_still_does_is_the_reason() {
        let plan = plan();
        let mut tree = PauseTree::new(&plan);
        ask(&mut tree, 3, 1);
        ask(&mut tree, 4, 2);
        assert_eq!([0, 3, 4, 7].map(|p| cause(&mut tree, p)), ["switch-0:1"; 4]);
        withdraw(&mut tree, 3);
        assert_eq!([0, 3, 4, 7].map(|p| cause(&mut tree, p)), ["switch-0:2"; 4]);
        ask(&mut tree, 3, 1);
        assert_eq!(cause(&mut tree, 3), "switch-0:2", "it asked anew, so it is the second");
        withdraw(&mut tree, 3);
        withdraw(&mut tree, 4);
        assert_eq!(cause(&mut tree, 3), "switch-0:2", "its pause was on its way");
        ask(&mut tree, 3, 1);
        assert_eq!(cause(&mut tree, 4), "switch-0:1", "what was withdrawn is no reason any more");
    }

    /// When a link is up again, all ask again, in the order of priorities.
    #[test]
    fn who_asks_again_keeps_its_place_but_its_queue_may_be_another() {
        let plan = plan();
        let mut tree = PauseTree::new(&plan);
        ask(&mut tree, 4, 2);
        ask(&mut tree, 3, 1);
        ask(&mut tree, 3, 1);
        ask(&mut tree, 4, 1);
        withdraw(&mut tree, 3);
        ask(&mut tree, 3, 2);
        assert_eq!(cause(&mut tree, 3), "switch-0:1");
    }

    /// With PFC, whose withdrawals are not recorded, each priority has its own reason: the last.
    #[test]
    fn priorities_that_are_paused_by_themselves_have_reasons_of_their_own() {
        let plan = plan();
        let mut tree = PauseTree::new(&plan);
        for (priority, egress) in [(3, 1), (4, 2), (3, 2), (4, 1)] {
            let (holds, egress) = (1 << priority, Some(egress));
            tree.request(PauseRequest {
                node: 3,
                port: 0,
                priority,
                holds,
                egress,
                egress_paused: 0,
            });
        }
        assert_eq!([3, 4].map(|p| cause(&mut tree, p)), ["switch-0:2", "switch-0:1"]);
    }
}
