//! What nccl-tests divides by, and what no algorithm goes below.

use crate::collective::Kind;

impl Kind {
    /// [`bus_factor`](Self::bus_factor) as a fraction: numerator and denominator.
    pub const fn bus_ratio(self, ranks: u32) -> (u64, u64) {
        let ranks = if ranks == 0 { 1 } else { ranks as u64 };
        match self {
            Self::AllReduce => (2 * (ranks - 1), ranks),
            Self::AllGather
            | Self::ReduceScatter
            | Self::AllToAll
            | Self::AllToAllV
            | Self::Gather
            | Self::Scatter => (ranks - 1, ranks),
            Self::Broadcast | Self::Reduce | Self::SendReceive | Self::Barrier => (1, 1),
        }
    }

    /// Bytes that go through the port of the busiest rank, in one direction, with any algorithm in which no switch adds up;
    /// rounded down. `None` where blocks have sizes of their own, and where nothing is sent.
    pub fn least_sent(self, bytes: u64, ranks: u32) -> Option<u64> {
        if matches!(self, Self::AllToAllV | Self::Barrier) || ranks < 2 {
            return None;
        }
        let (times, over) = self.bus_ratio(ranks);
        u64::try_from(u128::from(bytes) * u128::from(times) / u128::from(over)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_the_factors() {
        for kind in Kind::ALL {
            for ranks in [1_u32, 2, 3, 8, 1024] {
                let (times, over) = kind.bus_ratio(ranks);
                let factor = times as f64 / over as f64;
                assert!((factor - kind.bus_factor(ranks)).abs() < 1e-12, "{kind:?} {ranks}");
            }
        }
        assert_eq!(Kind::AllReduce.least_sent(1_000, 4), Some(1_500));
        assert_eq!(Kind::Barrier.least_sent(0, 4), None);
    }
}
