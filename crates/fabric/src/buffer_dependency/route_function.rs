//! The forwarding decisions of switches, as far as the search for cycles needs them.

use std::collections::BTreeMap;

use crate::Routes;
use crate::topology::{Adjacency, Neighbour, NodeId, Topology};

/// The ports by which a switch may forward.
pub trait RouteFunction {
    /// All ports by which `switch` may forward a frame that entered by `in_port` and is for the
    /// host `destination`, at any time and with any choice among equal paths. Empty if it drops the
    /// frame. `scratch` is for implementations that must collect the ports.
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

/// Static routes where they are set, and the routes of `R` elsewhere.
#[derive(Clone, Debug)]
pub struct StaticRoutes<R> {
    base: R,
    set: BTreeMap<(NodeId, NodeId), Vec<u16>>,
}

impl<R: RouteFunction> StaticRoutes<R> {
    /// The routes of `base`, without any static route yet.
    pub fn new(base: R) -> Self {
        Self { base, set: BTreeMap::new() }
    }

    /// Sets the ports by which `switch` forwards to the host `destination`; an empty list means
    /// that it drops.
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

/// Routes with flooding: a switch that knows no port for a destination sends by all ports except
/// the ingress port.
#[derive(Debug)]
pub struct FloodedRoutes<R, F> {
    base: R,
    floods: F,
    /// Indexed by port index: whether the port takes part in flooding.
    takes_part: Vec<bool>,
    adjacency: Adjacency,
}

impl<R: RouteFunction, F: Fn(NodeId, NodeId) -> bool> FloodedRoutes<R, F> {
    /// The routes of `base`, except that a switch floods where `floods(switch, destination)` holds:
    /// it sends by every port whose link is `active`, by index into [`Topology::links`] (the links
    /// of the broadcast domain; a link beyond the end of the list is not active).
    ///
    /// # Panics If a link names a node that does not exist, which [`Topology::check`] reports.
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

/// Routes in which the last switch before a host also floods: it sends copies by all ports except
/// the ingress port. Other switches drop these copies.
#[derive(Debug)]
pub(super) struct LastSwitchFloods<'a> {
    routes: &'a Routes,
    adjacency: Adjacency,
    /// For each link, whether copies cross it.
    active: &'a [bool],
}

impl<'a> LastSwitchFloods<'a> {
    pub(super) fn new(topology: &Topology, routes: &'a Routes, active: &'a [bool]) -> Self {
        Self { routes, adjacency: topology.adjacency(), active }
    }

    /// Whether a node is the last switch before a host.
    fn is_last(&self, node: NodeId, host: NodeId) -> bool {
        self.adjacency.ports_of(host).iter().any(|far| far.node == node)
    }

    /// Whether frames for `host` that a switch gets from `far` are copies only.
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
