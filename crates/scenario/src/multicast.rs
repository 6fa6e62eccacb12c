//! `[[multicast_group]]`: hosts that receive what is sent to one address.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[[multicast_group]]`: the queue pairs of its members receive the datagrams that are sent to the group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MulticastGroupConfig {
    /// What workloads and messages call it.
    pub name: String,
    /// Its members: hosts by name, or ranges of names. One that sends to the group gets no copy of what it sends.
    pub members: Vec<String>,
    /// Its IPv4 address, or with `roce.ip = "ipv6"` its IPv6 address; RoCE v1 takes both. Default: `239.255.0.1` or `ff15::1` for the first
    /// group, and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// Where bridges send the frames of a multicast group. Routers send them to members only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MulticastForwarding {
    /// To all hosts of the broadcast domain.
    #[default]
    Flooding,
    /// To members: bridges know by which ports there are some.
    Snooping,
}

impl MulticastForwarding {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    pub(crate) fn is_flooding(&self) -> bool {
        *self == Self::Flooding
    }
}
