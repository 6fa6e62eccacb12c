//! From a plan to a network at time zero.

use std::sync::Arc;

use rocelab_engine::{EventKey, EventQueue, Foresight, Tie, TieOrder, ask_for_large_pages};
use rocelab_fabric::topology::Neighbour;
use rocelab_fabric::{LoadBalancing, NodeKind, PacketId, Port, PortExtras, Scheduler};
use rocelab_units::SimTime;

use super::capture::Capture;
use super::contents::Contents;
use super::core::Network;
use super::course::Course;
use super::event::Event;
use super::failure::{Failing, Failures};
use super::feature::SetUp;
use super::features::{ArrivalFeatures, Features};
use super::layout::Layout;
use super::node::Priorities;
use super::node::{Host, Node, Role, Switch};
use super::packet::PacketPool;
use super::part::{Part, PortPlaces};
use super::path::Paths;
use super::port::{FarEnd, FarSwitch, NetworkPort, RarePortState, SAME_UNIT, Sent, Takes};
use super::sacks::Sacks;
use super::setting::Setting;
use super::side::SideData;
use super::telemetry::Telemetry;
use super::watchdog::Watching;
use crate::Plan;
use crate::profile::{BuildError, EndHost, FlowStarts, Inspect, Marking, Profile, Shared};

/// The origin, in event keys, of what no node causes. Node n has origin n + 1.
const OUTSIDE: u32 = 0;

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
            routing: Arc::clone(routing),
            queue: EventQueue::new(),
            pool: PacketPool::default(),
            nodes: Vec::with_capacity(plan.topology.nodes.len()),
            ports: Vec::with_capacity(places.all.len()),
            hosts: Vec::new(),
            switches: Vec::new(),
            order: P::Order::default(),
            course: Course::new(&plan, P::starts(&plan, |node| part.has(node))),
            side: SideData {
                contents: Contents::default(),
                sacks: Sacks::default(),
                telemetry: Telemetry::new(&plan, places.all.len(), P::base_rtt(&plan, &shared)),
                notes: None,
            },
            failures: Failures::new(&plan.active_links, Arc::clone(rerouted)),
            features: Features::new(owners.clone(), P::Order::of_node(OUTSIDE)),
            layout: Layout {
                adjacency: Arc::clone(adjacency),
                part,
                places,
                paths: Paths::unknown(),
                units: Vec::new(),
            },
            shared,
            plan,
        };
        let (topology, part) = (&network.plan.topology, &network.layout.part);
        network.hosts.reserve_exact(topology.hosts().filter(|&host| part.has(host)).count());
        ask_for_large_pages(&network.hosts);
        ask_for_large_pages(&network.ports);
        let mut building = Building(&mut network);
        building.add_nodes()?;
        building.add_ports();
        building.0.queue.foresee(foresight(building.0.ports.len()));
        let features = ArrivalFeatures::set_up(&mut building.0.setting_up());
        building.0.features.arrivals = features;
        building.add_flows();
        building.add_apps();
        Failing(building.0).add_failures();
        building.add_paths();
        Watching(building.0).add_watchdogs();
        building.0.measuring().add_samplers();
        Ok(network)
    }

    /// This part of a network, in which features are set up.
    fn setting_up(&mut self) -> SetUp<'_, P> {
        let Self { plan, layout, nodes, hosts, switches, ports, side, .. } = self;
        SetUp { plan, layout, nodes, hosts, switches, ports, side }
    }

    /// Captures the plan's ports from now on.
    pub(crate) fn start_capture(&mut self) {
        let owners = self.features.owners.clone();
        self.features.arrivals.capture = Capture::start(&mut self.setting_up(), owners);
    }
}

/// A network that is being made.
#[derive(Debug)]
pub(super) struct Building<'a, P: Profile>(pub(in crate::network) &'a mut Network<P>);

