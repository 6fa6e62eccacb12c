//! Segments: the links that bridges join, and the ways through them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::SwitchRole;
use crate::topology::{Adjacency, Neighbour, spanning_tree_over};
use crate::{NodeId, Topology};

/// The ports that lead to each host and router in its segments.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    /// By segment and target: the nodes of the segment that are no hosts, ascending, with the port of each that leads there.
    ports: BTreeMap<(u32, NodeId), Box<[(NodeId, u16)]>>,
    /// By router and segment: the lowest of its ports there.
    interfaces: BTreeMap<(NodeId, u32), u16>,
}

impl Ways {
    /// Those of a topology with these segments by link, active links, and roles of switches.
    pub(super) fn new(
        topology: &Topology,
        adjacency: &Adjacency,
        (segments, active): (&[u32], &[bool]),
        roles: &[Option<SwitchRole>],
    ) -> Self {
        let mut all = Self { ports: BTreeMap::new(), interfaces: BTreeMap::new() };
        for switch in topology.switches() {
            for (port, far) in (0u16..).zip(adjacency.ports_of(switch)) {
                all.interfaces.entry((switch, segments[far.link as usize])).or_insert(port);
            }
        }
        let search = Search { adjacency, segments, active, roles };
        for node in (0u32..).take(topology.nodes.len()) {
            if roles[node as usize] == Some(SwitchRole::Bridge) {
                continue;
            }
            let links = adjacency.ports_of(node).iter().map(|far| far.link);
            for segment in links.map(|link| segments[link as usize]).collect::<BTreeSet<_>>() {
                let ports = search.ports_towards(node, segment, &all);
                all.ports.insert((segment, node), ports);
            }
        }
        all
    }

    /// The lowest of the ports of a switch in a segment.
    pub(super) fn interface(&self, switch: NodeId, segment: u32) -> Option<u16> {
        self.interfaces.get(&(switch, segment)).copied()
    }

    /// The port by which a switch in a segment, or at its edge, sends what is for `target` there.
    pub(super) fn port(&self, switch: NodeId, segment: u32, target: NodeId) -> Option<u16> {
        let ports = self.ports.get(&(segment, target))?;
        let place = ports.binary_search_by_key(&switch, |&(node, _)| node).ok()?;
        Some(ports[place].1)
    }

    /// The links from a host or router to another one in a segment, each with the node before it.
    pub(super) fn links(
        &self,
        adjacency: &Adjacency,
        segment: u32,
        (from, to): (NodeId, NodeId),
    ) -> Option<Vec<(NodeId, Neighbour)>> {
        let (mut node, mut links) = (from, Vec::new());
        while node != to {
            // A host has one port.
            let port = self.port(node, segment, to).unwrap_or(0);
            let far = *adjacency.ports_of(node).get(usize::from(port))?;
            links.push((node, far));
            // More links than there are switches in the segment are a mistake, not a way.
            if links.len() > self.ports.get(&(segment, to))?.len() + 1 {
                return None;
            }
            node = far.node;
        }
        Some(links)
    }

    /// Whether a node sends by a port, and takes what is for it: a router has one interface in a segment.
    fn is_used(&self, role: Option<SwitchRole>, node: NodeId, segment: u32, port: u16) -> bool {
        role != Some(SwitchRole::Router) || self.interface(node, segment) == Some(port)
    }
}

/// What ways through segments are looked for in.
struct Search<'a> {
    adjacency: &'a Adjacency,
    /// By link.
    segments: &'a [u32],
    /// By link.
    active: &'a [bool],
    /// By node.
    roles: &'a [Option<SwitchRole>],
}

impl Search<'_> {
    /// The port by which each switch of a segment sends what is for a node at its edge, or in it.
    fn ports_towards(&self, target: NodeId, segment: u32, ways: &Ways) -> Box<[(NodeId, u16)]> {
        let mut ports = BTreeMap::new();
        let mut open = VecDeque::from([target]);
        while let Some(node) = open.pop_front() {
            for (port, far) in (0u16..).zip(self.adjacency.ports_of(node)) {
                let is_way = self.active[far.link as usize]
                    && ways.is_used(self.roles[node as usize], node, segment, port)
                    && self.segments[far.link as usize] == segment
                    && far.node != target;
                let role = self.roles[far.node as usize];
                if !is_way || role.is_none() || ports.contains_key(&far.node) {
                    continue;
                }
                let back = self.adjacency.port_of_link(far.node, far.link);
                let back = back.and_then(|port| u16::try_from(port).ok());
                let back = back.filter(|&port| ways.is_used(role, far.node, segment, port));
                let Some(back) = back else { continue };
                ports.insert(far.node, back);
                if role.is_some_and(SwitchRole::bridges) {
                    open.push_back(far.node);
                }
            }
        }
        ports.into_iter().collect()
    }
}

/// By link: the number of its segment.
pub(super) fn segments(
    topology: &Topology,
    adjacency: &Adjacency,
    bridges: impl Fn(NodeId) -> bool,
) -> Vec<u32> {
    const UNKNOWN: u32 = u32::MAX;
    let mut segments = vec![UNKNOWN; topology.links.len()];
    let mut next = 0;
    for first in 0..topology.links.len() {
        if segments[first] != UNKNOWN {
            continue;
        }
        segments[first] = next;
        let mut open = vec![first];
        while let Some(link) = open.pop() {
            let ends = [topology.links[link].a, topology.links[link].b];
            for node in ends.into_iter().filter(|&node| bridges(node)) {
                for far in adjacency.ports_of(node) {
                    let other = far.link as usize;
                    if segments[other] == UNKNOWN {
                        segments[other] = next;
                        open.push(other);
                    }
                }
            }
        }
        next += 1;
    }
    segments
}

/// By link: whether frames may cross it. Bridges block links, routers and hosts do not.
pub(super) fn active(topology: &Topology, bridges: impl Fn(NodeId) -> bool) -> Vec<bool> {
    let of_bridges: Vec<bool> =
        topology.links.iter().map(|link| bridges(link.a) && bridges(link.b)).collect();
    let tree = spanning_tree_over(topology, &of_bridges);
    of_bridges.iter().zip(tree).map(|(of_bridges, in_tree)| !of_bridges || in_tree).collect()
}
