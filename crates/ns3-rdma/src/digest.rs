//! A digest of what is written, to compare runs by.

use std::io::{self, Write};

/// Bytes that are digested at once.
const WORD: usize = 8;

/// Passes on what is written, and digests it: a variant of FNV-1a (Fowler, Noll and Vo) that takes eight
/// bytes at once. It does not depend on how much is written at once.
#[derive(Debug)]
pub struct Digesting<W> {
    to: W,
    digest: u64,
    /// What does not fill a word yet.
    rest: [u8; WORD],
    bytes: u64,
}

impl<W: Write> Digesting<W> {
    /// What is written goes on to `to`.
    pub const fn new(to: W) -> Self {
        const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
        Self { to, digest: BASIS, rest: [0; WORD], bytes: 0 }
    }

    /// The digest of all that was written.
    pub fn digest(&self) -> u64 {
        let rest = mixed(self.digest, u64::from_le_bytes(self.rest));
        mixed(rest, self.bytes)
    }

    fn add(&mut self, mut bytes: &[u8]) {
        let filled = usize::try_from(self.bytes % WORD as u64).unwrap_or(0);
        self.bytes += bytes.len() as u64;
        if filled > 0 {
            let taken = bytes.len().min(WORD - filled);
            self.rest[filled..filled + taken].copy_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if filled + taken < WORD {
                return;
            }
            self.digest = mixed(self.digest, u64::from_le_bytes(self.rest));
            self.rest = [0; WORD];
        }
        let (words, rest) = bytes.as_chunks::<WORD>();
        let digest = self.digest;
        self.digest =
            words.iter().fold(digest, |digest, &word| mixed(digest, u64::from_le_bytes(word)));
        self.rest[..rest.len()].copy_from_slice(rest);
    }
}

/// Adds a word to a digest.
#[inline]
const fn mixed(digest: u64, word: u64) -> u64 {
    const PRIME: u64 = 0x100_0000_01b3;
    // High bits would only ever change higher ones.
    (digest ^ word).wrapping_mul(PRIME).rotate_left(29)
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(parts: &[&[u8]]) -> u64 {
        let mut to = Digesting::new(Vec::new());
        parts.iter().for_each(|part| to.write_all(part).unwrap());
        assert_eq!(to.to, parts.concat());
        to.digest()
    }

    #[test]
    fn parts_do_not_matter() {
        let text = b"a text of more than two words and some bytes";
        let whole = digest(&[text]);
        for cut in 0..text.len() {
            let (first, second) = text.split_at(cut);
            assert_eq!(digest(&[first, second]), whole, "{cut}");
            assert_eq!(digest(&[first, &second[..1], &second[1..]]), whole, "{cut}");
        }
    }

    #[test]
    fn other_texts_have_other_digests() {
        let texts: [&[u8]; 6] = [b"", b"\0", b"\0\0", b"12345678", b"12345678\0", b"12345687"];
        for (place, text) in texts.iter().enumerate() {
            for other in &texts[..place] {
                assert_ne!(digest(&[text]), digest(&[other]));
            }
        }
    }
}
