//! A topology cut into parts that are simulated in parallel.
//!
//! A part may run ahead of the others by the time that a frame takes over the links between them.
//! So only links with a long delay are cut, and no host is cut off from its switch. A run takes as
//! long as the part with the most work, so all parts should have the same load. The load is
//! estimated from the rates of the links at a part's nodes.
//!
//! Parts grow from switch to switch along links, so that pods stay whole. Switches of the highest
//! tier are connected to all pods; they are assigned at the end.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rocelab_units::Duration;

use super::{NodeId, NodeKind, Topology, TopologyLink};

/// The part of each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitioning {
    /// Indexed by node.
    part_of: Vec<u32>,
    parts: u32,
}

impl Partitioning {
    /// One part with all nodes.
    pub fn whole(topology: &Topology) -> Self {
        Self { part_of: vec![0; topology.nodes.len()], parts: 1 }
    }

    /// At most `parts` parts with about the same load; fewer if the topology does not have enough
    /// switches. It is not decided here whether this makes a run faster: that depends on how much
    /// happens in the time that a frame takes from part to part.
    pub fn balanced(topology: &Topology, parts: u32) -> Self {
        if parts < 2 || topology.nodes.is_empty() {
            return Self::whole(topology);
        }
        let clusters = Clusters::for_parts(topology, u64::from(parts));
        let most = u32::try_from(clusters.all.len()).unwrap_or(u32::MAX);
        Self::by_parts(&clusters.deal_out(parts.min(most)))
    }

    /// The parts given by `part_of`, one entry for each node. Numbers without nodes are skipped.
    pub fn by_parts(part_of: &[u32]) -> Self {
        let named: BTreeSet<u32> = part_of.iter().copied().collect();
        let named: Vec<u32> = named.into_iter().collect();
        let number = |part: &u32| {
            let place = named.binary_search(part).unwrap_or_default();
            u32::try_from(place).unwrap_or(u32::MAX)
        };
        Self {
            part_of: part_of.iter().map(number).collect(),
            parts: u32::try_from(named.len()).unwrap_or(u32::MAX).max(1),
        }
    }

    /// The number of parts, at least 1. Every part has a node, if there are nodes.
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// The part that a node belongs to, below [`Self::parts`].
    #[inline]
    pub fn part_of(&self, node: NodeId) -> u32 {
        self.part_of[node as usize]
    }

    /// Whether a link leads from one part into another.
    pub fn cuts(&self, link: &TopologyLink) -> bool {
        self.part_of(link.a) != self.part_of(link.b)
    }
}

/// Groups of nodes that must stay in one part.
struct Clusters<'a> {
    topology: &'a Topology,
    /// Indexed by node.
    cluster_of: Vec<usize>,
    all: Vec<Cluster>,
}

#[derive(Clone, Debug, Default)]
struct Cluster {
    load: u64,
    /// The highest tier of its switches.
    tier: u8,
    /// Clusters at the other ends of its links, one entry for each link.
    neighbours: Vec<usize>,
}

impl<'a> Clusters<'a> {
    /// The clusters that allow only the longest links to be cut, under the condition that `parts`
    /// parts can still have about equal loads.
    fn for_parts(topology: &'a Topology, parts: u64) -> Self {
        let delays: BTreeSet<Duration> = topology.links.iter().map(|link| link.delay).collect();
        let delays: Vec<Duration> = delays.into_iter().collect();
        let is_fine = |clusters: &Self| {
            let total: u64 = clusters.all.iter().map(|cluster| cluster.load).sum();
            let largest = clusters.all.iter().map(|cluster| cluster.load).max().unwrap_or(0);
            largest.saturating_mul(parts) <= total + total / 8
        };
        // The shorter the links that may be cut, the smaller the clusters. So this is a binary
        // search over the delays.
        let fine = delays.partition_point(|&delay| is_fine(&Self::uncut_below(topology, delay)));
        let shortest = delays.get(fine.saturating_sub(1)).copied().unwrap_or_default();
        Self::uncut_below(topology, shortest)
    }

    /// Clusters in which hosts stay with their switches, and switches stay together if a link
    /// between them has less than `delay`.
    fn uncut_below(topology: &'a Topology, delay: Duration) -> Self {
        let mut sets = DisjointSets::new(topology.nodes.len());
        for link in &topology.links {
            if link.delay < delay || topology.is_host(link.a) || topology.is_host(link.b) {
                sets.join(link.a as usize, link.b as usize);
            }
        }
        let mut number = vec![usize::MAX; topology.nodes.len()];
        let mut count = 0;
        let cluster_of: Vec<usize> = (0..topology.nodes.len())
            .map(|node| {
                let first = sets.first_of(node);
                if number[first] == usize::MAX {
                    number[first] = count;
                    count += 1;
                }
                number[first]
            })
            .collect();
        let mut clusters = Self { topology, cluster_of, all: vec![Cluster::default(); count] };
        clusters.measure();
        clusters
    }

