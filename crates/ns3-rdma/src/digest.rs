//! A digest of what is written, to compare runs by.

use std::io::{self, Write};

/// Passes on what is written, and digests it: FNV-1a with 64 bits (Fowler, Noll and Vo).
#[derive(Debug)]
pub struct Digesting<W> {
    to: W,
    digest: u64,
}

impl<W: Write> Digesting<W> {
    /// What is written goes on to `to`.
    pub const fn new(to: W) -> Self {
        const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
        Self { to, digest: BASIS }
    }

    /// The digest of all that was written.
    pub const fn digest(&self) -> u64 {
        self.digest
    }
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        const PRIME: u64 = 0x100_0000_01b3;
        let written = self.to.write(bytes)?;
        for &byte in &bytes[..written] {
            self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(PRIME);
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_digested() {
        let mut to = Digesting::new(Vec::new());
        assert_eq!(to.digest(), 0xcbf2_9ce4_8422_2325);
        to.write_all(b"a").unwrap();
        assert_eq!((to.digest(), to.to), (0xaf63_dc4c_8601_ec8c, b"a".to_vec()));
    }
}
