//! Cyclic buffer dependency: whether pauses can wait for each other in a circle.
//!
//! A lossless ingress buffer that is full pauses the link that fills it, and empties only as the
//! switch sends. So the buffer behind one link waits for the buffer behind the next if some route
//! enters a switch by the one and leaves it by the other. While these dependencies have no cycle,
//! no set of pauses can last for ever, however large the load (Dally and Seitz, "Deadlock-Free
//! Message Routing in Multiprocessor Interconnection Networks", IEEE Transactions on Computers
//! C-36, 1987, of channels; the same of PFC in "RDMA over Commodity Ethernet at Scale", SIGCOMM
//! 2016, section 4.2). A cycle does not mean that there is a deadlock, only that there may be one.
//!
//! [`BufferDependencies`] collects the dependencies of one lossless priority: for each destination
//! it follows the routes of a [`RouteFunction`] from all sources at once, so that its cost grows
//! with links and destinations and not with pairs of hosts; where routes follow from the destination alone,
//! for hundreds of destinations together. [`BufferDependencies::find_cycle`]
//! looks for a cycle; [`LinkFailures`] does so after each single failure of a link.
//!
//! Hosts take all that arrives and forward nothing, so links to and from them are in no cycle.

mod cycle;
mod failures;
mod route_function;
mod shortest_paths;
mod sole_ways;
mod together;

use crate::topology::{Adjacency, NodeId, Topology};

pub use cycle::{BufferWait, DependencyCycle};
pub use failures::{FailureFindings, LinkFailures};
pub use route_function::{FloodedRoutes, RouteFunction, StaticRoutes};

/// Which ingress buffer waits for which, of one lossless priority.
#[derive(Clone, Debug)]
pub struct BufferDependencies {
    ports: Ports,
    /// For each ingress port that faces a switch a row of bits, one for each port of its own
    /// switch: what entered here may leave there, towards a switch.
    rows: Vec<u64>,
    /// Where each port's row starts, and where the last one ends, by port index.
    starts: Vec<usize>,
    trace: Trace,
}

/// All ports of all nodes, numbered in node order (the port's *index*).
#[derive(Clone, Debug)]
struct Ports {
    adjacency: Adjacency,
    /// The node of each port.
    owners: Vec<NodeId>,
    /// The index of the port at the other end of the link.
    peers: Vec<u32>,
    is_host: Vec<bool>,
}

/// What one destination's frames pass through, reused for the next.
#[derive(Clone, Debug, Default)]
struct Trace {
    /// The last trace that has entered by each port, by port index.
    entered: Vec<u32>,
    number: u32,
    open: Vec<u32>,
    scratch: Vec<u16>,
}

impl BufferDependencies {
    /// None yet, over the nodes and links of `topology`, at most
    /// [`MAX_LINKS`](crate::topology::MAX_LINKS) of them.
    ///
    /// # Panics
    /// If a link names a node that does not exist, which [`Topology::check`] reports.
    pub fn new(topology: &Topology) -> Self {
        let ports = Ports::new(topology);
        let mut starts = Vec::with_capacity(ports.owners.len() + 1);
        let mut end = 0;
        for index in 0..ports.owners.len() {
            starts.push(end);
            if ports.joins_switches(index) {
                end += ports.adjacency.ports_of(ports.owners[index]).len().div_ceil(64);
            }
        }
        starts.push(end);
        let trace = Trace { entered: vec![0; ports.owners.len()], ..Trace::default() };
        Self { ports, rows: vec![0; end], starts, trace }
    }

    /// Those of all frames from any host to any other.
    ///
    /// What `routes` says of one host of a switch must hold for all hosts there, but for the last
    /// port; shortest paths are so. Hosts with several switches count for each.
    pub fn of_all_pairs(topology: &Topology, routes: &impl RouteFunction) -> Self {
        let mut all = Self::new(topology);
        let sources: Vec<_> = topology.hosts().collect();
        for destination in all.ports.one_host_of_each_switch(topology) {
            all.add_destination(routes, destination, sources.iter().copied());
        }
        all
    }

    /// Adds what frames from `sources` to the host `destination` bring about. A source that is the
    /// destination, or no host, adds nothing.
    pub fn add_destination(
        &mut self,
        routes: &impl RouteFunction,
        destination: NodeId,
        sources: impl IntoIterator<Item = NodeId>,
    ) {
        self.trace.begin();
        let is_host = |node: NodeId| self.ports.is_host.get(node as usize) == Some(&true);
        for source in sources.into_iter().filter(|&s| s != destination && is_host(s)) {
            let first = self.ports.adjacency.first_port_index(source);
            let count = self.ports.adjacency.ports_of(source).len();
            for peer in &self.ports.peers[first..first + count] {
                if !self.ports.is_host[self.ports.owners[*peer as usize] as usize] {
                    self.trace.enter(*peer);
                }
            }
        }
        self.follow(routes, destination);
    }

