//! Which blocks of the data a message carries.

/// A block of the data, with where it is at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// Block number k of a buffer, which is at the same address everywhere.
    Part(u32),
    /// All of a buffer, which goes to the end of another one of the same size.
    Across,
    /// What one rank has for another.
    Pair(Pair),
}

/// What one rank has for another, on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    /// The rank that has it at the start.
    pub(crate) source: u32,
    /// The rank that has it at the end.
    pub(crate) destination: u32,
    /// Where the sender of the message has it.
    pub(crate) from: Place,
    /// Where the receiver of the message stores it.
    pub(crate) to: Place,
}

/// Where in a rank's memory a block of a pair is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Among what it had at the start.
    Input,
    /// Among what it has at the end.
    Output,
    /// In a slot of its own, for blocks on their way.
    Slot(u32),
}

/// The blocks of a message, in order. Without memory of its own, so that a step needs none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocks {
    /// `first`, `first + stride`, and so on, modulo `modulus`.
    Run { first: u32, stride: u32, count: u32, modulus: u32 },
    /// All of a buffer, to another one.
    Across,
    /// One pair.
    Pair(Pair),
}

impl Blocks {
    /// Block number `block` alone.
    pub(crate) const fn one(block: u32) -> Self {
        Self::Run { first: block, stride: 0, count: 1, modulus: u32::MAX }
    }

    /// `count` blocks from `first` on, round a circle of `modulus`.
    pub(crate) const fn run(first: u32, count: u32, modulus: u32) -> Self {
        Self::Run { first, stride: 1, count, modulus }
    }

    const fn count(self) -> u32 {
        match self {
            Self::Run { count, .. } => count,
            Self::Across | Self::Pair(_) => 1,
        }
    }

    /// Each of them.
    pub(crate) fn iter(self) -> impl Iterator<Item = Block> {
        (0..self.count()).map(move |number| match self {
            Self::Run { first, stride, modulus, .. } => {
                let at = u64::from(first) + u64::from(stride) * u64::from(number);
                Block::Part((at % u64::from(modulus)) as u32)
            }
            Self::Across => Block::Across,
            Self::Pair(pair) => Block::Pair(pair),
        })
    }
}