    fn measure(&mut self) {
        for (node, &cluster) in self.topology.nodes.iter().zip(&self.cluster_of) {
            if let NodeKind::Switch { tier } = node.kind {
                let cluster = &mut self.all[cluster];
                cluster.tier = cluster.tier.max(tier);
            }
        }
        for link in &self.topology.links {
            let ends = [link.a, link.b].map(|node| self.cluster_of[node as usize]);
            for (node, cluster) in [link.a, link.b].into_iter().zip(ends) {
                // A frame costs more work at a host than at a switch: the host makes it, and
                // answers it.
                let weight = if self.topology.is_host(node) { 2 } else { 1 };
                self.all[cluster].load += weight * (link.rate.bits_per_second() >> 20).max(1);
            }
            if ends[0] != ends[1] {
                self.all[ends[0]].neighbours.push(ends[1]);
                self.all[ends[1]].neighbours.push(ends[0]);
            }
        }
    }

    /// Assigns a part to each node.
    fn deal_out(&self, parts: u32) -> Vec<u32> {
        let highest = self.all.iter().map(|cluster| cluster.tier).max().unwrap_or(0);
        let lower: Vec<bool> = self.all.iter().map(|cluster| cluster.tier < highest).collect();
        let grown = if lower.contains(&true) { lower } else { vec![true; self.all.len()] };
        let mut part_of = vec![None; self.all.len()];
        let mut loads = self.grow(parts, &grown, &mut part_of);
        for (cluster, part) in self.all.iter().zip(&mut part_of) {
            if part.is_none() {
                let (place, load) = (0u32..)
                    .zip(&mut loads)
                    .min_by_key(|(_, load)| **load)
                    .expect("there is a part");
                *load += cluster.load;
                *part = Some(place);
            }
        }
        self.cluster_of.iter().map(|&cluster| part_of[cluster].unwrap_or(0)).collect()
    }

    /// Grows parts over the clusters that are to be `grown`. Returns the parts' loads.
    fn grow(&self, parts: u32, grown: &[bool], part_of: &mut [Option<u32>]) -> Vec<u64> {
        let loads = self.all.iter().zip(grown).filter(|(_, grown)| **grown);
        let mut left: u64 = loads.map(|(cluster, _)| cluster.load).sum();
        let mut all_loads = Vec::new();
        for part in 0..parts {
            let target = left / u64::from(parts - part);
            let load = self.grow_one(part, target, grown, part_of);
            left -= load;
            all_loads.push(load);
        }
        all_loads
    }

    /// Grows one part to a load of about `target`. Returns its load.
    fn grow_one(&self, part: u32, target: u64, grown: &[bool], part_of: &mut [Option<u32>]) -> u64 {
        let mut load = 0;
        // Number of links from each cluster into the part, and a heap ordered by it.
        let mut links = vec![0usize; self.all.len()];
        let mut frontier = BTreeSet::new();
        let mut seed = 0;
        loop {
            let next = match frontier.pop_first() {
                Some((_, cluster)) => cluster,
                None => {
                    let is_free = |&cluster: &usize| grown[cluster] && part_of[cluster].is_none();
                    let Some(free) = (seed..self.all.len()).find(is_free) else { return load };
                    seed = free;
                    free
                }
            };
            // The last part takes everything that is left, because that is its target.
            if load > 0 && load + self.all[next].load / 2 > target {
                return load;
            }
            part_of[next] = Some(part);
            load += self.all[next].load;
            for &neighbour in &self.all[next].neighbours {
                if grown[neighbour] && part_of[neighbour].is_none() {
                    frontier.remove(&(Reverse(links[neighbour]), neighbour));
                    links[neighbour] += 1;
                    frontier.insert((Reverse(links[neighbour]), neighbour));
                }
            }
        }
    }
}

/// Union-find in which the lowest member represents a set, with path halving.
struct DisjointSets(Vec<usize>);

impl DisjointSets {
    fn new(items: usize) -> Self {
        Self((0..items).collect())
    }

