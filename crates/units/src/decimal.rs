//! Decimal text with a unit, read and written in integers.

use thiserror::Error;

/// A unit: its spellings (the first is used for printing) and its size in base units.
pub(crate) struct Unit {
    pub(crate) names: &'static [&'static str],
    pub(crate) scale: u64,
    /// Whether printing may choose it.
    pub(crate) print: bool,
}

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The text is a bare number.
    #[error("`{text}` has no unit: write a {quantity} such as `{example}`")]
    MissingUnit {
        /// The text.
        text: String,
        /// The expected quantity: "bandwidth", "duration" and so on.
        quantity: &'static str,
        /// A valid text.
        example: &'static str,
    },
    /// The unit does not belong to this quantity.
    #[error("`{unit}` is no unit of {quantity}: use one of {units}, as in `{example}`")]
    UnknownUnit {
        /// The unit in the text.
        unit: String,
        /// The expected quantity.
        quantity: &'static str,
        /// The known units, separated by commas.
        units: String,
        /// A valid text.
        example: &'static str,
    },
    /// The unit is one of this quantity, written in another way.
    #[error("`{unit}` is no unit of {quantity}: write `{meant}`")]
    MistypedUnit {
        /// The unit in the text.
        unit: String,
        /// The expected quantity.
        quantity: &'static str,
        /// The text with the unit that is meant.
        meant: String,
    },
    /// A fraction with more decimals than are kept.
    #[error("`{text}` has more than 6 decimals: write `{rounded}`")]
    TooManyDecimals {
        /// The text.
        text: String,
        /// The nearest fraction with 6 decimals.
        rounded: String,
    },
    /// The part before the unit is not a decimal number.
    #[error(
        "`{text}` does not start with a decimal number: write a {quantity} such as `{example}`"
    )]
    NotANumber {
        /// The text.
        text: String,
        /// The expected quantity.
        quantity: &'static str,
        /// A valid text.
        example: &'static str,
    },
    /// The value is not a whole number of base units.
    #[error("`{text}` is finer than {resolution}, the smallest step of a {quantity}")]
    TooFine {
        /// The text.
        text: String,
        /// The expected quantity.
        quantity: &'static str,
        /// The base unit.
        resolution: &'static str,
    },
    /// The value is too large.
    #[error("`{text}` is too large a {quantity}: the largest is {most}")]
    TooLarge {
        /// The text.
        text: String,
        /// The expected quantity.
        quantity: &'static str,
        /// The largest value.
        most: String,
    },
}

/// The text form of a quantity.
pub(crate) struct Grammar {
    pub(crate) quantity: &'static str,
    pub(crate) example: &'static str,
    pub(crate) resolution: &'static str,
    /// Largest unit first.
    pub(crate) units: &'static [Unit],
    /// The largest value of a text, in base units.
    pub(crate) most: u64,
}

impl Grammar {
    /// Reads `text` as a whole number of base units.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, ParseError> {
        let text = text.trim();
        let split = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
            .unwrap_or(text.len());
        let (number, unit) = (&text[..split], text[split..].trim());
        let mut digits = number.bytes().filter(u8::is_ascii_digit).peekable();
        if digits.peek().is_none() || number.matches('.').count() > 1 {
            return Err(ParseError::NotANumber {
                text: text.into(),
                quantity: self.quantity,
                example: self.example,
            });
        }
        if unit.is_empty() {
            return Err(self.missing_unit(text));
        }
        let Some(unit) = self.units.iter().find(|u| u.names.contains(&unit)) else {
            return Err(self.unknown_unit(number, unit));
        };
        self.scaled(text, number, unit.scale)
    }

    /// The error of a number with a unit that is none, such as `100gbps` or `100G`.
    fn unknown_unit(&self, number: &str, unit: &str) -> ParseError {
        let names = || self.units.iter().flat_map(|unit| unit.names).copied();
        // Bits are not bytes.
        let bits = |name: &str| {
            name.bytes().filter(|byte| matches!(byte, b'b' | b'B')).collect::<Vec<_>>()
        };
        let in_other_case =
            names().find(|name| name.eq_ignore_ascii_case(unit) && bits(name) == bits(unit));
        let is_prefix = matches!(unit, "k" | "K" | "M" | "G" | "T");
        let begins = |name: &str| is_prefix && name.len() > unit.len() && name.starts_with(unit);
        let (quantity, unit) = (self.quantity, unit.to_owned());
        match in_other_case.or_else(|| names().find(|&name| begins(name))) {
            Some(name) => {
                ParseError::MistypedUnit { unit, quantity, meant: format!("{number}{name}") }
            }
            None => ParseError::UnknownUnit {
                unit,
                quantity,
                units: self.units.iter().map(|u| u.names[0]).collect::<Vec<_>>().join(", "),
                example: self.example,
            },
        }
    }

    /// The error of a number without a unit.
    pub(crate) fn missing_unit(&self, text: &str) -> ParseError {
        ParseError::MissingUnit {
            text: text.into(),
            quantity: self.quantity,
            example: self.example,
        }
    }

    fn scaled(&self, text: &str, number: &str, scale: u64) -> Result<u64, ParseError> {
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let fraction = fraction.trim_end_matches(['0', '_']);
        let too_large = || ParseError::TooLarge {
            text: text.into(),
            quantity: self.quantity,
            most: self.format(self.most),
        };
        let mut value: u128 = 0;
        let mut denominator: u128 = 1;
        let digits = |part: &str| part.bytes().filter(u8::is_ascii_digit).collect::<Vec<_>>();
        for digit in digits(whole).into_iter().chain(digits(fraction)) {
            value = value
                .checked_mul(10)
                .and_then(|v| v.checked_add(u128::from(digit - b'0')))
                .ok_or_else(too_large)?;
        }
        for _ in digits(fraction) {
            denominator = denominator.checked_mul(10).ok_or_else(too_large)?;
        }
        let scaled = value.checked_mul(u128::from(scale)).ok_or_else(too_large)?;
        if scaled % denominator != 0 {
            return Err(ParseError::TooFine {
                text: text.into(),
                quantity: self.quantity,
                resolution: self.resolution,
            });
        }
        let value = u64::try_from(scaled / denominator).map_err(|_| too_large())?;
        if value <= self.most { Ok(value) } else { Err(too_large()) }
    }

    /// Writes `value` in the largest unit that needs at most three decimals, so that
    /// [`Grammar::parse`] reads the same value back.
    pub(crate) fn format(&self, value: u64) -> String {
        let base = &self.units[self.units.len() - 1];
        let unit = self
            .units
            .iter()
            .filter(|u| u.print)
            .find(|u| value >= u.scale && (u128::from(value) * 1000) % u128::from(u.scale) == 0)
            .unwrap_or(base);
        let whole = value / unit.scale;
        let thousandths = u128::from(value % unit.scale) * 1000 / u128::from(unit.scale);
        if thousandths == 0 {
            return format!("{whole}{}", unit.names[0]);
        }
        let fraction = format!("{thousandths:03}");
        format!("{whole}.{}{}", fraction.trim_end_matches('0'), unit.names[0])
    }
}

