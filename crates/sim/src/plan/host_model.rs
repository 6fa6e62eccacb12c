//! Hosts that take time.

use rocelab_host::{HostPath, HostProfile};
use rocelab_units::Bytes;

/// A host that takes time.
#[derive(Clone, Debug, PartialEq)]
pub struct HostModel {
    /// What it is like.
    pub profile: HostProfile,
    /// Bit p: priority p is lossless at its switch.
    pub lossless: u8,
    /// With more than this in its NIC's buffer, the lossless priorities are paused.
    pub xoff: Bytes,
    /// With no more than this, they go on.
    pub xon: Bytes,
}

impl HostModel {
    /// The host with nothing to do; `seed` is its own.
    pub fn path(&self, seed: u64) -> HostPath {
        HostPath::new(self.profile.clone(), seed)
    }
}
