//! Reads a frame, and keeps track of the offset for error messages.

use crate::error::{Layer, ParseError};
use crate::header::Header;

/// The bytes that have not been read yet.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, offset: 0 }
    }

    pub(crate) const fn len(&self) -> usize {
        self.rest.len()
    }

    pub(crate) const fn offset(&self) -> usize {
        self.offset
    }

    /// The bytes that have not been read yet.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next header.
    pub(crate) fn header<H: Header>(&mut self) -> Result<H, ParseError> {
        let header = self.peek_header()?;
        self.take(H::LEN);
        Ok(header)
    }

    /// The next header, without consuming it.
    pub(crate) fn peek_header<H: Header>(&self) -> Result<H, ParseError> {
        H::parse(self.rest).map_err(|error| error.shifted(self.offset))
    }

    /// The next `N` bytes, without consuming them.
    pub(crate) fn peek<const N: usize>(&self, layer: Layer) -> Result<[u8; N], ParseError> {
        crate::bits::prefix(self.rest, layer).copied().map_err(|error| error.shifted(self.offset))
    }

    /// The next `len` bytes, or fewer if the frame ends before.
    pub(crate) fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = rest;
        self.offset += taken.len();
        taken
    }

    /// All remaining bytes.
    pub(crate) fn take_rest(&mut self) -> &'a [u8] {
        self.take(self.rest.len())
    }

    /// A reader for only the next `len` bytes, which this one skips.
    pub(crate) fn take_reader(&mut self, len: usize) -> Self {
        let offset = self.offset;
        Self { rest: self.take(len), offset }
    }
}
