//! Sequence numbers: 32 bits on the wire, 64 bits inside.

/// A position in the stream of one direction: bytes from its start. It does not wrap.
pub(super) type Position = u64;

/// Where a direction's numbers begin on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbering {
    /// The sequence number of the first payload byte.
    first: u32,
}

impl Numbering {
    pub(super) const fn new(first: u32) -> Self {
        Self { first }
    }

    /// What goes on the wire for a position.
    #[inline]
    pub(super) const fn wire(self, position: Position) -> u32 {
        low_half(position).wrapping_add(self.first)
    }

    /// The position nearest to `reference` that has this number on the wire; none if that would
    /// lie before the start of the stream.
    #[inline]
    pub(super) const fn position(self, wire: u32, reference: Position) -> Option<Position> {
        let distance =
            wire.wrapping_sub(self.first).wrapping_sub(low_half(reference)).cast_signed();
        reference.checked_add_signed(distance as i64)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the wire has the low half only")]
const fn low_half(position: Position) -> u32 {
    position as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_position_comes_back(first: u32, reference in 0..1_u64 << 40,
            distance in -(1_i64 << 31)..1 << 31) {
            let numbering = Numbering::new(first);
            let Some(position) = reference.checked_add_signed(distance) else { return Ok(()) };
            prop_assert_eq!(numbering.position(numbering.wire(position), reference), Some(position));
        }
    }

    #[test]
    fn zero_follows_the_largest() {
        let numbering = Numbering::new(u32::MAX);
        assert_eq!((numbering.wire(0), numbering.wire(1)), (u32::MAX, 0));
        assert_eq!(numbering.position(0, 0), Some(1));
        assert_eq!(numbering.position(u32::MAX - 1, 0), None, "before the start");
        assert_eq!(numbering.wire(5_000_000_000), 705_032_703, "5e9 - 2^32 - 1");
    }
}
