//! Head-of-line blocking: how long packets waited for pauses, and for which.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::NodeId;

use super::end_state::WaitsFor;
use super::host_log::HostLog;
use super::pair::Pair;
use super::pauses::Pauses;
use super::pieces::pieces;
use crate::network::watch::View;

/// From when to when a packet waited (picoseconds), and for which pause.
type Span = (u64, u64, usize);

/// Where packets of one pair came by, and when they waited for a pause.
#[derive(Debug, Default)]
pub(super) struct Blocked {
    /// Ports that sent one of its packets.
    crossed: BTreeSet<u32>,
    /// By port, and whether they are acknowledgements: until when it is known that packets waited there
    /// (picoseconds).
    known: BTreeMap<(u32, bool), u64>,
    /// Until when it is known what its hosts waited for (picoseconds).
    settled: u64,
    /// But for [what is forgotten](Self::forget).
    waits: Vec<Span>,
}

/// The waits of a pair that is over, to be judged when all roots are known.
#[derive(Debug)]
pub(super) struct Waits {
    /// Ports that sent one of its packets.
    crossed: Vec<u32>,
    /// The hosts of its ends.
    ends: [NodeId; 2],
    /// In order, but for [what is forgotten](Self::forget).
    spans: Vec<Span>,
}

/// The places that a pair has a part in: ports that sent one of its packets, and its ends.
struct Own(BTreeSet<String>);

/// The waits of a pair for what it has no part in.
#[derive(Debug)]
pub(super) struct Innocent {
    /// How long at least one of its packets waited that it waited for (picoseconds).
    pub(super) time: u64,
    /// By root cause: how long, and for how many pauses.
    pub(super) by_root: BTreeMap<String, (u64, usize)>,
}

impl Blocked {
    /// One of its packets leaves by a port.
    pub(super) fn note_crossed(&mut self, port: u32) {
        self.crossed.insert(port);
    }

    /// One of its packets waited at a switch's port, from one time to another (picoseconds). An
    /// acknowledgement says whose it is: it holds nobody back while that end need not wait for it.
    pub(super) fn note_wait(
        &mut self,
        network: View<'_>,
        pauses: &Pauses<'_>,
        (port, marking): (u32, u8),
        (from, to): (u64, u64),
        waits_for_it: Option<&HostLog>,
    ) {
        let known = self.known.entry((port, waits_for_it.is_some())).or_default();
        let from = from.max(*known);
        *known = to.max(*known);
        let (node, number) = network.place_of_port(port);
        let queue = network.queue_at(port, marking);
        let priorities = network.priorities_of(port, queue);
        for (since, until, pause) in pauses.holding((node, number), priorities, (from, to)) {
            let Some(end) = waits_for_it else {
                self.note(since, until, pause);
                continue;
            };
            for (since, until) in pieces(since, until, end.changes(since, until)) {
                if end.waits_for_peer(since) {
                    self.note(since, until, pause);
                }
            }
        }
    }

    /// What both ends waited for that could have sent, between two times (picoseconds), as far as it is
    /// not noted yet.
    pub(super) fn note_hosts(&mut self, pauses: &Pauses<'_>, pair: &Pair, (from, to): (u64, u64)) {
        let from = from.max(self.settled);
        if from >= to {
            return;
        }
        self.settled = to;
        let [source, destination] = pair.ends.each_ref().map(|end| &end.log);
        self.note_host(pauses, (source, pair.priority), (from, to), None);
        // The destination of TCP has nothing but acknowledgements.
        let waits_for_it = destination.is_tcp.then_some(source);
        self.note_host(pauses, (destination, pair.priority), (from, to), waits_for_it);
    }

    /// One end could have sent, but for a pause of its host's port, between two times (picoseconds); if
    /// acknowledgements, then to an end that had to wait for them.
    fn note_host(
        &mut self,
        pauses: &Pauses<'_>,
        (end, priority): (&HostLog, u8),
        (from, to): (u64, u64),
        waits_for_it: Option<&HostLog>,
    ) {
        for (since, until, pause) in pauses.holding((end.node, 0), 1 << priority, (from, to)) {
            let peer = waits_for_it.into_iter().flat_map(|peer| peer.changes(since, until));
            for (since, until) in pieces(since, until, end.changes(since, until).chain(peer)) {
                let holds_back = waits_for_it.is_none_or(|peer| peer.waits_for_peer(since));
                if holds_back && end.state(since).waits_for(since) == WaitsFor::Port {
                    self.note(since, until, pause);
                }
            }
        }
    }

    fn note(&mut self, since: u64, until: u64, pause: usize) {
        match self.waits.last_mut() {
            Some((_, end, last)) if *last == pause && *end == since => *end = until,
            _ => self.waits.push((since, until, pause)),
        }
    }

    /// How many waits are known.
    pub(super) const fn known(&self) -> usize {
        self.waits.len()
    }

    /// Nobody asks any longer for waits for what the pair has a part in, whatever happens from now on.
    pub(super) fn forget(&mut self, network: View<'_>, pauses: &Pauses<'_>, pair: &Pair) {
        let crossed = self.crossed.iter().copied();
        Own::new(network, crossed, nodes(pair)).forget(&mut self.waits, pauses);
    }

    /// The pair is over, and its waits are complete.
    pub(super) fn finish(self, pair: &Pair) -> Waits {
        let mut spans = self.waits;
        spans.sort_unstable();
        spans.shrink_to_fit();
        Waits { crossed: self.crossed.into_iter().collect(), ends: nodes(pair), spans }
    }
}

