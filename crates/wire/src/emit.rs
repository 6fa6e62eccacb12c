//! Writes pieces into a buffer.

use crate::error::EmitError;

/// The part of a buffer that is still to be written.
pub(crate) struct Writer<'a> {
    rest: &'a mut [u8],
}

impl<'a> Writer<'a> {
    /// Writes from the start of `out`, which must have room for `needed` bytes.
    pub(crate) const fn new(out: &'a mut [u8], needed: usize) -> Result<Self, EmitError> {
        if out.len() < needed {
            return Err(EmitError { needed, had: out.len() });
        }
        Ok(Self { rest: out })
    }

    /// Writes the next piece. All pieces together must not be longer than `needed`.
    pub(crate) fn put(&mut self, part: &[u8]) {
        let (here, after) = core::mem::take(&mut self.rest).split_at_mut(part.len());
        here.copy_from_slice(part);
        self.rest = after;
    }
}
