//! Where chains of pauses begin: at a congested port, at a host, or nowhere, in a deadlock.

use std::fmt::{self, Display, Formatter};

use rocelab_fabric::NodeId;

use super::PauseTree;
use crate::network::Deadlock;

/// Node, port and priority.
type Place = (NodeId, u16, u8);

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
#[derive(Clone, Copy, Debug)]
pub(super) struct Descent {
    /// The first pause of the chain.
    first: usize,
    /// Pauses from that one to this, both counted.
    depth: usize,
    /// What is paused.
    holds: Place,
    /// The egress queue that the pause was asked for; none by a host.
    waits_for: Option<Place>,
    /// The deadlock that it is in, or a pause that it descends from.
    deadlock: Option<usize>,
}

/// What has to be known of a deadlock.
#[derive(Debug)]
pub(super) struct KnownDeadlock {
    began_ps: u64,
    /// The ports of its cycle, as `switch:port`.
    cycle: Vec<String>,
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
        let (first, depth) =
            above.map_or((self.descents.len(), 1), |above| (above.first, above.depth + 1));
        self.descents.push(Descent { first, depth, holds, waits_for, deadlock: None });
    }

    /// Says of the pauses so far which were in deadlocks: when one was found, they held one of its
    /// queues, or had been asked for because of one. Their chains go round in it, and have no root.
    pub(crate) fn note_deadlocks(&mut self, deadlocks: &[Deadlock]) {
        let name = |node: NodeId| &self.plan.topology.nodes[node as usize].name;
        self.deadlocks = deadlocks
            .iter()
            .map(|found| {
                let ports = found.cycle.iter();
                let cycle = ports.map(|queue| format!("{}:{}", name(queue.node), queue.port));
                KnownDeadlock { began_ps: found.began.ps(), cycle: cycle.collect() }
            })
            .collect();
        let queues: Vec<Vec<Place>> = deadlocks
            .iter()
            .map(|found| found.queues.iter().map(|at| (at.node, at.port, at.priority)).collect())
            .collect();
        for index in 0..self.pauses.len() {
            let (pause, descent) = (&self.pauses[index], &self.descents[index]);
            let within = |number: &usize| {
                let (found, queues) = (deadlocks[*number].found.ps(), &queues[*number]);
                pause.start_ps <= found
                    && pause.end_ps.is_none_or(|end| end > found)
                    && (queues.contains(&descent.holds)
                        || descent.waits_for.is_some_and(|queue| queues.contains(&queue)))
            };
            let inherited = pause.parent.and_then(|parent| self.descents[parent].deadlock);
            self.descents[index].deadlock = (0..deadlocks.len()).find(within).or(inherited);
        }
    }

    /// Where the chain of a pause begins. A deadlock is only to blame for what lasted longer than it
    /// took to close.
    pub(crate) fn root(&self, pause: usize) -> Root<'_> {
        let Descent { first, deadlock, .. } = self.descents[pause];
        let end = self.pauses[pause].end_ps;
        let lasted = |number: &usize| end.is_none_or(|end| end > self.deadlocks[*number].began_ps);
        match deadlock.filter(lasted) {
            Some(number) => Root::Deadlock(number),
            None => Root::At(&self.pauses[first].waits_for),
        }
    }

    /// Where the chain of the pause begins that holds a priority of a port now, if one does.
    pub(crate) fn root_of(&self, node: NodeId, port: u16, priority: u8) -> Option<Root<'_>> {
        Some(self.root(*self.open.get(&(node, port, priority))?))
    }

    /// Pauses in the chain of a pause, that one counted.
    pub(crate) fn depth(&self, pause: usize) -> usize {
        self.descents[pause].depth
    }

    /// The places, as `switch:port` or a host's name, that a root stands for.
    pub(crate) fn places_of<'a>(&'a self, root: &'a Root<'a>) -> impl Iterator<Item = &'a str> {
        let (place, number) = match root {
            Root::At(place) => (Some(*place), None),
            Root::Deadlock(number) => (None, Some(*number)),
        };
        let cycle = number.and_then(|number| self.deadlocks.get(number));
        let ports = cycle.into_iter().flat_map(|known| &known.cycle).map(String::as_str);
        place.into_iter().chain(ports)
    }
}
