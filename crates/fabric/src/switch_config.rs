//! The settings of a switch, as a scenario's `[switch]` writes them.

use std::collections::BTreeMap;

use rocelab_units::{Bytes, Duration, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::priority::by_priority_schema;
use crate::{
    ForwardingPlane, LinkFlowControl, LoadBalancing, Priority, QcnConfig, SchedulerConfig,
    ShaperConfig, SwitchOverride,
};

/// Shared buffer, PFC, ECN and scheduling of every switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwitchConfig {
    /// The memory that all ports share, reserves and headroom included.
    pub buffer: Bytes,
    /// Dynamic threshold: an ingress priority may hold `alpha` times the free shared buffer
    /// before it pauses its sender (lossless) and an egress queue as much before it drops (lossy).
    pub alpha: Ratio,
    /// `alpha` of single priorities, in place of the others' (`{ 0 = "1" }`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "by_priority_schema::<Ratio>")]
    pub priority_alpha: BTreeMap<Priority, Ratio>,
    /// `alpha` of the egress queues of lossy priorities, in place of `alpha`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_alpha: Option<Ratio>,
    /// Besides: an ingress port and lossy priority may hold so many times the free shared buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lossy_ingress_alpha: Option<Ratio>,
    /// A lossless egress queue may not grow beyond this; what would is dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lossless_egress_limit: Option<Bytes>,
    /// A fixed threshold in place of the dynamic one: XOFF at this many shared bytes.
    pub xoff: Option<Bytes>,
    /// How far below the threshold an ingress priority falls before its sender resumes.
    pub xon_offset: Bytes,
    /// Bytes that every ingress port and lossless priority owns and others cannot take.
    pub reserve: Bytes,
    /// Bytes that every egress port and lossy priority owns and others cannot take.
    #[serde(skip_serializing_if = "is_zero")]
    pub egress_reserve: Bytes,
    /// Memory is handed out in cells of so many bytes, and a frame takes whole cells.
    #[serde(skip_serializing_if = "is_one")]
    pub cell: Bytes,
    /// All headroom together, in place of the sum over ports and priorities: each may take from
    /// this pool what its own `headroom` allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headroom_pool: Option<Bytes>,
    /// Bytes that every ingress port and lossless priority keeps for what arrives after a pause:
    /// `"auto"` or a size.
    pub headroom: Headroom,
    /// Priorities (0 to 7) that PFC protects from loss.
    pub lossless: Vec<u8>,
    /// ECN marking; without it nothing is marked.
    pub ecn: Option<EcnConfig>,
    /// Congestion points (IEEE 802.1Qau, QCN), which notify the senders whose congestion control is
    /// `qcn`; RoCE v1 only. Default: none, but those of the standard where a flow uses `qcn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qcn: Option<QcnConfig>,
    /// The discipline among an egress port's priorities.
    pub scheduler: SchedulerConfig,
    /// Rates that single priorities of an egress port may not exceed
    /// (`{ 5 = { rate = "10Gbps" } }`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "by_priority_schema::<ShaperConfig>")]
    pub shapers: BTreeMap<Priority, ShaperConfig>,
    /// Which field of a frame gives its priority.
    #[serde(skip_serializing_if = "is_default")]
    pub trust: Trust,
    /// The priority of code points of the trusted field that do not have their own: PCP 0 to 7, DSCP
    /// 0 to 63, GRH traffic class 0 to 255 (`{ 26 = 3 }`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub priority_of: BTreeMap<String, u8>,
    /// What code points mean that `priority_of` does not have.
    #[serde(skip_serializing_if = "is_default")]
    pub other_code_points: OtherCodePoints,
    /// The priority of frames without the trusted field.
    #[serde(skip_serializing_if = "is_default")]
    pub default_priority: u8,
    /// Egress queues of priorities that do not have the queue of their own number (`{ 4 = 3 }`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "by_priority_schema::<u8>")]
    pub queue_of: BTreeMap<Priority, u8>,
    /// When a frame may begin to leave.
    #[serde(skip_serializing_if = "is_default")]
    pub forwarding: SwitchForwarding,
    /// How a switch finds the ports by which it forwards a frame.
    #[serde(skip_serializing_if = "is_default")]
    pub forwarding_plane: ForwardingPlane,
    /// How a switch chooses among several shortest paths.
    #[serde(skip_serializing_if = "is_default")]
    pub load_balancing: LoadBalancing,
    /// How a port has the other end of its link stop sending.
    #[serde(skip_serializing_if = "is_default")]
    pub flow_control: LinkFlowControl,
    /// Time that a frame spends in the switch beside waiting: from its last bit (first bits, where
    /// it cuts through) to its egress queue.
    #[serde(skip_serializing_if = "is_no_time")]
    pub latency: Duration,
    /// Time from the arrival of a PFC frame to its effect.
    #[serde(skip_serializing_if = "is_no_time")]
    pub pause_response: Duration,
    /// What single switches or ports do otherwise, later ones over earlier ones.
    #[serde(rename = "override", skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<SwitchOverride>,
    /// The pause time that PFC frames ask for, in quanta of 512 bit times (1 to 65535).
    pub pause_quanta: u16,
}

