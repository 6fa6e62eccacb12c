//! HPCC: Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019.
//!
//! Every data packet collects a record of each switch port that it leaves by (time, bytes sent,
//! queue, rate), and its acknowledgement brings them back. From two records of a port that are
//! `tau` apart (algorithm 1 of the paper, with rates for windows as in HPCC's ns-3 simulator):
//!
//! ```text
//! u_i = 8 bytes sent / tau / rate_i + min(queue, queue before) line rate / rate_i / W
//! U   = the largest u_i,  dt = its tau, at most T
//! u   = (u (T - dt) + U dt) / T
//! c   = u / eta
//! c >= 1 or stage >= max_stage    rate = reference / c + additive_increase,  stage = 0
//! otherwise                       rate = reference + additive_increase,      stage += 1
//! ```
//!
//! `T` is the round-trip time of the idle path and `W` the payload that fills it. Once a round trip,
//! when a packet is acknowledged that was sent after the last such update, the new rate becomes the
//! reference. With `fast_react` the acknowledgements in between set the rate too, from the old
//! reference. The window is `W` times rate over line rate.
//!
//! With `per_hop_rate` each port has its own `u`, reference and stage, and the smallest rate of
//! those that were looked at applies. With `sample_feedback` the acknowledgements in between only
//! count ports with a queue; if there is none the rate stays.
//!
//! Without records nothing happens: the rate is the line rate, and the window bounds what is on its
//! way.

#[cfg(test)]
mod golden;
mod sender;

use rocelab_units::{Bandwidth, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::sender::Sender;
use super::{CongestionControl, Definition, Feedback, InvalidParameter, Path, arithmetic};

pub(super) const SUMMARY: &str = "switches write their load into packets, which sets the rate";
pub(super) const REFERENCE: &str = "Li et al., HPCC: High Precision Congestion Control, \
    SIGCOMM 2019";

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
    fn multiplier(&self, line_rate: Bandwidth) -> u32 {
        let steps = line_rate.bits_per_second() / REFERENCE_RATE.bits_per_second();
        let default = u32::try_from(steps).unwrap_or(u32::MAX);
        self.int_multiplier.unwrap_or(default).max(1)
    }
}

/// The additive increase of HPCC's scripts.
pub(super) fn default_step(line_rate: Bandwidth) -> Bandwidth {
    arithmetic::scaled(Bandwidth::from_mbps(10), REFERENCE_RATE, line_rate)
}

impl Definition for Parameters {
    fn feedback(&self, line_rate: Bandwidth) -> Feedback {
        Feedback::Int { multiplier: self.multiplier(line_rate) }
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        if let Some(step) = self.additive_increase {
            InvalidParameter::unless_moving("additive_increase", step)?;
        }
        InvalidParameter::unless_share("eta", self.eta)?;
        InvalidParameter::unless_moving("min_rate", self.min_rate)?;
        InvalidParameter::unless(
            self.int_multiplier != Some(0),
            "int_multiplier",
            &0,
            "leaves the records without a unit",
            "give 1 or more, or leave it out",
        )
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        Box::new(Sender::new(self, path))
    }
}
