//! `[[subnet]]` and `[[address]]`: the addresses of hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[[subnet]]`: hosts whose IP addresses have a prefix in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubnetConfig {
    /// What messages call it. Default: `subnet-` and its number, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its hosts: names, or ranges of names. Those without an address of their own get the first ones, in this order.
    pub hosts: Vec<String>,
    /// Prefix of its IPv4 addresses, such as `10.1.0.0/24`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<String>,
    /// Prefix of its IPv6 addresses, such as `fd00:1::/64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<String>,
}

/// `[[address]]`: addresses of some hosts. Where several hosts are named, each has the next address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddressConfig {
    /// The hosts: names, or ranges of names.
    pub hosts: Vec<String>,
    /// MAC address of the first one, such as `b8:59:9f:00:00:01`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac: Option<String>,
    /// IPv4 address of the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<String>,
    /// IPv6 address of the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<String>,
    /// The GID, or IP address, that all others use for the host in place of its own, as after a change that they have not
    /// heard of: frames for it are lost. Only of one host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_gid: Option<String>,
}
