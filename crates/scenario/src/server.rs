//! `[[server]]`: hosts that are ports of one machine.

use rocelab_fabric::{NvlinkConfig, PortSelection, ServerPreset};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Servers with several ports. Each host of the topology is one port of a NIC, or a GPU with its NIC; a server is several of them
/// together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// Its name, which workloads may use in place of a host's. With `size`, the names are `NAME-0`, `NAME-1` and so on.
    pub name: String,
    /// The ports: names of hosts, or ranges of names such as `host-0..host-7` (both ends included). Default: the servers of the
    /// topology, if it has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// The ports of each server, if there are several servers: the first so many belong to the first of them. At least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// Which port a flow takes that names the server, and no port.
    #[serde(default)]
    pub select: PortSelection,
    /// The server's model, which gives `size` and `nvlink` their defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<ServerPreset>,
    /// NVLink between the hosts of a server. Default: the preset's, or that of the topology, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvlink: Option<NvlinkConfig>,
}