impl Default for SwitchConfig {
    fn default() -> Self {
        Self {
            buffer: Bytes::new(32_000_000),
            alpha: Ratio::new(1, 8),
            priority_alpha: BTreeMap::new(),
            egress_alpha: None,
            lossy_ingress_alpha: None,
            lossless_egress_limit: None,
            xoff: None,
            xon_offset: Bytes::new(2_496),
            reserve: Bytes::ZERO,
            egress_reserve: Bytes::ZERO,
            cell: Bytes::new(1),
            headroom_pool: None,
            headroom: Headroom::Auto,
            lossless: vec![3],
            ecn: None,
            qcn: None,
            scheduler: SchedulerConfig::Strict,
            shapers: BTreeMap::new(),
            trust: Trust::Auto,
            priority_of: BTreeMap::new(),
            other_code_points: OtherCodePoints::default(),
            default_priority: 0,
            queue_of: BTreeMap::new(),
            forwarding: SwitchForwarding::StoreAndForward,
            forwarding_plane: ForwardingPlane::Auto,
            load_balancing: LoadBalancing::Ecmp,
            flow_control: LinkFlowControl::default(),
            latency: Duration::ZERO,
            pause_response: Duration::ZERO,
            overrides: Vec::new(),
            pause_quanta: u16::MAX,
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_zero(bytes: &Bytes) -> bool {
    *bytes == Bytes::ZERO
}

fn is_one(bytes: &Bytes) -> bool {
    *bytes == Bytes::new(1)
}

fn is_no_time(time: &Duration) -> bool {
    *time == Duration::ZERO
}

/// Which field of a frame gives its priority in a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// The PCP of tagged frames, the DSCP of others: what senders mean is what switches do.
    #[default]
    Auto,
    /// The PCP of the 802.1Q tag; untagged frames get the default priority.
    Pcp,
    /// The DSCP of the IP header, whose upper 3 bits are the priority unless `priority_of` says
    /// otherwise; RoCE v1 frames have none and get the default priority.
    Dscp,
    /// The traffic class of the GRH (RoCE v1), whose upper 3 bits are the priority unless
    /// `priority_of` says otherwise; IP packets get the default priority.
    TrafficClass,
}

/// What code points of the trusted field mean that `priority_of` does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OtherCodePoints {
    /// Their own number (PCP), or their upper 3 bits: the class selectors.
    #[default]
    UpperBits,
    /// `default_priority`, as in a switch whose map has no entry for them.
    DefaultPriority,
}

/// When a frame may begin to leave a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SwitchForwarding {
    /// When it has arrived with its last bit.
    #[default]
    StoreAndForward,
    /// When its first 64 bytes have arrived, if it leaves by a port that is not faster than the one
    /// it came in by.
    CutThrough,
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
    /// Marking by an average of the queue's length in place of the length now: each frame moves the
    /// average by this share of the difference (RED, Floyd and Jacobson 1993; `"1/512"`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average_weight: Option<Ratio>,
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
