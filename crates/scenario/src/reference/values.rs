//! Values by key: the simulator's default where the file is silent, an error where it is wrong.

use std::fmt::Display;

use rocelab_units::{Bandwidth, Bytes, Duration, Ratio, SimTime};

use super::entries::Entries;
use crate::{Fault, ScenarioError};

impl Entries {
    /// The single word of `key`.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.values(key).first().map(|(text, _)| *text)
    }

    /// A switch: 0 is off, any other number on.
    pub(super) fn flag(&self, key: &str, default: bool) -> Result<bool, ScenarioError> {
        let read = |text: &str| text.parse::<u32>().ok().map(|number| number != 0);
        Ok(self.parsed(key, read, "this is neither on nor off", "write 0 or 1")?.unwrap_or(default))
    }

    /// A whole number of 32 bits.
    pub(super) fn whole(&self, key: &str, default: u32) -> Result<u32, ScenarioError> {
        let read = |text: &str| text.parse().ok();
        let help = "write digits alone, at most 4294967295";
        Ok(self.parsed(key, read, "this is no whole number", help)?.unwrap_or(default))
    }

    /// A number of bytes.
    pub(super) fn bytes(&self, key: &str, default: u32) -> Result<Bytes, ScenarioError> {
        self.whole(key, default).map(|bytes| Bytes::new(bytes.into()))
    }

    /// A number that is not negative.
    pub(super) fn number(&self, key: &str, default: f64) -> Result<f64, ScenarioError> {
        let number = self.parsed(key, not_negative, "this is no number", "write it as in 0.95")?;
        Ok(number.unwrap_or(default))
    }

    /// A time in whole microseconds, of which a fraction is cut off.
    pub(super) fn microseconds(&self, key: &str) -> Result<Option<Duration>, ScenarioError> {
        let help = "write microseconds, as in 300";
        let time = self.parsed(key, not_negative, "this is no time", help)?;
        Ok(time.map(|time| Duration::from_us(whole(time))))
    }

    /// A time since the beginning in whole nanoseconds.
    pub(super) fn nanoseconds(&self, key: &str, default: u64) -> Result<SimTime, ScenarioError> {
        let read = |text: &str| text.parse::<u64>().ok()?.checked_mul(1_000);
        let help = "write nanoseconds, as in 2000000000";
        let time = self.parsed(key, read, "this is no time", help)?;
        Ok(SimTime::from_ps(time.unwrap_or(default.saturating_mul(1_000))))
    }

    /// A rate with its unit.
    pub(super) fn rate(&self, key: &str) -> Result<Option<Bandwidth>, ScenarioError> {
        self.quantity(key, |text| text.parse())
    }

    /// A decimal number, exactly.
    pub(super) fn ratio(&self, key: &str) -> Result<Option<Ratio>, ScenarioError> {
        let help = "write a number such as 0.00390625 or 1e-3, at least 1e-9";
        self.parsed(key, fraction_of, "this is no fraction", help)
    }

    /// Any quantity that says itself what is wrong with a text.
    pub(super) fn quantity<T, E: Display>(
        &self,
        key: &str,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Option<T>, ScenarioError> {
        let Some((text, span)) = self.values(key).into_iter().next() else { return Ok(None) };
        let wrong = |error: E| self.blame(key, span, Fault::worded(&error.to_string()));
        read(text).map(Some).map_err(wrong)
    }

    fn parsed<T>(
        &self,
        key: &str,
        read: impl Fn(&str) -> Option<T>,
        message: &str,
        help: &str,
    ) -> Result<Option<T>, ScenarioError> {
        let Some((text, span)) = self.values(key).into_iter().next() else { return Ok(None) };
        let wrong = || self.blame(key, span, Fault::at("", message).help(help));
        read(text).map(Some).ok_or_else(wrong)
    }
}

fn not_negative(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// The whole part, up to some years of microseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and bounded just before"
)]
fn whole(number: f64) -> u64 {
    number.min(1e12) as u64
}

/// The simplest fraction whose quotient in floating point is the text's number: the terms of its
/// continued fraction are taken until it is.
pub fn fraction_of(text: &str) -> Option<Ratio> {
    /// Enough to make a whole number of any double from 2^-47 on.
    const SCALE: u128 = 1 << 100;
    let number = not_negative(text).filter(|&number| number < f64::from(u32::MAX))?;
    let (mut above, mut below) = (scaled(number, SCALE), SCALE);
    let (mut before, mut last) = ((0u128, 1u128), (1u128, 0u128));
    while below > 0 {
        let term = above / below;
        let next = (term * last.0 + before.0, term * last.1 + before.1);
        let terms = (u32::try_from(next.0).ok()?, u32::try_from(next.1).ok()?);
        if (f64::from(terms.0) / f64::from(terms.1)).to_bits() == number.to_bits() {
            return Some(Ratio::new(terms.0, terms.1));
        }
        (before, last) = (last, next);
        (above, below) = (below, above % below);
    }
    None
}

/// `number` x `scale`, a power of two, of which a fraction is cut off.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and bounded just before"
)]
fn scaled(number: f64, scale: u128) -> u128 {
    // A power of two changes no digit.
    (number * scale as f64) as u128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_become_fractions_in_lowest_terms() {
        let terms = |text| fraction_of(text).map(|ratio| (ratio.numerator(), ratio.denominator()));
        assert_eq!(terms("0.00390625"), Some((1, 256)));
        assert_eq!(terms("0.0625"), Some((1, 16)));
        assert_eq!(terms("0.950"), Some((19, 20)));
        assert_eq!(terms("1"), Some((1, 1)));
        assert_eq!(terms("0"), Some((0, 1)));
        assert_eq!(terms("0.0009765625"), Some((1, 1024)));
        assert_eq!(terms(".5"), Some((1, 2)));
        assert_eq!(terms("1e-3"), Some((1, 1_000)));
        for wrong in ["", ".", "-1", "1e-12", "5000000000", "nan", "inf", "a"] {
            assert_eq!(terms(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_fraction_is_the_text_s_double() {
        for text in ["0.00390625", "0.1", "0.95", "0.123456789", "3.9e-3"] {
            let double: f64 = text.parse().unwrap();
            assert_eq!(fraction_of(text).unwrap().as_f64().to_bits(), double.to_bits(), "{text}");
        }
    }
}
