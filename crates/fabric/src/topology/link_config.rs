//! Links as a scenario writes them.

use rocelab_units::{Bandwidth, Duration, Length};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TopologyError;
use super::limits::{MAX_DELAY, RATES};

/// A link as a scenario writes it: `{ rate = "100Gbps", cable = "3m" }`, or with a `delay`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Rate of each direction: of data after coding, or the name of a link of InfiniBand with four lanes: `SDR` (8Gbps), `DDR`, `QDR`,
    /// `FDR10`, `FDR`, `EDR`, `HDR100` (two lanes), `HDR`, `NDR200` (two lanes), `NDR`, `XDR` (800Gbps).
    #[serde(deserialize_with = "rate_or_name")]
    #[schemars(with = "Rate")]
    pub rate: Bandwidth,
    /// Cable length, at 5 ns a metre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cable: Option<Length>,
    /// Propagation delay in place of a cable length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
}

/// A rate, or the name of one: how the schema describes what [`rate_or_name`] reads.
#[derive(Debug, JsonSchema)]
#[serde(untagged)]
pub enum Rate {
    /// A rate such as `100Gbps`.
    Rate(Bandwidth),
    /// A link of InfiniBand.
    Named(InfiniBandRate),
}

/// The names of links of InfiniBand.
#[derive(Debug, JsonSchema)]
#[expect(missing_docs, reason = "`RATES` says what they carry")]
pub enum InfiniBandRate {
    SDR,
    DDR,
    QDR,
    FDR10,
    FDR,
    EDR,
    HDR100,
    HDR,
    NDR200,
    NDR,
    XDR,
}

/// What links of InfiniBand carry of data, after coding (bit/s): four lanes each, but for HDR100 and NDR200.
const INFINIBAND_RATES: [(&str, u64); 11] = [
    ("SDR", 8_000_000_000),
    ("DDR", 16_000_000_000),
    ("QDR", 32_000_000_000),
    ("FDR10", 40_000_000_000),
    // 14.0625 GBd a lane, 64 of 66 bits.
    ("FDR", 54_545_454_545),
    ("EDR", 100_000_000_000),
    ("HDR100", 100_000_000_000),
    ("HDR", 200_000_000_000),
    ("NDR200", 200_000_000_000),
    ("NDR", 400_000_000_000),
    ("XDR", 800_000_000_000),
];

/// Reads a rate, or the name of one in any case.
///
/// # Errors
/// What the text is instead, with the names that there are.
pub fn rate_or_name<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Bandwidth, D::Error> {
    let text = String::deserialize(deserializer)?;
    let named = INFINIBAND_RATES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text));
    match named {
        Some(&(_, rate)) => Ok(Bandwidth::from_bps(rate)),
        None if text.starts_with(|first: char| first.is_ascii_alphabetic()) => {
            let names = INFINIBAND_RATES.map(|(name, _)| name).join(", ");
            let problem = format!(
                "there is no rate `{text}`; write a bandwidth such as `100Gbps`, or one of {names}"
            );
            Err(serde::de::Error::custom(problem))
        }
        None => text.parse().map_err(serde::de::Error::custom),
    }
}

/// A link that can be built.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkProperties {
    pub(super) rate: Bandwidth,
    pub(super) delay: Duration,
}

impl LinkConfig {
    /// A link with a cable.
    pub const fn with_cable(rate: Bandwidth, cable: Length) -> Self {
        Self { rate, cable: Some(cable), delay: None }
    }

    /// A link with a given propagation delay.
    pub const fn with_delay(rate: Bandwidth, delay: Duration) -> Self {
        Self { rate, cable: None, delay: Some(delay) }
    }

    /// Checks the link that `key` describes.
    pub(super) fn resolve(&self, key: &str) -> Result<LinkProperties, TopologyError> {
        if self.rate.bits_per_second() == 0 {
            return Err(TopologyError::parameter(
                format!("{key}.rate"),
                self.rate,
                "nothing could cross the link",
                "give a rate such as \"100Gbps\"",
            ));
        }
        if !RATES.contains(&self.rate) {
            let (least, most) = (RATES.start(), RATES.end());
            return Err(TopologyError::parameter(
                format!("{key}.rate"),
                self.rate,
                format!("the rate is not from {least} to {most}"),
                "give a rate such as \"100Gbps\"",
            ));
        }
        Ok(LinkProperties { rate: self.rate, delay: self.resolve_delay(key)? })
    }

    fn resolve_delay(&self, key: &str) -> Result<Duration, TopologyError> {
        let (part, value, delay) = match (self.cable, self.delay) {
            (Some(cable), None) => ("cable", cable.to_string(), cable.propagation_delay()),
            (None, Some(delay)) => ("delay", delay.to_string(), delay),
            (Some(cable), Some(delay)) => {
                return Err(TopologyError::parameter(
                    format!("{key}.delay"),
                    delay,
                    format!("the cable of {cable} already gives the delay"),
                    "leave out `cable` or `delay`",
                ));
            }
            (None, None) => {
                return Err(TopologyError::parameter(
                    key,
                    format_args!("{{ rate = \"{}\" }}", self.rate),
                    "the link has neither a cable nor a delay",
                    "add one, as in `cable = \"3m\"` or `delay = \"1us\"`",
                ));
            }
        };
        if delay > MAX_DELAY {
            return Err(TopologyError::parameter(
                format!("{key}.{part}"),
                value,
                format!("the propagation delay would be {delay}, more than {MAX_DELAY}"),
                "give a shorter one",
            ));
        }
        Ok(delay)
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::StrDeserializer;

    use super::*;

    #[test]
    fn links_of_infiniband_have_names() {
        let rate = |text: &str| {
            let text: StrDeserializer<'_, serde::de::value::Error> = text.into_deserializer();
            rate_or_name(text).map_err(|error| error.to_string())
        };
        assert_eq!(rate("HDR"), Ok(Bandwidth::from_gbps(200)));
        assert_eq!(rate("fdr"), Ok(Bandwidth::from_bps(54_545_454_545)));
        assert_eq!(rate("25Gbps"), Ok(Bandwidth::from_gbps(25)));
        assert!(
            rate("HDRR").is_err_and(|error| error.contains("HDRR") && error.contains("NDR200"))
        );
    }
}
