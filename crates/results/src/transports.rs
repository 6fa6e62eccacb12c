//! Flows by transport: RDMA, and TCP beside it.

use serde::{Deserialize, Serialize};

use crate::{Distribution, FlowCounts, FlowStatistics, Goodput, Millionths};

/// The flows that one transport carried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransportFlows {
    /// Number of flows, by how they ended.
    pub flows: FlowCounts,
    /// Their goodput, in bit/s; `None` if nothing was delivered.
    pub goodput_bps: Option<u64>,
    /// The period of the goodput; left out without goodput, and by older builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<Goodput>,
    /// Completion times of the completed ones, in picoseconds.
    pub fct_ps: Option<Distribution<u64>>,
    /// Completion time over ideal completion time, of the completed ones.
    pub slowdown: Option<Distribution<Millionths>>,
}

impl TransportFlows {
    /// The flows with these statistics and this goodput, at the end of a run (ps).
    pub fn of(statistics: &FlowStatistics, goodput: Option<Goodput>, end_ps: u64) -> Self {
        Self {
            flows: statistics.counts(),
            goodput_bps: goodput.map(|goodput| goodput.bps()),
            goodput,
            fct_ps: statistics.fct_ps(end_ps),
            slowdown: statistics.slowdown(end_ps),
        }
    }
}

/// Counters of TCP, over all hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpCounts {
    /// Segments with payload, including retransmissions.
    pub segments: u64,
    /// Segments without payload.
    pub acknowledgements: u64,
    /// Retransmitted segments with payload.
    pub retransmissions: u64,
    /// Number of recoveries that fast retransmit began.
    pub fast_retransmits: u64,
    /// Number of expiries of the retransmission timer.
    pub timeouts: u64,
    /// Number of window reductions because of ECN marks.
    pub ecn_reductions: u64,
}
