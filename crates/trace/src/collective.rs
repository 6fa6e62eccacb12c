//! Kinds of collective operations.

use std::fmt;

use serde::Serialize;

/// What a collective operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollectiveKind {
    /// All ranks get the sum of all buffers.
    AllReduce,
    /// All ranks get the blocks of all ranks.
    AllGather,
    /// Each rank gets the sum of its block of all buffers.
    ReduceScatter,
    /// Each rank gets its block of all buffers.
    AllToAll,
    /// All ranks get the buffer of the group's first rank.
    Broadcast,
    /// The group's first rank gets the sum of all buffers.
    Reduce,
    /// All ranks wait for each other.
    Barrier,
}

impl CollectiveKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::AllReduce,
        Self::AllGather,
        Self::ReduceScatter,
        Self::AllToAll,
        Self::Broadcast,
        Self::Reduce,
        Self::Barrier,
    ];

    /// The name, as `Display` prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllToAll => "all-to-all",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Barrier => "barrier",
        }
    }

    /// The bus factor of nccl-tests for a group of `ranks`, as a fraction: bus bandwidth is bytes by time and this factor.
    pub const fn bus_factor(self, ranks: u64) -> (u64, u64) {
        let others = ranks.saturating_sub(1);
        match self {
            Self::AllReduce => (2 * others, ranks),
            Self::AllGather | Self::ReduceScatter | Self::AllToAll => (others, ranks),
            Self::Broadcast | Self::Reduce | Self::Barrier => (1, 1),
        }
    }

    /// The bytes that the busiest rank of a group of `ranks` must send at least, whatever the algorithm, for `bytes` in
    /// the meaning of nccl-tests. In-switch reduction can need less.
    pub fn least_sent(self, bytes: u64, ranks: u64) -> u64 {
        if ranks < 2 {
            return 0;
        }
        let part = u128::from(bytes) * u128::from(ranks - 1) / u128::from(ranks);
        let part = u64::try_from(part).unwrap_or(u64::MAX);
        match self {
            Self::AllReduce => part.saturating_mul(2),
            Self::AllGather | Self::ReduceScatter | Self::AllToAll => part,
            Self::Broadcast | Self::Reduce => bytes,
            Self::Barrier => 0,
        }
    }
}

impl fmt::Display for CollectiveKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
