//! Chooses among ports with equally few hops, as OpenSM does: each switch alone, target after target.

use crate::graph::SwitchGraph;
use crate::guid::Guid;
use crate::hops::LeastHops;
use crate::subnet::Subnet;
use crate::tables::ForwardingTables;
use crate::topology::NodeKind;

/// Which of the ports with the least hops may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Candidates {
    /// All.
    All,
    /// Those to the same neighbour as the first one: the first dimension.
    FirstNeighbour,
}

/// Forwarding tables whose paths have the least hops.
pub(crate) fn tables(
    subnet: &Subnet,
    least: &LeastHops,
    candidates: Candidates,
) -> ForwardingTables {
    let order = targets(subnet);
    let mut tables = ForwardingTables::empty(subnet);
    for switch in 0..subnet.graph().len() {
        let mut balance = Balance::new(subnet, least, candidates, switch);
        for offset in 0..1 << subnet.lmc() {
            for &target in &order {
                balance.route(target, offset, tables.row_mut(switch));
            }
        }
    }
    tables
}

/// Switches, those with most end ports attached first.
pub(crate) fn by_attached(graph: &SwitchGraph) -> Vec<usize> {
    let mut switches: Vec<usize> = (0..graph.len()).collect();
    switches.sort_by_key(|&switch| std::cmp::Reverse(graph.attached(switch).count()));
    switches
}

/// End ports in the order in which they are routed: what is attached to switches, then the switches.
fn targets(subnet: &Subnet) -> Vec<usize> {
    let graph = subnet.graph();
    let attached = |&switch: &usize| graph.attached(switch).map(|(_, end_port)| end_port);
    let mut order: Vec<usize> = by_attached(graph).iter().flat_map(attached).collect();
    let is_switch = |&end_port: &usize| subnet.end_ports()[end_port].kind == NodeKind::Switch;
    order.extend((0..subnet.end_ports().len()).filter(is_switch));
    order
}

/// What a switch remembers while its table is made.
struct Balance<'s> {
    subnet: &'s Subnet,
    least: &'s LeastHops,
    candidates: Candidates,
    switch: usize,
    /// For each port, the LIDs of channel adapters and routers that go through it.
    paths: Vec<u32>,
    /// For each end port with several LIDs, the neighbours through which they go.
    used: Vec<Vec<Used>>,
}

/// A neighbour through which LIDs of an end port go.
#[derive(Clone, Copy)]
struct Used {
    node: usize,
    system: Guid,
    /// LIDs of the end port that go through it.
    forwarded: u32,
}

/// A port that may be chosen.
#[derive(Clone, Copy)]
struct Candidate {
    port: u8,
    paths: u32,
    /// Whether an LID of the end port goes through a node of the same system already.
    is_system_used: bool,
    /// If one goes through the same node, how many do.
    forwarded: Option<u32>,
}

impl<'s> Balance<'s> {
    fn new(
        subnet: &'s Subnet,
        least: &'s LeastHops,
        candidates: Candidates,
        switch: usize,
    ) -> Self {
        let paths = vec![0; subnet.graph().ports(switch).len()];
        let used = if subnet.lmc() == 0 { 0 } else { subnet.end_ports().len() };
        Self { subnet, least, candidates, switch, paths, used: vec![Vec::new(); used] }
    }

    /// Chooses the port for the LID of `target` with this offset, if it has one, and writes it into the table `row`.
    fn route(&mut self, target: usize, offset: u16, row: &mut [u8]) {
        let end_port = &self.subnet.end_ports()[target];
        if offset >= end_port.lids.count {
            return;
        }
        let lid = usize::from(end_port.lids.base + offset);
        let after = (offset > 0).then(|| row[lid - 1]);
        let Some(port) = self.choose(target, after) else { return };
        row[lid] = port;
        if end_port.kind != NodeKind::Switch {
            self.paths[usize::from(port)] += 1;
            if end_port.lids.count > 1 {
                self.remember(target, port);
            }
        }
    }

