//! Base Transport Header.

use core::fmt;

use crate::Opcode;
use crate::bits::{get, prefix, u24, u24_to_be_bytes};
use crate::error::{Layer, ParseError};

/// Base Transport Header (BTH): in every RoCE packet.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-+-+---+-------+-------------------------------+
/// |    opcode     |S|M|Pad| TVer  |             P_Key             |
/// +-+-+-----------+-+-+---+-------+-------------------------------+
/// |F|B|   resv6   |                    DestQP                     |
/// +-+-+-----------+-----------------------------------------------+
/// |A|   resv7     |                      PSN                      |
/// +-+-------------+-----------------------------------------------+
/// ```
///
/// Layout: Linux `drivers/infiniband/sw/rxe/rxe_hdr.h`. The ICRC covers everything but FECN,
/// BECN and resv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bth {
    /// Opcode as found; [`Self::opcode()`] gives it as a name.
    pub opcode: u8,
    /// Solicited event (S): the receiver shall raise a completion event.
    pub solicited_event: bool,
    /// Migration request (M). Hardware commonly sets it.
    pub migreq: bool,
    /// Pad bytes after the payload, 2 bits.
    pub pad_count: u8,
    /// Transport header version, 4 bits: 0.
    pub transport_version: u8,
    /// Partition key.
    pub p_key: u16,
    /// Forward explicit congestion notification (F).
    pub fecn: bool,
    /// Backward explicit congestion notification (B): set in a congestion notification, and in
    /// InfiniBand in the acknowledge that answers FECN.
    pub becn: bool,
    /// Reserved, 6 bits.
    pub resv6: u8,
    /// Queue pair number of the receiver, 24 bits.
    pub dest_qp: u32,
    /// Acknowledge request (A).
    pub ack_req: bool,
    /// Reserved, 7 bits.
    pub resv7: u8,
    /// Packet sequence number, 24 bits.
    pub psn: u32,
}

impl Bth {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 12;

    /// The partition key of the default partition, with full membership.
    pub const DEFAULT_P_KEY: u16 = 0xffff;

    /// A header with the default partition key and all flags clear.
    #[must_use]
    pub const fn new(opcode: Opcode, dest_qp: u32, psn: u32) -> Self {
        Self {
            opcode: opcode as u8,
            solicited_event: false,
            migreq: false,
            pad_count: 0,
            transport_version: 0,
            p_key: Self::DEFAULT_P_KEY,
            fecn: false,
            becn: false,
            resv6: 0,
            dest_qp,
            ack_req: false,
            resv7: 0,
            psn,
        }
    }

    /// The header of a CNP that makes the sender of `dest_qp` slow down: BECN set, PSN 0 (IBTA
    /// A17.9.3).
    #[must_use]
    pub const fn cnp(dest_qp: u32) -> Self {
        Self { becn: true, ..Self::new(Opcode::Cnp, dest_qp, 0) }
    }

    /// The header of a CN packet, the congestion notification of native InfiniBand, that makes the
    /// sender of `dest_qp` slow down: BECN set, PSN 0, and nothing but the ICRC after it (IBTA A10;
    /// Linux `drivers/infiniband/hw/hfi1`, `return_cnp`). RoCE has another opcode: [`Self::cnp`].
    #[must_use]
    pub const fn cn(dest_qp: u32) -> Self {
        Self { becn: true, ..Self::new(Opcode::Cn, dest_qp, 0) }
    }

    /// The opcode, if it is defined.
    #[must_use]
    pub const fn opcode(&self) -> Option<Opcode> {
        Opcode::from_u8(self.opcode)
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let header = prefix::<{ Self::LEN }>(bytes, Layer::Bth)?;
        let [opcode, flags, _, _, congestion, _, _, _, ack, ..] = *header;
        Ok(Self {
            opcode,
            solicited_event: flags & 0x80 != 0,
            migreq: flags & 0x40 != 0,
            pad_count: flags >> 4 & 0b11,
            transport_version: flags & 0x0f,
            p_key: u16::from_be_bytes(get::<2, _, _>(header)),
            fecn: congestion & 0x80 != 0,
            becn: congestion & 0x40 != 0,
            resv6: congestion & 0x3f,
            dest_qp: u24(get::<5, _, _>(header)),
            ack_req: ack & 0x80 != 0,
            resv7: ack & 0x7f,
            psn: u24(get::<9, _, _>(header)),
        })
    }

