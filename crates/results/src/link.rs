//! Links.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::millionths::six_decimals;
use crate::{Millionths, Record};

/// A row of `links.csv`: one direction of one link over the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRecord<'a> {
    /// Name of the sending node.
    pub from: Cow<'a, str>,
    /// Its port, from 0.
    pub from_port: u16,
    /// Name of the receiving node.
    pub to: Cow<'a, str>,
    /// Its port, from 0.
    pub to_port: u16,
    /// Rate, in bit/s.
    pub rate_bps: u64,
    /// Frames sent, of all kinds.
    pub frames: u64,
    /// Their bytes, FCS included; preamble and gap not.
    pub bytes: u64,
    /// Share of the run in which the link was sending; preamble and gap included.
    #[serde(serialize_with = "six_decimals")]
    pub utilisation: Millionths,
    /// Time in which PFC paused at least one priority of the sending port, in picoseconds.
    pub paused_ps: u64,
    /// Most bytes that ever waited at the sending port, over all priorities.
    pub max_queue_bytes: u64,
    /// Frames that were marked CE on their way into the sending port's queues.
    pub ecn_marks: u64,
}

impl Record for LinkRecord<'_> {
    const FILE: &'static str = "links.csv";
    const COLUMNS: &'static [&'static str] = &[
        "from",
        "from_port",
        "to",
        "to_port",
        "rate_bps",
        "frames",
        "bytes",
        "utilisation",
        "paused_ps",
        "max_queue_bytes",
        "ecn_marks",
    ];
}
