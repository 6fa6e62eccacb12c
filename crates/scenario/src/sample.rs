//! `[sample]`: what is measured at regular intervals.

use std::fmt;

use rocelab_units::Duration;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What is measured at regular intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SampleConfig {
    /// Lengths of egress queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<PortSampling>,
    /// Frames marked CE at egress ports, in each interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<PortSampling>,
    /// What ports send, in each interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<PortSampling>,
    /// What ingress ports hold in the memory of switches, against XOFF and XON, with headroom and shared pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress: Option<PortSampling>,
    /// Rates of flows: what congestion control allows, and what arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<FlowSampling>,
    /// What their frames say of flows: round trips, window, bytes in flight, alpha, CNPs, packets out of order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<FlowSampling>,
}

/// Ports that are looked at, and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortSampling {
    /// Time between two samples, above zero.
    pub interval: Duration,
    /// After so many samples the interval doubles, and again after as many. Without it, it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub double_after: Option<u64>,
    /// Ports, written as in `[capture]`.
    pub ports: Vec<String>,
}

/// Flows that are looked at, and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSampling {
    /// Time between two samples, above zero.
    pub interval: Duration,
    /// After so many samples the interval doubles, and again after as many. Without it, it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub double_after: Option<u64>,
    /// Numbers of flows, as in `flows.csv`; all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<u32>>,
}

/// What a scenario says of samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Sampling {
    /// `"default"`: queues, marks and utilisation of all ports, at intervals that follow from the length of the run.
    #[default]
    Default,
    /// `"off"`: nothing is measured.
    Off,
    /// What `[sample]` names, and nothing else.
    Of(Box<SampleConfig>),
}

impl Sampling {
    const DEFAULT: &str = "default";
    const OFF: &str = "off";

    /// Whether the scenario leaves it to the program.
    pub const fn is_default(&self) -> bool {
        matches!(self, Self::Default)
    }

    /// What `[sample]` names, if there is such a table.
    pub const fn config(&self) -> Option<&SampleConfig> {
        match self {
            Self::Of(config) => Some(config),
            Self::Default | Self::Off => None,
        }
    }
}

impl Serialize for Sampling {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Default => serializer.serialize_str(Self::DEFAULT),
            Self::Off => serializer.serialize_str(Self::OFF),
            Self::Of(config) => config.serialize(serializer),
        }
    }
}

// Not an untagged enum: that would buffer the table and lose the place of an error in it.
impl<'de> Deserialize<'de> for Sampling {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Sampling;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "\"default\", \"off\", or tables such as `[sample.queues]`")
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Sampling, E> {
                match word {
                    Sampling::DEFAULT => Ok(Sampling::Default),
                    Sampling::OFF => Ok(Sampling::Off),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
                }
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Sampling, A::Error> {
                let config = SampleConfig::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Sampling::Of(Box::new(config)))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Sampling {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sampling".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let tables = generator.subschema_for::<SampleConfig>();
        schemars::json_schema!({ "anyOf": [{ "enum": [Self::DEFAULT, Self::OFF] }, tables] })
    }
}
