//! Cyclic buffer dependency: whether pauses can wait for each other in a circle.
//!
//! A full lossless ingress buffer pauses the link that fills it, and becomes empty only as its
//! switch sends. So the buffer behind one link waits for the buffer behind a second link if some
//! route enters a switch by the first and leaves it by the second. While these dependencies have no
//! cycle, no set of pauses can last for ever, however large the load (Dally and Seitz,
//! "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", IEEE Transactions on
//! Computers C-36, 1987, for channels; "RDMA over Commodity Ethernet at Scale", SIGCOMM 2016,
//! section 4.2, for PFC). A cycle does not mean that there is a deadlock, only that there may be
//! one.
//!
//! [`BufferDependencies`] collects the dependencies of one lossless priority. For each destination
//! it follows the routes of a [`RouteFunction`] from all sources at once, so its cost grows with
//! links and destinations, not with pairs of hosts. Where routes depend on the destination only, it
//! handles hundreds of destinations together. [`BufferDependencies::find_cycle`] looks for a cycle;
//! [`LinkFailures`] does so after each single failure of a link.
//!
//! Hosts accept everything that arrives and forward nothing, so links of hosts are in no cycle.

mod cycle;
mod failures;
mod required_links;
mod route_function;
mod shortest_paths;
mod together;

use crate::topology::{Adjacency, NodeId, Topology};

pub use cycle::{BufferWait, DependencyCycle};
pub use failures::{FailureFindings, LinkFailures};
pub use route_function::{FloodedRoutes, RouteFunction, StaticRoutes};

/// The dependencies between ingress buffers, for one lossless priority.
#[derive(Clone, Debug)]
pub struct BufferDependencies {
    ports: Ports,
    /// For each ingress port that faces a switch, a row of bits, one for each port of its own
    /// switch: set if frames that entered here may leave there, towards a switch.
    rows: Vec<u64>,
    /// The start of each port's row, by port index, and the end of the last.
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

/// The ports that one destination's frames pass through. Reused for the next destination.
#[derive(Clone, Debug, Default)]
struct Trace {
    /// By port index: the number of the last trace in which frames entered by the port.
    entered: Vec<u32>,
    number: u32,
    open: Vec<u32>,
    scratch: Vec<u16>,
}

impl BufferDependencies {
    /// No dependencies yet, over the nodes and links of `topology`, which has at most
    /// [`MAX_LINKS`](crate::topology::MAX_LINKS) links.
    ///
    /// # Panics If a link names a node that does not exist, which [`Topology::check`] reports.
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

    /// The dependencies of all frames from any host to any other.
    ///
    /// The routes to one host of a switch must be those to all hosts of that switch, except for the
    /// last port; shortest paths are like that. Hosts with several switches count for each of them.
    pub fn of_all_pairs(topology: &Topology, routes: &impl RouteFunction) -> Self {
        let mut all = Self::new(topology);
        let sources: Vec<_> = topology.hosts().collect();
        for destination in all.ports.one_host_of_each_switch(topology) {
            all.add_destination(routes, destination, sources.iter().copied());
        }
        all
    }

    /// Adds the dependencies of frames from `sources` to the host `destination`. A source that is
    /// the destination, or not a host, adds nothing.
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

    /// Adds the dependencies of `others`, over the same nodes and links.
    pub fn merge(&mut self, others: &Self) {
        for (row, more) in self.rows.iter_mut().zip(&others.rows) {
            *row |= more;
        }
    }

    /// Follows the frames that have entered switches until all have arrived or are dropped.
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

    /// Adds that frames which entered by the port of index `ingress` may leave their switch by
    /// `port`.
    fn add(&mut self, ingress: usize, port: usize) {
        if self.starts[ingress] < self.starts[ingress + 1] {
            self.rows[self.starts[ingress] + port / 64] |= 1 << (port % 64);
        }
    }

    /// The number of dependencies: pairs of links of which one waits for the other.
    pub fn count(&self) -> u64 {
        self.rows.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The number of buffers that can wait: one for each direction of a link between switches.
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

    /// Frames enter by the port of this index. If this is new, they must be followed from there.
    fn enter(&mut self, ingress: u32) {
        let last = &mut self.entered[ingress as usize];
        if *last != self.number {
            *last = self.number;
            self.open.push(ingress);
        }
    }
}

/// A port's number from its index at its node.
fn port_number(place: usize) -> u16 {
    u16::try_from(place).unwrap_or(u16::MAX)
}
