//! `pauses.json`: every pause with what caused it.

use serde::{Deserialize, Serialize};

/// The content of `pauses.json`, which a run may leave: pauses in order of their start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseCauses {
    /// The pauses; `parent` counts in this list.
    pub pauses: Vec<PauseCause>,
}

/// A pause of one priority of one port, from the frame that began it to its end.
#[derive(
    Clone,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    borsh::BorshSerialize,
    borsh::BorshDeserialize,
)]
pub struct PauseCause {
    /// Name of the node that was paused.
    pub node: String,
    /// Its port, from 0.
    pub port: u16,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// When it began, in picoseconds from the start of the run.
    pub start_ps: u64,
    /// When it ended, in picoseconds; `None` if it had not when the run ended.
    pub end_ps: Option<u64>,
    /// The pause that led to this one: it kept the queue of [`waits_for`](Self::waits_for) when this
    /// one was asked for. `None` if nothing did: this is a root cause.
    pub parent: Option<usize>,
    /// What the pause was asked for: the egress port, as `switch:port`, that most of the bytes waited
    /// for then which had come in by the port that asked, in this priority; or the host that asked.
    #[serde(default)]
    pub waits_for: String,
    /// The deadlock that the chain of its parents goes round in, by its place in
    /// [`Summary::deadlocks`](crate::Summary::deadlocks); such a pause has no root cause. Absent if
    /// there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadlock: Option<usize>,
}
