//! Values that are serialized as text.

use core::fmt::{self, Display};

use serde::{Serialize, Serializer};

use crate::{Ecn, EtherType, Gid, MacAddress, Opcode, Transport};

/// A value that is serialized as its `Display` text.
pub(super) struct Text<T>(pub(super) T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A number of 64 bits in hexadecimal digits.
pub(super) struct Hex(pub(super) u64);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:#018x}", self.0))
    }
}

/// Bytes as hexadecimal digits, two each.
pub(super) struct HexBytes<T>(pub(super) T);

impl<T: AsRef<[u8]>> Serialize for HexBytes<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<T: AsRef<[u8]>> Display for HexBytes<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// An opcode's number that is serialized as its name.
pub(super) struct OpcodeName(pub(super) u8);

impl Serialize for OpcodeName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match Opcode::from_u8(self.0) {
            Some(opcode) => opcode.serialize(serializer),
            None => serializer.collect_str(&format_args!("{:#04x}", self.0)),
        }
    }
}

/// Whether a CRC is right, if it is present.
pub(super) struct Verdict(pub(super) Option<bool>);

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self.0 {
            Some(true) => "ok",
            Some(false) => "bad",
            None => "absent",
        })
    }
}

macro_rules! serialize_text {
    ($($type:ty),*) => {$(
        /// Serialized as text.
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}

serialize_text!(Ecn, EtherType, Gid, MacAddress, Opcode, Transport);
