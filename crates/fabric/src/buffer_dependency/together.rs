//! The dependencies of many destinations at once, with a bit for each destination.
//!
//! This works where a switch forwards by the destination only, and all hosts send. Then it is not
//! necessary to follow each destination's frames through the network. For each switch, the set of
//! destinations whose frames come there is computed; the frames on a link are the subset that the
//! sender forwards by it. One buffer waits for another if the two sets, of frames that enter and of
//! frames that leave, have a destination in common.

use super::route_function::LastSwitchFloods;
use super::{BufferDependencies, Ports};
use crate::Routes;
use crate::topology::{NodeId, Topology};

/// Words of a set. Destinations are handled in groups, so that a set is one cache line.
const WORDS: usize = 8;

/// A bit for each destination of a group.
type Set = [u64; WORDS];

const NOTHING: Set = [0; WORDS];

impl BufferDependencies {
    /// How many destinations [`add_destinations`](Self::add_destinations) handles together.
    pub const GROUP: usize = WORDS * 64;

    /// The dependencies of all frames from any host to any other, as
    /// [`of_all_pairs`](Self::of_all_pairs) finds them for [`Routes`]. The routes to one attached
    /// host of a switch must be those to all of its attached hosts.
    pub fn of_shortest_paths(topology: &Topology, routes: &Routes) -> Self {
        let mut all = Self::new(topology);
        let host_of = |switch: NodeId| {
            let mut far = all.ports.adjacency.ports_of(switch).iter().map(|port| port.node);
            far.find(|&node| all.ports.is_host[node as usize] && routes.is_attached(node))
        };
        let destinations: Vec<_> = topology.switches().filter_map(host_of).collect();
        all.add_destinations(topology, routes, &destinations, None);
        all
    }

    /// Adds the dependencies of frames from all hosts to the hosts `destinations`, as
    /// [`add_destination`](Self::add_destination) does for each.
    ///
    /// With `flooded`, the last switch before each destination also sends copies by all ports to
    /// other switches whose links are active in that list (by index into [`Topology::links`]),
    /// except the ingress port; those switches drop them. A frame that it forwards to another
    /// switch by a static route is not such a copy: it goes on.
    pub fn add_destinations(
        &mut self,
        topology: &Topology,
        routes: &Routes,
        destinations: &[NodeId],
        flooded: Option<&[bool]>,
    ) {
        let (together, alone): (Vec<_>, Vec<_>) =
            destinations.iter().partition(|&&host| self.can_be_grouped(routes, host));
        self.add_alone(topology, routes, alone, flooded);
        let switches = Switches::new(topology, &self.ports, routes);
        for group in together.chunks(Self::GROUP) {
            let forwarding = Forwarding::new(&self.ports, routes, &switches, group);
            let waits = forwarding.waits(flooded);
            for (ingress, port) in waits {
                self.add(ingress, port);
            }
        }
    }

    /// Follows the frames to each of these hosts, one host after the other.
    fn add_alone(
        &mut self,
        topology: &Topology,
        routes: &Routes,
        destinations: Vec<NodeId>,
        flooded: Option<&[bool]>,
    ) {
        if destinations.is_empty() {
            return;
        }
        let floods = flooded.map(|active| LastSwitchFloods::new(topology, routes, active));
        for destination in destinations {
            match &floods {
                Some(floods) => self.add_destination(floods, destination, topology.hosts()),
                None => self.add_destination(routes, destination, topology.hosts()),
            }
        }
    }

    /// Whether a destination has a column in the table, and is attached to exactly one switch.
    fn can_be_grouped(&self, routes: &Routes, host: NodeId) -> bool {
        routes.column_of(host).is_some() && self.ports.adjacency.ports_of(host).len() == 1
    }
}

/// The switches, numbered without gaps.
struct Switches {
    nodes: Vec<NodeId>,
    /// Indexed by node; entries of hosts have no meaning.
    numbers: Vec<u32>,
    /// The rows of their routes.
    rows: Vec<usize>,
    has_hosts: Vec<bool>,
}

impl Switches {
    fn new(topology: &Topology, ports: &Ports, routes: &Routes) -> Self {
        let nodes: Vec<NodeId> = topology.switches().collect();
        let mut numbers = vec![0; topology.nodes.len()];
        for (number, &node) in (0..).zip(&nodes) {
            numbers[node as usize] = number;
        }
        let is_host = |node: NodeId| ports.is_host[node as usize];
        let has_host =
            |&node: &NodeId| ports.adjacency.ports_of(node).iter().any(|far| is_host(far.node));
        let has_hosts = nodes.iter().map(has_host).collect();
        let rows = nodes.iter().map(|&node| routes.row_of(node).unwrap_or(0)).collect();
        Self { nodes, numbers, rows, has_hosts }
    }

    fn number(&self, node: NodeId) -> usize {
        self.numbers[node as usize] as usize
    }
}

