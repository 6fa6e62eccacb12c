//! A whole management datagram.

use core::fmt;

use super::{BODY_LEN, CmMessage, MAD_LEN, MadHeader};
use crate::bits::prefix;
use crate::error::{Layer, ParseError};

/// A management datagram (MAD) with the CM message in it; its text is one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mad<'a> {
    /// The first 24 bytes.
    pub header: MadHeader,
    /// The other 232.
    pub message: CmMessage<'a>,
}

impl<'a> Mad<'a> {
    /// Length on the wire, in bytes: [`MAD_LEN`].
    pub const LEN: usize = MAD_LEN;

    /// A CM message with its header.
    ///
    /// [`CmMessage::Other`] does not know its attribute; the attribute ID is then 0.
    #[must_use]
    pub const fn new(transaction_id: u64, message: CmMessage<'a>) -> Self {
        let attribute_id = match message.attribute() {
            Some(attribute) => attribute.to_u16(),
            None => 0,
        };
        Self { header: MadHeader::cm(transaction_id, attribute_id), message }
    }

    /// Reads the datagram at the start of `bytes`. If it is not a known CM message, its bytes are
    /// kept in [`CmMessage::Other`].
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if there are fewer than [`Self::LEN`] bytes.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let mad = prefix::<MAD_LEN>(bytes, Layer::Mad)?;
        let header = MadHeader::parse(mad)?;
        let body = prefix::<BODY_LEN>(&mad[MadHeader::LEN..], Layer::Mad)?;
        Ok(Self { header, message: CmMessage::parse(header.cm_attribute(), body) })
    }

    /// The datagram as bytes. The attribute ID is that of the message, unless the
    /// message is [`CmMessage::Other`].
    #[must_use]
    pub fn to_bytes(&self) -> [u8; MAD_LEN] {
        let mut header = self.header;
        if let Some(attribute) = self.message.attribute() {
            header.attribute_id = attribute.to_u16();
        }
        let mut mad = [0; MAD_LEN];
        let (head, body) = mad.split_at_mut(MadHeader::LEN);
        head.copy_from_slice(&header.to_bytes());
        body.copy_from_slice(&self.message.to_bytes());
        mad
    }
}

impl fmt::Display for Mad<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message {
            CmMessage::Other(_) => fmt::Display::fmt(&self.header, f),
            message => write!(f, "{}, {message}", self.header),
        }
    }
}
