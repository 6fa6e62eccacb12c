//! Telemetry in RoCE packets: the opcodes that stand for it, and its header.

use core::fmt;

use super::IntHeader;
use crate::bits::get;
use crate::{Bth, Opcode, Transport};

/// The high three bits of an opcode.
const SERVICE: u8 = 0b1110_0000;

/// The low five bits of the opcode of a selective acknowledge with telemetry. They differ from its
/// bits without telemetry, because that opcode is among those for INT. The standard reserves both.
const SELECTIVE_ACKNOWLEDGE: u8 = 0x18;

/// The data that switches write into the packets of a reliable connection.
///
/// IBTA reserves the opcodes whose high three bits are 110 or 111 for manufacturers, and there is
/// no published format for telemetry in RoCE. Here these bits say that a telemetry header follows
/// the BTH, and of which kind. The low five bits are those of the operation, whose own extension
/// headers follow the telemetry. (A selective acknowledge has 0x18 in these bits: 0xd5 is its
/// opcode without telemetry.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
#[cfg_attr(feature = "state", borsh(use_discriminant = false))]
pub enum TelemetryKind {
    /// One record of each switch: in-band network telemetry, as HPCC needs it.
    Int = 0b1100_0000,
    /// One value for the whole path: probabilistic in-band network telemetry.
    Pint = 0b1110_0000,
}

impl TelemetryKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Int, Self::Pint];

    /// Length of the header on the wire, in bytes: a multiple of four.
    #[must_use]
    pub const fn header_len(self) -> usize {
        match self {
            Self::Int => IntHeader::LEN + RESERVED_LEN,
            Self::Pint => VALUE_LEN + RESERVED_LEN,
        }
    }

    /// The opcode of a packet with this telemetry whose operation is that of `opcode`; `None` if
    /// `opcode` is not of a reliable connection.
    #[must_use]
    pub const fn opcode(self, opcode: Opcode) -> Option<u8> {
        match opcode.transport() {
            Transport::Rc if opcode.has_sack() => Some(self as u8 | SELECTIVE_ACKNOWLEDGE),
            Transport::Rc => Some(self as u8 | opcode as u8),
            _ => None,
        }
    }

    /// The telemetry of packets with this opcode, and their opcode without it; `None` if it stands
    /// for no telemetry.
    #[must_use]
    pub const fn of_opcode(opcode: u8) -> Option<(Self, Opcode)> {
        let kind = match opcode & SERVICE {
            0b1100_0000 => Self::Int,
            0b1110_0000 => Self::Pint,
            _ => return None,
        };
        match (opcode & !SERVICE, Opcode::from_u8(opcode & !SERVICE)) {
            (SELECTIVE_ACKNOWLEDGE, _) => Some((kind, Opcode::RcSelectiveAcknowledge)),
            (_, Some(plain)) => Some((kind, plain)),
            (_, None) => None,
        }
    }
}

impl fmt::Display for TelemetryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Int => "INT",
            Self::Pint => "PINT",
        })
    }
}

/// The header that follows the BTH of a packet that carries telemetry.
///
/// ```text
/// INT, 44 bytes:  five records of 64 bits, number of records (16), zero (16)
/// PINT, 4 bytes:  value (16), zero (16)
/// ```
///
/// All numbers are big-endian; the 16 zero bits align what follows to four bytes. A switch that
/// changes a record or a value must also update the ICRC, which covers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
pub enum TelemetryHeader {
    /// The records of the switches that the packet has passed.
    Int(IntHeader),
    /// The encoded value: 0 before the first switch.
    Pint(u16),
}

/// Length of the zeros at the end of each header, in bytes.
const RESERVED_LEN: usize = 2;
/// Length of PINT's value, in bytes.
const VALUE_LEN: usize = 2;

impl TelemetryHeader {
    /// The header at the sender: no record, or the value 0.
    #[must_use]
    pub fn empty(kind: TelemetryKind) -> Self {
        match kind {
            TelemetryKind::Int => Self::Int(IntHeader::default()),
            TelemetryKind::Pint => Self::Pint(0),
        }
    }

    /// The kind of this telemetry.
    #[must_use]
    pub const fn kind(&self) -> TelemetryKind {
        match self {
            Self::Int(_) => TelemetryKind::Int,
            Self::Pint(_) => TelemetryKind::Pint,
        }
    }

    /// Reads a header at the start of `bytes`. `None` if this is not telemetry: too few bytes, more
    /// records than there is room for, or reserved bytes that are not zero.
    #[must_use]
    pub fn parse(kind: TelemetryKind, bytes: &[u8]) -> Option<Self> {
        let (contents, reserved) =
            bytes.get(..kind.header_len())?.split_last_chunk::<RESERVED_LEN>()?;
        if *reserved != [0; RESERVED_LEN] {
            return None;
        }
        match kind {
            TelemetryKind::Int => IntHeader::parse(contents).map(Self::Int),
            TelemetryKind::Pint => {
                let value: &[u8; VALUE_LEN] = contents.first_chunk()?;
                Some(Self::Pint(u16::from_be_bytes(get::<0, _, _>(value))))
            }
        }
    }

    /// Passes the bytes of the header to `sink`, piece by piece in wire order.
    pub fn for_each(&self, mut sink: impl FnMut(&[u8])) {
        match self {
            Self::Int(header) => sink(&header.to_bytes()),
            Self::Pint(value) => sink(&value.to_be_bytes()),
        }
        sink(&[0; RESERVED_LEN]);
    }
}

