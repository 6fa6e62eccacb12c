//! Sampled queues.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Record;

/// A row of `queues.csv`: one egress queue that was not empty at a sampling time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSample<'a> {
    /// When, in picoseconds from the start of the run.
    pub time_ps: u64,
    /// Name of the node.
    pub node: Cow<'a, str>,
    /// Its egress port, from 0.
    pub port: u16,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// Bytes that wait, with the frames' FCS.
    pub queue_bytes: u64,
}

impl Record for QueueSample<'_> {
    const FILE: &'static str = "queues.csv";
    const COLUMNS: &'static [&'static str] =
        &["time_ps", "node", "port", "priority", "queue_bytes"];
}
