//! Headers and frames as [`serde::Serialize`], mainly for JSON (feature `serde`).
//!
//! Every header is an object of its fields, by their names in this crate. A frame is one flat object:
//! `proto` (see [`Frame::proto`](crate::Frame::proto)), then its headers by their names in lower
//! case (`ethernet`, `ipv4`, `bth`, `reth` and so on) if it has them, then:
//!
//! - numbers of up to 32 bits are numbers, numbers of 64 bits are strings
//!   (`"0x0000000000001000"`), because many JSON readers lose their low bits;
//! - addresses, GIDs, EtherTypes, ECN codepoints and opcodes are strings; an opcode without a name is
//!   its number in hexadecimal (`"0xc4"`);
//! - an AETH has its `syndrome` as a number, and its `meaning` in words;
//! - `payload_len`, `msdu_len` and `other_len` are lengths in bytes, in place of the content itself, which
//!   is in the frame;
//! - private data of management datagrams is a string of hexadecimal digits;
//! - `icrc`, `fcs`, `vcrc` and `lpcrc` are `"ok"`, `"bad"` or `"absent"`.

mod cm;
mod frames;
mod headers;
mod text;

/// Implements [`serde::Serialize`] for headers from lists of fields. Every field must be listed,
/// otherwise this does not compile; `field: Wrapper` serializes a field as `Wrapper(value)`.
macro_rules! serialize_fields {
    ($($($header:ident)::+ $(<$life:lifetime>)? {
        $($field:ident $(: $wrapper:path)?),* $(,)?
    })*) => {$(
        impl serde::Serialize for $crate::$($header)::+ $(<$life>)? {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct as _;

                let Self { $($field),* } = self;
                let len = [$(stringify!($field)),*].len();
                let mut object = serializer.serialize_struct(stringify!($($header)::+), len)?;
                $(object.serialize_field(
                    stringify!($field),
                    serialize_fields!(@value $field $($wrapper)?),
                )?;)*
                object.end()
            }
        }
    )*};
    (@value $field:ident) => { $field };
    (@value $field:ident $wrapper:path) => { &$wrapper(*$field) };
}

use serialize_fields;
