//! From a plan to a network at time zero.

use std::sync::Arc;

use rocelab_engine::{EventKey, EventQueue, Foresight, Tie, TieOrder, ask_for_large_pages};
use rocelab_fabric::topology::{Adjacency, Neighbour, Partitioning};
use rocelab_fabric::{MIN_FRAME, NodeId, NodeKind, PacketId, Port, Scheduler, Serialisation};
use rocelab_units::{Duration, SimTime};

use super::contents::Contents;
use super::crossing::Outbox;
use super::departure::Takes;
use super::failure::Rerouted;
use super::faults::Faults;
use super::integrity::FlowEnds;
use super::owners::Owners;
use super::packet::PacketPool;
use super::part::{Part, PortPlaces};
use super::path::Paths;
use super::telemetry::Telemetry;
use super::units::SAME_UNIT;
use super::{
    Event, FarEnd, Flows, Host, Network, NetworkPort, Node, Operations, Role, Switch, Totals,
};
use crate::address::path_entropy;
use crate::profile::{BuildError, EndHost, FlowStarts, Marking, Profile, Shared};
use crate::{Plan, Side};

/// The origin, in event keys, of what no node causes. Node n has origin n + 1.
const OUTSIDE: u32 = 0;

/// What all parts of a network have in common.
#[derive(Debug)]
pub struct Setting<P: Profile> {
    plan: Arc<Plan>,
    adjacency: Arc<Adjacency>,
    routing: Arc<P::Routing>,
    /// Those that were made last as something broke or was mended.
    rerouted: Arc<Rerouted<P>>,
    owners: Option<Arc<Owners>>,
    units: Partitioning,
}

impl<P: Profile> Setting<P> {
    /// What the parts of a network of `plan` have in common at time zero.
    ///
    /// # Errors
    /// If a flow has no way.
    pub fn new(plan: Arc<Plan>) -> Result<Self, BuildError> {
        Ok(Self {
            adjacency: Arc::new(plan.topology.adjacency()),
            routing: Arc::new(P::routing(&plan, &plan.active_links)?),
            rerouted: Arc::new(Rerouted::default()),
            owners: Owners::new(&plan).map(Arc::new),
            units: super::units::units_of(&plan),
            plan,
        })
    }

    /// The plan of the network.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How nodes are put into units.
    pub(crate) fn units(&self) -> &Partitioning {
        &self.units
    }

    /// The least time from the start of a frame at one end of any of these links to its arrival at the other,
    /// after which what happens there can be felt here; for ever if there are none. It is that of the shortest
    /// frame (IEEE 802.3), and of one that is cut through these are the bytes that a switch waits for.
    pub(crate) fn lookahead(&self, links: impl Iterator<Item = u32>) -> Duration {
        let taken = |way: P::Link| way.transmit(SimTime::ZERO, MIN_FRAME).arrival;
        let least = links.flat_map(|link| self.ways_over(link)).map(taken).min();
        least.unwrap_or(SimTime::NEVER).since(SimTime::ZERO)
    }

    /// Both directions of a link.
    fn ways_over(&self, link: u32) -> [P::Link; 2] {
        let ends = &self.plan.topology.links[link as usize];
        [ends.a, ends.b].map(|node| P::link(&self.plan, &Neighbour { node, link }))
    }
}

impl Plan {
    /// Hash of a flow's addresses and entropy field: what equal-cost multipath goes by.
    pub fn flow_hash(&self, source: NodeId, destination: NodeId, entropy: u32) -> u32 {
        crate::address::flow_hash(self.roce.encapsulation, source, destination, entropy)
    }

    /// The entropy fields that packets of a queue pair may have whose first is `entropy`: as many as the
    /// policy of path entropy has numbers.
    pub(crate) fn entropies(&self, entropy: u32) -> impl Iterator<Item = u32> + Clone {
        let encapsulation = self.roce.encapsulation;
        let numbers = self.common_queue_pair().path_entropy.numbers();
        (0..numbers).map(move |place| path_entropy(encapsulation, entropy, place))
    }

    /// The [hashes](Self::flow_hash) of these but the first.
    pub(crate) fn more_flow_hashes(
        &self,
        source: NodeId,
        destination: NodeId,
        entropy: u32,
    ) -> Vec<u32> {
        let more = self.entropies(entropy).skip(1);
        more.map(|entropy| self.flow_hash(source, destination, entropy)).collect()
    }
}

/// How many steps of prefetching there are, by how much of the state of so many ports, with their packets and hosts,
/// is in the caches of a core: measured, on a processor with 1 MiB of L2 cache a core.
const fn foresight(ports: usize) -> Foresight {
    match ports {
        ..=512 => Foresight::Nothing,
        513..=2_400 => Foresight::One,
        2_401..=16_000 => Foresight::Two,
        _ => Foresight::Three,
    }
}

