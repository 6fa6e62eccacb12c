//! How a run is carried out.

use rocelab_fabric::topology::Partitioning;
use rocelab_fabric::{Topology, TopologyLink};
use rocelab_units::Duration;

use crate::Plan;

/// Hosts of the network for each part, at the least, unless more parts are asked for: with fewer,
/// meeting the others takes longer than what there is to do.
const HOSTS_A_PART: usize = 32;

/// Hosts of the network for each part where parts are made for the sake of caches: those of a core hold
/// what such a part touches in a window.
const HOSTS_IN_CACHES: usize = 256;

/// Parts at the most that are made for that.
const PARTS_FOR_CACHES: u32 = 16;

/// Cables between switches that delay less than this make windows too short for that: measured with
/// 15 ns, where it costs a tenth, and 250 ns, where it saves a fifth.
const DELAY_FOR_CACHES: Duration = Duration::from_ns(100);

/// Parts of a network at the most: each knows of all nodes.
const MOST_PARTS: u32 = 256;

/// In how many parts a network is simulated, and on how many threads. What a run comes to does not
/// depend on either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Parts, at least 1; fewer where a topology does not have as many, and at most 256.
    pub partitions: u32,
    /// Threads, at least 1; no more than parts are used.
    pub threads: u32,
}

impl Execution {
    /// All in one part.
    pub const SEQUENTIAL: Self = Self { partitions: 1, threads: 1 };

    /// A part for each of `threads` threads, as long as parts are worth it, and more where a network
    /// is large.
    pub fn on_threads(plan: &Plan, threads: u32) -> Self {
        let parts_of =
            |hosts: usize| u32::try_from(plan.topology.host_count() / hosts).unwrap_or(u32::MAX);
        let for_threads = threads.min(parts_of(HOSTS_A_PART));
        let for_caches = if has_long_cables(&plan.topology) {
            parts_of(HOSTS_IN_CACHES).min(PARTS_FOR_CACHES)
        } else {
            1
        };
        let partitions = for_threads.max(for_caches).max(1);
        Self { partitions, threads: threads.max(1) }.for_plan(plan)
    }

    /// The same where the plan's rules allow it. By those of HPCC's ns-3 simulator the order of
    /// events depends on a run being sequential.
    pub(crate) fn for_plan(self, plan: &Plan) -> Self {
        if plan.profile.hpcc_ns3().is_some() { Self::SEQUENTIAL } else { self }
    }

    /// How a plan's network is cut.
    pub(crate) fn partitioning(self, plan: &Plan) -> Partitioning {
        Partitioning::balanced(&plan.topology, self.partitions.min(MOST_PARTS))
    }
}

/// Whether windows are long enough to make parts for the sake of caches.
fn has_long_cables(topology: &Topology) -> bool {
    let between = |link: &&TopologyLink| topology.is_switch(link.a) && topology.is_switch(link.b);
    let delays = topology.links.iter().filter(between).map(|link| link.delay);
    delays.min().is_some_and(|least| least >= DELAY_FOR_CACHES)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Scenario;

    fn partitions(arity: u32, cable: &str, threads: u32) -> u32 {
        let text = format!(
            "[topology.fat-tree]\nk = {arity}\nhost_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"100Gbps\", cable = \"{cable}\" }}\n\
             [workload.permutation]\nbytes = \"1KB\"\n"
        );
        let scenario = Scenario::parse(&text, Path::new("t.toml"), &[]).unwrap();
        Execution::on_threads(&scenario.plan().unwrap(), threads).partitions
    }

    #[test]
    fn large_networks_have_more_parts_than_there_are_threads() {
        assert_eq!(partitions(4, "30m", 8), 1, "16 hosts");
        assert_eq!([1, 2, 8].map(|threads| partitions(8, "30m", threads)), [1, 2, 4], "128 hosts");
        assert_eq!([1, 2, 8].map(|threads| partitions(16, "30m", threads)), [4, 4, 8], "1,024");
        assert_eq!([1, 2, 8].map(|threads| partitions(16, "3m", threads)), [1, 2, 8], "1,024");
        assert_eq!(partitions(32, "30m", 2), 16, "8,192 hosts");
    }
}
