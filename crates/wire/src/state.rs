//! Types as bytes, for a simulator's checkpoints (feature `state`): those for which not all bytes
//! are valid.

use borsh::io::{Error, ErrorKind, Read, Result, Write};
use borsh::{BorshDeserialize, BorshSerialize};

use crate::{IntHeader, Opcode, Psn};

impl BorshSerialize for Opcode {
    fn serialize<W: Write>(&self, writer: &mut W) -> Result<()> {
        u8::from(*self).serialize(writer)
    }
}

impl BorshDeserialize for Opcode {
    fn deserialize_reader<R: Read>(reader: &mut R) -> Result<Self> {
        let number = u8::deserialize_reader(reader)?;
        Self::from_u8(number).ok_or_else(|| invalid("no defined opcode"))
    }
}

impl BorshSerialize for Psn {
    fn serialize<W: Write>(&self, writer: &mut W) -> Result<()> {
        self.value().serialize(writer)
    }
}

impl BorshDeserialize for Psn {
    fn deserialize_reader<R: Read>(reader: &mut R) -> Result<Self> {
        let value = u32::deserialize_reader(reader)?;
        let psn = Self::new(value);
        if psn.value() == value { Ok(psn) } else { Err(invalid("a PSN has 24 bits")) }
    }
}

impl BorshSerialize for IntHeader {
    fn serialize<W: Write>(&self, writer: &mut W) -> Result<()> {
        self.to_bytes().serialize(writer)
    }
}

impl BorshDeserialize for IntHeader {
    fn deserialize_reader<R: Read>(reader: &mut R) -> Result<Self> {
        let bytes = <[u8; Self::LEN]>::deserialize_reader(reader)?;
        Self::parse(&bytes).ok_or_else(|| invalid("more records than there is room for"))
    }
}

fn invalid(why: &'static str) -> Error {
    Error::new(ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use borsh::{from_slice, to_vec};

    use super::*;

    #[test]
    fn only_defined_opcodes_are_loaded() {
        for number in 0..=u8::MAX {
            assert_eq!(from_slice::<Opcode>(&[number]).ok(), Opcode::from_u8(number));
        }
        let opcode = Opcode::RcSelectiveAcknowledge;
        assert_eq!(from_slice::<Opcode>(&to_vec(&opcode).unwrap()).unwrap(), opcode);
    }

    #[test]
    fn sequence_numbers_keep_to_24_bits() {
        let last = Psn::new(0xff_ffff);
        assert_eq!(from_slice::<Psn>(&to_vec(&last).unwrap()).unwrap(), last);
        assert!(from_slice::<Psn>(&0x100_0000_u32.to_le_bytes()).is_err());
    }

    #[test]
    fn telemetry_has_no_more_records_than_room() {
        let mut header = IntHeader::default();
        for _ in 0..IntHeader::MAX_HOPS {
            let mut bytes = to_vec(&header).unwrap();
            assert_eq!(from_slice::<IntHeader>(&bytes).unwrap(), header);
            bytes[IntHeader::LEN - 1] = 6;
            assert!(from_slice::<IntHeader>(&bytes).is_err());
            header.push(crate::IntHop::new(7, 1_280, 800, 100_000_000_000, 1).unwrap());
        }
    }
}
