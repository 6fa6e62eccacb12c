//! What is captured.

use rocelab_fabric::NodeId;

use crate::scenario::CaptureFormat;

/// Which ports are captured, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePlan {
    /// Node and its port number (from 0); both directions of the port are captured.
    pub ports: Vec<(NodeId, u16)>,
    /// Whether frames end with their FCS.
    pub fcs: bool,
    /// pcapng, or classic pcap (one file a port).
    pub format: CaptureFormat,
    /// Leading bytes that are kept of each frame.
    pub snap_length: u32,
}