impl<P: Profile> Network<P> {
    /// The network of `plan` at time zero, with its first events.
    ///
    /// # Errors
    /// If switch memory cannot be divided as asked, or a flow has no way.
    pub fn new(plan: Arc<Plan>) -> Result<Self, BuildError> {
        let part = Part::whole(&plan);
        let setting = Setting::new(plan)?;
        Self::of_part(&setting, part)
    }

    /// One part of a network at time zero, with its first events.
    ///
    /// # Errors
    /// If switch memory cannot be divided as asked.
    pub fn of_part(setting: &Setting<P>, part: Part) -> Result<Self, BuildError> {
        let Setting { plan, adjacency, routing, rerouted, owners, .. } = setting;
        let plan = Arc::clone(plan);
        let places = PortPlaces::new(&plan, adjacency, &part);
        let shared = P::shared(&plan, &places.all, |node| part.has(node))?;
        let mut network = Self {
            adjacency: Arc::clone(adjacency),
            routing: Arc::clone(routing),
            queue: EventQueue::new(),
            routing_when_whole: None,
            rerouted: Arc::clone(rerouted),
            active_links: plan.active_links.clone(),
            outages: super::failure::Outages::new(&plan.active_links),
            link_rates: super::link_rates::LinkRates::default(),
            watchdogs: super::watchdog::Watchdogs::default(),
            receivers: super::receiver::Receivers::default(),
            idle_backlogs: super::idle_backlog::IdleBacklogs::default(),
            pool: PacketPool::default(),
            paths: Paths::unknown(),
            nodes: Vec::with_capacity(plan.topology.nodes.len()),
            ports: Vec::with_capacity(places.all.len()),
            hosts: Vec::new(),
            switches: Vec::new(),
            sampling: super::sampling::Sampling::default(),
            deliveries: super::deliveries::Deliveries::new(&plan),
            order: P::Order::default(),
            outside: P::Order::of_node(OUTSIDE),
            starts: P::starts(&plan, |node| part.has(node)),
            flows: Flows::default(),
            operations: Operations::default(),
            telemetry: Telemetry::new(&plan, places.all.len(), P::base_rtt(&plan, &shared)),
            shared,
            faults: None,
            contents: Contents::default(),
            sacks: super::tcp::Sacks::default(),
            flow_ends: (plan.integrity || !plan.service().is_reliable()).then(FlowEnds::default),
            notes: None,
            owners: owners.clone(),
            tables: None,
            capture: None,
            passed: None,
            records: super::Records::of(plan.topology.nodes.len()),
            totals: Totals::default(),
            opcodes: Box::new([0; 256]),
            outbox: Outbox::default(),
            places,
            units: Vec::new(),
            part,
            plan,
        };
        let hosts = network.plan.topology.hosts().filter(|&host| network.part.has(host)).count();
        network.hosts.reserve_exact(hosts);
        ask_for_large_pages(&network.hosts);
        ask_for_large_pages(&network.ports);
        network.add_nodes()?;
        network.add_ports();
        network.queue.foresee(foresight(network.ports.len()));
        network.add_faults();
        network.add_hop_limits();
        network.add_tables();
        network.add_slow_receivers();
        network.add_flows();
        network.add_apps();
        network.add_failures();
        network.add_paths();
        network.add_watchdogs();
        network.add_samplers();
        Ok(network)
    }

    fn add_nodes(&mut self) -> Result<(), BuildError> {
        let (plan, adjacency) = (Arc::clone(&self.plan), Arc::clone(&self.adjacency));
        for (node, description) in (0u32..).zip(&plan.topology.nodes) {
            let first_port = self.places.first_of(node);
            let role = match description.kind {
                _ if !self.part.has(node) => Role::Elsewhere(self.part.cut().part_of(node)),
                NodeKind::Host => {
                    let end_host = P::end_host(&plan, node, &adjacency);
                    self.hosts.push(Host {
                        node,
                        port: first_port,
                        end_host,
                        digest: 0,
                        stopped: false,
                        down: 0,
                    });
                    Role::Host(index(self.hosts.len()))
                }
                NodeKind::Switch { .. } => {
                    let buffer = P::buffer(&plan, node, &adjacency)?;
                    let priorities = P::priorities_in(&plan, node);
                    self.switches.push(Switch { node, buffer, priorities, unreturned: 0 });
                    Role::Switch(index(self.switches.len()))
                }
            };
            self.nodes.push(Node { role, first_port, order: P::Order::of_node(node + 1) });
        }
        Ok(())
    }

    /// Packets know their way where routes are fixed and nothing is flooded.
    fn add_paths(&mut self) {
        if !self.may_routes_change() && self.tables.is_none() {
            self.paths = Paths::new(self.hosts.len());
        }
    }

    /// Whether links may fail.
    fn may_routes_change(&self) -> bool {
        !self.plan.failures.steps.is_empty() || self.plan.link_failure().is_some()
    }

