//! Probabilistic in-band telemetry of HPCC-PINT (Ben Basat et al., SIGCOMM 2020), as the simulator
//! of HPCC's authors computes it: one value for the whole path, the logarithm of the largest
//! utilization. A switch has no logarithms and no division, so it looks up rounded ones, and rounds
//! at random so that the mean is right.
//!
//! On the wire: value (16), zero (16). The value is 0 before the first switch.

mod power;

use core::fmt;

use self::power::power;
use super::signal::{EgressPort, Form, PS_PER_NS, Properties, Signal};
use crate::bits::get;

/// Logarithms are kept in units of 2^-15.
const LOG_UNIT: f64 = 32_768.0;
/// Significant bits that the table of logarithms is entered with.
const SIGNIFICANT_BITS: u32 = 16;
/// The utilization enters the table in units of 2^-13.
const UTILIZATION_UNIT: f64 = 8_192.0;
/// The encoded value counts utilization in units of 2^-9.
const VALUE_UNIT: f64 = 512.0;
/// Queue lengths enter the table in units of 256 bytes.
const QUEUE_SHIFT: u32 = 8;

/// The number of the signal, after the value.
const NUMBER: u16 = 0;
/// Length of the value, in bytes.
const VALUE_LEN: usize = 2;

/// The units of PINT.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PintUnits {
    /// The base of the logarithm, above 1.
    pub log_base: f64,
}

/// The utilization that a value of the header stands for: 1 where the port is always busy.
#[must_use]
pub fn pint_utilization(units: PintUnits, value: u16) -> f64 {
    power(units.log_base, value) / VALUE_UNIT
}

/// Writes the utilization of a port, if that is the largest so far.
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    encoding: Encoding,
    meter: Meter,
}

impl Signal for Writer {
    type Header = u16;
    type Units = PintUnits;
    const FORM: Form = Form::Value(NUMBER);
    const LEN: usize = VALUE_LEN + size_of_val(&NUMBER);
    const PROPERTIES: Properties = Properties {
        units_key: "log_base",
        keeps_state: true,
        is_random: true,
        ..Properties::new("PINT")
    };

    fn parse(bytes: &[u8]) -> Option<u16> {
        let value: &[u8; VALUE_LEN] = bytes.first_chunk()?;
        Some(u16::from_be_bytes(get::<0, _, _>(value)))
    }

    fn emit(value: &u16, mut sink: impl FnMut(&[u8])) {
        sink(&value.to_be_bytes());
        sink(&NUMBER.to_be_bytes());
    }

    fn display(value: &u16, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PINT {value}")
    }

    fn new(units: PintUnits, average_ns: u64) -> Self {
        Self { encoding: Encoding::new(units.log_base), meter: Meter::new(average_ns) }
    }

    #[inline]
    fn on_departure(&mut self, now_ps: u64, bytes: u32) {
        self.meter.last_departure_ps = now_ps;
        self.meter.last_frame_len = bytes;
    }

    fn write(&mut self, value: &mut u16, port: &EgressPort, random: &mut impl FnMut() -> u32) {
        let utilization = self.meter.measure(port, random);
        *value = (*value).max(self.encoding.encode(utilization, random));
    }

    #[cfg(feature = "state")]
    fn save<W: borsh::io::Write>(&self, to: &mut W) -> borsh::io::Result<()> {
        let Meter { utilization, last_departure_ps, last_frame_len, average_ns: _ } = self.meter;
        borsh::to_writer(to, &(utilization, last_departure_ps, last_frame_len))
    }

    #[cfg(feature = "state")]
    fn load<R: borsh::io::Read>(&mut self, from: &mut R) -> borsh::io::Result<()> {
        let Meter { utilization, last_departure_ps, last_frame_len, average_ns: _ } =
            &mut self.meter;
        (*utilization, *last_departure_ps, *last_frame_len) =
            borsh::BorshDeserialize::deserialize_reader(from)?;
        Ok(())
    }
}

/// The utilization of one port, averaged over a base round-trip time.
#[derive(Clone, Copy, Debug)]
struct Meter {
    utilization: f64,
    last_departure_ps: u64,
    last_frame_len: u32,
    average_ns: u64,
}

impl Meter {
    const fn new(average_ns: u64) -> Self {
        Self { utilization: 0.0, last_departure_ps: 0, last_frame_len: 0, average_ns }
    }

    /// The utilization as a packet leaves by `port` with `q` bytes behind it:
    /// `dt q / (B T^2) + bytes / (B T) + (T - dt) u / T`, with dt the time since the last frame.
    fn measure(&mut self, port: &EgressPort, random: &mut impl FnMut() -> u32) -> f64 {
        let since = port.now_ps.saturating_sub(self.last_departure_ps) / PS_PER_NS;
        let passed = since.min(self.average_ns);
        let log_time = libm::log2(self.average_ns as f64) * LOG_UNIT;
        let log_rate = libm::log2((port.rate_bps / 8) as f64) * LOG_UNIT;
        let log_second = libm::log2(1e9) * LOG_UNIT;
        let mut sum = 0.0;
        let queued = port.waiting_bytes >> QUEUE_SHIFT;
        if queued > 0 {
            let factors = rounded_log(passed, random) + rounded_log(queued, random);
            let exponent = (factors + log_second - log_rate - 2.0 * log_time) / LOG_UNIT;
            sum += libm::pow(2.0, exponent) * f64::from(1 << QUEUE_SHIFT);
        }
        if self.last_frame_len > 0 {
            let bytes = rounded_log(u64::from(self.last_frame_len), random);
            sum += libm::pow(2.0, (bytes + log_second - log_rate - log_time) / LOG_UNIT);
        }
        if self.average_ns > passed && self.utilization > 0.0 {
            let rest = rounded_log(self.average_ns - passed, random);
            let before =
                rounded_log(whole(libm::round(self.utilization * UTILIZATION_UNIT)), random);
            sum += libm::pow(2.0, (rest + before - log_time) / LOG_UNIT) / UTILIZATION_UNIT;
        }
        self.utilization = sum;
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

/// The logarithmic encoding of a utilization.
#[derive(Clone, Copy, Debug)]
struct Encoding {
    base: f64,
    /// 1 / ln(base).
    factor: f64,
}

impl Encoding {
    fn new(base: f64) -> Self {
        Self { base, factor: 1.0 / libm::log(base) }
    }

    /// The power of the base next to `utilization` x 512, at least 1: the one above or the one
    /// below, at random, so that the mean is right.
    fn encode(&self, utilization: f64, random: &mut impl FnMut() -> u32) -> u16 {
        let number = libm::ceil(utilization * VALUE_UNIT).max(1.0);
        let logarithm = libm::log(number) * self.factor;
        let (above, below) = (exponent(libm::ceil(logarithm)), exponent(libm::floor(logarithm)));
        let mut upper = power(self.base, above);
        let lower = power(self.base, below);
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
