//! Routes as they are where the last router of a host floods.

use std::collections::BTreeSet;

use rocelab_fabric::topology::{Adjacency, Neighbour};
use rocelab_fabric::{NodeId, RouteFunction, Routes};
use rocelab_wire::Encapsulation;

use crate::{FailureChange, Plan};

/// The hosts for which a router floods lossless frames, at the beginning or at some time: their MAC
/// entry is missing, ages out, or was behind a link that went down, and their ARP entry is there. Hosts
/// that live are taken to be heard of often enough while their link is up; of one whose link has been
/// down nothing is heard until it sends.
///
/// Bridges flood along a tree, by simple ways: those alone never close a circle, so that they count
/// beside static routes only (with which no bridge learns).
pub(super) fn flooded_hosts(plan: &Plan) -> BTreeSet<NodeId> {
    let known = &plan.known_hosts;
    if is_bridged(plan) {
        let missing = known.missing.iter().filter(|(_, missing)| missing.mac);
        let missing = missing.map(|(&host, _)| host);
        return if plan.static_routes.is_empty() { BTreeSet::new() } else { missing.collect() };
    }
    if known.drop_incomplete_arp {
        return BTreeSet::new();
    }
    let missing = known.missing.iter().filter(|(_, missing)| missing.mac && !missing.arp);
    let missing = missing.map(|(&host, _)| host);
    let forgotten = plan.failures.steps.iter().filter_map(|step| forgotten_by(plan, step.change));
    missing.chain(forgotten).collect()
}

/// The host whose MAC entry goes with something that breaks, and whose ARP entry stays.
fn forgotten_by(plan: &Plan, change: FailureChange) -> Option<NodeId> {
    let known = &plan.known_hosts;
    match change {
        FailureChange::HostDown(host) | FailureChange::StormBegin(host, _) => {
            known.mac_ages_first().then_some(host)
        }
        // All that is known behind a port is forgotten, however young. A switch that reboots is its
        // links that go down.
        FailureChange::LinkDown(link) => {
            let ends = &plan.topology.links[link as usize];
            let host = [ends.a, ends.b].into_iter().find(|&node| plan.topology.is_host(node));
            host.filter(|_| known.learning.is_some())
        }
        _ => None,
    }
}

/// Whether there may be flooding at all: also of what is for hosts that are silent for long.
pub(super) fn may_flood(plan: &Plan) -> bool {
    let known = &plan.known_hosts;
    if is_bridged(plan) {
        let is_missing = known.missing.values().any(|missing| missing.mac);
        let mut switches = plan.topology.switches();
        let is_known = !is_missing && known.learning.is_none();
        return switches.any(|switch| {
            let plane = plan.forwarding_plane_of(switch);
            plane.floods() && !(is_known && plane.follows_routes())
        });
    }
    floods_for_the_silent(plan) || !flooded_hosts(plan).is_empty()
}

/// Whether routers flood for hosts that live and are not heard of for `mac_ageing`.
pub(super) fn floods_for_the_silent(plan: &Plan) -> bool {
    !is_bridged(plan) && !plan.known_hosts.drop_incomplete_arp && plan.known_hosts.mac_ages_first()
}

fn is_bridged(plan: &Plan) -> bool {
    plan.roce.encapsulation == Encapsulation::V1 || plan.roce.domains.is_some()
}

/// Routes with the frames that are flooded: those wait for every port of the last router, and the next
/// one drops them. Bridges flood them all along the tree.
pub(super) struct WithFlooding<'a> {
    routes: &'a Routes,
    hosts: BTreeSet<NodeId>,
    adjacency: Adjacency,
    is_bridged: bool,
    /// For each link whether frames may cross it.
    active: &'a [bool],
}

impl<'a> WithFlooding<'a> {
    pub(super) fn new(plan: &Plan, routes: &'a Routes, active: &'a [bool]) -> Self {
        let (hosts, adjacency) = (flooded_hosts(plan), plan.topology.adjacency());
        Self { routes, hosts, adjacency, is_bridged: is_bridged(plan), active }
    }

    /// Whether a node floods what is for a host.
    fn floods(&self, node: NodeId, host: NodeId) -> bool {
        let last = || self.adjacency.ports_of(host).first().map(|port| port.node);
        self.hosts.contains(&host) && (self.is_bridged || last() == Some(node))
    }

    /// Whether a router takes only copies of what is flooded from where `far` leads.
    fn brings_copies(&self, far: Neighbour, host: NodeId) -> bool {
        !self.is_bridged
            && self.floods(far.node, host)
            && !self.routes.forwards_over(&self.adjacency, far.node, host, far.link)
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
        let before = links.get(usize::from(in_port)).copied();
        if before.is_some_and(|before| self.brings_copies(before, destination)) {
            return &[];
        }
        let forwards = self.routes.next_hops(switch, destination);
        if !self.floods(switch, destination) {
            return forwards;
        }
        let is_active = |link: u32| self.active.get(link as usize) == Some(&true);
        let others = (0u16..).zip(links).filter(|(_, link)| is_active(link.link));
        scratch.clear();
        scratch.extend(others.map(|(number, _)| number).filter(|&port| port != in_port));
        // A static route of the last router to another one is followed as it is.
        scratch.extend(forwards.iter().filter(|_| !self.is_bridged));
        scratch
    }
}
