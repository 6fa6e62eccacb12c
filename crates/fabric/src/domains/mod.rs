//! Networks of bridges and routers: broadcast domains, and the way of a frame through them.
//!
//! Bridges join links to *segments*; a link between hosts and routers alone is a segment too. The hosts of a segment are in
//! VLANs, and each VLAN of a segment is a *broadcast domain*. A router has an interface in every domain of the segments at its
//! ports. A multilayer switch is both: it bridges, and has an interface in every domain of its segment.
//!
//! Within a domain a frame has one target: the host that it is for, or the next router. Bridges forward it along a spanning tree of
//! the segment by the target's MAC address. A host sends what is for another subnet to the router with the fewest routers behind
//! it. A router chooses among the next hops of equal cost by the hash of the frame's addresses and ports, as [`Routes`](crate::Routes)
//! do. How many routers a frame has crossed says in which domain of its way it is, so that nothing else need be known of it.

mod routing;
mod segments;

use std::collections::{BTreeMap, BTreeSet};

use self::routing::{Hop, Routing};
use self::segments::Ways;
use crate::topology::{Adjacency, Neighbour};
use crate::{NodeId, Topology};

/// What a switch does with frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchRole {
    /// It forwards by MAC addresses.
    Bridge,
    /// It forwards by IP addresses, and drops what has none.
    Router,
    /// It bridges what is not for its own MAC address, and routes the rest.
    Multilayer,
}

impl SwitchRole {
    /// Whether it forwards by MAC addresses.
    const fn bridges(self) -> bool {
        matches!(self, Self::Bridge | Self::Multilayer)
    }

    /// Whether it forwards by IP addresses.
    const fn routes(self) -> bool {
        matches!(self, Self::Router | Self::Multilayer)
    }
}

/// What [`Domains`] follow from, beside the topology.
#[derive(Clone, Debug, Default)]
pub struct DomainConfig {
    /// By node; none of hosts.
    pub roles: Vec<Option<SwitchRole>>,
    /// By node: the VLAN of a host; 0: none.
    pub vlans: Vec<u16>,
    /// By node: the number of a host's subnet.
    pub subnets: Vec<u32>,
    /// What routers mix into hashes, as [`Routes::with_hash_seed`](crate::Routes::with_hash_seed).
    pub hash_seed: u64,
}

/// The broadcast domains of a network, and the ways between them.
#[derive(Clone, Debug)]
pub struct Domains {
    /// By node; none of hosts.
    roles: Vec<Option<SwitchRole>>,
    /// By link: whether frames may cross it.
    active: Vec<bool>,
    /// The segment and VLAN of each domain.
    domains: Vec<(u32, u16)>,
    /// By node: the domain of a host.
    of_host: Vec<Option<u32>>,
    /// By node: the number of a host's subnet.
    subnets: Vec<u32>,
    routing: Routing,
    ways: Ways,
}

/// A frame, as far as its way follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainFrame {
    /// The host that it comes from.
    pub source: NodeId,
    /// The host that it is for.
    pub destination: NodeId,
    /// How many routers have forwarded it.
    pub crossed: u8,
    /// The hash of its addresses and ports, by which routers choose among next hops of equal cost.
    pub hash: u32,
    /// Whether it has an IP header, by which it can be routed.
    pub is_ip: bool,
}

/// Where a frame is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainPlace {
    /// The segment that it is in.
    pub segment: u32,
    /// The VLAN there; 0: none.
    pub vlan: u16,
    /// The host that has its destination MAC address, or the router.
    pub target: NodeId,
    /// The router that has forwarded it last; none: its host has sent it.
    pub sender: Option<NodeId>,
}

/// What a switch does with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainForwarding {
    /// It bridges it to the port of this number.
    Bridge(u16),
    /// It routes it, and sends it by the port of this number.
    Route(u16),
    /// It is a router, and the frame has no IP header.
    NotRoutable,
    /// It has no way for it.
    NoRoute,
    /// It is a router, and the frame is not for the MAC address of the interface that it came in by.
    Foreign,
}

impl Domains {
    /// The domains of a topology.
    pub fn new(topology: &Topology, config: DomainConfig) -> Self {
        let DomainConfig { roles, vlans, subnets, hash_seed } = config;
        let adjacency = topology.adjacency();
        let bridges = |node: NodeId| roles[node as usize].is_some_and(SwitchRole::bridges);
        let segments = segments::segments(topology, &adjacency, bridges);
        let active = segments::active(topology, bridges);
        let mut all = Self {
            ways: Ways::new(topology, &adjacency, (&segments, &active), &roles),
            routing: Routing::default(),
            active,
            domains: Vec::new(),
            of_host: vec![None; topology.nodes.len()],
            subnets,
            roles,
        };
        all.find_domains(topology, &adjacency, &segments, &vlans);
        all.routing = Routing::new(all.routers(topology, &adjacency, &segments), hash_seed);
        all
    }

