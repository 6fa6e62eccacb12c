//! Deadlocks: queues that wait for each other, for ever.

use std::collections::BTreeMap;

use rocelab_fabric::{FlowControl, LaneCounts, LeavingFrame, NodeId, Serialisation};
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::SimTime;

use super::node::Role;
use super::overview::Overview;
use super::packet::Body;
use super::port::NetworkPort;
use crate::profile::Profile;
use crate::record::{Deadlock, StuckQueue};

/// An egress queue that holds frames and must not start one, while it is not known whether it is
/// stuck.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
struct Waiting {
    place: Place,
    bytes: u32,
    /// The pauses that it obeys: one, but where priorities share a queue, or where several priorities of the next
    /// switch may ask for the same pause. All must end for it to move.
    pauses: Vec<Obeyed>,
}

/// Node, port and queue.
type Place = (NodeId, u16, u8);

/// Node, ingress port and priority.
type Ingress = (NodeId, u16, u8);

/// A pause of a priority that a queue obeys.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
struct Obeyed {
    priority: u8,
    since: SimTime,
    /// Whose memory asked for it; none if it is about to end, or a host asked for it.
    asked_by: Option<Ingress>,
    /// What the port has sent, and knows of that memory.
    sent: LaneCounts,
    /// By which of the waiting queues frames leave that memory; none if some leave by a queue that
    /// moves. Found when all that wait are known.
    #[borsh(skip)]
    waits_for: Option<Vec<usize>>,
}

impl Obeyed {
    /// Whether it never ends, if those queues never move.
    fn lasts(&self, stuck: &[bool]) -> bool {
        let queues = self.waits_for.as_deref().unwrap_or_default();
        !queues.is_empty() && queues.iter().all(|&next| stuck[next])
    }
}

/// What waits, as the parts of a network know it: together they know of every wait what it is for.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct Standstill {
    waiting: Vec<Waiting>,
    /// The memory of each ingress port and priority that asks for a pause.
    held: BTreeMap<Ingress, Held>,
}

/// What an ingress port and priority holds.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
struct Held {
    /// What has arrived, and what the sender may know. Who waits for credits waits for what is in that memory only once
    /// both ends know the same: else packets or credits are on their way, or are to be sent again.
    received: LaneCounts,
    /// Where the frames wait.
    places: Vec<Place>,
}

impl Standstill {
    /// With what another part knows.
    pub(crate) fn with(mut self, other: Self) -> Self {
        self.waiting.extend(other.waiting);
        self.held.extend(other.held);
        self
    }

    /// The deadlocks that there are at `now`.
    ///
    /// A queue is stuck if it obeys a pause that never ends: a switch asks for it, no frame that ends
    /// it is on its way, and every frame of the ingress port and priority that asked for it waits in
    /// a queue that is stuck. These are found by leaving out, of all that wait, those that wait for
    /// one that may move, until none is left to leave out. So what is found cannot end by itself:
    /// memory that is not emptied does not end a pause.
    pub(crate) fn deadlocks(mut self, now: SimTime) -> Vec<Deadlock> {
        if self.waiting.len() < 2 {
            return Vec::new();
        }
        self.note_dependencies();
        let waiting = self.waiting;
        let stuck = stuck_queues(&waiting);
        let steps = steps(&waiting, &stuck);
        let deadlock = |cycle: Vec<usize>| {
            let ends_there = |&index: &usize| cycle.contains(&end_of_walk(&steps, index));
            let members: Vec<_> = (0..waiting.len()).filter(|&index| stuck[index]).collect();
            let members: Vec<_> = members.into_iter().filter(ends_there).collect();
            let pause =
                |&index: &usize| steps[index].map(|(pause, _)| &waiting[index].pauses[pause]);
            let began = cycle.iter().filter_map(pause).map(|pause| pause.since).max();
            let place = |index: &usize| {
                let (node, port, _) = waiting[*index].place;
                StuckQueue { node, port, priority: pause(index).map_or(0, |pause| pause.priority) }
            };
            Deadlock {
                began: began.unwrap_or(now),
                found: now,
                cycle: cycle.iter().map(place).collect(),
                queues: members.iter().map(place).collect(),
                bytes: members.iter().map(|&index| u64::from(waiting[index].bytes)).sum(),
            }
        };
        cycles(&waiting, &steps).into_iter().map(deadlock).collect()
    }

