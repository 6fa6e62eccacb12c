//! Deadlocks: queues that wait for each other, for ever.

use std::collections::BTreeMap;

use rocelab_fabric::{NodeId, Serialisation};
use rocelab_units::SimTime;

use super::packet::Body;
use super::{Network, Role};
use crate::profile::{HostPacket, Profile};

/// A deadlock: queues of which each is paused by the switch behind it, whose memory is full of
/// frames that wait in the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// When the last of its pauses began: from then on nothing of it could move.
    pub began: SimTime,
    /// When it was found.
    pub found: SimTime,
    /// A cycle among its queues, in the direction in which frames would go; each waits for the next,
    /// the last for the first. It begins with the queue of the lowest node.
    pub cycle: Vec<StuckQueue>,
    /// All its queues, those that wait for the cycle too.
    pub queues: usize,
    /// Bytes that wait in them.
    pub bytes: u64,
}

/// An egress queue that cannot move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StuckQueue {
    /// Its switch.
    pub node: NodeId,
    /// Its port.
    pub port: u16,
    /// Its priority.
    pub priority: u8,
}

/// A queue that is paused and holds frames, while it is not known whether it is stuck.
#[derive(Debug)]
struct Waiting {
    place: StuckQueue,
    since: SimTime,
    bytes: u32,
    /// By which of these queues frames leave the memory that asked for its pause; none if some
    /// leave by a queue that moves.
    waits_for: Option<Vec<usize>>,
}

impl<P: Profile> Network<P> {
    /// Looks for a deadlock, and keeps it if it is not that which was found last; true if so.
    #[cold]
    #[inline(never)] // Few windows look, and the loop over them is hot.
    pub(crate) fn look_for_deadlock(&mut self, now: SimTime) -> bool {
        if self.totals.pauses < 2 {
            return false;
        }
        let Some(found) = self.deadlock(now) else { return false };
        let known = self.deadlocks.last();
        if known.is_some_and(|known| known.cycle == found.cycle && known.began == found.began) {
            return false;
        }
        self.deadlocks.push(found);
        true
    }

    /// The deadlocks that were found, in order of time.
    pub fn deadlocks(&self) -> &[Deadlock] {
        &self.deadlocks
    }

    /// The deadlock that there is at `now`, if there is one.
    ///
    /// A queue is stuck if it is paused by a switch, and every frame of the ingress port and priority
    /// that asked for the pause waits in a queue that is stuck. These are found by leaving out, of
    /// all that are paused, those that wait for one that may move, until none is left to leave out.
    /// So what is found cannot end by itself: memory that is not emptied does not end a pause.
    pub(crate) fn deadlock(&self, now: SimTime) -> Option<Deadlock> {
        let mut waiting = self.paused_queues();
        if waiting.len() < 2 {
            return None;
        }
        self.note_dependencies(&mut waiting);
        let stuck = stuck_queues(&waiting);
        let cycle = cycle_of(&waiting, &stuck)?;
        let began = cycle.iter().map(|&index| waiting[index].since).max()?;
        let members = || stuck.iter().zip(&waiting).filter(|(stuck, _)| **stuck);
        Some(Deadlock {
            began,
            found: now,
            cycle: cycle.iter().map(|&index| waiting[index].place).collect(),
            queues: members().count(),
            bytes: members().map(|(_, queue)| u64::from(queue.bytes)).sum(),
        })
    }

    /// Egress queues of switches that hold frames and are paused.
    fn paused_queues(&self) -> Vec<Waiting> {
        let mut waiting = Vec::new();
        for port in self.ports.iter().filter(|port| port.port.paused() != 0) {
            if !matches!(self.nodes[port.node as usize].role, Role::Switch(_)) {
                continue;
            }
            for priority in 0..8 {
                let bytes = port.port.queued(port.port.queue_of(priority));
                if let Some(since) = port.port.paused_since(priority).filter(|_| bytes > 0) {
                    let place = StuckQueue { node: port.node, port: port.number, priority };
                    waiting.push(Waiting { place, since, bytes, waits_for: None });
                }
            }
        }
        waiting
    }