    /// For each link, whether frames may cross it: those between bridges are a tree in each segment.
    pub fn active_links(&self) -> &[bool] {
        &self.active
    }

    /// The number of the broadcast domain of a host.
    pub fn of(&self, host: NodeId) -> Option<u32> {
        self.of_host.get(host as usize).copied().flatten()
    }

    /// Whether frames between two hosts cross no router: they are in one broadcast domain and one subnet. Frames without an IP
    /// header know no subnets.
    pub fn are_neighbours(&self, one: NodeId, other: NodeId, is_ip: bool) -> bool {
        let subnet = |host: NodeId| self.subnets.get(host as usize);
        self.of(one) == self.of(other) && (!is_ip || subnet(one) == subnet(other))
    }

    /// How many routers IP frames cross between two hosts; none where there is no way.
    pub fn routers_between(&self, source: NodeId, destination: NodeId) -> Option<usize> {
        let (from, to) = (self.of(source)?, self.of(destination)?);
        if self.are_neighbours(source, destination, true) {
            return Some(0);
        }
        let gateway = self.routing.gateway(from, to)?;
        Some(usize::from(self.routing.distance(gateway, to)?) + 1)
    }

    /// Where a frame is, or is sent to next, by how many routers it has crossed; none if it has no way on.
    pub fn place(&self, frame: &DomainFrame) -> Option<DomainPlace> {
        let (mut here, end) = (self.of(frame.source)?, self.of(frame.destination)?);
        if self.are_neighbours(frame.source, frame.destination, frame.is_ip) {
            return Some(self.place_in(here, frame.destination, None));
        }
        // Where there is no way, the first router finds that out.
        let gateway = self.routing.gateway(here, end);
        let mut target = gateway.or_else(|| self.routing.routers_of(here).first().copied())?;
        let mut sender = None;
        for _ in 0..frame.crossed {
            let hop = self.routing.hop(target, end, frame.hash)?;
            (sender, here) = (Some(target), hop.domain);
            match hop.router {
                Some(router) => target = router,
                None => return Some(self.place_in(here, frame.destination, sender)),
            }
        }
        Some(self.place_in(here, target, sender))
    }

    /// Where a frame is that stays in the domain of a host: it comes from there, or from the router `sender`, and is for `target`.
    pub fn place_within(
        &self,
        host: NodeId,
        target: NodeId,
        sender: Option<NodeId>,
    ) -> Option<DomainPlace> {
        Some(self.place_in(self.of(host)?, target, sender))
    }

    /// The routers that have an interface in the domain of a host, ascending.
    pub fn routers_at(&self, host: NodeId) -> &[NodeId] {
        self.of(host).map_or(&[], |domain| self.routing.routers_of(domain))
    }

    /// Whether a switch takes in what comes by its port `ingress` from a segment: a router does so by one port of each.
    pub fn takes_in(&self, switch: NodeId, ingress: u16, segment: u32) -> bool {
        let is_router = self.roles.get(switch as usize) == Some(&Some(SwitchRole::Router));
        !is_router || self.ways.interface(switch, segment) == Some(ingress)
    }

    /// Whether a switch bridges.
    pub fn bridges(&self, switch: NodeId) -> bool {
        self.roles.get(switch as usize).copied().flatten().is_some_and(SwitchRole::bridges)
    }

    /// The port by which a switch sends to the target of a frame, if it has a way.
    pub fn port(&self, switch: NodeId, place: &DomainPlace) -> Option<u16> {
        self.ways.port(switch, place.segment, place.target)
    }

    fn place_in(&self, domain: u32, target: NodeId, sender: Option<NodeId>) -> DomainPlace {
        let (segment, vlan) = self.domains[domain as usize];
        DomainPlace { segment, vlan, target, sender }
    }

    /// What a switch does with a frame that has come in by the port of number `ingress`.
    pub fn forward(&self, switch: NodeId, ingress: u16, frame: &DomainFrame) -> DomainForwarding {
        let Some(place) = self.place(frame) else { return DomainForwarding::NoRoute };
        let is_for_it = place.target == switch || self.bridges(switch);
        if !is_for_it || !self.takes_in(switch, ingress, place.segment) {
            return DomainForwarding::Foreign;
        }
        if place.target != switch {
            let port = self.port(switch, &place);
            return port.map_or(DomainForwarding::NoRoute, DomainForwarding::Bridge);
        }
        if !frame.is_ip {
            return DomainForwarding::NotRoutable;
        }
        let crossed = frame.crossed.saturating_add(1);
        let behind = self.place(&DomainFrame { crossed, ..*frame });
        let behind = behind.filter(|place| place.target != switch && place.sender == Some(switch));
        let port = behind.and_then(|place| self.port(switch, &place));
        port.map_or(DomainForwarding::NoRoute, DomainForwarding::Route)
    }

