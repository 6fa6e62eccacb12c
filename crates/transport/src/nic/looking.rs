//! What a NIC holds, to be looked at from outside.

use super::Nic;
use crate::Transmit;

impl Nic {
    /// Acknowledgements, notifications and datagrams that wait to be sent: for each priority in
    /// order, the lowest first.
    pub fn control_packets(&self) -> impl Iterator<Item = &Transmit> {
        self.shared.control.packets()
    }
}
