//! `[roce.neighbours]`: MAC addresses of next hops are asked for.

use rocelab_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hosts ask for the MAC address of their next hop (ARP over IPv4, Neighbour Discovery over IPv6) before a flow starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NeighboursConfig {
    /// How long an answer holds. An address that is used later is asked for again while it is used. RFC 4861: 30s.
    pub reachable_time: Duration,
    /// How long after such a use it is asked for. RFC 4861: 5s.
    pub delay: Duration,
    /// Time from one question to the next. RFC 4861: 1s.
    pub retransmit: Duration,
    /// Questions without an answer until the flows that wait for the address fail, 1 to 255. RFC 4861: 3.
    #[schemars(range(min = 1))]
    pub attempts: u8,
}

impl Default for NeighboursConfig {
    fn default() -> Self {
        Self {
            reachable_time: Duration::from_ms(30_000),
            delay: Duration::from_ms(5_000),
            retransmit: Duration::from_ms(1_000),
            attempts: 3,
        }
    }
}