    fn add_ports(&mut self) {
        for place in 0..self.places.all.len() {
            let port = self.port_at(place);
            self.ports.push(port);
        }
    }

    /// The port at a place: one of a node here, or at the other end of a link that is cut.
    fn port_at(&self, place: usize) -> NetworkPort<P> {
        let (node, number) = self.places.all[place];
        let neighbour = &self.adjacency.ports_of(node)[usize::from(number)];
        let is_switch = matches!(self.nodes[node as usize].role, Role::Switch(_));
        let marking = is_switch.then(|| P::marking(&self.plan, node, number, neighbour)).flatten();
        let lossy = self.shared.is_lossy(u32::try_from(place).unwrap_or(u32::MAX));
        let far = self.far_end(neighbour, lossy);
        NetworkPort {
            port: Port::with_flow_control(
                P::link(&self.plan, neighbour),
                Scheduler::new(&P::scheduler(&self.plan, node, number)),
                P::flow_control(&self.plan, node, number),
            )
            .with_extras(P::port_extras(&self.plan, node, number)),
            last: PacketId::NONE,
            departs_specially: self.telemetry.is_some()
                || far.cuts_through
                || matches!(far.role, Role::Elsewhere(_)),
            far,
            node,
            role: self.nodes[node as usize].role,
            number,
            free_armed: false,
            free_tie: Tie::default(),
            timeout_armed: SimTime::NEVER,
            marks_departures: marking.as_ref().is_some_and(Marking::marks_departures),
            marks_above: marking.as_ref().map_or(u32::MAX, Marking::quiet_up_to),
            marking: marking.map(Box::new),
            doomed: 0,
            captured: None,
            frames: 0,
            bytes: 0,
            ecn_marks: 0,
            max_queue_bytes: 0,
        }
    }

    /// The other end of a port's link.
    fn far_end(&self, neighbour: &Neighbour, lossy: bool) -> FarEnd {
        let Neighbour { node, link } = *neighbour;
        let number = self.adjacency.port_of_link(node, link).unwrap_or(0);
        let port = self.places.at_link(node, link, &self.adjacency, self.part.cut());
        let role = self.nodes[node as usize].role;
        // Where what becomes of a frame on the link may change after it was sent, it is asked about as it arrives.
        let may_change = self.may_routes_change();
        FarEnd {
            port: port.unwrap_or(u32::MAX),
            node,
            role,
            first_port: self.nodes[node as usize].first_port,
            number: u16::try_from(number).unwrap_or(u16::MAX),
            beyond: SAME_UNIT,
            takes: match role {
                _ if lossy || may_change => Takes::Any,
                Role::Switch(_) => Takes::Packets,
                Role::Host(host) => Takes::PacketsOf(host),
                Role::Elsewhere(_) => Takes::Any,
            },
            special: lossy,
            cuts_through: self.plan.cuts_through(node),
        }
    }

    /// Has the links watched that fault rules name.
    fn add_faults(&mut self) {
        let place_of = |node: NodeId, number: u16| {
            let link = self.adjacency.ports_of(node).get(usize::from(number))?.link;
            self.port_at_link(node, link)
        };
        let Some(faults) = Faults::new(&self.plan, self.ports.len(), place_of) else { return };
        for (place, port) in (0u32..).zip(&mut self.ports) {
            if faults.watches(place) {
                port.far.look_at_arrivals();
            }
        }
        self.faults = Some(faults);
        self.notes.get_or_insert_default();
    }

    /// Tells every host of its flows, and arms the first starts.
    fn add_flows(&mut self) {
        let plan = Arc::clone(&self.plan);
        for (number, flow) in (0u32..).zip(&plan.flows) {
            for node in [flow.source, flow.destination] {
                if let Role::Host(host) = self.nodes[node as usize].role {
                    self.hosts[host as usize].end_host.expect(number, flow);
                }
            }
        }
        let Self { starts, order, nodes, queue, .. } = self;
        starts.arm(&plan, |node, time, ticket| {
            let tie = order.reserve(&mut nodes[node as usize].order);
            queue.push(EventKey { time, tie }, Event::FlowStart { ticket });
        });
    }

    /// Arms the wake-ups of hosts on which programs start.
    fn add_apps(&mut self) {
        let clients = self.plan.connections.iter().map(|one| one.end(Side::Client).host);
        let here = clients.filter(|&host| self.part.has(host)).count();
        self.operations.open_connections = u32::try_from(here).unwrap_or(u32::MAX);
        if self.plan.connections.is_empty() || self.hosts.is_empty() {
            return;
        }
        for host in (0u32..).take(self.hosts.len()) {
            let key = EventKey { time: SimTime::ZERO, tie: Tie::default() };
            self.arm_host_timeout(key, host);
        }
    }
}

/// The place of the last of `len` items.
fn index(len: usize) -> u32 {
    u32::try_from(len - 1).unwrap_or(u32::MAX)
}
