//! What can be set.

use rocelab_units::{Duration, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hops::Hops;
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
    /// Switches on a path; or `counted`, by the hop limit of each packet that is acknowledged. RoCE v1 and InfiniBand have none that
    /// switches take from: there give the number.
    pub hops: Hops,
    /// Target of the endpoint delay, which has no scaling: with it there is a second window, of the endpoint, and the time that
    /// passes in NICs is no part of the fabric's delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint_target: Option<Duration>,
    /// The weight of a new endpoint delay in the smoothed one, above 0 and at most 1.
    #[serde(skip_serializing_if = "is_usual_gain")]
    pub endpoint_gain: Ratio,
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
    /// From so many timeouts in a row on, each sets the window to `min_cwnd`; never if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmit_reset: Option<u32>,
}

/// The weight that TCP gives a new round-trip time (RFC 6298). Swift's paper has no number.
const fn usual_gain() -> Ratio {
    Ratio::new(1, 8)
}

fn is_usual_gain(gain: &Ratio) -> bool {
    *gain == usual_gain()
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            delay: Delay::default(),
            base_target: None,
            hop_scaling: Duration::from_us(1),
            hops: Hops::Given(5),
            endpoint_target: None,
            endpoint_gain: usual_gain(),
            fs_range: None,
            fs_min_cwnd: Ratio::new(1, 10),
            fs_max_cwnd: Ratio::new(100, 1),
            additive_increase: Ratio::new(1, 1),
            beta: Ratio::new(8, 10),
            max_mdf: Ratio::new(1, 2),
            min_cwnd: Ratio::new(1, 1_000),
            retransmit_reset: None,
        }
    }
}
