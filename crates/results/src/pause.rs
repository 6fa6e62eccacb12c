//! PFC events.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Record;

/// A row of `pfc.csv`: what a PFC frame did to one priority of the port that received it, in
/// order of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseRecord<'a> {
    /// When, in picoseconds from the start of the run.
    pub time_ps: u64,
    /// Name of the node that received the frame and obeys it.
    pub node: Cow<'a, str>,
    /// Its port, from 0.
    pub port: u16,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// What happened.
    pub event: PauseEvent,
    /// The frame's pause time in quanta of 512 bit times of the port; 0 resumes.
    pub quanta: u16,
    /// At the end of a pause, how long it lasted, in picoseconds; otherwise `None` (an empty
    /// field).
    pub duration_ps: Option<u64>,
}

/// What happened to a paused or unpaused priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PauseEvent {
    /// It ran, and was paused.
    Pause,
    /// It was paused, and the time was set anew.
    Refresh,
    /// It was paused, and a frame with zero quanta ended that.
    Resume,
    /// It was paused, and the time ran out.
    Expire,
}

impl Record for PauseRecord<'_> {
    const FILE: &'static str = "pfc.csv";
    const COLUMNS: &'static [&'static str] =
        &["time_ps", "node", "port", "priority", "event", "quanta", "duration_ps"];
}
