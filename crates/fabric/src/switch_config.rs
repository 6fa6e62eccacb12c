//! What a switch is told, as a scenario's `[switch]` writes it.

use rocelab_units::{Bytes, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SchedulerConfig;

/// Shared buffer, PFC, ECN and scheduling of every switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchConfig {
    /// The memory that all ports share, reserves and headroom included.
    pub buffer: Bytes,
    /// Dynamic threshold: an ingress priority may hold `alpha` times the free shared buffer
    /// before it pauses its sender (lossless) and an egress queue as much before it drops (lossy).
    pub alpha: Ratio,
    /// A fixed threshold in place of the dynamic one: XOFF at this many shared bytes.
    pub xoff: Option<Bytes>,
    /// How far below the threshold an ingress priority falls before its sender resumes.
    pub xon_offset: Bytes,
    /// Bytes that every ingress port and lossless priority owns and others cannot take.
    pub reserve: Bytes,
    /// Bytes that every ingress port and lossless priority keeps for what arrives after a pause:
    /// `"auto"` or a size.
    pub headroom: Headroom,
    /// Priorities (0 to 7) that PFC protects from loss.
    pub lossless: Vec<u8>,
    /// ECN marking; without it nothing is marked.
    pub ecn: Option<EcnConfig>,
    /// The discipline among an egress port's priorities.
    pub scheduler: SchedulerConfig,
    /// The pause time that PFC frames ask for, in quanta of 512 bit times (1 to 65535).
    pub pause_quanta: u16,
}

impl Default for SwitchConfig {
    fn default() -> Self {
        Self {
            buffer: Bytes::new(32_000_000),
            alpha: Ratio::new(1, 8),
            xoff: None,
            xon_offset: Bytes::new(2_496),
            reserve: Bytes::ZERO,
            headroom: Headroom::Auto,
            lossless: vec![3],
            ecn: None,
            scheduler: SchedulerConfig::Strict,
            pause_quanta: u16::MAX,
        }
    }
}

/// How much headroom an ingress priority gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Headroom {
    /// From the port's rate, cable, largest frames and response times.
    #[default]
    Auto,
    /// This much on every port.
    Fixed(Bytes),
}

impl Serialize for Headroom {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Fixed(bytes) => bytes.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Headroom {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "auto" {
            return Ok(Self::Auto);
        }
        text.parse().map(Self::Fixed).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Headroom {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Headroom".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let size = generator.subschema_for::<Bytes>();
        schemars::json_schema!({
            "description": "\"auto\", or a size.",
            "anyOf": [{ "const": "auto" }, size],
        })
    }
}

/// Marking by the length of the egress queue: never below `kmin`, with a probability that rises
/// to `pmax` at `kmax`, always above (DCQCN, SIGCOMM 2015, figure 5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EcnConfig {
    /// Queue length below which nothing is marked.
    pub kmin: Bytes,
    /// Queue length above which everything is marked.
    pub kmax: Bytes,
    /// Probability just below `kmax`, 0 to 1.
    pub pmax: f64,
    /// The port rate that `kmin` and `kmax` are meant for; on other ports they are scaled in
    /// proportion. Without it they hold for every port as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_rate: Option<rocelab_units::Bandwidth>,
    /// Whether a frame is marked as it joins the queue or as it leaves it.
    #[serde(default)]
    pub mark_at: MarkAt,
}

/// When the queue's length decides on a mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkAt {
    /// As the frame joins the queue, itself included.
    #[default]
    Enqueue,
    /// As the frame leaves the queue, by what waits behind it: the sender hears of a queue one
    /// queueing delay sooner ("ECN or Delay", CoNEXT 2016).
    Dequeue,
}
