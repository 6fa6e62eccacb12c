//! What HPCC's ns-3 simulator computes for two hosts before a run: round-trip time, bandwidth-delay
//! product and the completion time of a flow that is alone in the network.

use std::collections::BTreeSet;

use rocelab_units::Bandwidth;

use super::super::RouteError;
use super::super::build::{check, most_ports};
use super::graph::{Graph, Search};
use crate::topology::{NodeId, Topology};

const NANOSECONDS: u128 = 1_000_000_000;
/// Header bytes of each packet in the completion time of a flow that is alone. INT is never
/// included, whatever the algorithm.
const HEADERS: u32 = 48;

/// Properties of paths between hosts, and their maxima over all ordered pairs of hosts, in
/// integers, as HPCC's ns-3 simulator computes them. A path is the one by which a breadth-first
/// search from the destination first discovers the source (see
/// [`HpccNs3Routes`](super::HpccNs3Routes)).
///
/// Paths are computed on request, by one search for each destination.
#[derive(Clone, Debug)]
pub struct PairProperties {
    graph: Graph,
    /// By index into [`Topology::links`].
    links: Vec<LinkTimes>,
    max_rtt_ns: u64,
    max_bdp: u64,
}

/// The contribution of a link to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LinkTimes {
    delay_ns: u64,
    /// Time that the payload of a full packet takes, rounded down.
    transmission_ns: u64,
    rate: Bandwidth,
}

/// Two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPair {
    /// Twice the propagation delay plus the time that the payload of one full packet takes on every
    /// link, in nanoseconds.
    pub rtt_ns: u64,
    /// The slowest link's rate.
    pub bandwidth: Bandwidth,
    /// Bandwidth-delay product: the whole bytes that `bandwidth` carries in `rtt_ns`.
    pub bdp: u64,
}

/// The paths of all hosts to one destination.
#[derive(Clone, Debug)]
pub struct PathsTo {
    destination: NodeId,
    /// Indexed by [`NodeId`]; `None` where there is no path.
    paths: Vec<Option<Path>>,
}

/// The sums over a path's links.
#[derive(Clone, Copy, Debug)]
struct Path {
    delay_ns: u64,
    transmission_ns: u64,
    rate: u64,
}

impl PairProperties {
    /// The properties of a topology for full packets with `payload_bytes` of payload. Only whole
    /// nanoseconds of the links' delays count.
    ///
    /// # Errors What routes cannot represent of the topology.
    pub fn new(topology: &Topology, payload_bytes: u32) -> Result<Self, RouteError> {
        let active = topology.all_links_active();
        check(topology, &active)?;
        most_ports(topology, &topology.adjacency())?;
        let times = |rate: Bandwidth, delay_ns| {
            let bits = u128::from(payload_bytes) * 8;
            LinkTimes { delay_ns, transmission_ns: nanoseconds(bits, rate), rate }
        };
        let links = topology.links.iter();
        let links = links.map(|link| times(link.rate, link.delay.ps() / 1_000)).collect();
        let graph = Graph::new(topology, &active);
        let mut properties = Self { graph, links, max_rtt_ns: 0, max_bdp: 0 };
        properties.find_largest(topology);
        Ok(properties)
    }

    /// The largest [`HostPair::rtt_ns`] of all ordered pairs of hosts with a path, in nanoseconds.
    pub fn max_rtt_ns(&self) -> u64 {
        self.max_rtt_ns
    }

    /// The largest [`HostPair::bdp`] of all ordered pairs of hosts with a path, in bytes.
    pub fn max_bdp(&self) -> u64 {
        self.max_bdp
    }

    /// The path from host to host; `None` if there is no path or no such node. It takes one search:
    /// for many pairs, call [`Self::paths_to`] once for each destination.
    pub fn pair(&self, source: NodeId, destination: NodeId) -> Option<HostPair> {
        self.paths_to(destination).from(source)
    }

