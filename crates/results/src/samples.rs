//! Sampled marks, utilisation and rates: files in the folder `samples`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::millionths::six_decimals;
use crate::{Millionths, Record};

/// A row of `samples/marks.csv`: a port that marked frames since the sample before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkSample<'a> {
    /// The end of the interval, in picoseconds from the start of the run.
    pub time_ps: u64,
    /// Name of the node.
    pub node: Cow<'a, str>,
    /// Its port, from 0.
    pub port: u16,
    /// Frames marked CE on their way into the port's queues, in the interval.
    pub marks: u64,
}

impl Record for MarkSample<'_> {
    const FILE: &'static str = "samples/marks.csv";
    const COLUMNS: &'static [&'static str] = &["time_ps", "node", "port", "marks"];
}

/// A row of `samples/utilisation.csv`: a port that sent frames since the sample before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UtilisationSample<'a> {
    /// The end of the interval, in picoseconds from the start of the run.
    pub time_ps: u64,
    /// Name of the sending node.
    pub node: Cow<'a, str>,
    /// Its port, from 0.
    pub port: u16,
    /// What it sent over the interval, preamble and gap included, in bit/s. A frame counts when it
    /// starts.
    pub rate_bps: u64,
    /// The same over the link's rate, the mean over the interval.
    #[serde(serialize_with = "six_decimals")]
    pub utilisation: Millionths,
}

impl Record for UtilisationSample<'_> {
    const FILE: &'static str = "samples/utilisation.csv";
    const COLUMNS: &'static [&'static str] =
        &["time_ps", "node", "port", "rate_bps", "utilisation"];
}

/// A row of `samples/rates.csv`: a flow that was open at a sampling time, at its source; or a flow of which
/// payload came since the sample before, at the host that receives it. A READ is received at its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateSample<'a> {
    /// When, in picoseconds from the start of the run.
    pub time_ps: u64,
    /// The flow's number.
    pub flow: u64,
    /// Name of the host.
    pub node: Cow<'a, str>,
    /// Its port, from 0.
    pub port: u16,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// At the source: the rate that its congestion control allows at that time, preamble and gap included, in
    /// bit/s. `None` (an empty field) elsewhere, and of a READ, which the destination paces.
    pub rate_bps: Option<u64>,
    /// The most unacknowledged payload that its congestion control allows then, in bytes; `None` (an
    /// empty field) if it sets no limit, and where `rate_bps` is.
    pub window_bytes: Option<u64>,
    /// At the receiver: payload that was accepted since the sample before, each byte once, over that
    /// interval, in bit/s. `None` (an empty field) elsewhere.
    pub goodput_bps: Option<u64>,
}

impl Record for RateSample<'_> {
    const FILE: &'static str = "samples/rates.csv";
    const COLUMNS: &'static [&'static str] =
        &["time_ps", "flow", "node", "port", "priority", "rate_bps", "window_bytes", "goodput_bps"];
}
