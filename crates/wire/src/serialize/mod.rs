//! Headers and frames as [`serde::Serialize`], for JSON above all (feature `serde`).
//!
//! Every header is an object of its fields, by their names in this crate. A frame is one flat object:
//! `proto` (as [`Frame::proto`](crate::Frame::proto) says), then its headers by their names in lower
//! case (`ethernet`, `ipv4`, `bth`, `reth` and so on) as far as it has them, then what is left:
//!
//! - numbers of up to 32 bits are numbers, those of 64 bits strings (`"0x0000000000001000"`), as
//!   JSON's readers lose their low bits;
//! - addresses, GIDs, EtherTypes, ECN codepoints and opcodes are strings; an opcode without a name is
//!   one of hexadecimal digits (`"0xc4"`);
//! - an AETH has its `syndrome` as a number, and its `meaning` in words;
//! - `payload_len`, `msdu_len` and `other_len` stand for contents (bytes): who wants these has the
//!   frame;
//! - private data of management datagrams is a string of hexadecimal digits;
//! - `icrc`, `fcs` and `vcrc` are `"ok"`, `"bad"` or `"absent"`.

mod cm;
mod frames;
mod headers;
mod text;

/// Makes [`serde::Serialize`] of lists of fields. All of a header must be named; `field: Wrapper`
/// gives a field as `Wrapper(value)`.
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
