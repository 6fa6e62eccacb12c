//! Packet sequence numbers: 24 bits that wrap.

use core::fmt;

use crate::bits::MAX_U24;

/// A 24-bit packet sequence number.
///
/// PSNs have no total order: of two of them the later one is known only if they are less than
/// 2^23 apart. Hence there is no `Ord`; compare with [`Psn::distance_from`], as Linux does in
/// `psn_compare` (`drivers/infiniband/sw/rxe/rxe.h`).
///
/// ```
/// # use rocelab_wire::Psn;
/// let last = Psn::new(0xff_ffff);
/// assert_eq!(last.wrapping_add(1), Psn::new(0));
/// assert_eq!(Psn::new(1).distance_from(last), 2);
/// assert!(last.is_before(Psn::new(1)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Psn(u32);

impl Psn {
    /// Number of PSNs: 2^24.
    pub const MODULUS: u32 = 1 << 24;

    /// Number of PSNs that count as earlier than a given one: 2^23.
    pub const WINDOW: u32 = 1 << 23;

    /// The PSN in the low 24 bits of `value`.
    #[must_use]
    pub const fn new(value: u32) -> Self {
        Self(value & MAX_U24)
    }

    /// The number, below 2^24.
    #[must_use]
    pub const fn value(self) -> u32 {
        self.0
    }

    /// The PSN `count` packets later.
    #[must_use]
    pub const fn wrapping_add(self, count: u32) -> Self {
        Self::new(self.0.wrapping_add(count))
    }

    /// The PSN `count` packets earlier.
    #[must_use]
    pub const fn wrapping_sub(self, count: u32) -> Self {
        Self::new(self.0.wrapping_sub(count))
    }

    /// Number of packets by which `self` is later than `origin`, from -2^23 to 2^23 - 1.
    #[must_use]
    pub const fn distance_from(self, origin: Self) -> i32 {
        (self.0.wrapping_sub(origin.0) << 8).cast_signed() >> 8
    }

    /// Whether `self` is earlier than `other`.
    #[must_use]
    pub const fn is_before(self, other: Self) -> bool {
        self.distance_from(other) < 0
    }

    /// Whether `self` is later than `other`.
    #[must_use]
    pub const fn is_after(self, other: Self) -> bool {
        self.distance_from(other) > 0
    }
}

impl From<Psn> for u32 {
    fn from(psn: Psn) -> Self {
        psn.0
    }
}

impl fmt::Display for Psn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Psn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Psn({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn half_the_circle_is_earlier() {
        let origin = Psn::new(5);
        assert_eq!(origin.wrapping_add(Psn::WINDOW - 1).distance_from(origin), (1 << 23) - 1);
        assert_eq!(origin.wrapping_add(Psn::WINDOW).distance_from(origin), -(1 << 23));
        assert_eq!(origin.wrapping_sub(6), Psn::new(0xff_ffff));
        assert!(origin.is_after(Psn::new(0xff_fffe)));
        assert!(!origin.is_before(origin) && !origin.is_after(origin));
    }

    proptest! {
        #[test]
        fn distance_undoes_addition(start: u32, count in -(1_i32 << 23)..1 << 23) {
            let start = Psn::new(start);
            let end = start.wrapping_add(count.cast_unsigned());
            prop_assert_eq!(end.distance_from(start), count);
            prop_assert_eq!(end.wrapping_sub(count.cast_unsigned()), start);
        }
    }
}