    /// Finds for each pause the queues of the next switch that hold what came from its port.
    fn note_dependencies(&mut self) {
        self.waiting.sort_unstable_by_key(|queue| queue.place);
        let place_of: BTreeMap<Place, usize> =
            (0..).zip(&self.waiting).map(|(index, queue)| (queue.place, index)).collect();
        let index_of = |place: &Place| place_of.get(place).copied();
        for pause in self.waiting.iter_mut().flat_map(|queue| &mut queue.pauses) {
            let held = pause.asked_by.and_then(|ingress| self.held.get(&ingress));
            let held = held.filter(|held| held.received == pause.sent);
            // None if some of it may move, or if nobody asks any more.
            pause.waits_for = held.and_then(|held| held.places.iter().map(index_of).collect());
        }
    }
}

impl<'a, P: Profile> Overview<'a, P> {
    /// What waits in switches.
    pub(crate) fn standstill(self) -> Standstill {
        // In most networks no queue waits for a pause: then there is nothing to look for in all packets.
        let obeys = |port: &NetworkPort<P>| port.port.blocked() != 0 && port.port.obeyed() != 0;
        if !self.0.own_ports().iter().any(obeys) {
            return Standstill::default();
        }
        let resumes = self.resumes_under_way();
        let waiting = self.waiting_queues(&resumes);
        Standstill { held: self.held_frames(), waiting }
    }

    /// Egress queues of switches that hold frames and obey pauses.
    fn waiting_queues(self, resumes: &BTreeMap<u32, u8>) -> Vec<Waiting> {
        let mut waiting = Vec::new();
        for port in self.0.own_ports().iter().filter(|port| port.port.obeyed() != 0) {
            if !matches!(self.0.nodes[port.node as usize].role, Role::Switch(_)) {
                continue;
            }
            for queue in (0..8).filter(|&queue| port.port.queued(queue) > 0) {
                let is_obeyed = |priority: &u8| {
                    port.port.obeyed() & 1 << priority != 0
                        && port.port.queue_of(*priority) == queue
                };
                let obeyed = |priority: u8| {
                    self.asked_by(port, priority, resumes).into_iter().map(move |asked_by| Obeyed {
                        priority,
                        since: port
                            .port
                            .flow_control()
                            .paused_since(priority)
                            .unwrap_or(SimTime::ZERO),
                        asked_by,
                        sent: port.port.flow_control().sent_counts(priority),
                        waits_for: None,
                    })
                };
                let pauses: Vec<_> = (0..8).filter(is_obeyed).flat_map(obeyed).collect();
                if !pauses.is_empty() {
                    let (place, bytes) = ((port.node, port.number, queue), port.port.queued(queue));
                    waiting.push(Waiting { place, bytes, pauses });
                }
            }
        }
        waiting
    }

    /// Where the frames wait that came in by ports of switches which ask for a pause.
    fn held_frames(self) -> BTreeMap<Ingress, Held> {
        let mut held: BTreeMap<Ingress, Held> = BTreeMap::new();
        for port in self.0.own_ports() {
            if matches!(self.0.nodes[port.node as usize].role, Role::Switch(_)) {
                let flow_control = port.port.flow_control();
                let asked = (0..8).filter(|priority| flow_control.pausing() & 1 << priority != 0);
                let none_of = |priority: u8| Held {
                    received: flow_control.received_counts(priority),
                    places: Vec::new(),
                };
                held.extend(
                    asked.map(|priority| ((port.node, port.number, priority), none_of(priority))),
                );
            }
        }
        // What is being sent gives its memory back.
        for port in self.0.own_ports() {
            if let Some(LeavingFrame { input, priority, .. }) = port.port.flow_control().leaving() {
                held.remove(&(port.node, input, priority));
            }
        }
        if held.is_empty() {
            return held;
        }
        for port in self.0.own_ports() {
            let Role::Switch(switch) = self.0.nodes[port.node as usize].role else { continue };
            let priorities = &self.0.switches[switch as usize].priorities;
            port.port.for_each_waiting(&self.0.pool, |id, queue| {
                let packet = self.0.pool.get(id);
                let Some(marking) = packet.body.marking() else { return };
                let priority = priorities.of(marking);
                let ingress = (port.node, packet.switch_port, priority);
                let place = (port.node, port.number, queue);
                if let Some(Held { places, .. }) = held.get_mut(&ingress)
                    && !places.contains(&place)
                {
                    places.push(place);
                }
            });
        }
        held
    }

