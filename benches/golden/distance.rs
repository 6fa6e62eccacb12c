//! The number of links between two nodes.

use std::collections::{BTreeMap, VecDeque};

use crate::Failure;

/// The network of a `topology.txt`, and the distances that were computed so far.
#[derive(Debug)]
pub(crate) struct Distances {
    neighbours: Vec<Vec<usize>>,
    is_switch: Vec<bool>,
    from: BTreeMap<usize, Vec<Option<u64>>>,
}

impl Distances {
    /// `nodes switches links`, then the switches' numbers, then a line for each link that begins
    /// with its two nodes.
    pub(crate) fn read(topology: &str) -> Result<Self, Failure> {
        let mut lines = topology.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut next = || lines.next().unwrap_or_default();
        let number = |word: Option<&&str>| -> Result<usize, Failure> {
            Ok(word.ok_or("topology.txt: a line is too short")?.parse()?)
        };
        let head = next();
        let (nodes, links) = (number(head.first())?, number(head.get(2))?);
        let mut network = Self {
            neighbours: vec![Vec::new(); nodes],
            is_switch: vec![false; nodes],
            from: BTreeMap::new(),
        };
        for word in next() {
            let switch = number(Some(&word))?;
            *network.is_switch.get_mut(switch).ok_or("topology.txt: no such switch")? = true;
        }
        for _ in 0..links {
            let line = next();
            let (a, b) = (number(line.first())?, number(line.get(1))?);
            network.neighbours.get_mut(a).ok_or("topology.txt: no such node")?.push(b);
            network.neighbours.get_mut(b).ok_or("topology.txt: no such node")?.push(a);
        }
        Ok(network)
    }

    /// Number of links of a shortest path through switches only.
    pub(crate) fn links(&mut self, source: usize, destination: usize) -> Result<u64, Failure> {
        if !self.from.contains_key(&source) {
            let distances = self.search(source);
            self.from.insert(source, distances);
        }
        let distance = self.from[&source].get(destination).copied().flatten();
        Ok(distance.ok_or_else(|| format!("no way from node {source} to {destination}"))?)
    }

    fn search(&self, source: usize) -> Vec<Option<u64>> {
        let mut distances = vec![None; self.neighbours.len()];
        let mut waiting = VecDeque::from([(source, 0)]);
        while let Some((node, distance)) = waiting.pop_front() {
            if node >= distances.len() || distances[node].is_some() {
                continue;
            }
            distances[node] = Some(distance);
            if node == source || self.is_switch[node] {
                waiting.extend(self.neighbours[node].iter().map(|&next| (next, distance + 1)));
            }
        }
        distances
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosts 0 and 1 are at switch 3, host 2 at switch 4; host 1 has a second link, to switch 4. No
    /// path of others goes through host 1, because hosts do not forward.
    #[test]
    fn paths_pass_switches_only() {
        let text = "6 3 6\n3 4 5\n0 3 x\n1 3 x\n1 4 x\n2 4 x\n3 5 x\n5 4 x\n";
        let mut distances = Distances::read(text).unwrap();
        assert_eq!(distances.links(0, 1).unwrap(), 2);
        assert_eq!(distances.links(1, 2).unwrap(), 2);
        assert_eq!(distances.links(0, 2).unwrap(), 4);
        assert!(distances.links(0, 6).is_err());
    }
}
