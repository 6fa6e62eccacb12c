//! Collective operations: what each came to.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::declaration::record;
use crate::{Distribution, OperationStatus};

record! {
    /// A row of `collectives.csv`: one collective operation of a group of ranks, in the order of workloads, groups and iterations. The
    /// file exists if the scenario has collective operations.
    pub struct CollectiveRecord<'a> as "collectives" in "collectives.csv" {
        /// The workload's name.
        name: Cow<'a, str>;
        /// Number of the group within its workload, from 0.
        group: u32;
        /// Number of the operation, from 0.
        iteration: u64;
        /// What it does: `all-reduce`, `all-gather` and others.
        kind: Cow<'a, str>;
        /// How: `ring`, `halving-doubling` and others.
        algorithm: Cow<'a, str>;
        /// How NCCL lays data out on the wire: `simple`, `ll`, `ll128`; `none` if data are sent as they are, without its cuts.
        protocol: Cow<'a, str>;
        /// Channels that the data are spread over.
        channels: u32;
        /// Ranks of the group.
        ranks: u32;
        /// Its size, as nccl-tests counts it for its kind.
        bytes: u64 => "bytes";
        /// When the first rank began.
        start_ps: u64 => "ps";
        /// When the last rank was done; empty if one was not.
        end_ps: Option<u64> => "ps";
        /// From the first rank's beginning to the last one's.
        start_skew_ps: u64 => "ps";
        /// From the first rank's end to the last one's; empty if one was not done.
        end_skew_ps: Option<u64> => "ps";
        /// From the first rank's beginning to the last one's end; empty if one was not done.
        time_ps: Option<u64> => "ps";
        /// Algorithm bandwidth: size over time; empty without a time.
        algbw_bytes_per_s: Option<u64> => "bytes/s";
        /// Bus bandwidth: algorithm bandwidth times the factor of its kind, as nccl-tests has it.
        busbw_bytes_per_s: Option<u64> => "bytes/s";
        /// No algorithm takes less, unless switches add up: the bytes that ranks must send or get, at the rates of their ports and NVLink
        /// together, headers left out; empty for kinds that have no such bound.
        bound_ps: Option<u64> => "ps";
        /// `completed`; else how it ended at the first rank where it failed, or `unfinished`.
        status: OperationStatus;
        /// 1 if it counts: it is no warm-up, and started in the [measuring window](scenario.md#measure) if there is one.
        measured: u8;
    }
}

/// The collective operations of one workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectiveSummary {
    /// The workload's name.
    pub name: String,
    /// What they do.
    pub kind: String,
    /// How.
    pub algorithm: String,
    /// Ranks of a group.
    pub ranks: u32,
    /// Size of one, as nccl-tests counts it (bytes).
    pub bytes: u64,
    /// How many began that count.
    pub measured: u64,
    /// How many of these were completed by all ranks.
    pub completed: u64,
    /// Times of those, in picoseconds; `None` if there are none.
    pub time_ps: Option<Distribution<u64>>,
    /// Bus bandwidths of those (bytes per second); `None` if there are none.
    pub busbw_bytes_per_s: Option<Distribution<u64>>,
}
