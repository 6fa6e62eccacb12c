//! The congestion point of QCN (IEEE 802.1Qau).

use rocelab_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Congestion points of a switch's egress queues: each samples the frames that join it, and while
/// it is congested has the sender of a sampled one notified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QcnConfig {
    /// The queue length that a congestion point aims at (`Qeq`), 100 bytes to 1 GB.
    pub set_point: Bytes,
    /// How much the growth of the queue counts beside its length (`w`), 0 to 1024.
    #[schemars(range(max = 1024))]
    pub weight: u32,
    /// Bytes from one sample to the next while there is no congestion, 10 KB to 1 GB; down to an
    /// eighth of it as it grows.
    pub sample_base: Bytes,
    /// Priority of the notifications, 0 to 7.
    #[schemars(range(max = 7))]
    pub cnm_priority: u8,
}

impl Default for QcnConfig {
    /// Defaults of the managed objects of the standard (IEEE8021-CN-MIB).
    fn default() -> Self {
        Self {
            set_point: Bytes::new(26_000),
            weight: 2,
            sample_base: Bytes::new(150_000),
            cnm_priority: 6,
        }
    }
}

/// The content of a notification that a congested sample causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionSample {
    /// `QntzFb`, the quantized feedback: 1 (little) to 63.
    pub feedback: u8,
    /// `Qoff`: how far the queue is above the set point (bytes; negative below).
    pub q_offset: i64,
    /// `Qdelta`: by how much the queue grew since the last sample (bytes).
    pub q_delta: i64,
}

impl CongestionSample {
    /// Bytes that one unit of the offset and of the delta in a message stands for.
    pub const UNIT: i64 = 64;

    /// Offset and delta as in a message: in units of [`Self::UNIT`] bytes, rounded towards zero,
    /// and saturated at 16 bits.
    pub fn in_units(&self) -> (i16, i16) {
        let units = |bytes: i64| {
            let units = (bytes / Self::UNIT).clamp(i64::from(i16::MIN), i64::from(i16::MAX));
            i16::try_from(units).unwrap_or(i16::MAX)
        };
        (units(self.q_offset), units(self.q_delta))
    }
}

/// The congestion point of one egress queue.
///
/// Every so many bytes that join the queue, it computes from the queue's length `Q`, the frame
/// itself included, and that at the last sample, `Qold` (formulas: HPE FlexFabric 5940 QoS guide,
/// which describes 802.1Qau):
///
/// ```text
/// Qoff = Q - Qeq,  Qdelta = Q - Qold,  Fb = -(Qoff + w Qdelta)
/// QntzFb = -Fb x 63 / (Qeq (2w + 1)), rounded down, at most 63; 0 for Fb >= 0
/// ```
///
/// A sample with a `QntzFb` of 1 or more is a notification. The next one follows `sample_base` /
/// (1 + QntzFb / 8) bytes later, the quotient rounded down, and that varied by up to 15 % at random.
/// Integers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionPoint {
    /// Bytes.
    set_point: i64,
    weight: i64,
    /// Bytes.
    sample_base: i64,
    /// Bytes until the next sample.
    left: i64,
    /// The queue's length at the last sample (bytes).
    old: i64,
}

rocelab_state::state!(CongestionPoint { values: left, old; kept: set_point, weight, sample_base });

impl CongestionPoint {
    /// The congestion point of an empty queue; `draw` is 64 random bits.
    pub fn new(config: &QcnConfig, draw: u64) -> Self {
        let signed = |bytes: Bytes| i64::try_from(bytes.get()).unwrap_or(i64::MAX).min(1 << 30);
        let sample_base = signed(config.sample_base);
        Self {
            set_point: signed(config.set_point).max(1),
            weight: i64::from(config.weight),
            sample_base,
            left: varied(sample_base, draw),
            old: 0,
        }
    }

    /// Counts a frame of `len` bytes that joins the queue, which then holds `queued` bytes. Returns
    /// what to notify the frame's sender of, if the frame is sampled and the queue congested;
    /// `draw` gives 64 random bits and is called for samples only.
    #[inline]
    pub fn on_enqueue(
        &mut self,
        len: u32,
        queued: u32,
        draw: impl FnOnce() -> u64,
    ) -> Option<CongestionSample> {
        self.left -= i64::from(len);
        if self.left > 0 {
            return None;
        }
        self.sample(i64::from(queued), draw())
    }

    fn sample(&mut self, queued: i64, draw: u64) -> Option<CongestionSample> {
        let q_offset = queued - self.set_point;
        let q_delta = queued - self.old;
        self.old = queued;
        let congestion = q_offset + self.weight * q_delta;
        let most = self.set_point * (2 * self.weight + 1);
        let feedback = u8::try_from(congestion.clamp(0, most) * 63 / most).unwrap_or(63);
        self.left = varied(self.sample_base / (1 + i64::from(feedback / 8)), draw);
        (feedback > 0).then_some(CongestionSample { feedback, q_offset, q_delta })
    }
}

