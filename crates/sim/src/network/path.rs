//! The way that a packet takes, known as it leaves its host.
//!
//! Where routes are fixed for a whole run, the ports by which the switches ahead forward a packet follow from its
//! addresses and its entropy alone. They are looked up once for each flow and travel with the packet, as in source
//! routing, so that a switch on the way touches no table. Where a packet does not know its way, routes are
//! asked as it is sent to each switch ([`Path::UNKNOWN`]): where they may change or are learned, behind the first
//! [`HOPS`] switches, behind a switch that [chooses](ANY), and for frames that a switch makes.

use rocelab_engine::ask_for_large_pages;
use rocelab_fabric::topology::{Adjacency, MAX_PORTS};
use rocelab_fabric::{LoadBalancing, NodeId};

use crate::Plan;
use crate::profile::Routing;

/// In place of a port: a switch has no way to a frame's destination.
pub(crate) const NO_ROUTE: u16 = u16::MAX;

/// The nodes of a way that a packet knows: five switches of a three-tier Clos, and the destination. Routes are asked for
/// those behind them.
const HOPS: usize = 6;

/// In place of a port: the switch chooses as the packet arrives.
pub(crate) const ANY: u16 = NO_ROUTE - 1;
const _: () = assert!(MAX_PORTS <= ANY as usize, "it is no port's number");

/// In place of a port: routes are to be asked. It may be a port's number: then they say so.
const ASK: u16 = NO_ROUTE - 2;

/// Places for each host: few of its flows share one with another that sends at the same time.
const PLACES: usize = 16;

/// The ports by which the next switches forward a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// Those of the nodes on the way, the first switch first; [`NO_ROUTE`] at the destination.
    ports: [u16; HOPS],
    /// The nodes that the packet has been sent to.
    sent: u8,
}

impl Path {
    /// Nothing is known.
    pub(crate) const UNKNOWN: Self = Self { ports: [ASK; HOPS], sent: 0 };

    /// The packet is sent to the next node: the port by which that one will forward it, or [`NO_ROUTE`], if that is known.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<u16> {
        let port = *self.ports.get(usize::from(self.sent))?;
        self.sent += 1;
        (port != ASK).then_some(port)
    }

    /// What a packet meets between two ends.
    fn between(ends: Ends, routing: &impl Routing, plan: &Plan, adjacency: &Adjacency) -> Self {
        let Ends { source, destination, flow_hash } = ends;
        let mut path = Self::UNKNOWN;
        let neighbour = |node: NodeId, port: u16| {
            adjacency.ports_of(node).get(usize::from(port)).map(|neighbour| neighbour.node)
        };
        let mut node = neighbour(source, 0);
        for port in &mut path.ports {
            let switch = node.filter(|&node| plan.topology.is_switch(node));
            if switch.is_some_and(|node| plan.load_balancing_of(node) != LoadBalancing::Ecmp) {
                break; // Where it goes on from here is not known.
            }
            let egress =
                switch.and_then(|node| routing.egress(node, source, destination, flow_hash));
            let (Some(switch), Some(egress)) = (switch, egress) else {
                *port = NO_ROUTE;
                break;
            };
            *port = egress;
            node = neighbour(switch, egress);
        }
        path
    }
}

/// What a path follows from, where routes do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) source: NodeId,
    pub(super) destination: NodeId,
    /// As [`Routing::egress`] has it.
    pub(super) flow_hash: u32,
}

/// The paths of a host's flows that have sent of late: each has a place by a hash of its ends, and gives it up to the
/// next flow of that place.
type Known = [(Ends, Path); PLACES];

/// The paths of all hosts' flows.
#[derive(Debug)]
pub(super) struct Paths {
    /// By host; none if routes may change.
    known: Vec<Known>,
}

impl Paths {
    /// For a part of a network with so many hosts, whose queue pairs have so many [entropy
    /// fields](rocelab_transport::PathEntropy) each. If they have more than there are places, nothing is known: hardly a
    /// packet would find its path.
    pub(super) fn new(hosts: usize, entropies: u32) -> Self {
        if entropies as usize > PLACES {
            return Self::unknown();
        }
        let nobody = Ends { source: NodeId::MAX, destination: NodeId::MAX, flow_hash: 0 };
        // Before the memory is touched: the system gives pages their size as it gives them.
        let mut known = Vec::with_capacity(hosts);
        ask_for_large_pages(&known);
        known.resize(hosts, [(nobody, Path::UNKNOWN); PLACES]);
        Self { known }
    }

    /// Of a network whose routes may change, or that floods frames: nothing is known.
    pub(super) const fn unknown() -> Self {
        Self { known: Vec::new() }
    }

    /// The path of a packet that leaves `host`.
    #[inline(always)]
    pub(super) fn of(
        &mut self,
        host: u32,
        ends: Ends,
        routing: &impl Routing,
        (plan, adjacency): (&Plan, &Adjacency),
    ) -> Path {
        let Some(known) = self.known.get_mut(host as usize) else { return Path::UNKNOWN };
        let (of, path) = &mut known[ends.hash() % PLACES];
        if *of != ends {
            *of = ends;
            *path = Path::between(ends, routing, plan, adjacency);
        }
        *path
    }
}

impl Ends {
    #[inline(always)]
    fn hash(self) -> usize {
        // Odd constants of 32 random bits: ends that differ in one number go to places far from each other.
        let mixed = self
            .flow_hash
            .wrapping_add(self.source.wrapping_mul(0x9e37_79b1))
            .wrapping_add(self.destination.wrapping_mul(0x85eb_ca77))
            .wrapping_mul(0xc2b2_ae3d);
        (mixed >> 16) as usize
    }
}