    /// Finds for each queue the queues of the next switch that hold what came from it.
    fn note_dependencies(&self, waiting: &mut [Waiting]) {
        let place_of: BTreeMap<StuckQueue, usize> =
            (0..).zip(waiting.iter()).map(|(index, queue)| (queue.place, index)).collect();
        // By switch, ingress port and priority: where its frames wait.
        let mut held: BTreeMap<(NodeId, u16, u8), Option<Vec<usize>>> = BTreeMap::new();
        for queue in waiting.iter() {
            if let Some(ingress) = self.asked_by(&queue.place) {
                held.insert(ingress, Some(Vec::new()));
            }
        }
        for port in &self.ports {
            let Role::Switch(switch) = self.nodes[port.node as usize].role else { continue };
            let priorities = &self.switches[switch as usize].priorities;
            port.port.for_each_waiting(&self.pool, |id, _| {
                let packet = self.pool.get(id);
                let Body::Rdma(body) = &packet.body else { return };
                let priority = priorities[usize::from(body.priority() & 7)];
                let ingress = (port.node, packet.switch_port, priority);
                let Some(queues) = held.get_mut(&ingress) else { return };
                let place = StuckQueue { node: port.node, port: port.number, priority };
                match (place_of.get(&place), queues.as_mut()) {
                    (Some(&index), Some(queues)) if !queues.contains(&index) => queues.push(index),
                    (Some(_), _) => {}
                    (None, _) => *queues = None,
                }
            });
        }
        for queue in waiting {
            let asked_by = self.asked_by(&queue.place);
            queue.waits_for = asked_by.and_then(|ingress| held.get(&ingress).cloned().flatten());
        }
    }

    /// The switch, ingress port and priority that asked for the pause of a queue; none if that was a
    /// host, or if the link between them is gone.
    fn asked_by(&self, place: &StuckQueue) -> Option<(NodeId, u16, u8)> {
        let first = self.nodes[place.node as usize].first_port;
        let port = &self.ports[first as usize + usize::from(place.port)];
        let far = &self.ports[port.far.port as usize];
        let alive =
            port.port.free_at() != SimTime::NEVER && port.port.link().rate().bits_per_second() > 0;
        let is_switch = matches!(port.far.role, Role::Switch(_));
        (alive && is_switch).then_some((far.node, far.number, place.priority))
    }
}

/// Which of the queues are stuck.
fn stuck_queues(waiting: &[Waiting]) -> Vec<bool> {
    let holds = |queue: &Waiting| queue.waits_for.as_ref().is_some_and(|queues| !queues.is_empty());
    let mut stuck: Vec<bool> = waiting.iter().map(holds).collect();
    loop {
        let moves = |(index, queue): (usize, &Waiting)| {
            let waits_for = queue.waits_for.as_deref().unwrap_or_default();
            stuck[index] && waits_for.iter().any(|&next| !stuck[next])
        };
        let freed: Vec<_> = waiting
            .iter()
            .enumerate()
            .filter(|&entry| moves(entry))
            .map(|(index, _)| index)
            .collect();
        if freed.is_empty() {
            return stuck;
        }
        for index in freed {
            stuck[index] = false;
        }
    }
}

/// A cycle among the stuck queues, which each wait for stuck ones: there is one if any is stuck.
fn cycle_of(waiting: &[Waiting], stuck: &[bool]) -> Option<Vec<usize>> {
    let mut index = stuck.iter().position(|&stuck| stuck)?;
    let mut path: Vec<usize> = Vec::new();
    loop {
        if let Some(first) = path.iter().position(|&seen| seen == index) {
            let mut cycle = path.split_off(first);
            let lowest = (0..cycle.len()).min_by_key(|&at| waiting[cycle[at]].place)?;
            cycle.rotate_left(lowest);
            return Some(cycle);
        }
        path.push(index);
        index =
            *waiting[index].waits_for.as_ref()?.iter().min_by_key(|&&next| waiting[next].place)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(node: NodeId, waits_for: Option<&[usize]>) -> Waiting {
        let place = StuckQueue { node, port: 0, priority: 3 };
        let since = SimTime::from_ps(node.into());
        Waiting { place, since, bytes: 1, waits_for: waits_for.map(<[usize]>::to_vec) }
    }

    #[test]
    fn a_ring_is_stuck_and_so_is_who_waits_for_it() {
        let ring =
            [queue(9, Some(&[1])), queue(2, Some(&[2])), queue(5, Some(&[1])), queue(7, None)];
        let stuck = stuck_queues(&ring);
        assert_eq!(stuck, [true, true, true, false]);
        assert_eq!(cycle_of(&ring, &stuck), Some(vec![1, 2]));
    }

    #[test]
    fn one_way_out_frees_all() {
        let ring =
            [queue(0, Some(&[1])), queue(1, Some(&[2])), queue(2, Some(&[0, 3])), queue(3, None)];
        let stuck = stuck_queues(&ring);
        assert_eq!(stuck, [false; 4]);
        assert_eq!(cycle_of(&ring, &stuck), None);
    }
}
