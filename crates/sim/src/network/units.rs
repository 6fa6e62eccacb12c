//! The units of a network, each of which [runs its own window](rocelab_engine::Windows): a node, or a switch and
//! its hosts.
//!
//! Nodes of different units affect each other by frames only, as those of different parts do; but
//! units share the memory of their part, so a frame crosses from one to another without being moved.

use rocelab_engine::Windows;
use rocelab_fabric::NodeId;
use rocelab_fabric::topology::Partitioning;
use rocelab_units::Duration;

use super::{Event, Network, Setting};
use crate::Plan;
use crate::profile::{FlowStarts, Profile};

/// The receiver of a frame is in the sender's unit, or there is only one.
pub(super) const SAME_UNIT: u32 = u32::MAX;

/// Links of hosts as long as this let each host be a unit of its own: so much happens there in a window that it pays
/// to have the state of one node alone in the first cache. Over shorter links windows would be too short.
const LONG: Duration = Duration::from_ns(500);

/// The least number of hosts that are units of their own. The caches hold all of a smaller network.
const MANY: usize = 128;

/// Windows shorter than this have too few events each to pay, but in a network of more than [`FEW_PORTS`] ports, whose
/// state no cache holds.
const SHORT: Duration = Duration::from_ns(100);
const FEW_PORTS: usize = 16_000;

/// The units of a plan's topology. There is only one where the order of events depends on that.
pub(super) fn units_of(plan: &Plan) -> Partitioning {
    let Plan { topology, .. } = plan;
    if plan.profile.hpcc_ns3().is_some() {
        return Partitioning::whole(topology);
    }
    let adjacency = topology.adjacency();
    let is_long = |host: NodeId| {
        let mut links = adjacency.ports_of(host).iter().map(|port| port.link as usize);
        links.all(|link| topology.links[link].delay >= LONG)
    };
    let mut units: Vec<NodeId> = (0..).take(topology.nodes.len()).collect();
    if topology.host_count() < MANY || !topology.hosts().all(is_long) {
        for host in topology.hosts() {
            if let Some(port) = adjacency.ports_of(host).first() {
                units[host as usize] = port.node;
            }
        }
    }
    Partitioning::by_parts(&units)
}

impl<P: Profile> Network<P> {
    /// Puts its nodes into units, those of the whole network as far as they are in this part, if that pays or was
    /// asked for.
    pub(crate) fn divide(&mut self, setting: &Setting<P>) -> Windows<Event> {
        let cut = self.part.share_cut();
        let all = cut.units().unwrap_or(setting.units());
        let lookahead = self.lookahead_of_units(all, setting);
        let pays = lookahead >= SHORT || self.ports.len() > FEW_PORTS;
        let count = if pays || cut.units().is_some() { self.number_units(all) } else { 1 };
        Windows::new(count, lookahead)
    }

    /// Gives the units of this part numbers, and says at each port in which of them frames arrive. How many there are.
    fn number_units(&mut self, all: &Partitioning) -> u32 {
        let own = |node: &NodeId| self.part.has(*node);
        let nodes = || (0u32..).take(self.nodes.len());
        let mut here: Vec<u32> = nodes().filter(own).map(|node| all.part_of(node)).collect();
        here.sort_unstable();
        here.dedup();
        if here.len() < 2 {
            return 1;
        }
        let number = |node: NodeId| {
            let place = here.binary_search(&all.part_of(node)).ok();
            place.and_then(|place| u32::try_from(place).ok()).unwrap_or(SAME_UNIT)
        };
        let units: Vec<u32> = nodes().map(number).collect();
        for port in &mut self.ports {
            let (from, to) = (port.node, port.far.node);
            let is_same = self.part.has(from) && units[from as usize] == units[to as usize];
            if self.part.has(to) && !is_same {
                port.far.beyond = units[to as usize];
            }
        }
        self.units = units;
        u32::try_from(here.len()).unwrap_or(1)
    }

    /// The least time from the start of a frame in one unit to its arrival in another, or in another part:
    /// no window is longer than that between parts.
    fn lookahead_of_units(&self, all: &Partitioning, setting: &Setting<P>) -> Duration {
        let unit = |node: NodeId| self.part.has(node).then(|| all.part_of(node));
        let links = (0u32..).zip(&self.plan.topology.links);
        let crossing = links.filter(|(_, link)| unit(link.a) != unit(link.b));
        setting.lookahead(crossing.map(|(link, _)| link))
    }

    /// The node at which an event happens, if it happens at one.
    pub(crate) fn scene_of(&self, event: &Event) -> Option<NodeId> {
        let host = |host: u32| self.hosts[host as usize].node;
        match *event {
            Event::Arrive { port, .. } | Event::LineDue { port } | Event::HoldDue { port } => {
                Some(self.ports[port as usize].far.node)
            }
            Event::Forward { egress: port, .. }
            | Event::PortFree { port }
            | Event::PortTimeout { port } => Some(self.ports[port as usize].node),
            Event::NicTimeout { host: here }
            | Event::Handled { host: here }
            | Event::Deliver { host: here, .. } => Some(host(here)),
            Event::FlowStart { ticket } => self.starts.host_of(&self.plan, ticket),
            Event::Sample { sampler } => Some(self.sampling.samplers[sampler as usize].node),
            Event::LinkFailure { .. } | Event::Failure { .. } | Event::Watchdog => None,
        }
    }
}
