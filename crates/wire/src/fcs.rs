//! Frame check sequence, and the byte order of CRCs on the wire.

use crc32fast::Hasher;

/// Length of the FCS, and of the ICRC, in bytes.
pub const CRC_LEN: usize = 4;

/// The Ethernet frame check sequence (802.3 clause 3.2.9) of a frame from its destination
/// address to its last padding byte.
///
/// ```
/// # use rocelab_wire::{crc_to_wire, fcs};
/// assert_eq!(fcs(b"123456789"), 0xcbf4_3926);
/// assert_eq!(crc_to_wire(0xcbf4_3926), [0x26, 0x39, 0xf4, 0xcb]);
/// ```
#[must_use]
pub fn fcs(frame: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(frame);
    hasher.finalize()
}

/// The bytes of an FCS or ICRC on the wire. They are the only numbers in a frame with the least
/// significant byte first.
#[must_use]
pub const fn crc_to_wire(crc: u32) -> [u8; CRC_LEN] {
    crc.to_le_bytes()
}

/// The FCS or ICRC with these bytes on the wire.
#[must_use]
pub const fn crc_from_wire(bytes: [u8; CRC_LEN]) -> u32 {
    u32::from_le_bytes(bytes)
}
