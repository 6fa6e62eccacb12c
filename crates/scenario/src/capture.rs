//! `[capture]`: which ports are captured, and how.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Frames that cross the named ports, in both directions, as Wireshark reads them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaptureConfig {
    /// `node:port`, ports numbered from 0 in the order of the node's links; a node's name alone
    /// stands for all of its ports.
    pub ports: Vec<String>,
    /// Whether frames keep their FCS.
    #[serde(default)]
    pub fcs: bool,
    /// pcapng, or one classic pcap file a port.
    #[serde(default)]
    pub format: CaptureFormat,
    /// Leading bytes that are kept of each frame, at least 1.
    #[serde(default = "whole_frames")]
    #[schemars(range(min = 1))]
    pub snap_length: u32,
}

/// Longer than any frame: the customary "no limit" of captures.
const fn whole_frames() -> u32 {
    262_144
}

/// The file format of captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CaptureFormat {
    /// One file, one interface a port, nanoseconds.
    #[default]
    Pcapng,
    /// One file a port, nanoseconds.
    Pcap,
}
