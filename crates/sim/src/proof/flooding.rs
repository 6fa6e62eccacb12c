//! Routes as they are where the last router of a host floods.

use std::collections::BTreeSet;

use rocelab_fabric::topology::Adjacency;
use rocelab_fabric::{NodeId, RouteFunction, Routes};
use rocelab_wire::Encapsulation;

use crate::{FailureChange, Plan};

/// The hosts for which a router floods lossless frames, at the beginning or at some time: their MAC
/// entry is missing or ages out, and their ARP entry is there. Hosts that live are taken to be heard of
/// often enough.
///
/// Bridges flood along a tree, by simple ways: those never close a circle.
pub(super) fn flooded_hosts(plan: &Plan) -> BTreeSet<NodeId> {
    let tables = &plan.tables;
    if plan.roce.encapsulation == Encapsulation::V1 || tables.drop_incomplete_arp {
        return BTreeSet::new();
    }
    let forgotten = tables.missing.iter().filter(|(_, missing)| missing.mac && !missing.arp);
    let dying = plan.failures.steps.iter().filter_map(|step| match step.change {
        FailureChange::HostDown(host) if tables.mac_ages_first() => Some(host),
        _ => None,
    });
    forgotten.map(|(&host, _)| host).chain(dying).collect()
}

/// Routes with the frames that are flooded: those wait for every port of the last router, and the next
/// one drops them.
pub(super) struct WithFlooding<'a> {
    routes: &'a Routes,
    hosts: BTreeSet<NodeId>,
    adjacency: Adjacency,
}

impl<'a> WithFlooding<'a> {
    pub(super) fn new(plan: &Plan, routes: &'a Routes) -> Self {
        Self { routes, hosts: flooded_hosts(plan), adjacency: plan.topology.adjacency() }
    }

    /// Whether a node floods what is for a host.
    fn floods(&self, node: NodeId, host: NodeId) -> bool {
        let last = || self.adjacency.ports_of(host).first().map(|port| port.node);
        self.hosts.contains(&host) && last() == Some(node)
    }
}

impl RouteFunction for WithFlooding<'_> {
    fn next_hops<'a>(
        &'a self,
        switch: NodeId,
        in_port: u16,
        destination: NodeId,
        scratch: &'a mut Vec<u16>,
    ) -> &'a [u16] {
        let links = self.adjacency.ports_of(switch);
        let before = links.get(usize::from(in_port)).map(|port| port.node);
        if before.is_some_and(|before| self.floods(before, destination)) {
            return &[];
        }
        if !self.floods(switch, destination) {
            return self.routes.next_hops(switch, destination);
        }
        let others = (0u16..).zip(links).map(|(number, _)| number).filter(|&port| port != in_port);
        scratch.clear();
        scratch.extend(others);
        scratch
    }
}
