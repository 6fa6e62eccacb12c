//! What nccl-tests divides by.

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
    }
}
