//! Head-of-line blocking: how long packets waited for pauses, and for which.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::NodeId;

use super::end_state::WaitsFor;
use super::host_log::HostLog;
use super::pair::Pair;
use super::parts::pieces;
use super::pauses::Pauses;
use crate::Network;

/// Where packets of one pair came by, and when they waited for a pause.
#[derive(Debug, Default)]
pub(super) struct Blocked {
    /// Ports that sent one of its packets.
    crossed: BTreeSet<u32>,
    /// By port: until when it is known that packets waited there (picoseconds).
    known: BTreeMap<u32, u64>,
    /// Until when it is known what its hosts waited for (picoseconds).
    settled: u64,
    /// From when to when a packet waited, and for which pause.
    waits: Vec<(u64, u64, usize)>,
}

/// All waits of a pair that is over, to be judged when all roots are known.
#[derive(Debug)]
pub(super) struct Waits {
    /// Ports that sent one of its packets.
    crossed: Vec<u32>,
    /// The hosts of its ends.
    ends: [NodeId; 2],
    /// From when to when a packet waited, and for which pause, in order.
    spans: Vec<(u64, u64, usize)>,
}

/// The waits of a pair for what it has no part in.
#[derive(Debug)]
pub(super) struct Innocent {
    /// How long at least one of its packets waited (picoseconds).
    pub(super) time: u64,
    /// By root cause: how long, and for how many pauses.
    pub(super) by_root: BTreeMap<String, (u64, usize)>,
}

impl Blocked {
    /// One of its packets leaves by a port.
    pub(super) fn note_crossed(&mut self, port: u32) {
        self.crossed.insert(port);
    }

    /// One of its packets waited at a switch's port, from one time to another (picoseconds).
    pub(super) fn note_wait(
        &mut self,
        network: &Network,
        pauses: &Pauses<'_>,
        (port, priority): (u32, u8),
        (from, to): (u64, u64),
    ) {
        let known = self.known.entry(port).or_default();
        let from = from.max(*known);
        *known = to.max(*known);
        let (node, number) = network.place_of_port(port);
        let queue = network.queue_at(port, priority);
        let priorities = network.priorities_of(port, queue);
        for (since, until, pause) in pauses.holding((node, number), priorities, (from, to)) {
            self.note(since, until, pause);
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
        for end in &pair.ends {
            self.note_host(pauses, (&end.log, pair.priority), (from, to));
        }
    }

    /// One end could have sent, but for a pause of its host's port, between two times (picoseconds).
    fn note_host(
        &mut self,
        pauses: &Pauses<'_>,
        (end, priority): (&HostLog, u8),
        (from, to): (u64, u64),
    ) {
        for (since, until, pause) in pauses.holding((end.node, 0), 1 << priority, (from, to)) {
            for (since, until) in pieces(since, until, end.changes(since, until)) {
                if end.state(since).waits_for(since) == WaitsFor::Port {
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

    /// The pair is over, and its waits are complete.
    pub(super) fn finish(self, pair: &Pair) -> Waits {
        let mut spans = self.waits;
        spans.sort_unstable();
        spans.shrink_to_fit();
        let [a, b] = &pair.ends;
        let ends = [a.log.node, b.log.node];
        Waits { crossed: self.crossed.into_iter().collect(), ends, spans }
    }
}

impl Waits {
    /// The hosts of its ends.
    pub(super) const fn ends(&self) -> [NodeId; 2] {
        self.ends
    }

    /// Whether there are any.
    pub(super) fn has_any(&self) -> bool {
        !self.spans.is_empty()
    }

    /// What it waited for because of roots that none of its packets crossed, and that are not its
    /// ends; in a deadlock, no port of the cycle.
    pub(super) fn innocent(&self, network: &Network, pauses: &Pauses<'_>) -> Innocent {
        let name = |node: NodeId| network.plan().topology.nodes[node as usize].name.as_str();
        let ports = self.crossed.iter().map(|&port| {
            let (node, number) = network.place_of_port(port);
            format!("{}:{number}", name(node))
        });
        let ends = self.ends.iter().map(|&node| name(node).to_owned());
        let own: BTreeSet<String> = ports.chain(ends).collect();
        let has_part = |pause: usize| {
            let root = pauses.root(pause);
            pauses.tree().places_of(&root).any(|place| own.contains(place))
        };
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
