//! ECN marking.

mod hpcc_ns3;

pub use hpcc_ns3::ThresholdMarker;
use rocelab_units::Bandwidth;

use crate::EcnConfig;

/// Marks by the length of one port's egress queue, as DCQCN's congestion point does (SIGCOMM 2015,
/// figure 5): a frame that finds q bytes waiting is marked
///
/// * never for q <= Kmin,
/// * with probability Pmax x (q - Kmin) / (Kmax - Kmin) in between,
/// * always for q > Kmax.
///
/// The length is that of the frame's own priority, without the frame being sent: with the frame
/// itself as it is queued, or without it as it leaves ([`MarkAt`](crate::MarkAt)). Everything is
/// computed in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnMarker {
    kmin: u32,
    kmax: u32,
    /// Pmax in units of 2^-32.
    pmax: u64,
}

impl EcnMarker {
    /// A marker that marks nothing.
    pub const NEVER: Self = Self { kmin: u32::MAX, kmax: u32::MAX, pmax: 0 };

    /// The marker of a port of `rate`.
    pub fn new(config: &EcnConfig, rate: Bandwidth) -> Self {
        let scaled = |bytes: u64| {
            let scaled = match config.per_rate {
                Some(reference) => {
                    u128::from(bytes) * u128::from(rate.bits_per_second())
                        / u128::from(reference.bits_per_second().max(1))
                }
                None => u128::from(bytes),
            };
            u32::try_from(scaled).unwrap_or(u32::MAX)
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^32")]
        let pmax = (config.pmax.clamp(0.0, 1.0) * (1u64 << 32) as f64) as u64;
        Self { kmin: scaled(config.kmin.get()), kmax: scaled(config.kmax.get()), pmax }
    }

    /// A frame is never marked if at most this many bytes wait ahead of it.
    pub const fn kmin(&self) -> u32 {
        self.kmin
    }

    /// Whether a frame that finds `queued` bytes waiting is marked; `draw` gives 64 random bits and
    /// is called only between the thresholds.
    #[inline]
    pub fn marks(&self, queued: u32, draw: impl FnOnce() -> u64) -> bool {
        if queued <= self.kmin {
            return false;
        }
        if queued > self.kmax {
            return true;
        }
        let span = u64::from(self.kmax - self.kmin);
        (draw() >> 32) * span < self.pmax * u64::from(queued - self.kmin)
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::Bytes;

    use super::*;
    use crate::MarkAt;

    fn config(per_rate: Option<Bandwidth>) -> EcnConfig {
        EcnConfig {
            kmin: Bytes::new(1_000),
            kmax: Bytes::new(5_000),
            pmax: 0.5,
            per_rate,
            mark_at: MarkAt::default(),
            average_weight: None,
        }
    }

    #[test]
    fn the_probability_rises_linearly_between_the_thresholds() {
        let marker = EcnMarker::new(&config(None), Bandwidth::from_gbps(100));
        let share = |queued| {
            let marked = (0..1000u64).filter(|i| marker.marks(queued, || (i << 32) * 4_294_967));
            marked.count()
        };
        assert_eq!(share(1_000), 0);
        assert!((245..=255).contains(&share(3_000)), "{}", share(3_000));
        assert!((495..=505).contains(&share(5_000)), "{}", share(5_000));
        assert_eq!(share(5_001), 1000);
    }

    #[test]
    fn thresholds_scale_with_the_rate_when_asked() {
        let reference = Bandwidth::from_gbps(25);
        let marker = EcnMarker::new(&config(Some(reference)), Bandwidth::from_gbps(100));
        assert_eq!((marker.kmin, marker.kmax), (4_000, 20_000));
    }
}
