//! Finds the links whose loss makes some switch with hosts farther from a destination.

use super::shortest_paths::{FAR, Working};
use crate::topology::{NodeId, Topology};

/// For each destination, the links that are on every shortest path from some switch with hosts.
///
/// A switch with one next hop to the destination needs that link, and all links that the next hop
/// needs. A switch with several next hops needs only the links that all of them need. The needed
/// links of a switch are a linked chain, nearest link first. Chains share their tails, so what two
/// of them have in common begins where they meet.
pub(super) struct RequiredLinks {
    /// For each switch, its working links to other switches: the number of the other switch, and
    /// the link.
    neighbours: Vec<(u32, u32)>,
    /// The start of each switch's entries, and the end of the last.
    starts: Vec<usize>,
    /// Indexed by node; entries of hosts have no meaning.
    numbers: Vec<u32>,
    has_hosts: Vec<bool>,
    /// By switch: number of links to the destination.
    distances: Vec<u32>,
    /// Switches in ascending order of distance.
    order: Vec<u32>,
    /// By switch: its chain of needed links.
    needs: Vec<u32>,
    chains: Vec<Chain>,
}

/// A needed link, and the chain of the others.
#[derive(Clone, Copy)]
struct Chain {
    link: u32,
    rest: u32,
    length: u32,
    is_reported: bool,
}

/// The chain without links.
const EMPTY: u32 = 0;

impl RequiredLinks {
    /// A search over the working links of a network; `has_hosts` is indexed by node.
    pub(super) fn new(topology: &Topology, working: Working<'_>, has_hosts: &[bool]) -> Self {
        let nodes: Vec<NodeId> = topology.switches().collect();
        let mut numbers = vec![0; topology.nodes.len()];
        for (number, &node) in (0..).zip(&nodes) {
            numbers[node as usize] = number;
        }
        let (mut neighbours, mut starts) = (Vec::new(), Vec::new());
        for &node in &nodes {
            starts.push(neighbours.len());
            let switches = working.links_at(node);
            neighbours.extend(switches.map(|(link, far)| (numbers[far as usize], link)));
        }
        starts.push(neighbours.len());
        Self {
            neighbours,
            starts,
            numbers,
            has_hosts: nodes.iter().map(|&node| has_hosts[node as usize]).collect(),
            distances: vec![FAR; nodes.len()],
            order: Vec::with_capacity(nodes.len()),
            needs: vec![EMPTY; nodes.len()],
            chains: Vec::new(),
        }
    }

    /// Whether two switches have links to the same switches, in the same order. Then all other
    /// switches are as far from the one as from the other, by the same paths except for the last
    /// link. So if no link to the one is needed, no link to the other is.
    pub(super) fn are_twins(&self, a: NodeId, b: NodeId) -> bool {
        let far = |node: NodeId| {
            let switch = self.numbers[node as usize] as usize;
            let links = &self.neighbours[self.starts[switch]..self.starts[switch + 1]];
            links.iter().map(|&(far, _)| far)
        };
        far(a).eq(far(b))
    }

    /// The links, each once, without which some switch with hosts is farther from the switch
    /// `target`, or has no path to it.
    pub(super) fn to(&mut self, target: NodeId) -> Vec<u32> {
        self.measure(target);
        self.chains.clear();
        self.chains.push(Chain { link: 0, rest: EMPTY, length: 0, is_reported: true });
        let mut found = Vec::new();
        for place in 0..self.order.len() {
            let switch = self.order[place] as usize;
            self.needs[switch] = if place == 0 { EMPTY } else { self.need(switch) };
            if self.has_hosts[switch] {
                self.report(self.needs[switch], &mut found);
            }
        }
        found
    }

    /// Computes the distances of all switches, breadth first.
    fn measure(&mut self, target: NodeId) {
        self.distances.fill(FAR);
        self.order.clear();
        let target = self.numbers[target as usize];
        self.distances[target as usize] = 0;
        self.order.push(target);
        let mut head = 0;
        while let Some(&switch) = self.order.get(head) {
            if self.order.len() == self.distances.len() {
                return; // All switches are found. This is usually long before all links have been looked at.
            }
            head += 1;
            let switch = switch as usize;
            let distance = self.distances[switch] + 1;
            for &(far, _) in &self.neighbours[self.starts[switch]..self.starts[switch + 1]] {
                if self.distances[far as usize] == FAR {
                    self.distances[far as usize] = distance;
                    self.order.push(far);
                }
            }
        }
    }