    /// The port for `target`; `after` is that of the LID before it, from where the search goes on.
    fn choose(&self, target: usize, after: Option<u8>) -> Option<u8> {
        let at = self.subnet.graph().attachment(target)?;
        if at.switch == self.switch {
            return Some(at.port);
        }
        let least = self.least.ports(self.switch, at.switch);
        let has_several = self.subnet.end_ports()[target].lids.count > 1;
        match self.candidates {
            Candidates::All if !has_several => self.fewest_paths(least),
            Candidates::All => self.spread(target, after, &least.collect::<Vec<_>>()),
            Candidates::FirstNeighbour => {
                let mut least = least.map(|port| (port, self.neighbour(port))).peekable();
                let (_, first) = *least.peek()?;
                let same = least.filter(|&(_, node)| node == first).map(|(port, _)| port);
                if has_several {
                    self.spread(target, after, &same.collect::<Vec<_>>())
                } else {
                    self.fewest_paths(same)
                }
            }
        }
    }

    /// The port with the fewest paths so far, and the first of those.
    fn fewest_paths(&self, ports: impl Iterator<Item = u8>) -> Option<u8> {
        ports.min_by_key(|&port| self.paths[usize::from(port)])
    }

    /// The port by which an LID of many avoids the systems and nodes of the others.
    fn spread(&self, target: usize, after: Option<u8>, ports: &[u8]) -> Option<u8> {
        let start = ports.partition_point(|&port| after.is_some_and(|after| port <= after));
        let (before, from) = ports.split_at(start);
        let in_order = from.iter().chain(before);
        let all: Vec<_> = in_order.map(|&port| self.candidate(target, port)).collect();
        let fewest = |one: &&Candidate| one.paths;
        let other_system = all.iter().filter(|one| !one.is_system_used).min_by_key(fewest);
        let is_other_node = |one: &&Candidate| one.is_system_used && one.forwarded.is_none();
        let other_node = || all.iter().filter(is_other_node).min_by_key(fewest);
        let chosen = other_system.or_else(other_node).or_else(|| least_forwarded(&all));
        chosen.map(|one| one.port)
    }

    fn candidate(&self, target: usize, port: u8) -> Candidate {
        let node = self.neighbour(port);
        let system = self.system(node);
        let used = &self.used[target];
        Candidate {
            port,
            paths: self.paths[usize::from(port)],
            is_system_used: used.iter().any(|one| one.system == system),
            forwarded: used.iter().find(|one| one.node == node).map(|one| one.forwarded),
        }
    }

    fn remember(&mut self, target: usize, port: u8) {
        let node = self.neighbour(port);
        let system = self.system(node);
        let used = &mut self.used[target];
        match used.iter_mut().find(|one| one.node == node) {
            Some(one) => one.forwarded += 1,
            None => used.push(Used { node, system, forwarded: 1 }),
        }
    }

    /// The node at the other end of a port's cable; the switch itself if there is none.
    fn neighbour(&self, port: u8) -> usize {
        let node = self.subnet.switches()[self.switch];
        let port = self.subnet.topology().nodes()[node].port(port);
        port.and_then(|port| port.peer).map_or(node, |peer| peer.node)
    }

    fn system(&self, node: usize) -> Guid {
        self.subnet.topology().nodes()[node].system
    }
}

/// Among ports to nodes that are all used: one with the fewest paths. Of those, a later one is taken instead if its node
/// has been used less than any that was looked at with fewer paths than all before it.
fn least_forwarded(all: &[Candidate]) -> Option<&Candidate> {
    let mut best: Option<&Candidate> = None;
    let mut least = u32::MAX;
    for one in all {
        let forwarded = one.forwarded.unwrap_or(0);
        let has_fewer = best.is_none_or(|best| one.paths < best.paths);
        let is_as_good = best.is_some_and(|best| one.paths == best.paths) && forwarded < least;
        if has_fewer || is_as_good {
            best = Some(one);
            least = least.min(forwarded);
        }
    }
    best
}