    /// The ports by which a bridge floods a frame that has come in by `ingress`: those of its domain.
    pub fn flooded_ports(
        &self,
        switch: NodeId,
        ingress: u16,
        place: &DomainPlace,
        adjacency: &Adjacency,
    ) -> Vec<u16> {
        let is_of_domain = |node: NodeId| match self.of(node) {
            Some(domain) => self.domains[domain as usize] == (place.segment, place.vlan),
            None => true, // A switch.
        };
        let ports = (0u16..).zip(adjacency.ports_of(switch));
        let flooded = ports.filter(|(port, far)| {
            *port != ingress && self.active[far.link as usize] && is_of_domain(far.node)
        });
        flooded.map(|(port, _)| port).collect()
    }

    /// The port of a router whose MAC address its interface in a segment has; none of a multilayer switch, whose interfaces are in
    /// VLANs.
    pub fn interface(&self, router: NodeId, segment: u32) -> Option<u16> {
        let is_router = self.roles.get(router as usize) == Some(&Some(SwitchRole::Router));
        self.ways.interface(router, segment).filter(|_| is_router)
    }

    /// Follows all ways of equal cost of frames from host to host at once, as if routers took those without an IP header, too: `step` adds a link to what is known of the way from
    /// `start`, and `join` unites what came to one node by several. None if there is no way.
    pub fn fold_ways<T: Clone>(
        &self,
        adjacency: &Adjacency,
        (source, destination): (NodeId, NodeId),
        is_ip: bool,
        start: T,
        step: impl Fn(&T, NodeId, Neighbour) -> T,
        join: impl Fn(T, T) -> T,
    ) -> Option<T> {
        let (from, end) = (self.of(source)?, self.of(destination)?);
        let through = |domain: u32, nodes: (NodeId, NodeId), known: &T| {
            let (segment, _) = self.domains[domain as usize];
            let links = self.ways.links(adjacency, segment, nodes)?;
            Some(
                links.into_iter().fold(known.clone(), |known, (node, far)| step(&known, node, far)),
            )
        };
        if self.are_neighbours(source, destination, is_ip) {
            return through(from, (source, destination), &start);
        }
        let gateway = self.routing.gateway(from, end)?;
        let mut open = BTreeMap::from([(gateway, through(from, (source, gateway), &start)?)]);
        let mut arrived = None;
        while arrived.is_none() && !open.is_empty() {
            let mut next = BTreeMap::new();
            for (router, known) in open {
                for Hop { domain, router: behind } in self.routing.hops(router, end) {
                    let target = behind.unwrap_or(destination);
                    let Some(longer) = through(domain, (router, target), &known) else { continue };
                    let there =
                        if behind.is_some() { next.remove(&target) } else { arrived.take() };
                    let all = match there {
                        Some(there) => join(there, longer),
                        None => longer,
                    };
                    if behind.is_some() {
                        next.insert(target, all);
                    } else {
                        arrived = Some(all);
                    }
                }
            }
            open = next;
        }
        arrived
    }

    fn find_domains(
        &mut self,
        topology: &Topology,
        adjacency: &Adjacency,
        segments: &[u32],
        vlans: &[u16],
    ) {
        let mut numbers: BTreeMap<(u32, u16), u32> = BTreeMap::new();
        for host in topology.hosts() {
            let Some(port) = adjacency.ports_of(host).first() else { continue };
            let vlan = vlans.get(host as usize).copied().unwrap_or(0);
            let key = (segments[port.link as usize], vlan);
            self.of_host[host as usize] = Some(number(&mut numbers, &mut self.domains, key));
        }
        // A segment without hosts joins routers.
        let with_hosts: BTreeSet<u32> = self.domains.iter().map(|(segment, _)| *segment).collect();
        for &segment in segments.iter().filter(|segment| !with_hosts.contains(segment)) {
            number(&mut numbers, &mut self.domains, (segment, 0));
        }
    }

    /// By domain: the routers that have an interface there, ascending.
    fn routers(
        &self,
        topology: &Topology,
        adjacency: &Adjacency,
        segments: &[u32],
    ) -> Vec<Vec<NodeId>> {
        let mut at: BTreeMap<u32, BTreeSet<NodeId>> = BTreeMap::new();
        for switch in topology.switches() {
            if self.roles[switch as usize].is_some_and(SwitchRole::routes) {
                for far in adjacency.ports_of(switch) {
                    at.entry(segments[far.link as usize]).or_default().insert(switch);
                }
            }
        }
        let routers = |(segment, _): &(u32, u16)| {
            at.get(segment).map(|all| all.iter().copied().collect()).unwrap_or_default()
        };
        self.domains.iter().map(routers).collect()
    }
}

/// The number of a domain, which may be a new one.
fn number(
    numbers: &mut BTreeMap<(u32, u16), u32>,
    domains: &mut Vec<(u32, u16)>,
    key: (u32, u16),
) -> u32 {
    *numbers.entry(key).or_insert_with(|| {
        domains.push(key);
        u32::try_from(domains.len() - 1).unwrap_or(u32::MAX)
    })
}

#[cfg(test)]
mod tests;
