//! The key of a flow.

use crate::dissection::Address;

/// The key of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Number of the captured interface in the file.
    pub interface: u32,
    /// The sender.
    pub source: Address,
    /// The receiver.
    pub destination: Address,
    /// The receiving queue pair's number, 24 bits.
    pub dest_qp: u32,
}