    /// Adds those of `others`, over the same nodes and links.
    pub fn merge(&mut self, others: &Self) {
        for (row, more) in self.rows.iter_mut().zip(&others.rows) {
            *row |= more;
        }
    }

    /// Follows the frames that have entered switches until all have arrived.
    fn follow(&mut self, routes: &impl RouteFunction, destination: NodeId) {
        let mut scratch = std::mem::take(&mut self.trace.scratch);
        while let Some(ingress) = self.trace.open.pop() {
            let switch = self.ports.owners[ingress as usize];
            let first = self.ports.adjacency.first_port_index(switch);
            let in_port = port_number(ingress as usize - first);
            let count = self.ports.adjacency.ports_of(switch).len();
            for &port in routes.next_hops(switch, in_port, destination, &mut scratch) {
                let port = usize::from(port);
                if port >= count || !self.ports.joins_switches(first + port) {
                    continue;
                }
                self.add(ingress as usize, port);
                self.trace.enter(self.ports.peers[first + port]);
            }
        }
        self.trace.scratch = scratch;
    }

    /// What entered by the port of index `ingress` may leave its switch by `port`.
    fn add(&mut self, ingress: usize, port: usize) {
        if self.starts[ingress] < self.starts[ingress + 1] {
            self.rows[self.starts[ingress] + port / 64] |= 1 << (port % 64);
        }
    }

    /// How many pairs of links there are of which one waits for the other.
    pub fn count(&self) -> u64 {
        self.rows.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// How many directions of links between switches there are: the buffers that can wait.
    pub fn buffers(&self) -> usize {
        (0..self.ports.owners.len()).filter(|&port| self.ports.joins_switches(port)).count()
    }

    /// Whether frames that entered `switch` by `in_port` may leave it by `out_port` towards
    /// another switch; false for ports that do not exist.
    pub fn waits(&self, switch: NodeId, in_port: u16, out_port: u16) -> bool {
        let count = self.ports.adjacency.ports_of(switch).len();
        let (in_port, out_port) = (usize::from(in_port), usize::from(out_port));
        if in_port >= count || out_port >= count {
            return false;
        }
        let ingress = self.ports.adjacency.first_port_index(switch) + in_port;
        let row = &self.rows[self.starts[ingress]..self.starts[ingress + 1]];
        row.get(out_port / 64).is_some_and(|word| word & (1 << (out_port % 64)) != 0)
    }
}

impl Ports {
    fn new(topology: &Topology) -> Self {
        let adjacency = topology.adjacency();
        let mut owners = Vec::with_capacity(topology.links.len() * 2);
        let mut peers = Vec::with_capacity(topology.links.len() * 2);
        for node in (0..).take(topology.nodes.len()) {
            for far in adjacency.ports_of(node) {
                let port = adjacency.port_of_link(far.node, far.link).unwrap_or(0);
                let peer = adjacency.first_port_index(far.node) + port;
                owners.push(node);
                peers.push(u32::try_from(peer).expect("ports are twice the links"));
            }
        }
        let is_host = (0..).take(topology.nodes.len()).map(|node| topology.is_host(node)).collect();
        Self { adjacency, owners, peers, is_host }
    }

    /// Whether the link at a port has a switch at both ends.
    fn joins_switches(&self, port: usize) -> bool {
        let far = self.owners[self.peers[port] as usize];
        !self.is_host[self.owners[port] as usize] && !self.is_host[far as usize]
    }

    fn one_host_of_each_switch(&self, topology: &Topology) -> Vec<NodeId> {
        let host_of = |switch: NodeId| {
            let mut far = self.adjacency.ports_of(switch).iter().map(|port| port.node);
            far.find(|&node| self.is_host[node as usize])
        };
        topology.switches().filter_map(host_of).collect()
    }
}

impl Trace {
    fn begin(&mut self) {
        self.number += 1;
        self.open.clear();
    }

    /// Frames enter by the port of this index; unless they did before, they must be followed.
    fn enter(&mut self, ingress: u32) {
        let last = &mut self.entered[ingress as usize];
        if *last != self.number {
            *last = self.number;
            self.open.push(ingress);
        }
    }
}

/// A port's number from its place at its node.
fn port_number(place: usize) -> u16 {
    u16::try_from(place).unwrap_or(u16::MAX)
}