impl<P: Profile> Building<'_, P> {
    fn add_nodes(&mut self) -> Result<(), BuildError> {
        let (plan, adjacency) = (Arc::clone(&self.0.plan), Arc::clone(&self.0.layout.adjacency));
        for (node, description) in (0u32..).zip(&plan.topology.nodes) {
            let first_port = self.0.layout.places.first_of(node);
            let role = match description.kind {
                _ if !self.0.layout.part.has(node) => {
                    Role::Elsewhere(self.0.layout.part.cut().part_of(node))
                }
                NodeKind::Host => {
                    let end_host = P::end_host(&plan, node, &adjacency);
                    self.0.hosts.push(Host {
                        node,
                        port: first_port,
                        end_host,
                        digest: 0,
                        stopped: false,
                        down: 0,
                    });
                    Role::Host(index(self.0.hosts.len()))
                }
                NodeKind::Switch { .. } => {
                    let buffer = P::buffer(&plan, node, &adjacency)?;
                    let priorities = Priorities::new(&P::priorities_in(&plan, node));
                    self.0.switches.push(Switch { node, buffer, priorities, unreturned: 0 });
                    Role::Switch(index(self.0.switches.len()))
                }
            };
            self.0.nodes.push(Node { role, first_port, order: P::Order::of_node(node + 1) });
        }
        Ok(())
    }

    /// Packets know their way where routes are fixed and nothing is flooded.
    fn add_paths(&mut self) {
        let is_layered = self.0.plan.roce.domains.is_some();
        let floods = self.0.features.arrivals.forwarding.is_some();
        if !self.may_routes_change() && !floods && !is_layered {
            let entropies = self.0.plan.common_queue_pair().path_entropy.numbers();
            self.0.layout.paths = Paths::new(self.0.hosts.len(), entropies);
        }
    }

    /// Whether links may fail.
    fn may_routes_change(&self) -> bool {
        !self.0.plan.failures.steps.is_empty() || self.0.plan.link_failure().is_some()
    }

    fn add_ports(&mut self) {
        for place in 0..self.0.layout.places.all.len() {
            let port = self.port_at(place);
            self.0.ports.push(port);
        }
    }

    /// The port at a place: one of a node here, or at the other end of a link that is cut.
    fn port_at(&self, place: usize) -> NetworkPort<P> {
        let (node, number) = self.0.layout.places.all[place];
        let neighbour = &self.0.layout.adjacency.ports_of(node)[usize::from(number)];
        let is_switch = matches!(self.0.nodes[node as usize].role, Role::Switch(_));
        let (plan, adjacency) = (&self.0.plan, &self.0.layout.adjacency);
        let marking =
            is_switch.then(|| P::marking(plan, node, number, neighbour, adjacency)).flatten();
        let lossy = self.0.shared.is_lossy(u32::try_from(place).unwrap_or(u32::MAX));
        let far = self.far_end(neighbour, lossy);
        NetworkPort {
            port: Port::with_flow_control(
                P::link(&self.0.plan, neighbour),
                Scheduler::new(&P::scheduler(&self.0.plan, node, number)),
                P::flow_control(&self.0.plan, node, number, &self.0.layout.adjacency),
            )
            .with_extras(PortExtras::with_inputs(
                P::port_extras(&self.0.plan, node, number),
                P::input_queues(&self.0.plan, node, &self.0.layout.adjacency),
            )),
            last: PacketId::NONE,
            departs_specially: self.0.side.telemetry.is_some()
                || self.0.plan.infiniband.is_some()
                || far.switch.cuts_through()
                || matches!(far.role, Role::Elsewhere(_)),
            far,
            node,
            role: self.0.nodes[node as usize].role,
            number,
            free_armed: false,
            free_tie: Tie::default(),
            marks_departures: marking.as_ref().is_some_and(Marking::marks_departures),
            marks_above: marking.as_ref().map_or(u32::MAX, Marking::quiet_up_to),
            marking: marking.map(Box::new),
            sent: Sent::default(),
            rare: RarePortState::default(),
        }
    }

    /// The other end of a port's link.
    fn far_end(&self, neighbour: &Neighbour, lossy: bool) -> FarEnd {
        let Neighbour { node, link } = *neighbour;
        let number = self.0.layout.adjacency.port_of_link(node, link).unwrap_or(0);
        let port = self.0.layout.places.at_link(
            node,
            link,
            &self.0.layout.adjacency,
            self.0.layout.part.cut(),
        );
        let role = self.0.nodes[node as usize].role;
        // Where what becomes of a frame on the link may change after it was sent, it is asked about as it arrives.
        let counts = self.0.plan.infiniband.is_some();
        let may_change = self.may_routes_change() || counts;
        let chooses = self.0.plan.load_balancing_of(node) != LoadBalancing::Ecmp;
        FarEnd {
            port: port.unwrap_or(u32::MAX),
            node,
            role,
            first_port: self.0.nodes[node as usize].first_port,
            number: u16::try_from(number).unwrap_or(u16::MAX),
            beyond: SAME_UNIT,
            takes: match role {
                _ if lossy || may_change => Takes::Any,
                Role::Switch(_) => Takes::Packets,
                Role::Host(host) => Takes::PacketsOf(host),
                Role::Elsewhere(_) => Takes::Any,
            },
            special: lossy || counts,
            switch: FarSwitch::new(self.0.plan.cuts_through(node), chooses),
        }
    }

    /// Tells every host of its flows, and arms the first starts.
    fn add_flows(&mut self) {
        let plan = Arc::clone(&self.0.plan);
        for (number, flow) in (0u32..).zip(&plan.flows) {
            for node in [flow.source, flow.destination] {
                if let Role::Host(host) = self.0.nodes[node as usize].role {
                    self.0.hosts[host as usize].end_host.expect(number, flow);
                }
            }
        }
        let Network { course: Course { starts, .. }, order, nodes, queue, .. } = self.0;
        starts.arm(&plan, |node, time, ticket| {
            let tie = order.reserve(&mut nodes[node as usize].order);
            queue.push(EventKey { time, tie }, Event::FlowStart { ticket });
        });
    }

    /// Arms the wake-ups of hosts on which programs, streams or pings start.
    fn add_apps(&mut self) {
        let open = self.0.hosts.iter().map(|host| host.end_host.open_connections());
        self.0.course.operations.open_connections = open.sum();
        let plan = &self.0.plan;
        let has_any = !plan.connections.is_empty()
            || !plan.streams.all.is_empty()
            || plan.monitoring.is_some();
        if !has_any || self.0.hosts.is_empty() {
            return;
        }
        for host in (0u32..).take(self.0.hosts.len()) {
            let key = EventKey { time: SimTime::ZERO, tie: Tie::default() };
            self.0.arm_host_timeout(key, host);
        }
    }
}

/// The place of the last of `len` items.
fn index(len: usize) -> u32 {
    u32::try_from(len - 1).unwrap_or(u32::MAX)
}
