//! `[[link]]`: what single links do otherwise.

use rocelab_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of some links, in both directions. Of several tables that name one link, later ones hold over earlier ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkOverride {
    /// Ports at either end of the links: `leaf-0:3`, `leaf-*:0..3`, or all links of `leaf-0`.
    pub ports: Vec<String>,
    /// The largest Ethernet payload (IP packet; on RoCE v1 from GRH to ICRC) that the ends take, 46B to 65535B. Default: no
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Bytes>,
    /// The probability that one bit changes on its way, above 0 and at most 0.001. Default: none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bit_error_rate: Option<f64>,
}
