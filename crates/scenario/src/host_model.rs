//! `[[host_model]]`: hosts that take time.

use rocelab_units::{Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hosts whose programs, PCIe, NICs and memory take time. All other hosts take none.
///
/// Values that are not given are those of the `profile`. Profiles are calibrations: published latencies and rates
/// follow from them, and no vendor has stated them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostModelConfig {
    /// The hosts: names, or ranges such as `host-0..host-7`. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// A generation of NICs that everything else is taken from. With `none`, what is not given takes no time.
    pub profile: HostProfileName,
    /// The PCIe link of the NIC.
    pub pcie: PcieConfig,
    /// What programs do.
    pub cpu: CpuConfig,
    /// The NIC's pipelines.
    pub rates: HostRatesConfig,
    /// The NIC's caches.
    pub caches: HostCachesConfig,
    /// The way into memory.
    pub memory: HostMemoryConfig,
    /// The NIC's memory for what has arrived and is not in the host's. What does not fit is dropped. On InfiniBand credits
    /// take its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
    /// With more than this in its buffer, the NIC asks for a pause of the lossless priorities. Default: what leaves room for
    /// their headroom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xoff: Option<Bytes>,
    /// With no more than this, it lets them go on. Default: two of the largest frames below `xoff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xon: Option<Bytes>,
    /// When other programs use memory, which then takes longer: any number of `[[host_model.contention]]`, none of which
    /// overlap.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contention: Vec<ContentionConfig>,
}

/// A generation of NICs, in a host of its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostProfileName {
    /// ConnectX-3 (40 and 56 Gbit/s) on PCIe 3.0 x8.
    Cx3,
    /// ConnectX-5 (100 Gbit/s) on PCIe 3.0 x16.
    #[default]
    Cx5,
    /// ConnectX-6 (200 Gbit/s) on PCIe 4.0 x16.
    Cx6,
    /// ConnectX-7 (400 Gbit/s) on PCIe 5.0 x16.
    Cx7,
    /// A host that takes no time.
    None,
}

/// The PCIe link between a host and its NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PcieConfig {
    /// Generation, 1 to 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 5))]
    pub r#gen: Option<u8>,
    /// Lanes: 1, 2, 4, 8, 12 or 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub lanes: Option<u8>,
    /// The largest payload of a packet (bytes): 128, 256, 512, 1024, 2048 or 4096.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 128, max = 4096))]
    pub mps: Option<u32>,
    /// The most that one read asks for (bytes): 128, 256, 512, 1024, 2048 or 4096.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 128, max = 4096))]
    pub mrrs: Option<u32>,
    /// Reads that may be outstanding, 1 to 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub tags: Option<u32>,
    /// From a read's request at the NIC until the first byte of its data is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_latency: Option<Duration>,
    /// From a write at the NIC until memory has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_latency: Option<Duration>,
    /// From a processor's store until the NIC has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doorbell_latency: Option<Duration>,
}

/// What programs do to post work, and to find completions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CpuConfig {
    /// Threads, each of which posts for its share of the queue pairs; at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub threads: Option<u16>,
    /// Writing one work request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post: Option<Duration>,
    /// Ringing a doorbell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doorbell: Option<Duration>,
    /// Work requests that one doorbell tells of, if they are posted at once. With 1, each goes to the NIC with its doorbell
    /// (BlueFlame); with more, the NIC fetches them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub batch: Option<u16>,
    /// Payload up to this goes with the work request, and the NIC does not fetch it; at most 924 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inline: Option<Bytes>,
    /// Finding a completion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll: Option<Duration>,
    /// How programs learn of completions.
    pub completion: CompletionConfig,
}

/// How programs learn of completions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CompletionConfig {
    /// They look for them all the time.
    #[default]
    Poll,
    /// They sleep, and an interrupt wakes them, which takes so long.
    Interrupt(Duration),
}

/// How fast the NIC's pipelines are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostRatesConfig {
    /// Work requests a second, and frames a second that arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub messages: Option<f64>,
    /// Processing units that share this: how many misses of caches overlap; 1 to 255.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 255))]
    pub units: Option<u8>,
    /// Work requests a second of one queue pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub packets_per_queue_pair: Option<f64>,
    /// Packets with payload a second that leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub packets: Option<f64>,
    /// Atomic operations a second that others ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub atomics: Option<f64>,
    /// From congestion feedback at the NIC until the rate or window counts that follows from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_latency: Option<Duration>,
    /// How long the pipeline takes that sends, whatever the rate is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transmit_latency: Option<Duration>,
    /// The same of the pipeline that receives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_latency: Option<Duration>,
}

/// The NIC's caches. What is not there is read from memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostCachesConfig {
    /// Contexts of queue pairs that it keeps; at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub qp_contexts: Option<u32>,
    /// Translations of pages that it keeps; at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub translations: Option<u32>,
    /// Size of a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_size: Option<Bytes>,
    /// Registered memory: each message lies at a random place in it. Default: 0B, and it does not matter where messages lie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registered: Option<Bytes>,
    /// What is forgotten for what is fetched.
    pub replacement: Replacement,
}

/// What a cache forgets for what it fetches, of eight entries that it may choose among.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// Any entry.
    #[default]
    Random,
    /// What was used longest ago.
    Lru,
}

/// The way into memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostMemoryConfig {
    /// Cache lines of 64 bytes that may be on their way into memory; at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub posted_credits: Option<u32>,
    /// How long each is on its way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit_latency: Option<Duration>,
    /// The IOMMU. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iommu: Option<IommuConfig>,
}

/// An IOMMU, which translates what the NIC reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IommuConfig {
    /// Translations that it keeps; at least 1.
    #[schemars(range(min = 1))]
    pub entries: u32,
    /// Size of a page.
    pub page_size: Bytes,
    /// How long it takes to find a translation that it does not keep.
    pub walk: Duration,
    /// How soon after one walk the next may begin.
    pub walk_interval: Duration,
}

impl Default for IommuConfig {
    fn default() -> Self {
        Self {
            entries: 64,
            page_size: Bytes::new(4 << 10),
            walk: Duration::from_ns(330),
            walk_interval: Duration::from_ns(72),
        }
    }
}

/// Other programs use memory for some time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContentionConfig {
    /// From when on.
    pub at: SimTime,
    /// For how long.
    pub lasts: Duration,
    /// How many times as long memory takes, 1 or more.
    #[schemars(range(min = 1))]
    pub factor: f64,
}
