//! `[[slow_receiver]]`: NICs that handle what arrives no faster than they can.

use rocelab_units::{Bandwidth, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hosts whose NICs keep what arrives in a memory of their own and handle one frame after the other.
/// All other NICs handle every frame as it arrives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlowReceiverConfig {
    /// The hosts: names, or ranges such as `host-0..host-7`. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// Memory for what has arrived and is not handled. What does not fit is dropped.
    #[serde(default = "nic_memory")]
    pub buffer: Bytes,
    /// With more than this in its memory, the NIC asks for a pause of the lossless priorities.
    /// Default: what leaves room for their headroom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xoff: Option<Bytes>,
    /// With no more than this, it lets them go on. Default: two of the largest frames below `xoff`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xon: Option<Bytes>,
    /// How fast frames are handled, such as PCIe's rate. Default: at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bandwidth>,
    /// The NIC's cache of address translations. Default: translations take no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translation: Option<TranslationConfig>,
}

/// A NIC's cache of the table that translates virtual addresses of registered memory to physical
/// ones. Of all that it has room for it keeps what was used last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TranslationConfig {
    /// Translations that it holds, one for each page; at least 1.
    #[schemars(range(min = 1))]
    pub entries: u32,
    /// Size of a page, above zero.
    pub page_size: Bytes,
    /// How long it takes to fetch a translation that it does not hold.
    pub miss: Duration,
    /// Registered memory that receives, at least `chunk`.
    pub memory: Bytes,
    /// Payload lands in pieces of this size, each at a random place of the memory; at least the path
    /// MTU.
    pub chunk: Bytes,
}

impl Default for TranslationConfig {
    fn default() -> Self {
        Self {
            entries: 2048,
            page_size: Bytes::new(4 << 10),
            miss: Duration::from_ns(500),
            memory: Bytes::new(64 << 20),
            chunk: Bytes::new(4 << 10),
        }
    }
}

const fn nic_memory() -> Bytes {
    Bytes::new(256 << 10)
}