    /// The header as bytes. Values are truncated to the width of their field.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let flags = u8::from(self.solicited_event) << 7
            | u8::from(self.migreq) << 6
            | (self.pad_count & 0b11) << 4
            | self.transport_version & 0x0f;
        let congestion = u8::from(self.fecn) << 7 | u8::from(self.becn) << 6 | self.resv6 & 0x3f;
        let ack = u8::from(self.ack_req) << 7 | self.resv7 & 0x7f;
        let [k0, k1] = self.p_key.to_be_bytes();
        let [q0, q1, q2] = u24_to_be_bytes(self.dest_qp);
        let [s0, s1, s2] = u24_to_be_bytes(self.psn);
        [self.opcode, flags, k0, k1, congestion, q0, q1, q2, ack, s0, s1, s2]
    }
}

impl fmt::Display for Bth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.opcode(), self.operation_with_telemetry()) {
            (Some(opcode), _) => write!(f, "{opcode}")?,
            (None, Some(plain)) => write!(f, "opcode {:#04x} ({plain})", self.opcode)?,
            (None, None) => write!(f, "opcode {:#04x}", self.opcode)?,
        }
        write!(f, " qp {:#08x}, psn {}", self.dest_qp, self.psn)?;
        let flags = [
            (self.ack_req, ", ackreq"),
            (self.solicited_event, ", se"),
            (self.migreq, ", migreq"),
            (self.fecn, ", fecn"),
            (self.becn, ", becn"),
        ];
        for (_, name) in flags.into_iter().filter(|(set, _)| *set) {
            f.write_str(name)?;
        }
        if self.pad_count == 0 { Ok(()) } else { write!(f, ", pad {}", self.pad_count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::header_tests;

    header_tests! {
        Bth,
        bytes: [0x0a, 0xf0, 0xff, 0xff, 0x95, 0x00, 0x01, 0x0a, 0x83, 0xa7, 0x89, 0xbc],
        value: Bth {
            opcode: 0x0a,
            solicited_event: true,
            migreq: true,
            pad_count: 3,
            transport_version: 0,
            p_key: 0xffff,
            fecn: true,
            becn: false,
            resv6: 0x15,
            dest_qp: 0x10a,
            ack_req: true,
            resv7: 3,
            psn: 0xa7_89bc,
        },
        display: "RC_RDMA_WRITE_ONLY qp 0x00010a, psn 10979772, ackreq, se, migreq, fecn, pad 3",
    }

    #[test]
    fn cnp_carries_becn_only() {
        let bytes = [0x81, 0, 0xff, 0xff, 0x40, 0, 0, 0x11, 0, 0, 0, 0];
        assert_eq!(Bth::cnp(0x11).to_bytes(), bytes);
        let bytes = [0x80, 0, 0xff, 0xff, 0x40, 0, 0, 0x11, 0, 0, 0, 0];
        assert_eq!(Bth::cn(0x11).to_bytes(), bytes);
    }

    #[test]
    fn oversized_fields_are_cut() {
        let bth = Bth { pad_count: 7, ..Bth::new(Opcode::RcSendOnly, 0x0100_0001, 0xffff_ffff) };
        let back = Bth::parse(&bth.to_bytes()).unwrap();
        assert_eq!((back.pad_count, back.dest_qp, back.psn), (3, 1, 0xff_ffff));
    }

    #[test]
    fn unknown_opcodes_are_kept() {
        let bth = Bth { opcode: 0xc0, ..Bth::new(Opcode::RcSendOnly, 1, 2) };
        assert_eq!(bth.opcode(), None);
        assert_eq!(bth.to_string(), "opcode 0xc0 (RC_SEND_FIRST) qp 0x000001, psn 2");
        let bth = Bth { opcode: 0xdf, ..bth };
        assert_eq!(bth.to_string(), "opcode 0xdf qp 0x000001, psn 2");
    }
}
