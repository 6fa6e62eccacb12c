//! `pauses.json`: every pause with what caused it.

use serde::{Deserialize, Serialize};

/// The content of `pauses.json`, which is optional: pauses in order of their start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseCauses {
    /// The pauses; `parent` is an index into this list.
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
    /// The priority whose bytes were the reason, if it is another one: PAUSE holds all priorities of a link for
    /// one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because_of: Option<u8>,
    /// When it began, in picoseconds from the start of the run.
    pub start_ps: u64,
    /// When it ended, in picoseconds; `None` if it had not when the run ended.
    pub end_ps: Option<u64>,
    /// The pause that caused this one: it held the queue [`waits_for`](Self::waits_for) when this
    /// pause was requested. `None` for a root cause.
    pub parent: Option<usize>,
    /// The reason of the request: the egress port, as `switch:port`, for which most of the bytes
    /// waited that had come in by the requesting port in this priority; or the host that requested
    /// the pause.
    #[serde(default)]
    pub waits_for: String,
    /// The deadlock whose cycle contains the chain of its parents, as an index into
    /// [`Summary::deadlocks`](crate::Summary::deadlocks). Such a pause has no root cause. Absent if
    /// there is no deadlock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadlock: Option<usize>,
}
