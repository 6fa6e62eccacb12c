//! What makes a flow.

use crate::dissection::Address;

/// What makes a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Number of the captured interface in the file.
    pub interface: u32,
    /// Who sends.
    pub source: Address,
    /// Who receives.
    pub destination: Address,
    /// The receiving queue pair's number, 24 bits.
    pub dest_qp: u32,
}
