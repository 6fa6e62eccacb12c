//! The common parts of PAUSE and PFC.

use crate::error::{Layer, ParseError};

/// Bit times in one pause quantum.
pub const QUANTUM_BITS: u64 = 512;

/// Length of a PAUSE or PFC frame without FCS, in bytes: the shortest Ethernet frame.
pub const MAC_CONTROL_FRAME_LEN: usize = 60;

/// Checks the MAC control opcode in front of `layer`.
pub(crate) fn check_opcode(layer: Layer, found: [u8; 2], expected: u16) -> Result<(), ParseError> {
    let found = u16::from_be_bytes(found);
    if found == expected {
        Ok(())
    } else {
        Err(ParseError::Field { layer, field: "opcode", value: found.into(), offset: 0 })
    }
}
