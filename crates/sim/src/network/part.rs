//! The part of a network that one [`Network`](super::Network) simulates, and the links that lead out
//! of it.
//!
//! A network has the nodes of its part and their ports. Of a link that is cut it has the port at the
//! other end too, as far as that sends: what is on the link towards this part is kept there, so a
//! frame arrives from elsewhere as from next door. Nodes affect each other only by frames, so frames
//! are all that passes between parts, but for what messages of applications say.

use std::sync::Arc;

use rocelab_fabric::NodeId;
use rocelab_fabric::topology::{Adjacency, Partitioning};

use crate::Plan;

/// No port: of what is not in this part.
const NONE: u32 = u32::MAX;

/// A plan's topology, cut into parts.
#[derive(Debug)]
pub struct Cut {
    partitioning: Partitioning,
    /// The links that are cut, ascending.
    links: Vec<u32>,
    /// The units that run their own windows, if others than the usual ones were asked for.
    units: Option<Partitioning>,
}

impl Cut {
    /// The topology of `plan`, cut like this.
    pub fn new(plan: &Plan, partitioning: Partitioning) -> Arc<Self> {
        Arc::new(Self::by(plan, partitioning, None))
    }

    /// The same, and these units run their own windows; with one, all events of a part are in one queue. What
    /// a run comes to does not depend on it.
    pub fn with_units(plan: &Plan, partitioning: Partitioning, units: Partitioning) -> Arc<Self> {
        Arc::new(Self::by(plan, partitioning, Some(units)))
    }

    fn by(plan: &Plan, partitioning: Partitioning, units: Option<Partitioning>) -> Self {
        let all = (0u32..).zip(&plan.topology.links);
        let links = all.filter(|(_, link)| partitioning.cuts(link)).map(|(number, _)| number);
        Self { links: links.collect(), partitioning, units }
    }

    /// The units that run their own windows, if others than the usual ones were asked for.
    pub(crate) fn units(&self) -> Option<&Partitioning> {
        self.units.as_ref()
    }

    /// The number of parts.
    pub fn parts(&self) -> u32 {
        self.partitioning.parts()
    }

    /// The links that are cut, ascending, by their places in the topology.
    pub(crate) fn links(&self) -> &[u32] {
        &self.links
    }

    /// The part that a node is in.
    pub(crate) fn part_of(&self, node: NodeId) -> u32 {
        self.partitioning.part_of(node)
    }
}

/// A part of a network that is cut.
#[derive(Clone, Debug)]
pub struct Part {
    cut: Arc<Cut>,
    number: u32,
}

impl Part {
    /// All of a network.
    pub fn whole(plan: &Plan) -> Self {
        Self { cut: Cut::new(plan, Partitioning::whole(&plan.topology)), number: 0 }
    }

    /// Every part of a cut.
    pub fn all(cut: &Arc<Cut>) -> impl Iterator<Item = Self> + '_ {
        (0..cut.parts()).map(|number| Self { cut: Arc::clone(cut), number })
    }

    /// Whether a node is in it.
    #[inline]
    pub fn has(&self, node: NodeId) -> bool {
        self.cut.part_of(node) == self.number
    }

    /// Its number.
    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    /// How the network is cut.
    pub(crate) fn cut(&self) -> &Cut {
        &self.cut
    }

    /// The same, to keep.
    pub(super) fn share_cut(&self) -> Arc<Cut> {
        Arc::clone(&self.cut)
    }
}

/// Where the ports of a part are in its list: node by node, then those at the other ends of links
/// that are cut.
#[derive(Debug)]
pub(super) struct PortPlaces {
    /// Node and number of each port.
    pub(super) all: Vec<(NodeId, u16)>,
    /// How many of them belong to nodes of the part.
    pub(super) own: usize,
    /// By node: its first port, if it is in the part.
    first: Vec<u32>,
    /// By place among the cut links: the port at the other end, if this end is in the part.
    beyond: Vec<u32>,
    /// Of each of those ports, the place of its link among the cut links.
    cut_links: Vec<u32>,
}

impl PortPlaces {
    pub(super) fn new(plan: &Plan, adjacency: &Adjacency, part: &Part) -> Self {
        let mut places = Self {
            all: Vec::new(),
            own: 0,
            first: vec![NONE; plan.topology.nodes.len()],
            beyond: vec![NONE; part.cut.links.len()],
            cut_links: Vec::new(),
        };
        for node in (0u32..).take(plan.topology.nodes.len()).filter(|&node| part.has(node)) {
            places.first[node as usize] = index(places.all.len());
            let numbers = (0u16..).zip(adjacency.ports_of(node));
            places.all.extend(numbers.map(|(number, _)| (node, number)));
        }
        places.own = places.all.len();
        for (place, &number) in part.cut.links.iter().enumerate() {
            let link = &plan.topology.links[number as usize];
            let other = match (part.has(link.a), part.has(link.b)) {
                (true, false) => link.b,
                (false, true) => link.a,
                _ => continue,
            };
            let port = adjacency.port_of_link(other, number).unwrap_or(0);
            places.beyond[place] = index(places.all.len());
            places.cut_links.push(index(place));
            places.all.push((other, u16::try_from(port).unwrap_or(u16::MAX)));
        }
        places
    }

    /// The first port of a node; of one elsewhere, no port's number.
    pub(super) fn first_of(&self, node: NodeId) -> u32 {
        self.first[node as usize]
    }

    /// The port at the other end of a link, by its place among those that are cut, if this end is
    /// here.
    #[inline]
    pub(super) fn beyond(&self, cut_link: u32) -> Option<u32> {
        let port = self.beyond[cut_link as usize];
        (port != NONE).then_some(port)
    }

    /// The link of a port at the other end, by its place among those that are cut.
    #[inline]
    pub(super) fn cut_link_at(&self, port: u32) -> u32 {
        self.cut_links[port as usize - self.own]
    }

    /// The port of a node's link, if it is here: the node's own, or that at the other end of a link
    /// that is cut.
    pub(super) fn at_link(
        &self,
        node: NodeId,
        link: u32,
        adjacency: &Adjacency,
        cut: &Cut,
    ) -> Option<u32> {
        let first = self.first_of(node);
        if first == NONE {
            let place = cut.links.binary_search(&link).ok()?;
            return self.beyond(index(place));
        }
        Some(first + index(adjacency.port_of_link(node, link)?))
    }
}

fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(NONE)
}