/// The hosts of a pair's ends.
fn nodes(pair: &Pair) -> [NodeId; 2] {
    pair.ends.each_ref().map(|end| end.log.node)
}

impl Waits {
    /// The hosts of its ends.
    pub(super) const fn ends(&self) -> [NodeId; 2] {
        self.ends
    }

    /// How many are known.
    pub(super) const fn known(&self) -> usize {
        self.spans.len()
    }

    /// Nobody asks any longer for those for what the pair has a part in, whatever happens from now on.
    pub(super) fn forget(&mut self, network: View<'_>, pauses: &Pauses<'_>) {
        self.own(network).forget(&mut self.spans, pauses);
    }

    fn own(&self, network: View<'_>) -> Own {
        Own::new(network, self.crossed.iter().copied(), self.ends)
    }

    /// What it waited for because of roots that none of its packets crossed, and that are not its
    /// ends; in a deadlock, no port of the cycle.
    pub(super) fn innocent(&self, network: View<'_>, pauses: &Pauses<'_>) -> Innocent {
        let own = self.own(network);
        let has_part = |pause: usize| own.has_part_in(pauses, pause);
        let mut by_root: BTreeMap<String, (u64, usize)> = BTreeMap::new();
        let mut counted = BTreeSet::new();
        let (mut time, mut covered) = (0, 0);
        for &(since, until, pause) in self.spans.iter().filter(|(.., pause)| !has_part(*pause)) {
            let new = until.saturating_sub(since.max(covered));
            covered = covered.max(until);
            time += new;
            let (ps, number) = by_root.entry(pauses.root(pause).to_string()).or_default();
            *ps += new;
            *number += usize::from(counted.insert(pause));
        }
        Innocent { time, by_root }
    }
}

impl Own {
    fn new(network: View<'_>, crossed: impl Iterator<Item = u32>, ends: [NodeId; 2]) -> Self {
        let name = |node: NodeId| network.plan().topology.nodes[node as usize].name.as_str();
        let ports = crossed.map(|port| {
            let (node, number) = network.place_of_port(port);
            format!("{}:{number}", name(node))
        });
        Self(ports.chain(ends.iter().map(|&node| name(node).to_owned())).collect())
    }

    /// Whether a pause began at such a place, as far as is known; in a deadlock, whether one is a port
    /// of the cycle.
    fn has_part_in(&self, pauses: &Pauses<'_>, pause: usize) -> bool {
        let root = pauses.root(pause);
        pauses.tree().places_of(&root).any(|place| self.0.contains(place))
    }

    /// Forgets waits for pauses that began at such places, and of which that does not change any more.
    /// There will be more of these places, and never less.
    fn forget(&self, spans: &mut Vec<Span>, pauses: &Pauses<'_>) {
        let mut judged: BTreeMap<usize, bool> = BTreeMap::new();
        spans.retain(|&(.., pause)| {
            let is_own = || pauses.is_settled(pause) && self.has_part_in(pauses, pause);
            !*judged.entry(pause).or_insert_with(is_own)
        });
        spans.shrink_to(2 * spans.len());
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rocelab_engine::{EventKey, Tie};
    use rocelab_units::{Duration, SimTime};

    use super::*;
    use crate::network::{PauseChange, PauseEvent, PauseRequest, Record, RecordKind};
    use crate::{Planning, Scenario};

    /// A deadlock may be found later that an open pause is in, or what it descends from.
    #[test]
    fn waits_are_forgotten_when_no_deadlock_can_have_their_pauses() {
        let text = "[topology.single-switch]\nhosts = 3\n\
                    link = { rate = \"100Gbps\", cable = \"3m\" }\n\
                    [workload.incast]\nsenders = 2\nbytes = \"1KB\"\n";
        let scenario = Scenario::parse(text, Path::new("waits.toml"), &[]);
        let plan = scenario.and_then(|scenario| scenario.plan()).unwrap();
        let mut pauses = Pauses::new(&plan);
        let key = EventKey { time: SimTime::from_ps(1_000), tie: Tie::default() };
        let mut note = |kind: RecordKind| pauses.note(&Record { key, kind });
        let change = |node: NodeId, port: u16, event: PauseEvent| {
            RecordKind::Pause(PauseChange { node, port, priority: 3, quanta: 0, event })
        };
        // Host 1 pauses port 1 of the switch, and that therefore host 0.
        let switch = 3;
        note(change(switch, 1, PauseEvent::Pause));
        let egress = Some(1);
        let request = PauseRequest {
            node: switch,
            port: 0,
            priority: 3,
            holds: 1 << 3,
            egress,
            egress_paused: 1 << 3,
        };
        note(RecordKind::PauseRequest(request));
        note(change(0, 0, PauseEvent::Pause));
        let own = Own(BTreeSet::from(["host-1".to_owned()]));
        let other = Own(BTreeSet::from(["host-2".to_owned()]));
        let all = vec![(0, 5, 0), (2, 7, 1)];
        let left = |own: &Own, pauses: &Pauses<'_>| {
            let mut spans = all.clone();
            own.forget(&mut spans, pauses);
            spans
        };
        assert_eq!(left(&own, &pauses), all);
        let resume = PauseEvent::Resume(Duration::ZERO);
        pauses.note(&Record { key, kind: change(0, 0, resume) });
        assert_eq!(left(&own, &pauses), all, "what it descends from is open");
        pauses.note(&Record { key, kind: change(switch, 1, resume) });
        assert_eq!(left(&own, &pauses), []);
        assert_eq!(left(&other, &pauses), all, "it has no part in them");
    }
}
