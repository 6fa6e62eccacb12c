//! Fixed positions inside fixed-length headers, checked at compile time.

use crate::error::{Layer, ParseError};

/// The first `LEN` bytes of `bytes` as an array.
pub(crate) fn prefix<const LEN: usize>(
    bytes: &[u8],
    layer: Layer,
) -> Result<&[u8; LEN], ParseError> {
    bytes.first_chunk().ok_or(ParseError::Truncated {
        layer,
        needed: LEN,
        had: bytes.len(),
        offset: 0,
    })
}

/// The `N` bytes at `AT`; a field that does not fit the header does not compile.
pub(crate) fn get<const AT: usize, const N: usize, const LEN: usize>(
    header: &[u8; LEN],
) -> [u8; N] {
    const { assert!(AT + N <= LEN) };
    core::array::from_fn(|i| header[AT + i])
}

/// Writes `N` bytes at `AT`; a field that does not fit the header does not compile.
pub(crate) fn put<const AT: usize, const N: usize, const LEN: usize>(
    header: &mut [u8; LEN],
    value: [u8; N],
) {
    const { assert!(AT + N <= LEN) };
    header[AT..AT + N].copy_from_slice(&value);
}

/// Largest 24-bit value.
pub(crate) const MAX_U24: u32 = 0xff_ffff;

/// A 24-bit big-endian number.
pub(crate) const fn u24([a, b, c]: [u8; 3]) -> u32 {
    u32::from_be_bytes([0, a, b, c])
}

/// The low 24 bits of `value`, big-endian.
pub(crate) const fn u24_to_be_bytes(value: u32) -> [u8; 3] {
    let [_, a, b, c] = value.to_be_bytes();
    [a, b, c]
}
