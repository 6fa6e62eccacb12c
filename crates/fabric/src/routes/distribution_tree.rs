//! By which ports switches forward the frames of a multicast group.

use std::collections::{BTreeMap, VecDeque};

use crate::topology::{Adjacency, NodeId, Topology};

/// The way from one sender to the members of a multicast group: a tree of shortest paths, counted in links, so that no
/// link carries a frame twice. It is the tree that PIM builds for a source (RFC 7761, section 4.1), as far as all
/// routers agree on distances: at once, without messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DistributionTree {
    /// The ports by which each switch of the tree forwards, ascending.
    ports: BTreeMap<NodeId, Vec<u16>>,
}

impl DistributionTree {
    /// The tree from `source` to the hosts `members` over the links that are `active`, by index into
    /// [`Topology::links`]; members that are out of reach have no place in it. Where several links lead to a node on shortest paths,
    /// they take turns by `group`: different groups use different links.
    pub fn new(
        topology: &Topology,
        adjacency: &Adjacency,
        active: &[bool],
        (source, members): (NodeId, &[NodeId]),
        group: u32,
    ) -> Self {
        let network = Network { topology, adjacency, active, source };
        let distances = network.distances();
        let mut tree = Self::default();
        for &member in members.iter().filter(|&&member| member != source) {
            let mut node = member;
            while let Some((parent, port)) = network.parent(node, &distances, group) {
                let ports = tree.ports.entry(parent).or_default();
                let was_there = !ports.is_empty();
                if let Err(place) = ports.binary_search(&port) {
                    ports.insert(place, port);
                }
                if was_there || parent == source {
                    break; // The rest of the way is there already.
                }
                node = parent;
            }
        }
        tree.ports.remove(&source); // It has one port.
        tree
    }

    /// The ports by which a switch forwards, ascending; none if it is not in the tree.
    pub fn ports_of(&self, switch: NodeId) -> &[u16] {
        self.ports.get(&switch).map_or(&[], |ports| ports)
    }
}

/// A network as one sender sees it.
struct Network<'a> {
    topology: &'a Topology,
    adjacency: &'a Adjacency,
    active: &'a [bool],
    source: NodeId,
}

/// Of a node that is out of reach.
const FAR: u32 = u32::MAX;

impl Network<'_> {
    /// Whether frames go on from a node: hosts forward nothing.
    fn forwards(&self, node: NodeId) -> bool {
        node == self.source || self.topology.is_switch(node)
    }

    /// Links from the source to each node.
    fn distances(&self) -> Vec<u32> {
        let mut distances = vec![FAR; self.topology.nodes.len()];
        let mut next = VecDeque::from([self.source]);
        distances[self.source as usize] = 0;
        while let Some(node) = next.pop_front() {
            if !self.forwards(node) {
                continue;
            }
            let beyond = distances[node as usize] + 1;
            for far in self.adjacency.ports_of(node) {
                let distance = &mut distances[far.node as usize];
                if self.active[far.link as usize] && *distance == FAR {
                    *distance = beyond;
                    next.push_back(far.node);
                }
            }
        }
        distances
    }

    /// The node before this one, and its port to it.
    fn parent(&self, node: NodeId, distances: &[u32], group: u32) -> Option<(NodeId, u16)> {
        let distance = distances[node as usize];
        let is_before = |far: &&crate::topology::Neighbour| {
            self.active[far.link as usize]
                && self.forwards(far.node)
                && distance != FAR
                && distances[far.node as usize].checked_add(1) == Some(distance)
        };
        let ports = || self.adjacency.ports_of(node).iter().filter(is_before);
        let count = ports().count();
        let chosen = ports().nth(group as usize % count.max(1))?;
        let port = self.adjacency.port_of_link(chosen.node, chosen.link)?;
        Some((chosen.node, u16::try_from(port).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::topology::{Generate as _, leaf_spine};

    fn leaf_spine() -> Topology {
        let parameters: leaf_spine::Parameters = serde_json::from_value(serde_json::json!({
            "leaves": 4,
            "spines": 3,
            "hosts_per_leaf": 2,
            "host_link": { "rate": "100Gbps", "cable": "2m" },
            "fabric_link": { "rate": "100Gbps", "cable": "10m" },
        }))
        .unwrap();
        parameters.generate(std::path::Path::new("")).unwrap()
    }

    /// The hosts that a frame comes to, each as often as it does.
    fn reached(topology: &Topology, tree: &DistributionTree, source: NodeId) -> Vec<NodeId> {
        let adjacency = topology.adjacency();
        let first = adjacency.ports_of(source)[0].node;
        let (mut open, mut hosts) = (vec![first], Vec::new());
        while let Some(switch) = open.pop() {
            for &port in tree.ports_of(switch) {
                let far = adjacency.ports_of(switch)[usize::from(port)].node;
                if topology.is_host(far) { hosts.push(far) } else { open.push(far) }
            }
        }
        hosts.sort_unstable();
        hosts
    }

    #[test]
    fn every_member_is_reached_once_and_nobody_else() {
        let topology = leaf_spine();
        let (adjacency, active) = (topology.adjacency(), topology.all_links_active());
        for group in 0..7 {
            let members = [0, 1, 3, 4, 7];
            let tree = DistributionTree::new(&topology, &adjacency, &active, (1, &members), group);
            assert_eq!(reached(&topology, &tree, 1), [0, 3, 4, 7], "group {group}");
        }
    }

    #[test]
    fn groups_use_different_spines() {
        let topology = leaf_spine();
        let (adjacency, active) = (topology.adjacency(), topology.all_links_active());
        let spines = |group| {
            let tree = DistributionTree::new(&topology, &adjacency, &active, (0, &[6]), group);
            tree.ports.into_keys().collect::<Vec<_>>()
        };
        let ways: BTreeSet<_> = (0..3).map(spines).collect();
        assert_eq!(ways.len(), 3);
        assert!(ways.iter().all(|way| way.len() == 3), "{ways:?}");
        assert_eq!(spines(0), spines(3));
    }

    #[test]
    fn links_that_are_down_are_gone_round() {
        let topology = leaf_spine();
        let adjacency = topology.adjacency();
        let members = [2, 4, 6];
        let mut active = topology.all_links_active();
        let before = DistributionTree::new(&topology, &adjacency, &active, (0, &members), 0);
        let is_uplink =
            |link: &crate::TopologyLink| topology.is_switch(link.a) && topology.is_switch(link.b);
        let uplinks: Vec<_> =
            (0..).zip(&topology.links).filter(|(_, link)| is_uplink(link)).collect();
        for (index, _) in &uplinks {
            active[*index as usize] = false;
            let tree = DistributionTree::new(&topology, &adjacency, &active, (0, &members), 0);
            assert_eq!(reached(&topology, &tree, 0), members, "without link {index}");
            active[*index as usize] = true;
        }
        let again = DistributionTree::new(&topology, &adjacency, &active, (0, &members), 0);
        assert_eq!(before, again);
        active.fill(false);
        let none = DistributionTree::new(&topology, &adjacency, &active, (0, &members), 0);
        assert_eq!(none, DistributionTree::default());
    }
}
