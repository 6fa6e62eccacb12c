//! Text that is written in chunks; a failure is told at the end.

use std::io::{self, Write};

/// Bytes that are written at once.
const CHUNK: usize = 1 << 16;

/// Collects text, and writes it in chunks.
#[derive(Debug)]
pub(crate) struct Chunks<W> {
    to: W,
    /// What is not written yet.
    pub(crate) text: Vec<u8>,
    failure: Option<io::Error>,
}

impl<W: Write> Chunks<W> {
    /// Text is written into `to`.
    pub(crate) fn new(to: W) -> Self {
        Self { to, text: Vec::with_capacity(CHUNK + 256), failure: None }
    }

    /// Writes what there is, if it is a chunk.
    #[inline]
    pub(crate) fn end_line(&mut self) {
        if self.text.len() > CHUNK {
            self.flush();
        }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// The first one of all writes.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.flush();
        self.failure.map_or(Ok(self.to), Err)
    }

    #[cold]
    fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.to.write_all(&self.text).err();
        }
        self.text.clear();
    }
}
