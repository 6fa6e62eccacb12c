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
    /// Rate of each direction.
    pub rate: Bandwidth,
    /// Cable length, at 5 ns a metre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cable: Option<Length>,
    /// Propagation delay in place of a cable length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
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