    /// The chain of a switch whose next hops have their chains.
    fn need(&mut self, switch: usize) -> u32 {
        let nearer = self.distances[switch] - 1;
        let mut next_hops = self.neighbours[self.starts[switch]..self.starts[switch + 1]]
            .iter()
            .filter(|&&(far, _)| self.distances[far as usize] == nearer);
        let Some(&(first, link)) = next_hops.next() else { return EMPTY };
        let mut needed = self.needs[first as usize];
        let mut is_sole = true;
        for &(far, _) in next_hops {
            is_sole = false;
            needed = self.common(needed, self.needs[far as usize]);
            if needed == EMPTY {
                break;
            }
        }
        if !is_sole {
            return needed;
        }
        let length = self.chains[needed as usize].length + 1;
        self.chains.push(Chain { link, rest: needed, length, is_reported: false });
        u32::try_from(self.chains.len() - 1).unwrap_or(EMPTY)
    }

    /// The chain that two chains have in common.
    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            let [chain_a, chain_b] = [a, b].map(|chain| self.chains[chain as usize]);
            if chain_a.length >= chain_b.length {
                a = chain_a.rest;
            }
            if chain_b.length >= chain_a.length {
                b = chain_b.rest;
            }
        }
        a
    }

    /// Adds the links of a chain that were not reported before.
    fn report(&mut self, mut chain: u32, found: &mut Vec<u32>) {
        while let Some(one) = self.chains.get_mut(chain as usize).filter(|one| !one.is_reported) {
            one.is_reported = true;
            found.push(one.link);
            chain = one.rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::{Bandwidth, Duration};

    use super::super::BufferDependencies;
    use super::*;
    use crate::topology::{LinkConfig, TopologyConfig, clos, fat_tree, leaf_spine};

    fn topology(config: TopologyConfig) -> Topology {
        config.build(std::path::Path::new(".")).expect("it can be built")
    }

    fn cable() -> LinkConfig {
        LinkConfig::with_delay(Bandwidth::from_gbps(100), Duration::from_us(1))
    }

    /// Networks with few equal paths: a fat tree, leaves with one spine, and pods whose aggregation
    /// switches have one core each.
    fn networks() -> [Topology; 3] {
        let (host_link, fabric_link) = (cable(), cable());
        let clos = clos::Parameters {
            pods: 3,
            racks_per_pod: 2,
            hosts_per_rack: 1,
            aggregations_per_pod: 2,
            cores: 2,
            host_link: cable(),
            fabric_link: cable(),
            core_link: Some(cable()),
        };
        let leaves = leaf_spine::Parameters {
            leaves: 3,
            spines: 1,
            hosts_per_leaf: 2,
            host_link: cable(),
            fabric_link: cable(),
        };
        let tree = fat_tree::Parameters { k: 4, host_link, fabric_link };
        [
            topology(TopologyConfig::FatTree(tree)),
            topology(TopologyConfig::LeafSpine(leaves)),
            topology(TopologyConfig::Clos(clos)),
        ]
    }

    /// The expected result: leaves out each link in turn and compares the distances.
    fn left_out(topology: &Topology, whole: Working<'_>, has_hosts: &[bool], to: u32) -> Vec<u32> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        whole.distances(to, &mut before);
        let links = 0..u32::try_from(topology.links.len()).expect("it is small");
        let is_needed = |&link: &u32| {
            Working { failed: Some(link), ..whole }.distances(to, &mut after);
            (0..before.len()).any(|node| has_hosts[node] && after[node] != before[node])
        };
        links.filter(is_needed).collect()
    }

    #[test]
    fn they_are_the_links_whose_absence_is_noticed() {
        let mut needed = 0;
        for whole in networks() {
            let dependencies = BufferDependencies::new(&whole);
            let is_switch = |node: NodeId| whole.is_switch(node);
            let mut has_hosts = vec![false; whole.nodes.len()];
            for link in &whole.links {
                for (node, far) in [(link.a, link.b), (link.b, link.a)] {
                    has_hosts[node as usize] |= is_switch(node) && !is_switch(far);
                }
            }
            // With all links, and with some links down before.
            for down in (0..whole.links.len()).step_by(3) {
                let mut active = whole.all_links_active();
                active[down] = down % 2 == 0;
                let working = Working { ports: &dependencies.ports, active: &active, failed: None };
                let mut ways = RequiredLinks::new(&whole, working, &has_hosts);
                for target in whole.switches().filter(|&switch| has_hosts[switch as usize]) {
                    let mut found = ways.to(target);
                    found.sort_unstable();
                    needed += found.len();
                    assert_eq!(
                        found,
                        left_out(&whole, working, &has_hosts, target),
                        "{down} {target}"
                    );
                }
            }
        }
        assert!(needed > 100, "{needed}");
    }
}