/// The forwarding of the frames of a group of destinations.
struct Forwarding<'a> {
    ports: &'a Ports,
    switches: &'a Switches,
    /// By row and port: the destinations whose frames leave there.
    leaves: Vec<Set>,
    /// Ports of a row.
    width: usize,
    /// By switch: the destinations that are attached to it.
    own: Vec<Set>,
    /// By switch: the destinations whose frames come there.
    comes: Vec<Set>,
}

impl<'a> Forwarding<'a> {
    fn new(ports: &'a Ports, routes: &Routes, switches: &'a Switches, group: &[NodeId]) -> Self {
        let count = |&node: &NodeId| ports.adjacency.ports_of(node).len();
        let width = switches.nodes.iter().map(count).max().unwrap_or(0);
        let rows = routes.row_count();
        let mut leaves = vec![NOTHING; rows * width];
        let mut own = vec![NOTHING; switches.nodes.len()];
        let mut all = NOTHING;
        for (place, &host) in group.iter().enumerate() {
            let Some((switch, column)) = routes.column_of(host) else { continue };
            insert(&mut own[switches.number(switch)], place);
            insert(&mut all, place);
            for row in 0..rows {
                for &port in routes.ports_in(row, column) {
                    if usize::from(port) < width {
                        insert(&mut leaves[row * width + usize::from(port)], place);
                    }
                }
            }
        }
        let comes = switches.has_hosts.iter().map(|&has| if has { all } else { NOTHING }).collect();
        let mut forwarding = Self { ports, switches, leaves, width, own, comes };
        forwarding.spread();
        forwarding
    }

    /// The destinations whose frames a switch sends by a port.
    fn sent_by(&self, number: usize, port: usize) -> Set {
        let leaves = &self.leaves[self.switches.rows[number] * self.width + port];
        std::array::from_fn(|word| {
            self.comes[number][word] & leaves[word] & !self.own[number][word]
        })
    }

    /// The ports of a switch that lead to other switches: port number, port index, and the other
    /// switch.
    fn inner_ports(&self, number: usize) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let node = self.switches.nodes[number];
        let first = self.ports.adjacency.first_port_index(node);
        let count = self.ports.adjacency.ports_of(node).len();
        let joined = (0..count).filter(move |&port| self.ports.joins_switches(first + port));
        joined.map(move |port| {
            let far = self.ports.owners[self.ports.peers[first + port] as usize];
            (port, first + port, self.switches.number(far))
        })
    }

    /// Computes which frames come to which switch, starting at the switches with hosts.
    fn spread(&mut self) {
        let mut is_open = self.switches.has_hosts.clone();
        let mut open: Vec<usize> = (0..is_open.len()).filter(|&number| is_open[number]).collect();
        let mut head = 0;
        while let Some(&number) = open.get(head) {
            head += 1;
            is_open[number] = false;
            let ports: Vec<_> = self.inner_ports(number).collect();
            for (port, _, far) in ports {
                let sent = self.sent_by(number, port);
                let grown: Set = std::array::from_fn(|word| self.comes[far][word] | sent[word]);
                if grown != self.comes[far] {
                    self.comes[far] = grown;
                    if !is_open[far] {
                        is_open[far] = true;
                        open.push(far);
                    }
                }
            }
        }
    }

    /// The dependencies: indices of ingress ports, each with a port of its switch that it waits
    /// for.
    fn waits(&self, flooded: Option<&[bool]>) -> Vec<(usize, usize)> {
        let mut waits = Vec::new();
        for number in 0..self.switches.nodes.len() {
            let ports: Vec<_> = self.inner_ports(number).collect();
            let sent: Vec<Set> =
                ports.iter().map(|&(port, ..)| self.sent_by(number, port)).collect();
            for &(in_port, index, far) in &ports {
                let peer = self.ports.peers[index] as usize;
                let far_first = self.ports.adjacency.first_port_index(self.switches.nodes[far]);
                let entered = self.sent_by(far, peer - far_first);
                if entered == NOTHING {
                    continue;
                }
                let floods = flooded.filter(|_| meet(&entered, &self.own[number]));
                for (&(port, _, _), sent) in ports.iter().zip(&sent) {
                    let is_flooded = || {
                        floods.is_some_and(|active| {
                            port != in_port && self.is_active(number, port, active)
                        })
                    };
                    if meet(&entered, sent) || is_flooded() {
                        waits.push((index, port));
                    }
                }
            }
        }
        waits
    }

    fn is_active(&self, number: usize, port: usize, active: &[bool]) -> bool {
        let link = self.ports.adjacency.ports_of(self.switches.nodes[number])[port].link;
        active.get(link as usize) == Some(&true)
    }
}

fn insert(set: &mut Set, place: usize) {
    set[place / 64] |= 1 << (place % 64);
}

/// Whether two sets have an element in common.
#[inline]
fn meet(a: &Set, b: &Set) -> bool {
    a.iter().zip(b).fold(0, |common, (a, b)| common | (a & b)) != 0
}
