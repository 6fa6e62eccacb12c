//! `[roce]`: how frames look and how connections behave.

use rocelab_transport::{
    AckCoalescing, AckTimeout, MarkingConfig, PathEntropy, PathMtu, Recovery,
    RetransmissionTimeouts, Service,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CmTimersConfig, Connect, ConnectionEntropy, NeighboursConfig, PartitionConfig,
    QueuePairAttributes, RnrTimer,
};
use crate::address::{GidKind, IpVersion};

/// RoCE version, path MTU, recovery and priorities of every connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoceConfig {
    /// 1 (EtherType 0x8915, one layer-2 domain) or 2 (UDP port 4791 over IP).
    pub version: RoceVersion,
    /// Hosts that have version 1 where the others have version 2; only with `[layer3]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub v1_hosts: Vec<String>,
    /// The IP version under RoCE v2; v1 has none and ignores it.
    pub ip: IpVersion,
    /// Payload bytes of a full packet: 256, 512, 1024, 2048 or 4096.
    pub path_mtu: PathMtu,
    /// The transport service of all flows.
    pub service: Service,
    /// How lost packets are sent again.
    pub recovery: Recovery,
    /// The requester asks for an acknowledgement on every n-th packet of a message, and on its
    /// last.
    #[schemars(range(min = 1))]
    pub ack_interval: u32,
    /// Local ACK timeout: 4.096 us x 2^n for n from 1 to 31; 0 for never.
    #[schemars(range(max = 31))]
    pub ack_timeout: AckTimeout,
    /// How often in a row a packet is sent again before its queue pair fails, 0 to 7.
    #[schemars(range(max = 7))]
    pub retry_count: u8,
    /// How often in a row a message is sent again that finds no receive request before its queue
    /// pair fails, 0 to 6; 7 is for ever.
    #[schemars(range(max = 7))]
    pub rnr_retry: u8,
    /// How long the responder asks the requester to wait then: a code from 0 to 31, or a time,
    /// which is rounded up to the next one that has a code.
    pub rnr_timer: RnrTimer,
    /// READs and atomic operations that a requester may have in flight, 1 to 255.
    #[schemars(range(min = 1, max = 255))]
    pub max_rd_atomic: u32,
    /// READs and atomic operations that a responder takes at once, 1 to 255.
    #[schemars(range(min = 1, max = 255))]
    pub max_dest_rd_atomic: u32,
    /// Packets that a requester may have sent and not seen acknowledged. Default: with selective
    /// repeat, what fills the longest path; else no limit but that of the PSNs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 8_388_608))]
    pub max_outstanding: Option<u32>,
    /// Priority of data and acknowledgements, 0 to 7.
    #[schemars(range(max = 7))]
    pub priority: u8,
    /// Priority of congestion notification packets, 0 to 7.
    #[schemars(range(max = 7))]
    pub cnp_priority: u8,
    /// Their code points. Default: those of their class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cnp_marking: Option<MarkingConfig>,
    /// Hop limit or TTL of a new frame, 1 to 255.
    #[schemars(range(min = 1))]
    pub hop_limit: u8,
    /// Where the UDP source port (v2) or the flow label (v1) of each connection comes from.
    #[serde(skip_serializing_if = "is_random")]
    pub entropy: ConnectionEntropy,
    /// Which UDP source ports (v2) or flow labels (v1) the data packets of a connection have.
    #[serde(skip_serializing_if = "is_of_queue_pair")]
    pub path_entropy: PathEntropy,
    /// Where a frame carries its priority: the 802.1Q PCP, or the traffic class.
    pub tagging: Tagging,
    /// What a v1 host's GID is made of; a v2 host's is its IP address.
    pub gid: GidKind,
    /// In place of `gid` (v1) and `ip` (v2): the place of the GID in the table of each host that queue pairs use.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 5))]
    pub gid_index: Option<u8>,
    /// How the two ends of a connection come to know each other.
    pub connect: Connect,
    /// How responders save acknowledgements. Default: they answer each packet that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_coalescing: Option<AckCoalescing>,
    /// With selective repeat: the two timeouts of IRN, in place of `ack_timeout`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<RetransmissionTimeouts>,
    /// With `connect = "cm"`: timers and retries of connection management.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cm: Option<CmTimersConfig>,
    /// Whether hosts ask for the MAC addresses of next hops (v2). Default: they know them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<NeighboursConfig>,
    /// Attributes of all queue pairs.
    #[serde(skip_serializing_if = "QueuePairAttributes::is_default")]
    pub queue_pair: QueuePairAttributes,
    /// Partitions of hosts, in the order of their tables: any number of `[[roce.partition]]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partition: Vec<PartitionConfig>,
}

impl Default for RoceConfig {
    fn default() -> Self {
        Self {
            version: RoceVersion::V2,
            ip: IpVersion::Ipv4,
            path_mtu: PathMtu::try_from(1024).expect("1024 is one of the five sizes"),
            service: Service::default(),
            recovery: Recovery::default(),
            ack_interval: 1,
            ack_timeout: AckTimeout::try_from(14).expect("14 is within 0 to 31"),
            retry_count: 7,
            rnr_retry: 7,
            rnr_timer: RnrTimer::new(12).expect("12 is within 0 to 31"),
            max_rd_atomic: 16,
            max_dest_rd_atomic: 16,
            max_outstanding: None,
            priority: 3,
            cnp_priority: 6,
            cnp_marking: None,
            hop_limit: 64,
            entropy: ConnectionEntropy::Random,
            path_entropy: PathEntropy::default(),
            tagging: Tagging::Auto,
            gid: GidKind::Eui64,
            gid_index: None,
            v1_hosts: Vec::new(),
            connect: Connect::OutOfBand,
            ack_coalescing: None,
            timeouts: None,
            cm: None,
            neighbours: None,
            queue_pair: QueuePairAttributes::default(),
            partition: Vec::new(),
        }
    }
}

impl RoceConfig {
    /// Whether frames have an 802.1Q tag.
    pub fn is_tagged(&self) -> bool {
        match self.tagging {
            Tagging::Auto => self.version == RoceVersion::V1,
            Tagging::Tagged => true,
            Tagging::Untagged => false,
        }
    }
}

fn is_random(entropy: &ConnectionEntropy) -> bool {
    *entropy == ConnectionEntropy::Random
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_of_queue_pair(policy: &PathEntropy) -> bool {
    *policy == PathEntropy::default()
}

/// The version of RoCE, written as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum RoceVersion {
    /// Directly over Ethernet, EtherType 0x8915.
    V1,
    /// Over UDP and IP.
    V2,
}

impl TryFrom<u8> for RoceVersion {
    type Error = String;

    fn try_from(version: u8) -> Result<Self, String> {
        match version {
            1 => Ok(Self::V1),
            2 => Ok(Self::V2),
            _ => Err(format!("RoCE version {version} does not exist: use 1 or 2")),
        }
    }
}

impl From<RoceVersion> for u8 {
    fn from(version: RoceVersion) -> Self {
        match version {
            RoceVersion::V1 => 1,
            RoceVersion::V2 => 2,
        }
    }
}

impl JsonSchema for RoceVersion {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RoceVersion".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "The version of RoCE.", "enum": [1, 2] })
    }
}

/// Where a frame carries its priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tagging {
    /// v1: tagged; v2: untagged.
    #[default]
    Auto,
    /// In the PCP of an 802.1Q tag.
    Tagged,
    /// Without a tag: in the DSCP, which is the priority times 8 (the class selectors).
    Untagged,
}
