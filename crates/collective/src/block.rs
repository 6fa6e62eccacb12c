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
    /// The slots with a bit set of Bruck's all-to-all, which `sender` has.
    Bruck { sender: u32, bit: u32, ranks: u32 },
    /// What a rank has for the place of `to`, which is in its server, in all servers.
    ToRelay { from: u32, to: u32, local: u32, servers: u32 },
    /// What all ranks of the server of `from` have for `to`, which is in another server.
    FromRelay { from: u32, to: u32, local: u32, servers: u32 },
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

    fn count(self) -> u32 {
        match self {
            Self::Run { count, .. } => count,
            Self::Across | Self::Pair(_) => 1,
            Self::Bruck { bit, ranks, .. } => {
                let (whole, rest) = (ranks >> (bit + 1), ranks & ((2 << bit) - 1));
                (whole << bit) + rest.saturating_sub(1 << bit)
            }
            Self::ToRelay { servers, .. } => servers,
            Self::FromRelay { local, .. } => local,
        }
    }

    /// Each of them.
    pub(crate) fn iter(self) -> impl Iterator<Item = Block> {
        (0..self.count()).map(move |number| self.get(number))
    }

    fn get(self, number: u32) -> Block {
        match self {
            Self::Run { first, stride, modulus, .. } => {
                let at = u64::from(first) + u64::from(stride) * u64::from(number);
                // Below a 32-bit number.
                #[expect(clippy::cast_possible_truncation)]
                Block::Part((at % u64::from(modulus)) as u32)
            }
            Self::Across => Block::Across,
            Self::Pair(pair) => Block::Pair(pair),
            Self::Bruck { sender, bit, ranks } => {
                Block::Pair(bruck_slot(sender, bit, ranks, number))
            }
            Self::ToRelay { from, to, local, servers } => {
                let destination = number * local + to % local;
                let place = if destination == to {
                    Place::Output
                } else {
                    slot(from, number, local, servers)
                };
                Block::Pair(Pair { source: from, destination, from: Place::Input, to: place })
            }
            Self::FromRelay { from, to, local, servers } => {
                let source = from / local * local + number;
                let place = if source == from {
                    Place::Input
                } else {
                    slot(source, to / local, local, servers)
                };
                Block::Pair(Pair { source, destination: to, from: place, to: Place::Output })
            }
        }
    }
}

/// Where the relay has what `source`, of its server, has for `server`.
const fn slot(source: u32, server: u32, local: u32, servers: u32) -> Place {
    Place::Slot(source % local * servers + server)
}

/// Number `number` of the slots in which `bit` is set. The lower bits of a slot say how far its block has come.
const fn bruck_slot(sender: u32, bit: u32, ranks: u32, number: u32) -> Pair {
    let low = number & ((1 << bit) - 1);
    let slot = ((number >> bit) << (bit + 1)) | (1 << bit) | low;
    let source = (sender + ranks - low) % ranks;
    Pair {
        source,
        destination: (source + slot) % ranks,
        from: if low == 0 { Place::Input } else { Place::Slot(slot) },
        to: if slot >> (bit + 1) == 0 { Place::Output } else { Place::Slot(slot) },
    }
}
