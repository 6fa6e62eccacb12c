//! Builds structured topologies.

use std::ops::Range;

use super::link_config::LinkProperties;
use super::{Node, NodeId, NodeKind, Topology, TopologyLink, TopologyServer};

/// Collects nodes and links; their order gives their numbers.
///
/// The caller has checked the size (`limits::Size`), so node numbers fit.
pub(super) struct Builder {
    topology: Topology,
}

impl Builder {
    /// An empty network with room for `nodes` and `links`.
    pub(super) fn with_capacity(nodes: u128, links: u128) -> Self {
        let capacity = |count: u128| usize::try_from(count).unwrap_or(0);
        Self {
            topology: Topology {
                nodes: Vec::with_capacity(capacity(nodes)),
                links: Vec::with_capacity(capacity(links)),
                ..Topology::default()
            },
        }
    }

    /// Adds `count` hosts, `host-0` and so on.
    pub(super) fn hosts(&mut self, count: u32) -> Range<NodeId> {
        self.series("host", NodeKind::Host, count)
    }

    /// Adds servers with `each` GPUs, `gpu-0` and so on, which are hosts.
    pub(super) fn gpus(&mut self, servers: u32, each: u32) -> Range<NodeId> {
        let gpus = self.series("gpu", NodeKind::Host, servers * each);
        let first = |server: u32| gpus.start + server * each;
        let hosts = |server: u32| (first(server)..first(server) + each).collect();
        let servers = (0..servers).map(|one| TopologyServer { hosts: hosts(one), nvlink: None });
        self.topology.servers.extend(servers);
        gpus
    }

    /// Adds `count` switches, `NAME-0` and so on.
    pub(super) fn switches(&mut self, name: &str, tier: u8, count: u32) -> Range<NodeId> {
        self.series(name, NodeKind::Switch { tier }, count)
    }

    fn series(&mut self, name: &str, kind: NodeKind, count: u32) -> Range<NodeId> {
        let first = u32::try_from(self.topology.nodes.len()).expect("the size was checked");
        let nodes = (0..count).map(|index| Node { name: format!("{name}-{index}"), kind });
        self.topology.nodes.extend(nodes);
        first..first + count
    }

    /// Adds a link, which takes the next port of both its ends.
    pub(super) fn link(&mut self, a: NodeId, b: NodeId, link: LinkProperties) {
        let LinkProperties { rate, delay } = link;
        self.topology.links.push(TopologyLink { a, b, rate, delay, loss: 0.0 });
    }

    /// Links `each` consecutive nodes of `below` to the next one of `above`.
    pub(super) fn fan_in(
        &mut self,
        below: Range<NodeId>,
        each: u32,
        above: Range<NodeId>,
        link: LinkProperties,
    ) {
        for (index, node) in (0..).zip(below) {
            self.link(node, above.start + index / each, link);
        }
    }

    /// The network.
    pub(super) fn finish(self) -> Topology {
        self.topology
    }
}
