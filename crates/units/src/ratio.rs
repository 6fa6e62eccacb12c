//! Exact fractions.

use core::fmt;
use core::str::FromStr;
use std::borrow::Cow;

use crate::ParseError;

/// A fraction such as the dynamic threshold's alpha, written `1/8`, `2` or `0.125`.
///
/// Kept as numerator and denominator so that thresholds are compared in integers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ratio {
    numerator: u32,
    denominator: u32,
}

impl Ratio {
    /// The fraction `numerator / denominator`.
    ///
    /// # Panics
    /// If the denominator is zero.
    pub const fn new(numerator: u32, denominator: u32) -> Self {
        assert!(denominator > 0, "a fraction's denominator is not zero");
        Self { numerator, denominator }
    }

    /// The numerator.
    pub const fn numerator(self) -> u32 {
        self.numerator
    }

    /// The denominator.
    pub const fn denominator(self) -> u32 {
        self.denominator
    }

    /// This share of `amount`, rounded down.
    #[inline]
    pub const fn of(self, amount: u64) -> u64 {
        match amount.checked_mul(self.numerator as u64) {
            Some(product) => product / self.denominator as u64,
            None => u64::MAX,
        }
    }

    /// The fraction as a floating-point number.
    pub fn as_f64(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }
}

impl FromStr for Ratio {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let refused =
            || ParseError::NotANumber { text: text.into(), quantity: "fraction", example: "1/8" };
        if let Some((numerator, denominator)) = text.split_once('/') {
            let numerator = numerator.trim().parse().map_err(|_| refused())?;
            let denominator = denominator.trim().parse().map_err(|_| refused())?;
            return if denominator == 0 {
                Err(refused())
            } else {
                Ok(Self { numerator, denominator })
            };
        }
        let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
        let fraction = fraction.trim_end_matches('0');
        let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let places = u32::try_from(fraction.len()).map_err(|_| refused())?;
        if whole.is_empty() || !plain(whole) || !plain(fraction) {
            return Err(refused());
        }
        if places > 6 {
            let number: f64 = text.trim().parse().map_err(|_| refused())?;
            let rounded = format!("{number:.6}").trim_end_matches('0').trim_end_matches('.').into();
            return Err(ParseError::TooManyDecimals { text: text.into(), rounded });
        }
        let numerator = format!("{whole}{fraction}").parse().map_err(|_| refused())?;
        Ok(Self { numerator, denominator: 10u32.pow(places) })
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

impl fmt::Debug for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for Ratio {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Ratio {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Ratio;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a fraction such as \"1/8\" or 0.125")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Ratio, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Ratio, E> {
                number.to_string().parse().map_err(E::custom)
            }

            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Ratio, E> {
                number.to_string().parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl schemars::JsonSchema for Ratio {
    fn schema_name() -> Cow<'static, str> {
        "Ratio".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A fraction: text such as \"1/8\", or a number.",
            "anyOf": [
                { "type": "string", "pattern": "^[0-9]+(/[1-9][0-9]*|\\.[0-9]{1,6})?$" },
                { "type": "number", "minimum": 0 },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_and_decimals_are_exact() {
        assert_eq!("1/8".parse::<Ratio>().unwrap().of(800), 100);
        assert_eq!("0.125".parse::<Ratio>().unwrap().of(800), 100);
        assert_eq!("2".parse::<Ratio>().unwrap().of(800), 1600);
        for wrong in ["", "1/0", "a/b", "-1", "1e3", "0.1234567", "."] {
            assert!(wrong.parse::<Ratio>().is_err(), "{wrong} was accepted");
        }
        let told = "0.30000000000000004".parse::<Ratio>().unwrap_err().to_string();
        assert_eq!(told, "`0.30000000000000004` has more than 6 decimals: write `0.3`");
    }
}
