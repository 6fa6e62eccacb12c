//! What went over NVLink.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Millionths;
use crate::declaration::record;

record! {
    /// A row of `nvlink.csv`: what a host sent and received over NVLink. The file exists if servers of the scenario have NVLink;
    /// there is a row for each of their hosts, server by server.
    pub struct NvlinkRecord<'a> as "nvlink" in "nvlink.csv" {
        /// The server.
        server: Cow<'a, str>;
        /// The host.
        host: Cow<'a, str>;
        /// Rate of the host in each direction, of which payload gets the domain's `efficiency`.
        rate_bps: u64 => "bit/s";
        /// Messages that left the host; those that ask for data among them.
        sent_messages: u64;
        /// Their payload.
        sent_bytes: u64 => "bytes";
        /// How long the way out of the host was in use.
        sent_busy_ps: u64 => "ps";
        /// Messages whose first byte reached the host.
        received_messages: u64;
        /// Their payload.
        received_bytes: u64 => "bytes";
        /// How long the way into the host was in use.
        received_busy_ps: u64 => "ps";
    }
}

/// What went over NVLink in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvlinkCounts {
    /// Servers that have NVLink.
    pub servers: u64,
    /// Messages that left their hosts.
    pub messages: u64,
    /// Their payload (bytes).
    pub bytes: u64,
    /// The part of the rate that payload gets, if it is less than 1 somewhere: the least of all servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub efficiency: Option<Millionths>,
    /// The largest share of the run for which the way out of a host was in use; `None` if the run took no time.
    pub busiest_share: Option<Millionths>,
}
