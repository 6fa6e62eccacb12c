//! The length of the headers that an opcode requires.

use super::Extensions;
use crate::Opcode;

/// [`Opcode::extension_len`] by opcode number.
static EXTENSION_LEN: [u8; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < Opcode::ALL.len() {
        let opcode = Opcode::ALL[i];
        [table[opcode as usize], ..] = Extensions::announced_len(opcode).to_le_bytes();
        i += 1;
    }
    table
};

impl Opcode {
    /// Length of the extension headers between the BTH and the payload, in bytes. The body of a
    /// CNP counts as one.
    #[must_use]
    pub const fn extension_len(self) -> usize {
        EXTENSION_LEN[self as usize] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extension_lengths() {
        let expected = [
            (Opcode::RcSendMiddle, 0),
            (Opcode::RcRdmaWriteFirst, 16),
            (Opcode::RcRdmaWriteOnlyWithImmediate, 20),
            (Opcode::RcRdmaReadResponseMiddle, 0),
            (Opcode::RcAcknowledge, 4),
            (Opcode::RcAtomicAcknowledge, 12),
            (Opcode::RcSelectiveAcknowledge, 16),
            (Opcode::RcCompareSwap, 28),
            (Opcode::RcFlush, 20),
            (Opcode::RcAtomicWrite, 16),
            (Opcode::UdSendOnlyWithImmediate, 12),
            (Opcode::XrcSendMiddle, 4),
            (Opcode::XrcRdmaWriteOnlyWithImmediate, 24),
            (Opcode::XrcRdmaReadResponseOnly, 4),
            (Opcode::XrcAcknowledge, 4),
            (Opcode::Cn, 0),
            (Opcode::Cnp, 16),
        ];
        for (opcode, len) in expected {
            assert_eq!(opcode.extension_len(), len, "{opcode}");
        }
    }
}
