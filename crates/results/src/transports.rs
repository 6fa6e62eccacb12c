//! What carried flows: RDMA, and TCP beside it.

use serde::{Deserialize, Serialize};

use crate::{Distribution, FlowCounts, FlowStatistics, Goodput, Millionths};

/// The flows that one transport carried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransportFlows {
    /// How many, and how they ended.
    pub flows: FlowCounts,
    /// Their goodput, in bit/s; `None` if nothing was delivered.
    pub goodput_bps: Option<u64>,
    /// Over which time that is; left out where it is not, and by older builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<Goodput>,
    /// Completion times of the completed ones, in picoseconds.
    pub fct_ps: Option<Distribution<u64>>,
    /// Completion time over ideal completion time, of the completed ones.
    pub slowdown: Option<Distribution<Millionths>>,
}

impl TransportFlows {
    /// Of flows with such statistics, of which so much was delivered, at the end of a run (ps).
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

/// What the TCP of all hosts counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpCounts {
    /// Segments with payload, those sent again included.
    pub segments: u64,
    /// Segments without payload.
    pub acknowledgements: u64,
    /// Segments with payload that was sent before.
    pub retransmissions: u64,
    /// Times that fast retransmit began a recovery.
    pub fast_retransmits: u64,
    /// Times that the retransmission timer expired.
    pub timeouts: u64,
    /// Times that marks made a window smaller.
    pub ecn_reductions: u64,
}