impl fmt::Display for TelemetryHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(header) => fmt::Display::fmt(header, f),
            Self::Pint(value) => write!(f, "PINT {value}"),
        }
    }
}

impl Bth {
    /// The telemetry of the packet, and its opcode without it; `None` if it has no telemetry.
    #[must_use]
    pub const fn telemetry(&self) -> Option<(TelemetryKind, Opcode)> {
        TelemetryKind::of_opcode(self.opcode)
    }

    /// The header of the same packet with telemetry. Unchanged if its opcode is not of a reliable
    /// connection.
    #[must_use]
    pub fn with_telemetry(self, kind: TelemetryKind) -> Self {
        let opcode = self.opcode().and_then(|opcode| kind.opcode(opcode));
        Self { opcode: opcode.unwrap_or(self.opcode), ..self }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::IntHop;

    fn bytes_of(header: &TelemetryHeader) -> Vec<u8> {
        let mut bytes = Vec::new();
        header.for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    #[test]
    fn opcodes_are_those_of_manufacturers() {
        assert_eq!(TelemetryKind::Int.opcode(Opcode::RcRdmaWriteOnly), Some(0xca));
        assert_eq!(TelemetryKind::Pint.opcode(Opcode::RcAcknowledge), Some(0xf1));
        assert_eq!(TelemetryKind::Int.opcode(Opcode::UcSendOnly), None);
        assert_eq!(TelemetryKind::Int.opcode(Opcode::Cnp), None);
        let found: Vec<u8> =
            (0..=255).filter(|&opcode| TelemetryKind::of_opcode(opcode).is_some()).collect();
        // 25 operations of reliable connections and the selective acknowledge, each with both
        // kinds.
        assert_eq!(found.len(), 52);
        assert!(found.iter().all(|&opcode| opcode >= 0xc0));
        for opcode in found {
            let (kind, plain) = TelemetryKind::of_opcode(opcode).unwrap();
            assert_eq!(kind.opcode(plain), Some(opcode));
            assert_eq!(Bth::new(plain, 1, 2).with_telemetry(kind).opcode, opcode);
        }
        assert_eq!(TelemetryKind::of_opcode(0xdf), None, "0x1f is no operation");
        assert_eq!(TelemetryKind::of_opcode(0xd5), None, "a selective acknowledge without");
        assert_eq!(TelemetryKind::Int.opcode(Opcode::RcSelectiveAcknowledge), Some(0xd8));
        assert_eq!(TelemetryKind::Pint.opcode(Opcode::RcSelectiveAcknowledge), Some(0xf8));
        let uc = Bth::new(Opcode::UcSendOnly, 1, 2);
        assert_eq!(uc.with_telemetry(TelemetryKind::Int), uc);
    }

    #[test]
    fn headers_stand_where_the_figure_says() {
        let mut header = IntHeader::default();
        // Rate number 4; time 5; 3 x 128 bytes sent; 2 x 80 bytes wait.
        header.push(IntHop::new(5, 3 * 128, 2 * 80, 100_000_000_000, 1).unwrap());
        let mut expected = [0; 44];
        expected[..8].copy_from_slice(&[0x80, 0, 0, 0xa0, 0, 0x06, 0, 0x02]);
        expected[41] = 1;
        assert_eq!(bytes_of(&TelemetryHeader::Int(header)), expected);
        assert_eq!(bytes_of(&TelemetryHeader::Pint(0x1234)), [0x12, 0x34, 0, 0]);
        assert_eq!(TelemetryHeader::Pint(7).to_string(), "PINT 7");
    }

    #[test]
    fn kinds_have_names() {
        assert_eq!(TelemetryKind::ALL.map(|kind| kind.to_string()), ["INT", "PINT"]);
    }

    #[test]
    fn what_is_none_is_refused() {
        for kind in TelemetryKind::ALL {
            let empty = bytes_of(&TelemetryHeader::empty(kind));
            assert_eq!(empty, vec![0; kind.header_len()]);
            assert_eq!(TelemetryHeader::parse(kind, &empty), Some(TelemetryHeader::empty(kind)));
            assert_eq!(TelemetryHeader::parse(kind, &empty[1..]), None);
            let mut odd = empty;
            *odd.last_mut().unwrap() = 1;
            assert_eq!(TelemetryHeader::parse(kind, &odd), None);
        }
        let mut six_records = [0; 44];
        six_records[41] = 6;
        assert_eq!(TelemetryHeader::parse(TelemetryKind::Int, &six_records), None);
    }

    proptest! {
        #[test]
        fn any_legal_bytes_come_back(
            hops in any::<[[u8; 8]; 5]>(), count in 0..=5_u8, value: [u8; 2]) {
            let int = [hops.as_flattened(), &[0, count, 0, 0]].concat();
            let pint = [value.as_slice(), &[0, 0]].concat();
            for (kind, bytes) in TelemetryKind::ALL.into_iter().zip([int, pint]) {
                let header = TelemetryHeader::parse(kind, &bytes).unwrap();
                prop_assert_eq!(header.kind(), kind);
                prop_assert_eq!(bytes_of(&header), bytes);
            }
        }
    }
}
