//! What a message between the ranks of a trace says.

use rocelab_state::{BorshDeserialize, BorshSerialize};

/// What a message is, for what, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// A message that a node sends.
    Message {
        /// The iteration of the sender.
        iteration: u32,
        /// The tag of the node.
        tag: u32,
    },
    /// Data of a collective operation, or a piece of them.
    Data(Slot),
    /// The receiver of data is ready for one more message.
    Ready(Slot),
}

/// A place in a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// The operation.
    pub(super) operation: OperationNumber,
    /// The lane of the receiver of data.
    pub(super) lane: u32,
    /// The number among those from the same rank for that lane in this operation.
    pub(super) sequence: u64,
}

/// A collective operation: the first of its class, the second, and so on, over all iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub(super) struct OperationNumber {
    /// The class: a group, a kind and a size.
    pub(super) class: u32,
    /// The number in the class.
    pub(super) number: u64,
}

/// How many bits each part of a place has. The rest are for the sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    class: u32,
    number: u32,
    lane: u32,
}

/// Bits behind the kind.
const BITS: u32 = 62;
const DATA: u64 = 1;
const READY: u64 = 2;

/// The most iterations: what a tag can tell apart.
pub(super) const MOST_ITERATIONS: u64 = 1 << 20;

impl Layout {
    /// One that tells so many classes, operations of a class, lanes and messages of a lane apart; `None` if that takes more than
    /// 62 bits.
    pub(super) fn new(classes: u64, numbers: u64, lanes: u64, sequences: u64) -> Option<Self> {
        let [class, number, lane] = [classes, numbers, lanes].map(bits);
        let fits = class + number + lane + bits(sequences) <= BITS;
        fits.then_some(Self { class, number, lane })
    }

    pub(super) fn encode(self, tag: Tag) -> u64 {
        match tag {
            Tag::Message { iteration, tag } => u64::from(iteration) << 32 | u64::from(tag),
            Tag::Data(slot) => DATA << BITS | self.place(slot),
            Tag::Ready(slot) => READY << BITS | self.place(slot),
        }
    }

    fn place(self, slot: Slot) -> u64 {
        let Slot { operation: OperationNumber { class, number }, lane, sequence } = slot;
        let head = (u64::from(class) << self.number | number) << self.lane | u64::from(lane);
        // No shift by all 62 bits: the sequence has at least one.
        head << self.sequence() | sequence
    }

    pub(super) fn decode(self, bits: u64) -> Tag {
        let kind = bits >> BITS;
        if kind == 0 {
            return Tag::Message { iteration: number(bits >> 32), tag: number(bits & low(32)) };
        }
        let mut rest = bits & low(BITS);
        let mut take = |width: u32| {
            let part = rest & low(width);
            rest >>= width;
            part
        };
        let sequence = take(self.sequence());
        let (lane, within) = (number(take(self.lane)), take(self.number));
        let class = number(take(self.class));
        let operation = OperationNumber { class, number: within };
        let slot = Slot { operation, lane, sequence };
        if kind == DATA { Tag::Data(slot) } else { Tag::Ready(slot) }
    }

    const fn sequence(self) -> u32 {
        BITS - self.class - self.number - self.lane
    }
}

/// Bits that tell `count` things apart, at least 1.
fn bits(count: u64) -> u32 {
    (u64::BITS - count.saturating_sub(1).leading_zeros()).max(1)
}

/// A number that has at most 32 bits, as it was put there.
fn number(bits: u64) -> u32 {
    u32::try_from(bits).unwrap_or(u32::MAX)
}

const fn low(width: u32) -> u64 {
    (1 << width) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_what_it_was() {
        let layout = Layout::new(5, 1_000, 1 << 15, 1 << 30).expect("58 bits");
        let slot = |class, number, lane, sequence| Slot {
            operation: OperationNumber { class, number },
            lane,
            sequence,
        };
        let slots =
            [slot(0, 0, 0, 0), slot(4, 999, (1 << 15) - 1, (1 << 30) - 1), slot(1, 2, 3, 4)];
        for slot in slots {
            for tag in [Tag::Data(slot), Tag::Ready(slot)] {
                assert_eq!(layout.decode(layout.encode(tag)), tag);
            }
        }
        let message = Tag::Message { iteration: (1 << 20) - 1, tag: u32::MAX };
        assert_eq!(layout.decode(layout.encode(message)), message);
    }

    #[test]
    fn too_many_parts_are_refused() {
        assert!(Layout::new(1 << 20, 1 << 20, 1 << 11, 1 << 11).is_some());
        assert_eq!(Layout::new(1 << 20, 1 << 20, 1 << 11, (1 << 11) + 1), None);
    }
}