    /// The lowest item of the set that holds `item`.
    fn first_of(&mut self, mut item: usize) -> usize {
        while self.0[item] != item {
            self.0[item] = self.0[self.0[item]];
            item = self.0[item];
        }
        item
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first_of(a), self.first_of(b));
        self.0[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::topology::TopologyConfig;

    const HOST: &str = r#""host_link": { "rate": "100Gbps", "cable": "3m" }"#;

    fn build(text: &str) -> Topology {
        let config: TopologyConfig = serde_json::from_str(text).expect("a topology's parameters");
        config.build(Path::new("")).expect("a topology")
    }

    fn fat_tree() -> Topology {
        let fabric = r#""fabric_link": { "rate": "100Gbps", "cable": "30m" }"#;
        build(&format!(r#"{{ "fat-tree": {{ "k": 8, {HOST}, {fabric} }} }}"#))
    }

    fn loads(topology: &Topology, cut: &Partitioning) -> Vec<u64> {
        let mut loads = vec![0; cut.parts() as usize];
        for link in &topology.links {
            for node in [link.a, link.b] {
                loads[cut.part_of(node) as usize] += if topology.is_host(node) { 2 } else { 1 };
            }
        }
        loads
    }

    #[test]
    fn parts_of_a_fat_tree_have_the_same_load_and_whole_pods() {
        let topology = fat_tree();
        for parts in [2, 4, 8] {
            let cut = Partitioning::balanced(&topology, parts);
            assert_eq!(cut.parts(), parts);
            let loads = loads(&topology, &cut);
            let (least, most) = (loads.iter().min(), loads.iter().max());
            assert_eq!(least, most, "{parts} parts: {loads:?}");
            let tier = |node: NodeId| match topology.nodes[node as usize].kind {
                NodeKind::Host => 0,
                NodeKind::Switch { tier } => tier,
            };
            for link in topology.links.iter().filter(|link| cut.cuts(link)) {
                assert_eq!(tier(link.a).max(tier(link.b)), 3, "only links to the core are cut");
            }
        }
    }

    #[test]
    fn hosts_stay_with_their_switch_and_every_part_has_nodes() {
        for config in TopologyConfig::examples() {
            let topology = config.build(Path::new("")).expect("an example builds");
            for parts in [1, 2, 3, 4, 8, 1_000, u32::MAX] {
                let cut = Partitioning::balanced(&topology, parts);
                assert!((1..=parts).contains(&cut.parts()));
                let mut has_nodes = vec![false; cut.parts() as usize];
                for node in (0..).take(topology.nodes.len()) {
                    has_nodes[cut.part_of(node) as usize] = true;
                }
                assert!(!has_nodes.contains(&false), "{}: {parts} parts", config.name());
                for link in &topology.links {
                    let of_host = topology.is_host(link.a) || topology.is_host(link.b);
                    assert!(!(of_host && cut.cuts(link)), "{}", config.name());
                }
            }
        }
    }

    #[test]
    fn short_links_are_not_cut_while_long_ones_will_do() {
        // Leaf 0 is next to spine 0, and so on: two halves with long links between them.
        let fabric = r#""fabric_link": { "rate": "100Gbps", "cable": "300m" }"#;
        let shape = r#""leaves": 4, "spines": 2, "hosts_per_leaf": 4"#;
        let text = format!(r#"{{ "leaf-spine": {{ {shape}, {HOST}, {fabric} }} }}"#);
        let mut topology = build(&text);
        let near = Duration::from_ns(1);
        let spine_of = |leaf: &str| if matches!(leaf, "leaf-0" | "leaf-3") { 0 } else { 1 };
        for index in 0..topology.links.len() {
            let link = &topology.links[index];
            let names = [link.a, link.b].map(|node| topology.nodes[node as usize].name.clone());
            let leaf = names.iter().find(|name| name.starts_with("leaf"));
            let spine = names.iter().find(|name| name.starts_with("spine"));
            if let (Some(leaf), Some(spine)) = (leaf, spine)
                && *spine == format!("spine-{}", spine_of(leaf))
            {
                topology.links[index].delay = near;
            }
        }
        let cut = Partitioning::balanced(&topology, 2);
        assert_eq!(cut.parts(), 2);
        for link in topology.links.iter().filter(|link| cut.cuts(link)) {
            assert!(link.delay > near);
        }
    }

    #[test]
    fn parts_are_numbered_without_gaps() {
        let cut = Partitioning::by_parts(&[7, 3, 7, 9]);
        assert_eq!((0..4).map(|node| cut.part_of(node)).collect::<Vec<_>>(), [1, 0, 1, 2]);
        assert_eq!(cut.parts(), 3);
    }

    #[test]
    fn one_switch_is_one_part() {
        let link = r#""link": { "rate": "100Gbps", "cable": "3m" }"#;
        let topology = build(&format!(r#"{{ "single-switch": {{ "hosts": 4, {link} }} }}"#));
        assert_eq!(Partitioning::balanced(&topology, 4), Partitioning::whole(&topology));
    }
}
