//! Shortest paths between switches with one link left out, as [`Routes`](crate::Routes) would find
//! them.

use std::collections::VecDeque;

use super::{Ports, RouteFunction};
use crate::topology::NodeId;

/// The distance of a node without a path.
pub(super) const FAR: u32 = u32::MAX;

/// The links that carry frames: all active ones except the failed one.
#[derive(Clone, Copy)]
pub(super) struct Working<'a> {
    pub(super) ports: &'a Ports,
    pub(super) active: &'a [bool],
    /// The link that has failed.
    pub(super) failed: Option<u32>,
}

impl Working<'_> {
    fn carries(&self, link: u32) -> bool {
        self.failed != Some(link) && self.active.get(link as usize) == Some(&true)
    }

    /// The first host to which the switch has a working link.
    pub(super) fn first_host(&self, switch: NodeId) -> Option<NodeId> {
        let mut ports = self.ports.adjacency.ports_of(switch).iter();
        let is_host = |node: NodeId| self.ports.is_host[node as usize];
        ports.find(|far| is_host(far.node) && self.carries(far.link)).map(|far| far.node)
    }

    /// Number and far end of the switch's ports that have a working link to another switch.
    pub(super) fn switches_at(&self, switch: NodeId) -> impl Iterator<Item = (u16, NodeId)> + '_ {
        let ports = (0..).zip(self.ports.adjacency.ports_of(switch));
        ports
            .filter(move |(_, far)| far.node != switch && !self.ports.is_host[far.node as usize])
            .filter(|(_, far)| self.carries(far.link))
            .map(|(port, far)| (port, far.node))
    }

    /// The switch's working links to other switches, and their far ends.
    pub(super) fn links_at(&self, switch: NodeId) -> impl Iterator<Item = (u32, NodeId)> + '_ {
        let ports = self.ports.adjacency.ports_of(switch).iter();
        ports
            .filter(move |far| far.node != switch && !self.ports.is_host[far.node as usize])
            .filter(|far| self.carries(far.link))
            .map(|far| (far.link, far.node))
    }

    /// The number of links from each switch to the switch `target`, indexed by node; [`FAR`] for
    /// switches without a path, and for hosts.
    pub(super) fn distances(&self, target: NodeId, distances: &mut Vec<u32>) {
        distances.clear();
        distances.resize(self.ports.is_host.len(), FAR);
        distances[target as usize] = 0;
        let mut open = VecDeque::from([target]);
        while let Some(switch) = open.pop_front() {
            let distance = distances[switch as usize] + 1;
            for (_, far) in self.switches_at(switch) {
                if distances[far as usize] == FAR {
                    distances[far as usize] = distance;
                    open.push_back(far);
                }
            }
        }
    }
}

/// All shortest paths to the hosts of one switch.
pub(super) struct PathsTo<'a> {
    pub(super) working: Working<'a>,
    /// Indexed by node, from [`Working::distances`].
    pub(super) distances: &'a [u32],
}

impl RouteFunction for PathsTo<'_> {
    fn next_hops<'a>(
        &'a self,
        switch: NodeId,
        _in_port: u16,
        _destination: NodeId,
        scratch: &'a mut Vec<u16>,
    ) -> &'a [u16] {
        scratch.clear();
        let distance = self.distances[switch as usize];
        if distance != FAR && distance > 0 {
            let nearer = |&(_, far): &(u16, NodeId)| self.distances[far as usize] == distance - 1;
            let ports = self.working.switches_at(switch).filter(nearer);
            scratch.extend(ports.map(|(port, _)| port));
        }
        scratch
    }
}
