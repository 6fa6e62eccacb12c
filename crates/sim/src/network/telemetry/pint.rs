//! Probabilistic in-band telemetry of HPCC-PINT (Ben Basat et al., SIGCOMM 2020), as the simulator
//! of HPCC's authors computes it: a switch has no logarithms and no division, so it looks up
//! rounded ones, and rounds at random so that the mean is right.

use rocelab_transport::congestion_control::hpcc_pint;
use rocelab_units::{Bandwidth, Duration, SimTime};

/// Picoseconds in a nanosecond: telemetry counts in these.
pub(super) const PS_PER_NS: u64 = 1_000;

/// Logarithms are kept in units of 2^-15.
const LOG_UNIT: f64 = 32_768.0;
/// Significant bits that the table of logarithms is entered with.
const SIGNIFICANT_BITS: u32 = 16;
/// The utilisation enters the table in units of 2^-13.
const UTILISATION_UNIT: f64 = 8_192.0;
/// The encoded value counts utilisation in units of 2^-9.
const VALUE_UNIT: f64 = 512.0;
/// Queue lengths enter the table in units of 256 bytes.
const QUEUE_SHIFT: u32 = 8;

/// The utilisation of one port, averaged over a base round-trip time.
#[derive(Clone, Copy, Debug)]
pub(in crate::network) struct Meter {
    utilisation: f64,
    last_departure: SimTime,
    last_frame_len: u32,
    /// [ns]
    base_rtt: u64,
}

rocelab_state::state!(Meter {
    values: utilisation, last_departure, last_frame_len;
    kept: base_rtt
});

impl Meter {
    pub(super) fn new(base_rtt: Duration) -> Self {
        Self {
            utilisation: 0.0,
            last_departure: SimTime::ZERO,
            last_frame_len: 0,
            base_rtt: base_rtt.ps() / PS_PER_NS,
        }
    }

    /// A frame begins to leave.
    pub(super) fn note_departure(&mut self, now: SimTime, frame_len: u32) {
        self.last_departure = now;
        self.last_frame_len = frame_len;
    }

    /// The utilisation as a packet leaves with `queued` bytes behind it:
    /// `dt q / (B T^2) + bytes / (B T) + (T - dt) u / T`, with dt the time since the last frame.
    pub(super) fn measure(
        &mut self,
        now: SimTime,
        queued: u64,
        rate: Bandwidth,
        random: &mut impl FnMut() -> u32,
    ) -> f64 {
        let since = now.since(self.last_departure).ps() / PS_PER_NS;
        let passed = since.min(self.base_rtt);
        let log_time = libm::log2(self.base_rtt as f64) * LOG_UNIT;
        let log_rate = libm::log2((rate.bits_per_second() / 8) as f64) * LOG_UNIT;
        let log_second = libm::log2(1e9) * LOG_UNIT;
        let mut sum = 0.0;
        let queued = queued >> QUEUE_SHIFT;
        if queued > 0 {
            let factors = rounded_log(passed, random) + rounded_log(queued, random);
            let exponent = (factors + log_second - log_rate - 2.0 * log_time) / LOG_UNIT;
            sum += libm::pow(2.0, exponent) * f64::from(1 << QUEUE_SHIFT);
        }
        if self.last_frame_len > 0 {
            let bytes = rounded_log(u64::from(self.last_frame_len), random);
            sum += libm::pow(2.0, (bytes + log_second - log_rate - log_time) / LOG_UNIT);
        }
        if self.base_rtt > passed && self.utilisation > 0.0 {
            let rest = rounded_log(self.base_rtt - passed, random);
            let before =
                rounded_log(whole(libm::round(self.utilisation * UTILISATION_UNIT)), random);
            sum += libm::pow(2.0, (rest + before - log_time) / LOG_UNIT) / UTILISATION_UNIT;
        }
        self.utilisation = sum;
        sum
    }
}

/// The binary logarithm of `x` in units of 2^-15, cut to a whole number. Only the leading 16 bits
/// of `x` are used, rounded up with a probability in proportion to the rest.
fn rounded_log(x: u64, random: &mut impl FnMut() -> u32) -> f64 {
    let bits = u64::BITS - x.leading_zeros();
    let mut rounded = x;
    if bits > SIGNIFICANT_BITS {
        let cut = bits - SIGNIFICANT_BITS;
        let mask = (1 << cut) - 1;
        rounded = x & !mask;
        if x & mask > u64::from(random()) & mask {
            rounded += 1 << cut;
        }
    }
    libm::trunc(libm::log2(rounded as f64) * LOG_UNIT)
}

/// The logarithmic encoding of a utilisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encoding {
    base: f64,
    /// 1 / ln(base).
    factor: f64,
}

impl Encoding {
    pub(super) fn new(base: f64) -> Self {
        Self { base, factor: 1.0 / libm::log(base) }
    }

    /// The power of the base next to `utilisation` x 512, at least 1: the one above or the one
    /// below, at random, so that the mean is right.
    pub(super) fn encode(&self, utilisation: f64, random: &mut impl FnMut() -> u32) -> u16 {
        let number = libm::ceil(utilisation * VALUE_UNIT).max(1.0);
        let power = libm::log(number) * self.factor;
        let (above, below) = (exponent(libm::ceil(power)), exponent(libm::floor(power)));
        let mut upper = hpcc_pint::power(self.base, above);
        let lower = hpcc_pint::power(self.base, below);
        if above == below {
            upper *= self.base;
        }
        let threshold = (number - lower) / (upper - lower) * 65_536.0;
        if f64::from(random() % 65_536) < threshold { above } else { below }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
fn exponent(x: f64) -> u16 {
    x as u16
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
fn whole(x: f64) -> u64 {
    x as u64
}
