//! `infiniband.path_bits`: to which LID of a host a connection sends, where a host has several.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The path bits of connections: what they add to the base LIDs of both of their ends. They say which forwarding entries their packets
/// follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathBits {
    /// The first connection that a host begins to another one has 0, the next one between these two has 1, and so on in turn.
    #[default]
    RoundRobin,
    /// Each connection has random ones.
    Random,
    /// These in turn, for the connections that a host begins to another one.
    List(Vec<u8>),
}

impl PathBits {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::RoundRobin
    }
}
