//! Where chains of pauses begin: at a congested port, at a host, or nowhere, in a deadlock.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use rocelab_fabric::NodeId;

use super::PauseTree;
use crate::network::{Deadlock, StuckQueue};

/// Node, port and priority.
pub(super) type Place = (NodeId, u16, u8);

/// Where a chain of pauses begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root<'a> {
    /// The congested egress port, as `switch:port`, or the host that asked.
    At(&'a str),
    /// In a deadlock, by its place among those of the run: each of its pauses leads to the next, so
    /// that none is the first.
    Deadlock(usize),
}

impl Display for Root<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(place) => f.write_str(place),
            Self::Deadlock(number) => write!(f, "deadlock {number}"),
        }
    }
}

/// How a pause descends from the first of its chain.
#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct Descent {
    /// The first pause of the chain.
    first: usize,
    /// What is paused.
    pub(super) holds: Place,
    /// The egress queue that the pause was asked for; none by a host.
    waits_for: Option<Place>,
}

impl PauseTree<'_> {
    /// Notes the way of the pause that comes next in the list.
    pub(super) fn descend(
        &mut self,
        parent: Option<usize>,
        holds: Place,
        waits_for: Option<Place>,
    ) {
        let above = parent.and_then(|parent| self.descents.get(parent));
        let first = above.map_or(self.descents.len(), |above| above.first);
        self.descents.push(Descent { first, holds, waits_for });
    }

    /// Says of the pauses so far which [lead back to a deadlock](rocelab_results::PauseCause::deadlock), of those that
    /// were found up to now, in order of time. They held one of its queues when it was found, or had
    /// been asked for because of one, or descend from such pauses: their chains go round in it, and
    /// have no root.
    pub(crate) fn note_deadlocks(&mut self, deadlocks: &[Deadlock]) {
        let name = |node: NodeId| &self.plan.topology.nodes[node as usize].name;
        let port = |queue: &StuckQueue| format!("{}:{}", name(queue.node), queue.port);
        self.cycles = deadlocks.iter().map(|one| one.cycle.iter().map(port).collect()).collect();
        let finds = Finds::of(deadlocks);
        // By pause: the deadlock that it is in, or a pause that it descends from.
        let mut above: Vec<Option<usize>> = Vec::with_capacity(self.pauses.len());
        for (pause, descent) in self.pauses.iter_mut().zip(&self.descents) {
            let life = (pause.start_ps, pause.end_ps);
            let held = finds.first_within(descent.holds, life);
            let waited_for = descent.waits_for.and_then(|queue| finds.first_within(queue, life));
            let own = held.into_iter().chain(waited_for).min();
            let deadlock = own.or_else(|| above[pause.parent?]);
            above.push(deadlock);
            // A deadlock is only to blame for what lasted longer than it took to close.
            let lasted =
                |end: u64| deadlock.is_some_and(|number| end > deadlocks[number].began.ps());
            pause.deadlock = deadlock.filter(|_| pause.end_ps.is_none_or(lasted));
        }
    }

    /// Where the chain of a pause begins, as far as [deadlocks are known](Self::note_deadlocks).
    pub(crate) fn root(&self, pause: usize) -> Root<'_> {
        match self.pauses[pause].deadlock {
            Some(number) => Root::Deadlock(number),
            None => Root::At(&self.pauses[self.descents[pause].first].waits_for),
        }
    }

    /// Whether no deadlock that is yet to be found changes that: it has ended, and all that it descends
    /// from.
    pub(crate) fn is_settled(&self, pause: usize) -> bool {
        let chain = |&pause: &usize| self.pauses[pause].parent;
        let mut chain = std::iter::successors(Some(pause), chain);
        chain.all(|pause| self.pauses[pause].end_ps.is_some())
    }

    /// Where the chain of the pause begins that holds a priority of a port now, if one does.
    pub(crate) fn root_of(&self, node: NodeId, port: u16, priority: u8) -> Option<Root<'_>> {
        Some(self.root(*self.open.get(&(node, port, priority))?))
    }

    /// Where the chain of the pause begins that holds a queue now, if one does, and when that pause began
    /// itself (ps).
    pub(crate) fn holding(&self, queue: &StuckQueue) -> Option<(Root<'_>, u64)> {
        let pause = *self.open.get(&(queue.node, queue.port, queue.priority))?;
        Some((self.root(pause), self.pauses[pause].start_ps))
    }

    /// The host that asked for the first pause of the chain that holds a queue now, if a host did.
    pub(crate) fn asking_host(&self, queue: &StuckQueue) -> Option<NodeId> {
        let pause = *self.open.get(&(queue.node, queue.port, queue.priority))?;
        let first = self.descents.get(self.descents[pause].first)?;
        let (node, port, _) = first.holds;
        let neighbour = self.adjacency.ports_of(node).get(usize::from(port))?;
        first.waits_for.is_none().then_some(neighbour.node)
    }

    /// The places, as `switch:port` or a host's name, that a root stands for.
    pub(crate) fn places_of<'a>(&'a self, root: &'a Root<'a>) -> impl Iterator<Item = &'a str> {
        let (place, number) = match root {
            Root::At(place) => (Some(*place), None),
            Root::Deadlock(number) => (None, Some(*number)),
        };
        let cycle = number.and_then(|number| self.cycles.get(number));
        place.into_iter().chain(cycle.into_iter().flatten().map(String::as_str))
    }
}

/// By queue: when the deadlocks were found that it was in, and which they are, in order of time.
struct Finds(BTreeMap<Place, Vec<(u64, usize)>>);

impl Finds {
    fn of(deadlocks: &[Deadlock]) -> Self {
        let mut by_queue: BTreeMap<Place, Vec<(u64, usize)>> = BTreeMap::new();
        for (number, deadlock) in deadlocks.iter().enumerate() {
            for at in &deadlock.queues {
                let finds = by_queue.entry((at.node, at.port, at.priority)).or_default();
                finds.push((deadlock.found.ps(), number));
            }
        }
        Self(by_queue)
    }

    /// The first deadlock that a queue was in and that was found in a time; it may have no end
    /// (picoseconds).
    fn first_within(&self, queue: Place, (start, end): (u64, Option<u64>)) -> Option<usize> {
        let finds = self.0.get(&queue)?;
        let &(time, number) = finds.get(finds.partition_point(|&(time, _)| time < start))?;
        end.is_none_or(|end| end > time).then_some(number)
    }
}
