//! What only runs by the rules of Microsoft's simulator ns3-rdma count.

use serde::{Deserialize, Serialize};

/// Counters of a run by the rules of ns3-rdma. That simulator has no completions, so these runs have no
/// completion times, no slowdown and no goodput.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ns3RdmaCounts {
    /// Its branch, `master` or `timely`.
    pub branch: String,
    /// Its arithmetic of times, `linux` or `double`.
    pub time: String,
    /// Flows.
    pub flows: u64,
    /// Data packets that applications gave to their NICs.
    pub packets: u64,
    /// Data packets that started on a link, again if they were sent again.
    pub packet_hops: u64,
    /// Data packets that reached their host.
    pub received: u64,
    /// Those that were in order there.
    pub in_order: u64,
    /// Those that were there before.
    pub duplicates: u64,
    /// Those that came too early.
    pub out_of_order: u64,
    /// Acknowledgements.
    pub acknowledgements: u64,
    /// Why there are no completion times.
    pub completion_times: String,
}