#[cfg(test)]
mod tests {
    use crate::{Bandwidth, Bytes, Duration, Length, SimTime};

    #[test]
    fn decimals_are_exact() {
        assert_eq!("0.1us".parse::<Duration>().unwrap(), Duration::from_ps(100_000));
        assert_eq!("84.48ns".parse::<Duration>().unwrap(), Duration::from_ps(84_480));
        assert_eq!("12MB".parse::<Bytes>().unwrap().get(), 12_000_000);
        assert_eq!("12MiB".parse::<Bytes>().unwrap().get(), 12 << 20);
        assert_eq!("0.5m".parse::<Length>().unwrap(), Length::from_mm(500));
        assert_eq!("1.6Tbps".parse::<Bandwidth>().unwrap().bits_per_second(), 1_600_000_000_000);
        assert_eq!("100 Gb/s".parse::<Bandwidth>().unwrap(), "100Gbps".parse().unwrap());
    }

    #[test]
    fn errors_say_what_to_write() {
        let message = |text: &str| text.parse::<Bandwidth>().unwrap_err().to_string();
        assert!(message("100").contains("write a bandwidth such as `100Gbps`"));
        assert!(message("100GB").contains("`GB` is no unit of bandwidth"));
        assert!(message("100G").ends_with("`G` is no unit of bandwidth: write `100Gbps`"));
        assert!(message("2.5gbps").ends_with("write `2.5Gbps`"));
        assert!(message("100GBps").contains("use one of"), "bytes are not bits");
        let of_bytes = |text: &str| text.parse::<Bytes>().unwrap_err().to_string();
        assert!(
            of_bytes("20K").ends_with("write `20KB`") && of_bytes("20Kb").contains("use one of")
        );
        assert!("5m".parse::<Duration>().unwrap_err().to_string().contains("use one of"));
        assert!(message("fast").contains("does not start with a decimal number"));
        assert!(message("").contains("does not start with a decimal number"));
        assert!(message("1.2.3Gbps").contains("decimal number"));
        assert!(message("-1Gbps").contains("decimal number"));
        assert!(message("99999999999999999999Tbps").contains("too large"));
        assert!(message("0.1bps").contains("finer than 1 bit/s"));
        assert!("0.0001ps".parse::<Duration>().is_err());
    }

    /// Sums of the largest values that a user can write do not overflow.
    #[test]
    fn no_time_is_after_the_latest() {
        assert_eq!("4611686s".parse(), Ok(SimTime::LATEST));
        for text in ["4611686.000000000001s", "18446744.073709551615s"] {
            let error = text.parse::<Duration>().unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("the largest is 4611686s"), "{error}");
        }
        let latest = SimTime::LATEST.ps();
        assert!(latest.checked_mul(4).is_some());
        assert!("18446744073709551615B".parse::<Bytes>().is_ok(), "sizes have no such limit");
    }

    #[test]
    fn printing_is_read_back() {
        for ps in [0, 1, 999, 1000, 1001, 84_480, 1_000_000, 1_234_567, SimTime::LATEST.ps()] {
            let duration = Duration::from_ps(ps);
            assert_eq!(duration.to_string().parse::<Duration>().unwrap(), duration);
        }
        assert_eq!(Duration::from_ps(84_480).to_string(), "84.48ns");
        assert_eq!(Bandwidth::from_gbps(100).to_string(), "100Gbps");
        assert_eq!(Bytes::new(1_048_576).to_string(), "1MiB");
        assert_eq!(Bytes::new(1_000_000).to_string(), "1MB");
        assert_eq!(Length::from_mm(1500).to_string(), "1.5m");
    }
}
