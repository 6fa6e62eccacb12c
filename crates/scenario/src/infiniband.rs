//! `[infiniband]`: native InfiniBand in place of RoCE's Ethernet.

use std::path::PathBuf;

use rocelab_fabric::{FecnConfig, LoadBalancing, VlArbitration, VlWeight};
use rocelab_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::path_bits::PathBits;

/// `[infiniband]`: links and switches of InfiniBand in place of Ethernet. Packets have an LRH and no Ethernet header, links
/// have virtual lanes with credits in place of pauses, and a subnet manager fills the forwarding tables. What `[roce]` says
/// of queue pairs holds; service levels (SL) take the place of priorities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InfiniBandConfig {
    /// Virtual lanes for data of every link: 1, 2, 4 or 8.
    pub data_vls: u8,
    /// Each port of a host has 2 to the power of it LIDs (LID mask control): 0 to 7. Each LID has forwarding entries of its own, so that
    /// connections between two hosts may take several paths.
    #[serde(skip_serializing_if = "is_zero")]
    pub lmc: u8,
    /// With an `lmc` above 0: to which LIDs connections send: `"round-robin"`, `"random"`, or `{ list = [0, 2] }`, in turn.
    #[serde(skip_serializing_if = "PathBits::is_default")]
    pub path_bits: PathBits,
    /// The buffer of each lane at each port that packets come in by: `"auto"`, or a size. `"auto"` is four packets of the
    /// path MTU, or what fills the cable while packets go the other way too, if that is more; no lane has more than 131,072
    /// bytes ahead.
    pub vl_buffer: VlBuffer,
    /// While data waits, the least time between two flow control packets of a lane. With nothing else to send, they go at
    /// once.
    pub update_interval: Duration,
    /// When switches set FECN in packets. Default: as the table without keys says, if a congestion control follows marks; else
    /// never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<FecnConfig>,
    /// The subnet manager.
    #[serde(skip_serializing_if = "SubnetManagerConfig::is_default")]
    pub sm: SubnetManagerConfig,
    /// Service levels and arbitration of lanes.
    #[serde(skip_serializing_if = "LaneConfig::is_default")]
    pub qos: LaneConfig,
}

impl Default for InfiniBandConfig {
    fn default() -> Self {
        Self {
            data_vls: 4,
            lmc: 0,
            path_bits: PathBits::default(),
            vl_buffer: VlBuffer::Auto,
            update_interval: Duration::from_ns(256),
            congestion_control: None,
            sm: SubnetManagerConfig::default(),
            qos: LaneConfig::default(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// The buffer of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VlBuffer {
    /// Four packets of the path MTU, or what fills the cable while packets go the other way too.
    Auto,
    /// This much, rounded down to blocks of 64 bytes.
    Fixed(Bytes),
}

impl Serialize for VlBuffer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Fixed(bytes) => bytes.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for VlBuffer {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "auto" {
            return Ok(Self::Auto);
        }
        text.parse().map(Self::Fixed).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for VlBuffer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "VlBuffer".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "`auto`, or a size such as `32KiB`."
        })
    }
}

/// `[infiniband.sm]`: how the subnet manager routes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SubnetManagerConfig {
    /// The routing engine, by OpenSM's names: `minhop`, `updn`, `dnup`, `ftree`, `dor`, `sssp`, `dfsssp`, `lash`, or `file` for
    /// tables that `lfts` names.
    pub engine: String,
    /// With `file`: the forwarding tables, as OpenSM's `opensm-lfts.dump` and `rocelab sm` write them, relative to the scenario's
    /// folder. They stay as they are after failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lfts: Option<PathBuf>,
    /// With `file`: the service level of each path, as `rocelab sm` writes them to `sl.txt`: lines `SLID DLID SL`. LIDs are those of
    /// `lfts`, where that names ports by their GUIDs, else those of the scenario. Default: flows have their `priority`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sl_file: Option<PathBuf>,
    /// Whether switches choose among the ports of the least hops: as the tables say alone (`"none"`), for each packet the least
    /// busy (`"greedy"`), or the least busy for 2 us at a time and destination (`"bounded"`). With `minhop`, `updn` and `ftree`.
    #[serde(skip_serializing_if = "AdaptiveRouting::is_none")]
    pub adaptive_routing: AdaptiveRouting,
    /// The root switches of `updn` and `ftree`. Default: the engine finds them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
}

impl Default for SubnetManagerConfig {
    fn default() -> Self {
        Self {
            engine: "minhop".to_owned(),
            lfts: None,
            sl_file: None,
            adaptive_routing: AdaptiveRouting::None,
            roots: Vec::new(),
        }
    }
}

impl SubnetManagerConfig {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How switches choose among the ports of the least hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AdaptiveRouting {
    /// They do not: the table names one.
    #[default]
    None,
    /// Each packet takes the least busy one.
    Greedy,
    /// A destination keeps its port for 2 us.
    Bounded,
}

impl AdaptiveRouting {
    /// Whether tables name one port.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// What switches do.
    pub const fn load_balancing(self) -> LoadBalancing {
        match self {
            Self::None => LoadBalancing::Ecmp,
            Self::Greedy => LoadBalancing::AdaptiveGreedy,
            Self::Bounded => LoadBalancing::AdaptiveBounded,
        }
    }
}

/// `[infiniband.qos]`: which lane a service level takes, and which lane sends first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LaneConfig {
    /// The virtual lane of each service level, from SL 0 on, the same on all links. Default: that of its own number, modulo
    /// `data_vls`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sl_to_vl: Vec<u8>,
    /// The list of lanes that goes first: `[lane, weight]`, in units of 64 bytes. Default: `[[0, 4]]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<Vec<VlWeight>>,
    /// The list of lanes that goes where the first has nothing to send, or has sent as much as it may. Default: all lanes
    /// but 0, with a weight of 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<Vec<VlWeight>>,
    /// What the first list may send before the second has its turn, in units of 4096 bytes: 0 for one packet, 255 for no
    /// limit.
    pub high_limit: u8,
}

impl LaneConfig {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The lane of a service level (0 to 7), of so many lanes for data.
    pub fn lane_of(&self, service_level: u8, data_vls: u8) -> u8 {
        let usual = service_level % data_vls.max(1);
        self.sl_to_vl.get(usize::from(service_level)).copied().unwrap_or(usual)
    }

    /// The tables of every port.
    pub fn arbitration(&self) -> VlArbitration {
        let usual = VlArbitration::default();
        VlArbitration {
            high: self.high.clone().unwrap_or(usual.high),
            low: self.low.clone().unwrap_or(usual.low),
            high_limit: self.high_limit,
        }
    }
}
