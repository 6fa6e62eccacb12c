//! Storms of pauses, as the watchdogs of switches see them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Record;

/// A row of `storms.csv`: a watchdog took an egress queue for one in a storm of pauses, or no longer,
/// in order of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StormRecord<'a> {
    /// When, in picoseconds from the start of the run.
    pub time_ps: u64,
    /// Name of the switch.
    pub node: Cow<'a, str>,
    /// Its port, from 0.
    pub port: u16,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// What happened.
    pub event: StormEvent,
    /// At the end of a storm, how long it lasted, in picoseconds; otherwise `None` (an empty field).
    pub duration_ps: Option<u64>,
}

/// What a watchdog found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StormEvent {
    /// The queue has been paused for too long.
    Detected,
    /// No pause has come for long enough.
    Restored,
}

impl Record for StormRecord<'_> {
    const FILE: &'static str = "storms.csv";
    const COLUMNS: &'static [&'static str] =
        &["time_ps", "node", "port", "priority", "event", "duration_ps"];
}
