//! Layered shortest path (LASH): one way for each pair of switches, and lanes that keep ways from waiting for each other
//! in a circle.

use std::collections::VecDeque;

use crate::channels::Channels;
use crate::graph::{Far, SwitchGraph};
use crate::ordered::OrderedDependencies;
use crate::subnet::Subnet;
use crate::tables::{Channel, ForwardingTables, NO_PORT, ServiceLevels, Tables};

/// The tables of LASH; else why `lanes` are not enough.
pub(super) fn route(subnet: &Subnet, lanes: u8) -> Result<Tables, String> {
    let graph = subnet.graph();
    let ports = ports(graph);
    let mut forwarding = ForwardingTables::empty(subnet);
    for (index, end_port) in subnet.end_ports().iter().enumerate() {
        let Some(at) = graph.attachment(index) else { continue };
        for (switch, row) in ports.iter().enumerate() {
            let port = if switch == at.switch { at.port } else { row[at.switch] };
            for lid in end_port.lids.iter() {
                forwarding.set(switch, lid, port);
            }
        }
    }
    let layered = |lanes| Layers::new(graph, &ports, lanes).assign();
    let refusal = || super::too_few_lanes(lanes, |lanes| Some(layered(lanes)?.lanes));
    let layered = layered(lanes).ok_or_else(refusal)?;
    let service_levels =
        ServiceLevels::BySwitches { switches: graph.len(), levels: layered.levels };
    Ok(Tables { forwarding, service_levels, lanes: layered.lanes })
}

/// For each pair of switches, the port from one towards the other: the first cable of the way.
fn ports(graph: &SwitchGraph) -> Vec<Vec<u8>> {
    let mut ports = vec![vec![NO_PORT; graph.len()]; graph.len()];
    for root in 0..graph.len() {
        let tree = tree(graph, root);
        for (target, branch) in tree.iter().enumerate() {
            let mut branch = *branch;
            while let Some((parent, port)) = branch {
                if ports[parent][target] == NO_PORT {
                    ports[parent][target] = port;
                }
                branch = tree[parent];
            }
        }
    }
    ports
}

/// For each switch but the root, from which switch and by which port it is reached first, breadth first.
fn tree(graph: &SwitchGraph, root: usize) -> Vec<Option<(usize, u8)>> {
    let mut tree = vec![None; graph.len()];
    let mut queue = VecDeque::from([root]);
    while let Some(switch) = queue.pop_front() {
        for (port, neighbour, _) in graph.links(switch) {
            if neighbour != root && tree[neighbour].is_none() {
                tree[neighbour] = Some((switch, port));
                queue.push_back(neighbour);
            }
        }
    }
    tree
}

/// Lanes of pairs of switches.
struct Layers<'s> {
    graph: &'s SwitchGraph,
    ports: &'s [Vec<u8>],
    channels: Channels,
    lanes: u8,
    layers: Vec<OrderedDependencies>,
}

struct Layered {
    levels: Vec<u8>,
    lanes: u8,
}

impl<'s> Layers<'s> {
    fn new(graph: &'s SwitchGraph, ports: &'s [Vec<u8>], lanes: u8) -> Self {
        Self { graph, ports, channels: Channels::new(graph), lanes, layers: Vec::new() }
    }

    /// Both ways of each pair get the first lane in which they close no circle; none if there are too few lanes.
    fn assign(mut self) -> Option<Layered> {
        let switches = self.graph.len();
        let mut levels = vec![0; switches * switches];
        for one in 0..switches {
            for other in one + 1..switches {
                let mut steps = self.steps(one, other);
                steps.extend(self.steps(other, one));
                let level = self.lane(&steps)?;
                levels[one * switches + other] = level;
                levels[other * switches + one] = level;
            }
        }
        let lanes = u8::try_from(self.layers.len()).unwrap_or(u8::MAX).max(1);
        Some(Layered { levels, lanes })
    }

    fn lane(&mut self, steps: &[(usize, usize)]) -> Option<u8> {
        for lane in 0..self.lanes {
            if usize::from(lane) == self.layers.len() {
                self.layers.push(OrderedDependencies::none(&self.channels));
            }
            if self.layers[usize::from(lane)].add_all(&self.channels, steps) {
                return Some(lane);
            }
        }
        None
    }

    /// The dependencies of the way from a switch to another: channels, and by which port their packets go on.
    fn steps(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let mut steps = Vec::new();
        let mut last = None;
        let mut switch = from;
        while switch != to {
            let port = self.ports[switch][to];
            let far = self.graph.ports(switch).get(usize::from(port));
            let Some(&Far::Switch { switch: next, .. }) = far else { return steps };
            if let Some(channel) = last {
                steps.push((channel, usize::from(port)));
            }
            last = Some(self.channels.number(Channel { switch, port }));
            switch = next;
        }
        steps
    }
}
