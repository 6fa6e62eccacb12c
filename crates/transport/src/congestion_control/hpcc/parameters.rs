//! What can be set.

use rocelab_units::{Bandwidth, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::congestion_control::arithmetic;

/// The line rate for which HPCC's scripts give their steps and their unit of counters.
const REFERENCE_RATE: Bandwidth = Bandwidth::from_gbps(25);

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "HpccParameters")]
pub struct Parameters {
    /// Additive increase step; 10Mbps per 25Gbps of line rate if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additive_increase: Option<Bandwidth>,
    /// The utilization that is wanted (U_TARGET), above 0 and at most 1.
    pub eta: Ratio,
    /// Additive increases in a row before the utilization is met at once (MI_THRESH).
    pub max_stage: u32,
    /// The rate does not fall below.
    pub min_rate: Bandwidth,
    /// Whether all acknowledgements set the rate, not only one each round trip.
    pub fast_react: bool,
    /// Whether each port has a rate of its own (MULTI_RATE).
    pub per_hop_rate: bool,
    /// Whether acknowledgements within a round trip ignore ports without a queue.
    pub sample_feedback: bool,
    /// What multiplies the units of the switches' records, 128 and 80 bytes (INT_MULTI), above 0;
    /// the line rate over 25Gbps if left out, at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub int_multiplier: Option<u32>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            additive_increase: None,
            eta: Ratio::new(95, 100),
            max_stage: 5,
            min_rate: Bandwidth::from_gbps(1),
            fast_react: true,
            per_hop_rate: false,
            sample_feedback: false,
            int_multiplier: None,
        }
    }
}

impl Parameters {
    /// What multiplies the units of records, at this line rate.
    pub(super) fn multiplier(&self, line_rate: Bandwidth) -> u32 {
        let steps = line_rate.bits_per_second() / REFERENCE_RATE.bits_per_second();
        let default = u32::try_from(steps).unwrap_or(u32::MAX);
        self.int_multiplier.unwrap_or(default).max(1)
    }
}

/// The additive increase of HPCC's scripts.
pub(in crate::congestion_control) fn default_step(line_rate: Bandwidth) -> Bandwidth {
    arithmetic::scaled(Bandwidth::from_mbps(10), REFERENCE_RATE, line_rate)
}
