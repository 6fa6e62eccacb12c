//! `[[roce.partition]]`: which hosts may talk to each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A partition: full members talk to all of its members, limited members to full members only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartitionConfig {
    /// Its number of 15 bits, 1 to 32767. 32767 (0x7fff) is the default partition, the first entry of every host's table: all
    /// hosts are full members of it that are not named here.
    #[schemars(range(min = 1, max = 0x7fff))]
    pub p_key: u16,
    /// Full members: names of hosts, or ranges such as `host-0..host-7`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub full: Vec<String>,
    /// Limited members. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limited: Vec<String>,
}
