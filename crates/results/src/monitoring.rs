//! What a mesh of pings has seen.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Distribution;
use crate::declaration::record;

record! {
    /// A row of `monitoring.csv`: the pings of one host to another that were sent in one window of time. The file exists if the
    /// scenario has `[monitoring]`; rows are in the order of windows, then of hosts.
    pub struct MonitoringRecord<'a> as "monitoring" in "monitoring.csv" {
        /// When the window begins; it ends where the next one begins.
        window_ps: u64 => "ps";
        /// The host that pings.
        source: Cow<'a, str>;
        /// The host that answers.
        destination: Cow<'a, str>;
        /// Pings that were sent.
        sent: u64;
        /// Pings whose answer came within the timeout.
        answered: u64;
        /// Pings whose answer did not; what is neither was still under way at the end of the run.
        lost: u64;
        /// The shortest time from posting a ping to its answer; empty if there is none.
        min_ps: Option<u64> => "ps";
        /// The median of these times (nearest rank).
        p50_ps: Option<u64> => "ps";
        /// The 99th percentile of these times (nearest rank): the longest, of fewer than 100.
        p99_ps: Option<u64> => "ps";
        /// The longest.
        max_ps: Option<u64> => "ps";
    }
}

/// The pings of a run, all together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitoringSummary {
    /// Pairs of hosts of which one pings the other.
    pub pairs: u64,
    /// Pings that were sent.
    pub sent: u64,
    /// Pings whose answer came within the timeout.
    pub answered: u64,
    /// Pings whose answer did not.
    pub lost: u64,
    /// Pings without an answer that were younger than the timeout when the run ended: neither answered nor lost.
    #[serde(default)]
    pub undecided: u64,
    /// Times from posting a ping to its answer, in picoseconds; `None` if nobody answered.
    pub round_trip_ps: Option<Distribution<u64>>,
    /// The pair that lost the largest share of its pings that are decided, if any were lost; of several, the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_lost: Option<MonitoredPair>,
    /// The pair with the longest median, of those with an answer; of several, the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest: Option<MonitoredPair>,
}

/// A pair of hosts of which one pings the other, over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitoredPair {
    /// The host that pings.
    pub source: String,
    /// The host that answers.
    pub destination: String,
    /// Pings that were sent.
    pub sent: u64,
    /// Pings that were lost.
    pub lost: u64,
    /// Pings that were neither answered nor lost when the run ended.
    #[serde(default)]
    pub undecided: u64,
    /// The median time from a ping to its answer, in picoseconds; `None` if there was no answer.
    pub p50_ps: Option<u64>,
}
