//! The packet from BTH to ICRC, which all encapsulations have.

use core::fmt;

use crate::error::{Layer, ParseError};
use crate::fcs::{CRC_LEN, crc_from_wire, crc_to_wire};
use crate::reader::Reader;
use crate::{Bth, Extensions};

/// A packet of the InfiniBand transport, from BTH to ICRC: the same over RoCE v1, RoCE v2 and native
/// InfiniBand.
///
/// Payload and pad borrow the parsed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportPacket<'a> {
    /// Base transport header.
    pub bth: Bth,
    /// The headers that the opcode requires; none for an undefined opcode, or a manufacturer's
    /// without our telemetry.
    pub extensions: Extensions,
    /// Payload, without pad.
    pub payload: &'a [u8],
    /// Pad bytes: as many as the BTH says.
    pub pad: &'a [u8],
    /// Invariant CRC as found.
    pub icrc: u32,
}

impl<'a> TransportPacket<'a> {
    /// Reads a packet that fills all of `reader`.
    pub(crate) fn read(mut reader: Reader<'a>) -> Result<Self, ParseError> {
        let bth_offset = reader.offset();
        let bth: Bth = reader.header()?;
        let extensions = extensions(&bth, &mut reader)?;
        let Some(padded_len) = reader.len().checked_sub(CRC_LEN) else {
            return Err(ParseError::Truncated {
                layer: Layer::Icrc,
                needed: CRC_LEN,
                had: reader.len(),
                offset: reader.offset(),
            });
        };
        let Some(payload_len) = padded_len.checked_sub(bth.pad_count.into()) else {
            return Err(ParseError::Field {
                layer: Layer::Bth,
                field: "pad count",
                value: bth.pad_count.into(),
                offset: bth_offset,
            });
        };
        let payload = reader.take(payload_len);
        let pad = reader.take(bth.pad_count.into());
        let icrc = crc_from_wire(reader.peek(Layer::Icrc)?);
        Ok(Self { bth, extensions, payload, pad, icrc })
    }

    /// Length on the wire, in bytes.
    #[must_use]
    pub fn wire_len(&self) -> usize {
        Bth::LEN + self.extensions.len() + self.payload.len() + self.pad.len() + CRC_LEN
    }

    /// Passes the bytes of the packet to `sink`, piece by piece in wire order.
    pub fn for_each(&self, mut sink: impl FnMut(&[u8])) {
        sink(&self.bth.to_bytes());
        self.extensions.for_each(&mut sink);
        sink(self.payload);
        sink(self.pad);
        sink(&crc_to_wire(self.icrc));
    }
}

/// Reads the headers that the opcode requires. Several manufacturers use the same opcodes: a packet
/// with one of our opcodes but without room for our headers is another manufacturer's, and
/// everything is payload.
fn extensions(bth: &Bth, reader: &mut Reader<'_>) -> Result<Extensions, ParseError> {
    let mut ahead = *reader;
    let ours = match bth.opcode() {
        Some(opcode) if !opcode.has_sack() => return Extensions::read(opcode, reader),
        Some(opcode) => Extensions::read(opcode, &mut ahead).ok(),
        None => Extensions::read_with_telemetry(bth.opcode, &mut ahead),
    };
    Ok(match ours.filter(|_| ahead.len() >= usize::from(bth.pad_count) + CRC_LEN) {
        Some(extensions) => {
            *reader = ahead;
            extensions
        }
        None => Extensions::NONE,
    })
}

impl fmt::Display for TransportPacket<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.bth, f)?;
        if !self.extensions.is_empty() {
            write!(f, ", {}", self.extensions)?;
        }
        write!(f, ", payload {}", self.payload.len())
    }
}
