//! Ratios with six decimals.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A ratio in millionths: exact, ordered, and with one way to print it.
///
/// Text and CSV always show six decimals, `1.250000`; JSON shows the number, `1.25`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millionths(pub u64);

const ONE: u64 = 1_000_000;

impl Millionths {
    /// The ratio 1.
    pub const ONE: Self = Self(ONE);

    /// `numerator / denominator`, rounded half up; `None` if the denominator is zero.
    pub fn ratio(numerator: u64, denominator: u64) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let scaled = u128::from(numerator) * u128::from(ONE) + u128::from(denominator / 2);
        let quotient = scaled / u128::from(denominator);
        Some(Self(u64::try_from(quotient).unwrap_or(u64::MAX)))
    }

    /// Parses a decimal fraction with at most six decimals; `None` if the text is something else.
    #[cfg(any(feature = "parquet", test))]
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number(whole) || !is_number(decimals) || decimals.len() > 6 {
            return None;
        }
        let decimals: u64 = format!("{decimals:0<6}").parse().ok()?;
        Some(Self(whole.parse::<u64>().ok()?.checked_mul(ONE)?.checked_add(decimals)?))
    }

    /// The nearest float, for plots.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / ONE as f64
    }
}

impl fmt::Display for Millionths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(6).min(6);
        let unit = 10_u64.pow(6 - u32::try_from(digits).unwrap_or(6));
        let rounded = (u128::from(self.0) + u128::from(unit / 2)) / u128::from(unit);
        let scale = u128::from(ONE / unit);
        let text = match digits {
            0 => format!("{rounded}"),
            _ => format!("{}.{:0digits$}", rounded / scale, rounded % scale),
        };
        // Aligned right in a wider field, like an integer.
        match f.width() {
            Some(width) => write!(f, "{text:>width$}"),
            None => f.write_str(&text),
        }
    }
}

impl Serialize for Millionths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

impl<'de> Deserialize<'de> for Millionths {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range checked")]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ratio = f64::deserialize(deserializer)?;
        let millionths = (ratio * ONE as f64).round();
        if !(0.0..u64::MAX as f64).contains(&millionths) {
            return Err(serde::de::Error::custom(format!(
                "{ratio} is no ratio of positive numbers"
            )));
        }
        Ok(Self(millionths as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_half_up_and_refuses_zero() {
        assert_eq!(Millionths::ratio(1, 3), Some(Millionths(333_333)));
        assert_eq!(Millionths::ratio(2, 3), Some(Millionths(666_667)));
        assert_eq!(Millionths::ratio(5, 4), Some(Millionths(1_250_000)));
        assert_eq!(Millionths::ratio(u64::MAX, 1), Some(Millionths(u64::MAX)));
        assert_eq!(Millionths::ratio(1, 0), None);
    }

    #[test]
    fn prints_fixed_decimals() {
        assert_eq!(Millionths(1_250_000).to_string(), "1.250000");
        assert_eq!(Millionths(7).to_string(), "0.000007");
        assert_eq!(format!("{:.2}", Millionths(1_995_000)), "2.00");
        assert_eq!(format!("{:.2}", Millionths(1_994_999)), "1.99");
        assert_eq!(format!("{:.0}", Millionths(1_500_000)), "2");
        assert_eq!(format!("{:8.1}", Millionths(1_250_000)), "     1.3");
    }

    #[test]
    fn what_is_printed_is_parsed() {
        for value in [0, 7, 999_999, 1_250_000, u64::MAX] {
            assert_eq!(Millionths::parse(&Millionths(value).to_string()), Some(Millionths(value)));
        }
        assert_eq!(Millionths::parse("2.5"), Some(Millionths(2_500_000)));
        for wrong in ["", ".5", "-1", "1.2345678", "1e3", "18446744073710.0"] {
            assert_eq!(Millionths::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn json_shows_the_number_and_reads_it_back() {
        for value in [0, 1, 999_999, 1_000_000, 1_234_567, 123_456_789_012] {
            let text = serde_json::to_string(&Millionths(value)).unwrap();
            assert_eq!(serde_json::from_str::<Millionths>(&text).unwrap(), Millionths(value));
        }
        assert_eq!(serde_json::to_string(&Millionths(1_250_000)).unwrap(), "1.25");
        assert!(serde_json::from_str::<Millionths>("-1").is_err());
    }
}