    /// The ingress port and the priorities, in a switch, that may keep a priority of a port paused: one, or each that
    /// a pause of the whole link may be asked for. A single `None` if a host does, if the link between them is gone,
    /// or if the end of the pause is on its way.
    fn asked_by(
        self,
        port: &NetworkPort<P>,
        priority: u8,
        resumes: &BTreeMap<u32, u8>,
    ) -> Vec<Option<Ingress>> {
        let far = &self.0.ports[port.far.port as usize];
        let alive =
            port.port.free_at() != SimTime::NEVER && port.port.link().rate().bits_per_second() > 0;
        let under_way = resumes.get(&port.far.port).is_some_and(|mask| mask & 1 << priority != 0);
        let ends = port.port.awaits_resume(priority) || under_way;
        let is_switch = self.0.plan.topology.is_switch(far.node);
        if !alive || !is_switch || ends {
            return vec![None];
        }
        // Both ends of a link have the same flow control.
        let reasons = (0..8).filter(|&reason| port.port.held_by(reason) & 1 << priority != 0);
        reasons.map(|reason| Some((far.node, far.number, reason))).collect()
    }

    /// By the port that sends: the priorities (bit p) whose pauses frames on its link end.
    fn resumes_under_way(self) -> BTreeMap<u32, u8> {
        let mut resumes = BTreeMap::new();
        for (port, id) in self.0.pool.on_links() {
            if let Body::Control(frame) = &self.0.pool.get(id).body {
                *resumes.entry(port).or_default() |= frame.resumes();
            }
        }
        resumes
    }
}

/// Which of the queues are stuck.
fn stuck_queues(waiting: &[Waiting]) -> Vec<bool> {
    let mut stuck = vec![true; waiting.len()];
    loop {
        let moves = |&index: &usize| {
            stuck[index] && !waiting[index].pauses.iter().any(|pause| pause.lasts(&stuck))
        };
        let freed: Vec<_> = (0..waiting.len()).filter(moves).collect();
        if freed.is_empty() {
            return stuck;
        }
        for index in freed {
            stuck[index] = false;
        }
    }
}

/// For each stuck queue one of its pauses that never end, and one of the queues that this waits for:
/// the lowest.
fn steps(waiting: &[Waiting], stuck: &[bool]) -> Vec<Option<(usize, usize)>> {
    let step = |index: usize| {
        let pauses = &waiting[index].pauses;
        let pause = pauses.iter().position(|pause| stuck[index] && pause.lasts(stuck))?;
        let queues = pauses[pause].waits_for.as_ref()?;
        Some((pause, *queues.iter().min_by_key(|&&next| waiting[next].place)?))
    };
    (0..waiting.len()).map(step).collect()
}

/// A queue of the cycle that a walk from `index` ends in: as many steps as there are queues lead
/// into it.
fn end_of_walk(steps: &[Option<(usize, usize)>], index: usize) -> usize {
    let mut here = index;
    for _ in steps {
        here = steps[here].map_or(here, |(_, next)| next);
    }
    here
}

