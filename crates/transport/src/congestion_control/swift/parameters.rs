//! What can be set.

use rocelab_units::{Duration, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::congestion_control::Delay;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "SwiftParameters")]
pub struct Parameters {
    /// The delay that is followed.
    #[serde(skip_serializing_if = "Delay::is_measured")]
    pub delay: Delay,
    /// Target without hops and flow scaling; the round-trip time of the idle path if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_target: Option<Duration>,
    /// What each switch adds to the target.
    pub hop_scaling: Duration,
    /// Switches on a path.
    pub hops: u32,
    /// The most that small windows add to the target; five times the base target if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_range: Option<Duration>,
    /// The window that adds all of it, in packets.
    pub fs_min_cwnd: Ratio,
    /// The window that adds nothing, in packets.
    pub fs_max_cwnd: Ratio,
    /// Packets that the window gains in each round trip.
    pub additive_increase: Ratio,
    /// Multiplicative decrease factor, above 0 and at most 1.
    pub beta: Ratio,
    /// The largest share of the window that a cut takes, above 0 and at most 1.
    pub max_mdf: Ratio,
    /// The window does not fall below, in packets.
    pub min_cwnd: Ratio,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            delay: Delay::default(),
            base_target: None,
            hop_scaling: Duration::from_us(1),
            hops: 5,
            fs_range: None,
            fs_min_cwnd: Ratio::new(1, 10),
            fs_max_cwnd: Ratio::new(100, 1),
            additive_increase: Ratio::new(1, 1),
            beta: Ratio::new(8, 10),
            max_mdf: Ratio::new(1, 2),
            min_cwnd: Ratio::new(1, 1_000),
        }
    }
}
