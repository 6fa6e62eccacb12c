//! Networks of bridges and routers: broadcast domains, and the way of a frame through them.
//!
//! Bridges join links to *segments*; a link between hosts and routers alone is a segment too. The hosts of a segment are in
//! VLANs, and each VLAN of a segment is a *broadcast domain*. A router has an interface in every domain of the segments at its
//! ports. A multilayer switch is both: it bridges, and has an interface in every domain of its segment.
//!
//! Within a domain a frame has one target: the host that it is for, or the next router. Bridges forward it along a spanning tree of
//! the segment by the target's MAC address. How many routers it has crossed says in which domain of its way it is, so that
//! nothing else need be known of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::topology::{Adjacency, spanning_tree_over};
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

/// The broadcast domains of a network, and the ways between them.
#[derive(Clone, Debug)]
pub struct Domains {
    /// By node; none of hosts.
    roles: Vec<Option<SwitchRole>>,
    /// By link: its segment.
    segments: Vec<u32>,
    /// By link: whether frames may cross it.
    active: Vec<bool>,
    /// The segment and VLAN of each domain.
    domains: Vec<(u32, u16)>,
    /// By node: the domain of a host.
    of_host: Vec<Option<u32>>,
    /// By node: the number of a host's subnet.
    subnets: Vec<u32>,
    /// By domain: the routers that have an interface there, ascending.
    routers: Vec<Vec<NodeId>>,
    /// By the domain that a way ends in, then by the one where a frame is: the next router, and the domain behind it.
    next: Vec<Vec<Option<(NodeId, u32)>>>,
    /// By segment and target: the port of each node that leads there, [`NO_PORT`] where there is none.
    ways: BTreeMap<(u32, NodeId), Box<[u16]>>,
    /// By router and segment: the lowest of its ports there.
    interfaces: BTreeMap<(NodeId, u32), u16>,
}

const NO_PORT: u16 = u16::MAX;