    /// The paths to the host `destination`. It takes one search.
    pub fn paths_to(&self, destination: NodeId) -> PathsTo {
        let mut paths = PathsTo { destination, paths: Vec::new() };
        self.search(&mut Search::new(&self.graph), &mut paths);
        paths
    }

    fn search(&self, search: &mut Search<'_>, found: &mut PathsTo) {
        let paths = &mut found.paths;
        paths.clear();
        paths.resize(self.graph.node_count(), None);
        let Some(start) = paths.get_mut(found.destination as usize) else { return };
        *start = Some(Path { delay_ns: 0, transmission_ns: 0, rate: u64::MAX });
        search.run(found.destination, |from, edge, first| {
            if first && let Some(path) = paths[from as usize] {
                paths[edge.to as usize] = Some(path.with(&self.links[edge.link as usize]));
            }
        });
    }

    /// Finds the maxima. Hosts with links of the same kind to the same switch are alike as
    /// destinations, also for each other, so only one of them is searched from.
    fn find_largest(&mut self, topology: &Topology) {
        let (mut max_rtt_ns, mut max_bdp) = (0, 0);
        let mut seen = BTreeSet::new();
        let mut search = Search::new(&self.graph);
        let mut found = PathsTo { destination: 0, paths: Vec::new() };
        for host in topology.hosts() {
            let attachment = self.graph.attachment(host);
            let kind = attachment.map(|edge| (edge.to, self.links[edge.link as usize]));
            if kind.is_some_and(|kind| !seen.insert(kind)) {
                continue;
            }
            found.destination = host;
            self.search(&mut search, &mut found);
            for pair in topology.hosts().filter_map(|source| found.from(source)) {
                max_rtt_ns = pair.rtt_ns.max(max_rtt_ns);
                max_bdp = pair.bdp.max(max_bdp);
            }
        }
        (self.max_rtt_ns, self.max_bdp) = (max_rtt_ns, max_bdp);
    }
}

impl PathsTo {
    /// The path from the host `source`; `None` if there is no path, no such node, or if it is the
    /// destination itself.
    pub fn from(&self, source: NodeId) -> Option<HostPair> {
        let path = (*self.paths.get(source as usize)?)?;
        (source != self.destination).then(|| path.pair())
    }
}

impl Path {
    fn with(self, link: &LinkTimes) -> Self {
        Self {
            delay_ns: self.delay_ns.saturating_add(link.delay_ns),
            transmission_ns: self.transmission_ns.saturating_add(link.transmission_ns),
            rate: self.rate.min(link.rate.bits_per_second()),
        }
    }

    fn pair(self) -> HostPair {
        let rtt_ns = self.delay_ns.saturating_mul(2).saturating_add(self.transmission_ns);
        let bits = u128::from(rtt_ns) * u128::from(self.rate) / NANOSECONDS;
        let bdp = u64::try_from(bits / 8).unwrap_or(u64::MAX);
        HostPair { rtt_ns, bandwidth: Bandwidth::from_bps(self.rate), bdp }
    }
}

impl HostPair {
    /// The completion time in nanoseconds of a flow of `size` bytes that is alone in the network,
    /// as HPCC's ns-3 simulator reports it: one round-trip time, and the time that its packets of
    /// up to `payload_bytes`, with 48 bytes of headers each, take at [`Self::bandwidth`]. As in
    /// that simulator, the bytes are counted in 32 bits, and the time is computed in 64 bits; both
    /// wrap around (the time does above 2.3 GB).
    ///
    /// It is a nominal value: a flow of one packet can be a little faster.
    pub fn standalone_fct_ns(&self, size: u32, payload_bytes: u32) -> u64 {
        let packets = size.div_ceil(payload_bytes.max(1));
        let total = size.wrapping_add(packets.wrapping_mul(HEADERS));
        let scaled = u64::from(total).wrapping_mul(8 * 1_000_000_000);
        let time = scaled.checked_div(self.bandwidth.bits_per_second()).unwrap_or(u64::MAX);
        self.rtt_ns.saturating_add(time)
    }
}

