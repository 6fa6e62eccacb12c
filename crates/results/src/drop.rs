//! Dropped frames.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Record;

/// A row of `drops.csv`: one frame that a node dropped, in order of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropRecord<'a> {
    /// When, in picoseconds from the start of the run.
    pub time_ps: u64,
    /// Name of the node that dropped it.
    pub node: Cow<'a, str>,
    /// The port that received it, from 0.
    pub ingress_port: u16,
    /// The port that it would have left by; `None` (an empty field) where there was none.
    pub egress_port: Option<u16>,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// The frame's bytes, with its FCS.
    pub frame_bytes: u32,
    /// Why, by the name that `summary.json` counts under.
    pub reason: Cow<'a, str>,
    /// The inequality that failed, with its numbers in bytes; of `fault`, the rule's name; empty
    /// where none decided.
    pub inequality: Cow<'a, str>,
}

impl Record for DropRecord<'_> {
    const FILE: &'static str = "drops.csv";
    const COLUMNS: &'static [&'static str] = &[
        "time_ps",
        "node",
        "ingress_port",
        "egress_port",
        "priority",
        "frame_bytes",
        "reason",
        "inequality",
    ];
}