/// The cycles in which stuck queues wait for each other, each from its lowest queue on.
fn cycles(waiting: &[Waiting], steps: &[Option<(usize, usize)>]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    for index in (0..steps.len()).filter(|&index| steps[index].is_some()) {
        let first = end_of_walk(steps, index);
        if found.iter().any(|cycle| cycle.contains(&first)) {
            continue;
        }
        let follow = |&here: &usize| steps[here].map(|(_, next)| next);
        let around = std::iter::successors(Some(first), follow).skip(1);
        let mut cycle = vec![first];
        cycle.extend(around.take_while(|&here| here != first));
        let lowest = (0..cycle.len()).min_by_key(|&at| waiting[cycle[at]].place).unwrap_or(0);
        cycle.rotate_left(lowest);
        found.push(cycle);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue that obeys one pause for each list of queues that it waits for.
    fn queue(node: NodeId, pauses: &[Option<&[usize]>]) -> Waiting {
        let obeyed = |waits_for: &Option<&[usize]>| Obeyed {
            priority: 3,
            since: SimTime::from_ps(node.into()),
            asked_by: None,
            sent: LaneCounts::default(),
            waits_for: waits_for.map(<[usize]>::to_vec),
        };
        Waiting { place: (node, 0, 3), bytes: 1, pauses: pauses.iter().map(obeyed).collect() }
    }

    fn found(waiting: &[Waiting]) -> (Vec<bool>, Vec<Vec<usize>>) {
        let stuck = stuck_queues(waiting);
        let cycles = cycles(waiting, &steps(waiting, &stuck));
        (stuck, cycles)
    }

    /// Two switches whose queues wait for credits of each other; `sent` is what one of them has sent.
    fn two_that_wait_for_credits(sent: LaneCounts) -> usize {
        let received = LaneCounts { blocks: 65, limit: Some(130) };
        let waiting = |node: NodeId, sent: LaneCounts| {
            let asked_by = Some((1 - node, 0, 3));
            let since = SimTime::ZERO;
            let pauses = vec![Obeyed { priority: 3, since, asked_by, sent, waits_for: None }];
            Waiting { place: (node, 0, 3), bytes: 1, pauses }
        };
        let held = |node: NodeId| ((node, 0, 3), Held { received, places: vec![(node, 0, 3)] });
        let standstill = Standstill {
            waiting: vec![waiting(0, sent), waiting(1, received)],
            held: [held(0), held(1)].into(),
        };
        standstill.deadlocks(SimTime::ZERO).len()
    }

    #[test]
    fn who_does_not_know_of_all_credits_yet_or_has_packets_under_way_is_not_stuck() {
        let known = LaneCounts { blocks: 65, limit: Some(130) };
        assert_eq!(two_that_wait_for_credits(known), 1);
        let on_the_link = LaneCounts { blocks: 66, ..known };
        assert_eq!(two_that_wait_for_credits(on_the_link), 0);
        let untold = LaneCounts { limit: Some(129), ..known };
        assert_eq!(two_that_wait_for_credits(untold), 0);
        assert_eq!(two_that_wait_for_credits(LaneCounts { limit: None, ..known }), 0);
    }

    #[test]
    fn a_ring_is_stuck_and_so_is_who_waits_for_it() {
        let ring = [
            queue(9, &[Some(&[1])]),
            queue(2, &[Some(&[2])]),
            queue(5, &[Some(&[1])]),
            queue(7, &[None]),
        ];
        assert_eq!(found(&ring), (vec![true, true, true, false], vec![vec![1, 2]]));
    }

    #[test]
    fn one_way_out_frees_all() {
        let ring = [
            queue(0, &[Some(&[1])]),
            queue(1, &[Some(&[2])]),
            queue(2, &[Some(&[0, 3])]),
            queue(3, &[None]),
        ];
        assert_eq!(found(&ring), (vec![false; 4], Vec::new()));
    }

    #[test]
    fn one_pause_that_lasts_is_enough() {
        let ring = [queue(0, &[None, Some(&[1])]), queue(1, &[Some(&[0])])];
        assert_eq!(found(&ring), (vec![true; 2], vec![vec![0, 1]]));
    }

    #[test]
    fn two_rings_are_two_deadlocks() {
        let rings = [
            queue(0, &[Some(&[1])]),
            queue(1, &[Some(&[0])]),
            queue(2, &[Some(&[3])]),
            queue(3, &[Some(&[2])]),
            queue(4, &[Some(&[1, 2])]),
        ];
        assert_eq!(found(&rings), (vec![true; 5], vec![vec![0, 1], vec![2, 3]]));
    }
}
