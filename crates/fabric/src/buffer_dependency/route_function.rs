//! Where switches forward to, as far as the search for cycles must know.

use std::collections::BTreeMap;

use crate::Routes;
use crate::topology::{Adjacency, Neighbour, NodeId, Topology};

/// By which ports a switch may forward.
pub trait RouteFunction {
    /// The ports by which `switch` may forward, at any time and by any choice among equals, what
    /// entered by `in_port` and is for the host `destination`; none if it drops that. `scratch` is
    /// for implementations that must collect the ports.
    fn next_hops<'a>(
        &'a self,
        switch: NodeId,
        in_port: u16,
        destination: NodeId,
        scratch: &'a mut Vec<u16>,
    ) -> &'a [u16];
}

impl RouteFunction for Routes {
    fn next_hops<'a>(
        &'a self,
        switch: NodeId,
        _in_port: u16,
        destination: NodeId,
        _scratch: &'a mut Vec<u16>,
    ) -> &'a [u16] {
        Self::next_hops(self, switch, destination)
    }
}

/// Routes that are set by hand where there are any, and others elsewhere.
#[derive(Clone, Debug)]
pub struct StaticRoutes<R> {
    base: R,
    set: BTreeMap<(NodeId, NodeId), Vec<u16>>,
}

impl<R: RouteFunction> StaticRoutes<R> {
    /// `base`, and nothing set by hand.
    pub fn new(base: R) -> Self {
        Self { base, set: BTreeMap::new() }
    }

    /// `switch` forwards to the host `destination` by these ports; by none means that it drops.
    pub fn set(&mut self, switch: NodeId, destination: NodeId, ports: Vec<u16>) {
        self.set.insert((switch, destination), ports);
    }
}

impl<R: RouteFunction> RouteFunction for StaticRoutes<R> {
    fn next_hops<'a>(
        &'a self,
        switch: NodeId,
        in_port: u16,
        destination: NodeId,
        scratch: &'a mut Vec<u16>,
    ) -> &'a [u16] {
        match self.set.get(&(switch, destination)) {
            Some(ports) => ports,
            None => self.base.next_hops(switch, in_port, destination, scratch),
        }
    }
}

/// Switches that send what they know no port for by all ports but that where it came from.
#[derive(Debug)]
pub struct FloodedRoutes<R, F> {
    base: R,
    floods: F,
    /// Bit p of a switch's row: its port p takes part, by port index.
    takes_part: Vec<bool>,
    adjacency: Adjacency,
}

impl<R: RouteFunction, F: Fn(NodeId, NodeId) -> bool> FloodedRoutes<R, F> {
    /// `base`, but where `floods(switch, destination)` holds: there the switch sends by every
    /// port whose link is `active`, by index into [`Topology::links`] (those of the broadcast
    /// domain; a link beyond the list is not).
    ///
    /// # Panics
    /// If a link names a node that does not exist, which [`Topology::check`] reports.
    pub fn new(base: R, topology: &Topology, active: &[bool], floods: F) -> Self {
        let adjacency = topology.adjacency();
        let nodes = (0..).take(topology.nodes.len());
        let ports = nodes.flat_map(|node| adjacency.ports_of(node));
        let takes_part = ports.map(|port| active.get(port.link as usize) == Some(&true)).collect();
        Self { base, floods, takes_part, adjacency }
    }
}

impl<R: RouteFunction, F: Fn(NodeId, NodeId) -> bool> RouteFunction for FloodedRoutes<R, F> {
    fn next_hops<'a>(
        &'a self,
        switch: NodeId,
        in_port: u16,
        destination: NodeId,
        scratch: &'a mut Vec<u16>,
    ) -> &'a [u16] {
        if !(self.floods)(switch, destination) {
            return self.base.next_hops(switch, in_port, destination, scratch);
        }
        let first = self.adjacency.first_port_index(switch);
        let ports = (0..).zip(&self.takes_part[first..]);
        let all = ports.take(self.adjacency.ports_of(switch).len());
        scratch.clear();
        scratch.extend(all.filter(|&(port, &part)| part && port != in_port).map(|(port, _)| port));
        scratch
    }
}

/// Routes, and copies of what is for a host that its last switch sends by all ports but that where it came
/// from. Other switches drop the copies.
#[derive(Debug)]
pub(super) struct LastSwitchFloods<'a> {
    routes: &'a Routes,
    adjacency: Adjacency,
    /// For each link whether copies cross it.
    active: &'a [bool],
}

impl<'a> LastSwitchFloods<'a> {
    pub(super) fn new(topology: &Topology, routes: &'a Routes, active: &'a [bool]) -> Self {
        Self { routes, adjacency: topology.adjacency(), active }
    }

    /// Whether a node is the last one before a host.
    fn is_last(&self, node: NodeId, host: NodeId) -> bool {
        self.adjacency.ports_of(host).iter().any(|far| far.node == node)
    }

    /// Whether a switch takes only copies from where `far` leads.
    fn brings_copies(&self, far: Neighbour, host: NodeId) -> bool {
        self.is_last(far.node, host)
            && !self.routes.forwards_over(&self.adjacency, far.node, host, far.link)
    }
}

impl RouteFunction for LastSwitchFloods<'_> {
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
        if !self.is_last(switch, destination) {
            return forwards;
        }
        let is_active = |link: u32| self.active.get(link as usize) == Some(&true);
        let copies = (0u16..).zip(links).filter(|(_, far)| is_active(far.link));
        scratch.clear();
        scratch.extend(copies.map(|(port, _)| port).filter(|&port| port != in_port));
        scratch.extend_from_slice(forwards);
        scratch
    }
}

impl<R: RouteFunction + ?Sized> RouteFunction for &R {
    fn next_hops<'a>(
        &'a self,
        switch: NodeId,
        in_port: u16,
        destination: NodeId,
        scratch: &'a mut Vec<u16>,
    ) -> &'a [u16] {
        (**self).next_hops(switch, in_port, destination, scratch)
    }
}
