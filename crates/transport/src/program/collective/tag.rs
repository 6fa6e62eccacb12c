//! What a message of a collective operation says.

/// What the message is, for whom, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) kind: Kind,
    /// The lane of the receiver of data.
    pub(super) lane: u32,
    /// Its number among those from the same rank for the same lane, over all iterations.
    pub(super) number: u64,
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Data, or a piece of them.
    Data,
    /// The receiver is ready for one more message: "clear to send".
    Ready,
}

/// How many lanes can be told apart.
pub(super) const MOST_LANES: u32 = 1 << 15;

const NUMBER_BITS: u32 = 48;

impl Tag {
    pub(super) fn to_bits(self) -> u64 {
        let kind = u64::from(self.kind == Kind::Ready) << 63;
        kind | u64::from(self.lane) << NUMBER_BITS | self.number
    }

    pub(super) fn from_bits(bits: u64) -> Self {
        let kind = if bits >> 63 == 1 { Kind::Ready } else { Kind::Data };
        let lane = (bits >> NUMBER_BITS) as u32 % MOST_LANES;
        Self { kind, lane, number: bits & ((1 << NUMBER_BITS) - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_what_it_was() {
        for kind in [Kind::Data, Kind::Ready] {
            for (lane, number) in [(0, 0), (MOST_LANES - 1, 5), (3, (1 << NUMBER_BITS) - 1)] {
                let tag = Tag { kind, lane, number };
                assert_eq!(Tag::from_bits(tag.to_bits()), tag);
            }
        }
    }
}