/// The whole nanoseconds that so many bits take; `u64::MAX` at a rate of zero, which a checked
/// topology does not have.
fn nanoseconds(bits: u128, rate: Bandwidth) -> u64 {
    let time = (bits * NANOSECONDS).checked_div(u128::from(rate.bits_per_second()));
    time.and_then(|time| u64::try_from(time).ok()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use rocelab_units::Duration;

    use super::*;
    use crate::{Node, NodeKind, TopologyLink};

    /// Hosts 0 and 1, switches 2 and on; links with rate (Gbit/s) and delay (ns).
    fn network(nodes: u32, links: &[(NodeId, NodeId, u64, u64)]) -> Topology {
        let node = |id| match id {
            0 | 1 => Node { name: format!("host-{id}"), kind: NodeKind::Host },
            _ => Node { name: format!("switch-{id}"), kind: NodeKind::Switch { tier: 0 } },
        };
        let link = |&(a, b, gbps, ns)| TopologyLink {
            a,
            b,
            rate: Bandwidth::from_gbps(gbps),
            delay: Duration::from_ns(ns),
            loss: 0.0,
        };
        Topology {
            nodes: (0..nodes).map(node).collect(),
            links: links.iter().map(link).collect(),
            ..Topology::default()
        }
    }

    #[test]
    fn two_links() {
        let network = network(3, &[(0, 2, 100, 1_000), (1, 2, 100, 1_000)]);
        let properties = PairProperties::new(&network, 1_000).expect("a small network");
        // 2 x 2,000 ns and twice 80 ns; 100 Gbit/s carry 52,000 bytes in that time.
        let pair = properties.pair(0, 1).expect("there is a path");
        assert_eq!((pair.rtt_ns, pair.bdp), (4_160, 52_000));
        assert_eq!(pair.bandwidth, Bandwidth::from_gbps(100));
        assert_eq!((properties.max_rtt_ns(), properties.max_bdp()), (4_160, 52_000));
        // 2,001 bytes in 3 packets: 2,145 bytes, 171.6 ns.
        assert_eq!(pair.standalone_fct_ns(2_001, 1_000), 4_160 + 171);
        // In 32 bits: 4,294,967,295 + 4,294,968 x 48 = 2^32 + 206,158,463.
        let rest = 206_158_463 * 8 / 100;
        assert_eq!(pair.standalone_fct_ns(u32::MAX, 1_000), 4_160 + rest);
    }

    #[test]
    fn the_path_that_is_discovered_first_counts_and_directions_may_differ() {
        // There are two ways between 2 and 5, by 3 or by 4. From host 1 the search reaches 2
        // through 3; from host 0 it reaches 5 through 3, too. The way by 3 is slow, the way by 4 is
        // long.
        let links = [
            (0, 2, 100, 1_000),
            (2, 4, 400, 9_000),
            (4, 5, 400, 9_000),
            (2, 3, 30, 500),
            (3, 5, 400, 500),
            (5, 1, 400, 100),
        ];
        let properties = PairProperties::new(&network(6, &links), 1_000).expect("it is small");
        // 2 x 2,100 ns; 80 + 266 (of 266.67) + 20 + 20 ns.
        let pair = properties.paths_to(1).from(0).expect("there is a path");
        assert_eq!((pair.rtt_ns, pair.bandwidth), (4_586, Bandwidth::from_gbps(30)));
        // 4,586 x 30 = 137,580 bits, 17,197.5 bytes.
        assert_eq!(pair.bdp, 17_197);
    }

    #[test]
    fn there_is_nothing_between_parts_nor_from_a_host_to_itself() {
        let properties = PairProperties::new(&network(4, &[(0, 2, 100, 1), (1, 3, 100, 1)]), 1_000);
        let properties = properties.expect("parts are fine");
        assert_eq!((properties.pair(0, 1), properties.pair(0, 0)), (None, None));
        assert_eq!((properties.pair(0, 77), properties.pair(77, 0)), (None, None));
        assert_eq!((properties.max_rtt_ns(), properties.max_bdp()), (0, 0));
    }
}
