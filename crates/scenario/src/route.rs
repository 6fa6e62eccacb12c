//! `[[route]]`: routes that are set by hand.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A static route: where a switch forwards the frames for some hosts, in place of shortest paths.
/// It may lead anywhere, in a circle too. Exactly one of `next_hop` and `port` says where. Of two
/// for the same switch and host, the later one holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteConfig {
    /// The switch, or a range such as `leaf-0..leaf-3` (both ends included).
    pub switch: String,
    /// For which hosts: names, or ranges of names. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destinations: Option<Vec<String>>,
    /// The node that they are forwarded to, by every link there; where there are several, as
    /// equal-cost multipath chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_hop: Option<String>,
    /// The port that they leave by, such as `leaf-0:3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
}
