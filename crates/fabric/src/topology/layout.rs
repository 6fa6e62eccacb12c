//! Positions for drawing each node.

use rocelab_units::Bandwidth;

use super::{Adjacency, NodeId, NodeKind, Topology};

/// A drawing as plain data: nodes in rows by tier, with the hosts at the bottom.
///
/// Coordinates run from 0 to 1, x to the right and y downward, as in SVG. The nodes of a row are
/// evenly spaced. They are ordered by the mean x of their neighbours in lower rows, then by number.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Indexed by [`NodeId`].
    pub nodes: Vec<PlacedNode>,
    /// Indexed as [`Topology::links`].
    pub links: Vec<PlacedLink>,
}

/// A node and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedNode {
    /// The node's name.
    pub name: String,
    /// The row: 0 for hosts at the bottom, then the switches' tiers.
    pub tier: u8,
    /// From 0 at the left to 1 at the right.
    pub x: f64,
    /// From 0 at the top to 1 at the bottom.
    pub y: f64,
}

/// A line between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedLink {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// Rate of each direction.
    pub rate: Bandwidth,
}

impl Layout {
    pub(super) fn new(topology: &Topology) -> Self {
        let rows = Rows::new(topology);
        let adjacency = topology.adjacency();
        let mut x = vec![0.0; topology.nodes.len()];
        // First the lowest switches are placed and give the hosts their order; then the hosts'
        // positions order the switches.
        spread(rows.order(1, f64::from), &mut x);
        spread(rows.order(0, |host| mean_x(&adjacency, host, &x, |_| true)), &mut x);
        for tier in 1..=rows.highest {
            let below = |node: NodeId| rows.tiers[node as usize] < tier;
            let means: Vec<_> =
                rows.nodes(tier).map(|node| (node, mean_x(&adjacency, node, &x, below))).collect();
            spread(sorted(means), &mut x);
        }
        let place = |((node, &tier), &x): ((&super::Node, &u8), &f64)| PlacedNode {
            name: node.name.clone(),
            tier,
            x,
            y: 1.0 - (f64::from(tier) + 0.5) / (f64::from(rows.highest) + 1.0),
        };
        let nodes = topology.nodes.iter().zip(&rows.tiers).zip(&x).map(place).collect();
        let link =
            |link: &super::TopologyLink| PlacedLink { a: link.a, b: link.b, rate: link.rate };
        Self { nodes, links: topology.links.iter().map(link).collect() }
    }
}

/// Nodes by tier.
struct Rows {
    tiers: Vec<u8>,
    highest: u8,
}

impl Rows {
    fn new(topology: &Topology) -> Self {
        let tier = |node: &super::Node| match node.kind {
            NodeKind::Host => 0,
            NodeKind::Switch { tier } => tier.max(1),
        };
        let tiers: Vec<_> = topology.nodes.iter().map(tier).collect();
        let highest = tiers.iter().copied().max().unwrap_or(0);
        Self { tiers, highest }
    }

    fn nodes(&self, tier: u8) -> impl Iterator<Item = NodeId> + '_ {
        (0..).zip(&self.tiers).filter(move |&(_, &own)| own == tier).map(|(node, _)| node)
    }

    fn order(&self, tier: u8, key: impl Fn(NodeId) -> f64) -> Vec<NodeId> {
        sorted(self.nodes(tier).map(|node| (node, key(node))).collect())
    }
}

fn sorted(mut keyed: Vec<(NodeId, f64)>) -> Vec<NodeId> {
    keyed.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    keyed.into_iter().map(|(node, _)| node).collect()
}

/// Places a row's nodes evenly.
fn spread(row: Vec<NodeId>, x: &mut [f64]) {
    let count = row.len() as f64;
    for (index, node) in row.into_iter().enumerate() {
        x[node as usize] = (index as f64 + 0.5) / count;
    }
}

/// The mean x of a node's neighbours for which `wanted` holds; the middle if there are none.
fn mean_x(adjacency: &Adjacency, node: NodeId, x: &[f64], wanted: impl Fn(NodeId) -> bool) -> f64 {
    let ports = adjacency.ports_of(node).iter().map(|port| port.node);
    let (sum, count) = ports
        .filter(|&far| wanted(far))
        .fold((0.0, 0.0), |(sum, count), far| (sum + x[far as usize], count + 1.0));
    if count == 0.0 { 0.5 } else { sum / count }
}
