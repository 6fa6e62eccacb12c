//! How a run is carried out.

use rocelab_fabric::topology::Partitioning;

use crate::Plan;

/// Hosts of the network for each part, at the least, unless more parts are asked for: with fewer,
/// meeting the others takes longer than what there is to do.
const HOSTS_A_PART: usize = 32;

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

    /// A part for each of `threads` threads, as long as parts are worth it.
    pub fn on_threads(plan: &Plan, threads: u32) -> Self {
        let parts = u32::try_from(plan.topology.host_count() / HOSTS_A_PART).unwrap_or(u32::MAX);
        let partitions = threads.min(parts).max(1);
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Planning, Scenario};

    fn partitions(arity: u32, threads: u32) -> u32 {
        let text = format!(
            "[topology.fat-tree]\nk = {arity}\nhost_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n\
             [workload.permutation]\nbytes = \"1KB\"\n"
        );
        let scenario = Scenario::parse(&text, Path::new("t.toml"), &[]).unwrap();
        Execution::on_threads(&scenario.plan().unwrap(), threads).partitions
    }

    #[test]
    fn there_is_a_part_for_each_thread_as_long_as_it_has_hosts() {
        assert_eq!(partitions(4, 8), 1, "16 hosts");
        assert_eq!([1, 2, 8].map(|threads| partitions(8, threads)), [1, 2, 4], "128 hosts");
        assert_eq!([1, 2, 8].map(|threads| partitions(16, threads)), [1, 2, 8], "1,024");
    }
}
