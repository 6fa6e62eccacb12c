//! `queue_pair = { .. }`: attributes of queue pairs, as a program gives them to its NIC.

use rocelab_units::{Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Attributes of the queue pairs of all connections (`[roce]`), of a priority (`[class.N]`), or of a workload. What a workload
/// does not say holds as its class says, and else as `[roce]` says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QueuePairAttributes {
    /// The partition, by its number of 15 bits, 1 to 32767; bit 15 (full member) may be set and is not looked at. Each end uses
    /// the entry of its host's table with this number. Default: the first entry of the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 0xffff))]
    pub p_key: Option<u16>,
    /// The partition, by its place in the table of each end's host, from 0. This, or `p_key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_key_index: Option<u16>,
    /// Of datagrams: the queue key of 32 bits that a queue pair expects. Default: 0x11111111.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q_key: Option<u32>,
    /// Of datagrams: the queue key that the sender gives. With bit 31 set, the sender's own `q_key` takes its place (IBTA: a
    /// controlled key). Default: `q_key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_q_key: Option<u32>,
    /// A second path for automatic path migration. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternate_path: Option<AlternatePathConfig>,
}

/// `alternate_path = { .. }`: a second path of each connection, which it takes when the retries on the first one are exhausted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AlternatePathConfig {
    /// UDP source port (v2, 0 to 65535) or flow label (v1, 0 to 1048575) of packets there. Default: the one after that of the
    /// connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entropy: Option<u32>,
    /// How long after a migration the program loads the path that was left as the new alternate path. Default: it does not, and
    /// the second path is the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rearm: Option<Duration>,
    /// When the program of the connection's source asks for a migration. Default: it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migrate_at: Option<SimTime>,
}

impl QueuePairAttributes {
    /// These, and of `others` what these do not say.
    #[must_use]
    pub fn or(&self, others: &Self) -> Self {
        let says_partition = self.p_key.is_some() || self.p_key_index.is_some();
        let of = if says_partition { self } else { others };
        Self {
            p_key: of.p_key,
            p_key_index: of.p_key_index,
            q_key: self.q_key.or(others.q_key),
            remote_q_key: self.remote_q_key.or(others.remote_q_key),
            alternate_path: self.alternate_path.or(others.alternate_path),
        }
    }

    /// Whether nothing is said.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
