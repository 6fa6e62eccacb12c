//! What can be set.

use rocelab_units::{Bandwidth, Bytes, Duration, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::congestion_control::{Delay, arithmetic};

/// The line rate for which the step of 10 Mbit/s is meant: that of the paper's NICs, and the one to which
/// HPCC's scripts relate theirs.
const REFERENCE_RATE: Bandwidth = Bandwidth::from_gbps(10);

/// The additive increase step of a NIC of this rate, so that each has the same number of steps to go.
pub(in crate::congestion_control) fn default_step(line_rate: Bandwidth) -> Bandwidth {
    arithmetic::scaled(Bandwidth::from_mbps(10), REFERENCE_RATE, line_rate)
        .max(Bandwidth::from_bps(1))
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "TimelyParameters")]
pub struct Parameters {
    /// Whose form it is.
    pub preset: Preset,
    /// The delay that is followed.
    #[serde(skip_serializing_if = "Delay::is_measured")]
    pub delay: Delay,
    /// Below this round-trip time the rate always rises.
    pub t_low: Duration,
    /// Above this round-trip time the rate always falls.
    pub t_high: Duration,
    /// Additive increase step; 10Mbps per 10Gbps of line rate if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Bandwidth>,
    /// Multiplicative decrease factor, above 0 and at most 1.
    pub beta: Ratio,
    /// Weight `a` of the newest round-trip time difference, above 0 and at most 1.
    pub ewma_weight: Ratio,
    /// What a round-trip time difference is measured against.
    pub min_rtt: Duration,
    /// Increases in a row after which the step grows.
    pub hai_after: u32,
    /// How many times larger the step then is.
    pub hai_factor: u32,
    /// How large the step then is, whatever hai_factor says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyper_increase: Option<Bandwidth>,
    /// Payload acknowledged between two rate updates; `0B` for an update at each round-trip time.
    /// Not for hpcc.
    pub segment: Bytes,
    /// The rate does not fall below. Paper 100Mbps, hpcc 1Gbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<Bandwidth>,
}

/// Whose TIMELY it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// That of the paper.
    #[default]
    Paper,
    /// The one that the authors of HPCC (Li et al., SIGCOMM 2019) compare with: their simulator's.
    Hpcc,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            preset: Preset::Paper,
            delay: Delay::default(),
            t_low: Duration::from_us(50),
            t_high: Duration::from_us(500),
            delta: None,
            beta: Ratio::new(8, 10),
            ewma_weight: Ratio::new(7, 8),
            min_rtt: Duration::from_us(20),
            hai_after: 5,
            hai_factor: 5,
            hyper_increase: None,
            segment: Bytes::new(16 * 1024),
            min_rate: None,
        }
    }
}

impl Parameters {
    /// The additive increase step.
    pub(super) fn step(&self, line_rate: Bandwidth) -> Bandwidth {
        self.delta.unwrap_or_else(|| default_step(line_rate))
    }

    /// The step of a hyper increase.
    pub(super) fn hyper_step(&self, line_rate: Bandwidth) -> Bandwidth {
        self.hyper_increase.unwrap_or_else(|| {
            let step = self.step(line_rate).bits_per_second();
            Bandwidth::from_bps(step.saturating_mul(u64::from(self.hai_factor)))
        })
    }

    /// The least rate. Never above the line rate in the paper's form; HPCC's ns-3 simulator has no such bound.
    pub(super) fn floor(&self, line_rate: Bandwidth) -> Bandwidth {
        match self.preset {
            Preset::Paper => self.min_rate.unwrap_or(Bandwidth::from_mbps(100)).min(line_rate),
            Preset::Hpcc => self.min_rate.unwrap_or(Bandwidth::from_gbps(1)),
        }
    }
}