/// `bytes` times a random factor from 0.85 to 1.15; at least 1.
fn varied(bytes: i64, draw: u64) -> i64 {
    let [a, b, c, d, ..] = draw.to_be_bytes();
    let draw = i64::from(u32::from_be_bytes([a, b, c, d]));
    (bytes * 85 / 100 + ((bytes * 30 / 100 * draw) >> 32)).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Random bits for a factor of 1.
    const MIDDLE: u64 = 1 << 63;

    fn point(config: &QcnConfig) -> CongestionPoint {
        CongestionPoint::new(config, MIDDLE)
    }

    /// Makes the next frame a sample, with this queue length.
    fn sample_at(point: &mut CongestionPoint, queued: u32) -> Option<CongestionSample> {
        point.on_enqueue(u32::MAX, queued, || MIDDLE)
    }

    #[test]
    fn feedback_by_hand() {
        let mut point = point(&QcnConfig::default());
        // Qoff = -1 KB, Qdelta = 25 KB: Fb = -(-1 + 50) = -49 KB; 49 x 63 / 130 = 23.7.
        let sample = sample_at(&mut point, 25_000).unwrap();
        assert_eq!(sample, CongestionSample { feedback: 23, q_offset: -1_000, q_delta: 25_000 });
        // Qoff = 4 KB, Qdelta = 5 KB: 14 x 63 / 130 = 6.8.
        assert_eq!(sample_at(&mut point, 30_000).unwrap().feedback, 6);
        // It stands: Qdelta = 0; 4 x 63 / 130 = 1.9.
        assert_eq!(sample_at(&mut point, 30_000).unwrap().feedback, 1);
        // It falls: Qoff = 2 KB, Qdelta = -2 KB.
        assert_eq!(sample_at(&mut point, 28_000), None);
        assert_eq!(sample_at(&mut point, 26_000), None);
        // Twice the set point from nothing is the most that counts.
        assert_eq!(sample_at(&mut point, 0), None);
        assert_eq!(sample_at(&mut point, 78_000).unwrap().feedback, 63);
        assert_eq!(sample_at(&mut point, 4_000_000).unwrap().feedback, 63);
    }

    #[test]
    fn samples_come_sooner_the_worse_it_is() {
        // Quotients of 150 KB by 1 to 8, as the table of samples has them.
        let steps = [150_000, 75_000, 50_000, 37_500, 30_000, 25_000, 21_428, 18_750];
        for (eighth, expected) in (0_u32..).zip(steps) {
            let mut point = point(&QcnConfig { weight: 0, ..QcnConfig::default() });
            // With w = 0: QntzFb = Qoff x 63 / Qeq.
            let queued = 26_000 + (eighth * 8 * 26_000).div_ceil(63) + 1;
            let feedback = sample_at(&mut point, queued).map_or(0, |sample| sample.feedback);
            assert_eq!(u32::from(feedback) / 8, eighth);
            let short = expected - point.left;
            assert!((0..=2).contains(&short), "{eighth}: {}", point.left);
        }
    }

    #[test]
    fn a_point_that_was_saved_goes_on() {
        use rocelab_state::State as _;

        let mut before = point(&QcnConfig::default());
        let enqueue = |point: &mut CongestionPoint, k: u32| {
            point.on_enqueue(1_000, 30_000 + k % 7 * 1_000, || u64::from(k) << 50)
        };
        assert!((0..200).any(|k| enqueue(&mut before, k).is_some()), "it is congested");
        let (mut saved, mut after) = (Vec::new(), point(&QcnConfig::default()));
        before.save(&mut saved).expect("it is made of integers");
        after.load(&mut &saved[..]).expect("the settings are the same");
        assert_eq!(after, before);
        assert!((200..900).all(|k| enqueue(&mut after, k) == enqueue(&mut before, k)));
    }

    #[test]
    fn messages_count_in_units() {
        let sample = CongestionSample { feedback: 1, q_offset: -129, q_delta: 1 << 40 };
        assert_eq!(sample.in_units(), (-2, i16::MAX));
    }

    proptest! {
        #[test]
        fn feedback_is_that_of_the_formula_in_real_numbers(
            set_point in 100_u32..10_000_000, weight in 0_u32..=1024, lengths: [u32; 3]) {
            let config = QcnConfig {
                set_point: Bytes::new(set_point.into()), weight, ..QcnConfig::default()
            };
            let mut point = point(&config);
            let mut old = 0.0;
            for queued in lengths {
                let sample = sample_at(&mut point, queued);
                let (queued, set_point, weight) =
                    (f64::from(queued), f64::from(set_point), f64::from(weight));
                let fb = -((queued - set_point) + weight * (queued - old));
                old = queued;
                let exact = (-fb * 63.0 / (set_point * (2.0 * weight + 1.0))).clamp(0.0, 63.0);
                let feedback = sample.map_or(0.0, |sample| f64::from(sample.feedback));
                prop_assert!(feedback <= exact + 1e-6 && exact < feedback + 1.0 + 1e-6,
                    "{feedback} for {exact}");
            }
        }

        #[test]
        fn variation_stays_within_15_percent(bytes in 10_000_i64..10_000_000, draw: u64) {
            let varied = varied(bytes, draw);
            prop_assert!(varied * 100 > bytes * 85 - 200, "{varied}");
            prop_assert!(varied * 100 <= bytes * 115, "{varied}");
        }
    }

    #[test]
    fn variation_is_even() {
        let mean: i64 =
            (0..1000_u64).map(|k| varied(150_000, k << 54 | k << 34)).sum::<i64>() / 1000;
        assert!((149_000..151_000).contains(&mean), "{mean}");
    }
}
