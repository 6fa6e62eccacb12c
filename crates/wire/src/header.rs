//! What all fixed-length headers have in common, for the frame parser.

use crate::error::ParseError;

/// A header that can be read without knowing how long it is.
pub(crate) trait Header: Sized {
    const LEN: usize;
    fn parse(bytes: &[u8]) -> Result<Self, ParseError>;
}
