//! The common interface of all fixed-length headers, for the frame parser.

use crate::error::ParseError;

/// A header of fixed length.
pub(crate) trait Header: Sized {
    const LEN: usize;
    fn parse(bytes: &[u8]) -> Result<Self, ParseError>;
}
