//! Dependencies that stay free of cycles: what would close one is refused.
//!
//! Channels have an order in which every dependency leads forward. A new one that leads backward moves only what lies
//! between its ends (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", 2007).

use crate::channels::Channels;
use crate::dependencies::Dependencies;

/// Dependencies without cycles.
#[derive(Clone, Debug)]
pub(crate) struct OrderedDependencies {
    dependencies: Dependencies,
    /// What would close a cycle with them, as far as it is known. It always will, because none of them goes.
    refused: Dependencies,
    /// For each channel, its place in the order.
    places: Vec<u32>,
    seen: Vec<bool>,
}

impl OrderedDependencies {
    /// No dependencies.
    pub(crate) fn none(channels: &Channels) -> Self {
        Self {
            dependencies: Dependencies::none(channels),
            refused: Dependencies::none(channels),
            places: (0..).take(channels.len()).collect(),
            seen: vec![false; channels.len()],
        }
    }

    /// Adds all of `steps`, each a channel and the port by which its packets go on, or none of them if there would be a
    /// cycle. Returns whether they were added.
    pub(crate) fn add_all(&mut self, channels: &Channels, steps: &[(usize, usize)]) -> bool {
        if steps.iter().any(|&(channel, port)| self.refused.has(channel, port)) {
            return false;
        }
        let mut added = Vec::new();
        for &(channel, port) in steps {
            if self.dependencies.has(channel, port) {
                continue;
            }
            if !self.put_in_order(channels, channel, channels.next(channel, port)) {
                if added.is_empty() {
                    self.refused.add(channel, port);
                }
                // The order is right without them, too.
                for (channel, port) in added {
                    self.dependencies.remove(channel, port);
                }
                return false;
            }
            self.dependencies.add(channel, port);
            added.push((channel, port));
        }
        true
    }

    /// Orders channels so that `from` comes before `to`. Returns whether there is such an order.
    fn put_in_order(&mut self, channels: &Channels, from: usize, to: usize) -> bool {
        let (low, high) = (self.places[to], self.places[from]);
        if from == to {
            return false;
        }
        if high < low {
            return true;
        }
        let (mut after, is_free) = self.reach_forward(channels, to, from, high);
        let mut before = if is_free { self.reach_back(channels, from, low) } else { Vec::new() };
        for &channel in after.iter().chain(&before) {
            self.seen[channel] = false;
        }
        if !is_free {
            return false;
        }
        let place = |&channel: &usize| self.places[channel];
        before.sort_unstable_by_key(place);
        after.sort_unstable_by_key(place);
        before.append(&mut after);
        let mut places: Vec<u32> = before.iter().map(place).collect();
        places.sort_unstable();
        for (channel, place) in before.into_iter().zip(places) {
            self.places[channel] = place;
        }
        true
    }

    /// What is reached from `start` up to the place `high`, and whether `forbidden` is not.
    fn reach_forward(
        &mut self,
        channels: &Channels,
        start: usize,
        forbidden: usize,
        high: u32,
    ) -> (Vec<usize>, bool) {
        let mut reached = vec![start];
        self.seen[start] = true;
        let mut index = 0;
        while let Some(&channel) = reached.get(index) {
            for port in self.dependencies.ports(channel) {
                let next = channels.next(channel, port);
                if next == forbidden {
                    return (reached, false);
                }
                if self.places[next] < high && !self.seen[next] {
                    self.seen[next] = true;
                    reached.push(next);
                }
            }
            index += 1;
        }
        (reached, true)
    }

    /// What reaches `start` from the place `low` on.
    fn reach_back(&mut self, channels: &Channels, start: usize, low: u32) -> Vec<usize> {
        let mut reached = vec![start];
        self.seen[start] = true;
        let mut index = 0;
        while let Some(&channel) = reached.get(index) {
            let port = usize::from(channels.port(channel));
            for before in channels.before(channel) {
                let is_near = self.places[before] > low && !self.seen[before];
                if is_near && self.dependencies.has(before, port) {
                    self.seen[before] = true;
                    reached.push(before);
                }
            }
            index += 1;
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::SwitchGraph;
    use crate::guid::Guid;
    use crate::subnet::Subnet;
    use crate::tables::Channel;
    use crate::topology::{Node, NodeKind, PortId, Topology};

    /// A ring of four switches: port 1 leads back, port 2 on.
    fn ring() -> SwitchGraph {
        let mut topology = Topology::default();
        for index in 0..4 {
            topology.add(Node::new(NodeKind::Switch, Guid::new(index), "S", 2)).unwrap();
        }
        for node in 0..4 {
            let next = PortId { node: (node + 1) % 4, port: 1 };
            topology.connect(PortId { node, port: 2 }, next).unwrap();
        }
        Subnet::new(topology, 0, 0).unwrap().graph().clone()
    }

    #[test]
    fn what_closes_a_cycle_is_refused_with_all_that_comes_with_it() {
        let channels = Channels::new(&ring());
        let on = |switch| (channels.number(Channel { switch, port: 2 }), 2);
        let mut ordered = OrderedDependencies::none(&channels);
        assert!(ordered.add_all(&channels, &[on(2), on(3)]));
        assert!(ordered.add_all(&channels, &[on(2)]));
        assert!(!ordered.add_all(&channels, &[on(0), on(1)]));
        // Nothing of it was kept, so one of them is possible, and then the other one is not.
        assert!(ordered.add_all(&channels, &[on(1)]));
        assert!(!ordered.add_all(&channels, &[on(0)]));
        assert!(!ordered.add_all(&channels, &[on(0)]));
        let back = |switch| (channels.number(Channel { switch, port: 1 }), 1);
        assert!(ordered.add_all(&channels, &[back(0), back(3), back(2)]));
        assert!(!ordered.add_all(&channels, &[back(1)]));
    }
}