/// A frame, as far as its way follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainFrame {
    /// The host that it comes from.
    pub source: NodeId,
    /// The host that it is for.
    pub destination: NodeId,
    /// How many routers have forwarded it.
    pub crossed: u8,
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
    /// The domains of a topology whose switches have these `roles`, by node (none of hosts), and whose hosts are in these VLANs
    /// (0: none) and subnets, by node.
    pub fn new(
        topology: &Topology,
        roles: Vec<Option<SwitchRole>>,
        vlans: &[u16],
        subnets: Vec<u32>,
    ) -> Self {
        let adjacency = topology.adjacency();
        let bridges = |node: NodeId| {
            matches!(roles[node as usize], Some(SwitchRole::Bridge | SwitchRole::Multilayer))
        };
        let segments = segments(topology, &adjacency, bridges);
        let active = active(topology, bridges);
        let mut all = Self {
            segments,
            active,
            domains: Vec::new(),
            of_host: vec![None; topology.nodes.len()],
            subnets,
            routers: Vec::new(),
            next: Vec::new(),
            ways: BTreeMap::new(),
            interfaces: BTreeMap::new(),
            roles,
        };
        all.find_domains(topology, &adjacency, vlans);
        all.find_routers(topology, &adjacency);
        all.next = (0..all.domains.len()).map(|end| all.next_towards(end)).collect();
        all.find_ways(topology, &adjacency);
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

    /// Where a frame is, or is sent to next, by how many routers it has crossed; none if it has no way on.
    pub fn place(&self, frame: &DomainFrame) -> Option<DomainPlace> {
        let end = self.of(frame.destination)?;
        let (mut here, mut sender) = (self.of(frame.source)?, None);
        // Of one domain, but not of one subnet: through a router and back.
        let returns = frame.is_ip && here == end && !self.are_of_one_subnet(frame);
        if returns {
            let gateway = *self.routers[here as usize].first()?;
            let target = if frame.crossed == 0 { gateway } else { frame.destination };
            let sender = (frame.crossed > 0).then_some(gateway);
            return Some(self.place_in(here, target, sender));
        }
        for _ in 0..frame.crossed {
            let (router, behind) = self.next[end as usize][here as usize]?;
            (sender, here) = (Some(router), behind);
        }
        if here == end {
            return Some(self.place_in(here, frame.destination, sender));
        }
        let next = self.next[end as usize][here as usize].map(|(router, _)| router);
        // Where there is no way, the first router finds that out.
        let target = next.or_else(|| self.routers[here as usize].first().copied())?;
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
        self.of(host).map_or(&[], |domain| &self.routers[domain as usize])
    }

    /// Whether a switch takes in what comes by its port `ingress` from a segment: a router does so by one port of each.
    pub fn takes_in(&self, switch: NodeId, ingress: u16, segment: u32) -> bool {
        let is_router = self.roles.get(switch as usize) == Some(&Some(SwitchRole::Router));
        !is_router || self.interfaces.get(&(switch, segment)) == Some(&ingress)
    }

    /// Whether a switch bridges.
    pub fn bridges(&self, switch: NodeId) -> bool {
        matches!(
            self.roles.get(switch as usize),
            Some(Some(SwitchRole::Bridge | SwitchRole::Multilayer))
        )
    }

    fn place_in(&self, domain: u32, target: NodeId, sender: Option<NodeId>) -> DomainPlace {
        let (segment, vlan) = self.domains[domain as usize];
        DomainPlace { segment, vlan, target, sender }
    }

    fn are_of_one_subnet(&self, frame: &DomainFrame) -> bool {
        let of = |host: NodeId| self.subnets.get(host as usize);
        of(frame.source) == of(frame.destination)
    }

    /// What a switch does with a frame that has come in by the port of number `ingress`.
    pub fn forward(&self, switch: NodeId, ingress: u16, frame: &DomainFrame) -> DomainForwarding {
        let Some(place) = self.place(frame) else { return DomainForwarding::NoRoute };
        if self.roles[switch as usize] == Some(SwitchRole::Router) {
            let interface = self.interfaces.get(&(switch, place.segment));
            if place.target != switch || interface != Some(&ingress) {
                return DomainForwarding::Foreign;
            }
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

    /// The port by which a node sends to the target of a frame, if it has a way.
    pub fn port(&self, node: NodeId, place: &DomainPlace) -> Option<u16> {
        let ports = self.ways.get(&(place.segment, place.target))?;
        ports.get(node as usize).copied().filter(|&port| port != NO_PORT)
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
        self.interfaces.get(&(router, segment)).copied().filter(|_| is_router)
    }

    fn find_domains(&mut self, topology: &Topology, adjacency: &Adjacency, vlans: &[u16]) {
        let mut numbers: BTreeMap<(u32, u16), u32> = BTreeMap::new();
        for host in topology.hosts() {
            let Some(port) = adjacency.ports_of(host).first() else { continue };
            let vlan = vlans.get(host as usize).copied().unwrap_or(0);
            let key = (self.segments[port.link as usize], vlan);
            self.of_host[host as usize] = Some(number(&mut numbers, &mut self.domains, key));
        }
        // A segment without hosts joins routers.
        let with_hosts: BTreeSet<u32> = self.domains.iter().map(|(segment, _)| *segment).collect();
        for &segment in self.segments.iter().filter(|segment| !with_hosts.contains(segment)) {
            number(&mut numbers, &mut self.domains, (segment, 0));
        }
    }

    fn find_routers(&mut self, topology: &Topology, adjacency: &Adjacency) {
        let mut at: BTreeMap<u32, BTreeSet<NodeId>> = BTreeMap::new();
        for switch in topology.switches() {
            if self.roles[switch as usize] == Some(SwitchRole::Bridge) {
                continue;
            }
            for (port, far) in (0u16..).zip(adjacency.ports_of(switch)) {
                let segment = self.segments[far.link as usize];
                at.entry(segment).or_default().insert(switch);
                self.interfaces.entry((switch, segment)).or_insert(port);
            }
        }
        let routers = |(segment, _): &(u32, u16)| {
            at.get(segment).map(|all| all.iter().copied().collect()).unwrap_or_default()
        };
        self.routers = self.domains.iter().map(routers).collect();
    }

    /// By domain: the next router on a way with the fewest routers to the domain `end`, and the domain behind it. Of several the
    /// lowest numbers.
    fn next_towards(&self, end: usize) -> Vec<Option<(NodeId, u32)>> {
        let mut of_router: BTreeMap<NodeId, Vec<u32>> = BTreeMap::new();
        for (domain, routers) in (0u32..).zip(&self.routers) {
            for &router in routers {
                of_router.entry(router).or_default().push(domain);
            }
        }
        let mut next = vec![None; self.domains.len()];
        let mut known = vec![false; self.domains.len()];
        known[end] = true;
        let mut open = VecDeque::from([end]);
        while let Some(here) = open.pop_front() {
            let number = u32::try_from(here).unwrap_or(u32::MAX);
            for router in &self.routers[here] {
                for &domain in of_router.get(router).into_iter().flatten() {
                    if !std::mem::replace(&mut known[domain as usize], true) {
                        next[domain as usize] = Some((*router, number));
                        open.push_back(domain as usize);
                    }
                }
            }
        }
        next
    }

    /// Whether a node sends by a port, and takes what is for it: a router has one interface in a segment.
    fn is_used(&self, node: NodeId, segment: u32, port: u16) -> bool {
        let is_router = self.roles[node as usize] == Some(SwitchRole::Router);
        !is_router || self.interfaces.get(&(node, segment)) == Some(&port)
    }

    /// The ports that lead to each host and router in its segments.
    fn find_ways(&mut self, topology: &Topology, adjacency: &Adjacency) {
        for node in (0u32..).take(topology.nodes.len()) {
            if self.roles[node as usize] == Some(SwitchRole::Bridge) {
                continue;
            }
            let links = adjacency.ports_of(node).iter().map(|far| far.link);
            let segments: BTreeSet<u32> = links.map(|link| self.segments[link as usize]).collect();
            for segment in segments {
                let ports = self.ports_towards(node, segment, adjacency);
                self.ways.insert((segment, node), ports);
            }
        }
    }

    /// By node: the port by which a segment leads to a node at its edge, or in it.
    fn ports_towards(&self, target: NodeId, segment: u32, adjacency: &Adjacency) -> Box<[u16]> {
        let mut ports = vec![NO_PORT; self.roles.len()];
        let mut open = VecDeque::from([target]);
        while let Some(node) = open.pop_front() {
            for (port, far) in (0u16..).zip(adjacency.ports_of(node)) {
                let is_way = self.active[far.link as usize]
                    && self.is_used(node, segment, port)
                    && self.segments[far.link as usize] == segment
                    && far.node != target;
                if !is_way || ports[far.node as usize] != NO_PORT {
                    continue;
                }
                let back = adjacency.port_of_link(far.node, far.link);
                let back = back.and_then(|port| u16::try_from(port).ok());
                let back = back.filter(|&port| self.is_used(far.node, segment, port));
                let Some(back) = back else { continue };
                ports[far.node as usize] = back;
                let role = self.roles[far.node as usize];
                if matches!(role, Some(SwitchRole::Bridge | SwitchRole::Multilayer)) {
                    open.push_back(far.node);
                }
            }
        }
        ports.into()
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

/// By link: the number of its segment.
fn segments(
    topology: &Topology,
    adjacency: &Adjacency,
    bridges: impl Fn(NodeId) -> bool,
) -> Vec<u32> {
    const UNKNOWN: u32 = u32::MAX;
    let mut segments = vec![UNKNOWN; topology.links.len()];
    let mut next = 0;
    for first in 0..topology.links.len() {
        if segments[first] != UNKNOWN {
            continue;
        }
        segments[first] = next;
        let mut open = vec![first];
        while let Some(link) = open.pop() {
            let ends = [topology.links[link].a, topology.links[link].b];
            for node in ends.into_iter().filter(|&node| bridges(node)) {
                for far in adjacency.ports_of(node) {
                    let other = far.link as usize;
                    if segments[other] == UNKNOWN {
                        segments[other] = next;
                        open.push(other);
                    }
                }
            }
        }
        next += 1;
    }
    segments
}

/// By link: whether frames may cross it. Bridges block links, routers and hosts do not.
fn active(topology: &Topology, bridges: impl Fn(NodeId) -> bool) -> Vec<bool> {
    let of_bridges: Vec<bool> =
        topology.links.iter().map(|link| bridges(link.a) && bridges(link.b)).collect();
    let tree = spanning_tree_over(topology, &of_bridges);
    of_bridges.iter().zip(tree).map(|(of_bridges, in_tree)| !of_bridges || in_tree).collect()
}

#[cfg(test)]
mod tests {
    use rocelab_units::{Bandwidth, Duration};

    use super::*;
    use crate::topology::{Node, NodeKind, TopologyLink};

    use SwitchRole::{Bridge, Multilayer, Router};

    /// Hosts, switches with their roles, and links between nodes by number: hosts come first.
    fn domains(vlans: &[u16], switches: &[SwitchRole], links: &[(u32, u32)]) -> Domains {
        let host = |number| Node { name: format!("h{number}"), kind: NodeKind::Host };
        let switch =
            |number| Node { name: format!("s{number}"), kind: NodeKind::Switch { tier: 0 } };
        let nodes = (0..vlans.len()).map(host).chain((0..switches.len()).map(switch)).collect();
        let link = |&(a, b)| TopologyLink {
            a,
            b,
            rate: Bandwidth::from_gbps(100),
            delay: Duration::from_ns(10),
            loss: 0.0,
        };
        let topology =
            Topology { nodes, links: links.iter().map(link).collect(), ..Topology::default() };
        let roles = vlans.iter().map(|_| None).chain(switches.iter().copied().map(Some)).collect();
        let subnets = (0u32..).take(topology.nodes.len()).map(|_| 0).collect();
        Domains::new(&topology, roles, vlans, subnets)
    }

    /// The switches that a frame crosses, and what the last one does with it, if it does not arrive.
    fn way(
        all: &Domains,
        links: &[(u32, u32)],
        frame: DomainFrame,
    ) -> (Vec<u32>, Option<DomainForwarding>) {
        let far = |node: u32, port: u16| {
            let mut ports = links.iter().filter(|(a, b)| *a == node || *b == node);
            let (a, b) = ports.nth(port.into()).expect("a port");
            if *a == node { *b } else { *a }
        };
        let port_to = |node: u32, from: u32| {
            let mut ports = links.iter().filter(|(a, b)| *a == node || *b == node);
            let port = ports.position(|&(a, b)| a == from || b == from).expect("a link");
            u16::try_from(port).expect("small")
        };
        let (mut frame, mut node, mut way) = (frame, far(frame.source, 0), Vec::new());
        let mut from = frame.source;
        while node != frame.destination {
            way.push(node);
            assert!(way.len() < 20, "{way:?}");
            let ingress = port_to(node, from);
            from = node;
            node = match all.forward(node, ingress, &frame) {
                DomainForwarding::Bridge(port) => far(node, port),
                DomainForwarding::Route(port) => {
                    frame.crossed += 1;
                    far(node, port)
                }
                other => return (way, Some(other)),
            };
        }
        (way, None)
    }

    fn frame(source: u32, destination: u32, is_ip: bool) -> DomainFrame {
        DomainFrame { source, destination, crossed: 0, is_ip }
    }

    #[test]
    fn a_bridge_goes_by_mac_addresses_and_a_router_by_ip_addresses() {
        // Hosts 0 and 1 at bridge 3, host 2 at bridge 5, router 4 between.
        let links = [(0, 3), (1, 3), (2, 5), (3, 4), (4, 5)];
        let all = domains(&[0, 0, 0], &[Bridge, Router, Bridge], &links);
        for is_ip in [false, true] {
            assert_eq!(way(&all, &links, frame(0, 1, is_ip)), (vec![3], None));
        }
        assert_eq!(way(&all, &links, frame(0, 2, true)), (vec![3, 4, 5], None));
        let stopped = Some(DomainForwarding::NotRoutable);
        assert_eq!(way(&all, &links, frame(0, 2, false)), (vec![3, 4], stopped));
        let place = all.place(&DomainFrame { crossed: 1, ..frame(0, 2, true) }).expect("one");
        assert_eq!((place.target, place.sender), (2, Some(4)));
        assert_eq!(all.interface(4, place.segment), Some(1), "the port to bridge 5");
    }

    #[test]
    fn a_router_on_a_stick_joins_the_vlans_of_a_bridge() {
        let links = [(0, 3), (1, 3), (2, 3), (3, 4)];
        let all = domains(&[10, 10, 20], &[Bridge, Router], &links);
        assert_eq!(way(&all, &links, frame(0, 1, false)), (vec![3], None));
        assert_eq!(way(&all, &links, frame(0, 2, true)), (vec![3, 4, 3], None));
        let stopped = Some(DomainForwarding::NotRoutable);
        assert_eq!(way(&all, &links, frame(0, 2, false)), (vec![3, 4], stopped));
        let vlan =
            |crossed| all.place(&DomainFrame { crossed, ..frame(0, 2, true) }).map(|at| at.vlan);
        assert_eq!((vlan(0), vlan(1)), (Some(10), Some(20)));
    }

    #[test]
    fn a_multilayer_switch_routes_between_its_vlans_and_bridges_inside() {
        let links = [(0, 3), (1, 3), (2, 3)];
        let all = domains(&[10, 10, 20], &[Multilayer], &links);
        assert_eq!(all.forward(3, 0, &frame(0, 1, true)), DomainForwarding::Bridge(1));
        assert_eq!(all.forward(3, 0, &frame(0, 2, true)), DomainForwarding::Route(2));
        assert_eq!(all.forward(3, 0, &frame(0, 2, false)), DomainForwarding::NotRoutable);
    }

    #[test]
    fn without_a_router_nothing_leaves_its_domain() {
        let links = [(0, 2), (1, 2)];
        let all = domains(&[10, 20], &[Bridge], &links);
        for is_ip in [false, true] {
            assert_eq!(all.forward(2, 0, &frame(0, 1, is_ip)), DomainForwarding::NoRoute);
        }
    }

    #[test]
    fn bridges_in_a_ring_have_a_tree_and_routers_in_a_ring_have_none() {
        let links = [(0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3)];
        let bridged = domains(&[0, 0, 0], &[Bridge; 3], &links);
        assert_eq!(bridged.active_links().iter().filter(|&&active| !active).count(), 1);
        let routed = domains(&[0, 0, 0], &[Router; 3], &links);
        assert!(routed.active_links().iter().all(|&active| active));
        for destination in [1, 2] {
            assert_eq!(way(&bridged, &links, frame(0, destination, false)).1, None);
            let (way, dropped) = way(&routed, &links, frame(0, destination, true));
            assert_eq!((way.len(), dropped), (2, None), "the shortest way");
        }
    }

    #[test]
    fn a_frame_is_flooded_in_its_domain() {
        // Two VLANs at bridge 4, a router 5 with two ports there, bridge 6 behind.
        let links = [(0, 4), (1, 4), (2, 4), (3, 6), (4, 5), (4, 5), (4, 6)];
        let all = domains(&[10, 10, 20, 10], &[Bridge, Router, Bridge], &links);
        let frame = frame(0, 3, true);
        let place = all.place(&frame).expect("one");
        let host = |number| Node { name: format!("h{number}"), kind: NodeKind::Host };
        let switch =
            |number| Node { name: format!("s{number}"), kind: NodeKind::Switch { tier: 0 } };
        let nodes = (0..4).map(host).chain((4..7).map(switch)).collect();
        let link = |&(a, b)| TopologyLink {
            a,
            b,
            rate: Bandwidth::from_gbps(100),
            delay: Duration::from_ns(10),
            loss: 0.0,
        };
        let topology =
            Topology { nodes, links: links.iter().map(link).collect(), ..Topology::default() };
        let adjacency = topology.adjacency();
        // Not back, not to VLAN 20; to both ports of the router, one of which takes it.
        assert_eq!(all.flooded_ports(4, 0, &place, &adjacency), [1, 3, 4, 5]);
        assert_eq!(all.forward(5, 0, &frame), DomainForwarding::Foreign);
        assert_eq!(all.forward(4, 0, &frame), DomainForwarding::Bridge(5));
    }
}
