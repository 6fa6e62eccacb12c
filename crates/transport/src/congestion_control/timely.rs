//! TIMELY: Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015.
//!
//! After each segment, with the newest round-trip time `rtt` (algorithm 1 of the paper):
//!
//! ```text
//! difference = (1 - a) difference + a (rtt - previous rtt)
//! gradient   = difference / min_rtt
//! rtt < t_low     rate += delta
//! rtt > t_high    rate *= 1 - beta (1 - t_high / rtt)
//! gradient <= 0   rate += n delta      n = hai_factor after hai_after of these in a row, else 1
//! otherwise       rate *= 1 - beta gradient
//! ```
//!
//! A new queue pair starts at an equal share of its host's link: C / (N + 1), with C the line rate and N
//! the other queue pairs of the NIC that have sent and are not done. The step `delta` is 10 Mbit/s for a NIC of 10
//! Gbit/s, and in proportion for others.
//!
//! The paper's segments leave in one burst, whose serialisation it subtracts. Here every packet is
//! paced and a round-trip time is that of one packet, so nothing is subtracted.
//!
//! With `preset = "hpcc"` it is the TIMELY of HPCC's ns-3 simulator: one update a round trip, when
//! a packet is acknowledged that was sent after the last one; times in whole nanoseconds and rates
//! in whole bits per second; a hyper increase also below `t_low`, and only after `hai_after`
//! increases before it; it starts at the line rate; and the last line is `rate *= max(0, 1 - beta gradient)`.

mod per_round_trip;
mod per_segment;

use rocelab_units::{Bandwidth, Bytes, Duration, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::per_round_trip::PerRoundTrip;
use self::per_segment::PerSegment;
use super::{CongestionControl, Definition, Feedback, InvalidParameter, Path, arithmetic};

pub(super) const SUMMARY: &str = "the rate follows the gradient of the round-trip time";
pub(super) const REFERENCE: &str = "Mittal et al., TIMELY: RTT-based Congestion Control for the \
    Datacenter, SIGCOMM 2015";

/// The line rate for which the step of 10 Mbit/s is meant: that of the paper's NICs, and the one to which
/// HPCC's scripts relate theirs.
const REFERENCE_RATE: Bandwidth = Bandwidth::from_gbps(10);

/// The additive increase step of a NIC of this rate, so that each has the same number of steps to go.
pub(super) fn default_step(line_rate: Bandwidth) -> Bandwidth {
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
    fn step(&self, line_rate: Bandwidth) -> Bandwidth {
        self.delta.unwrap_or_else(|| default_step(line_rate))
    }

    fn hyper_step(&self, line_rate: Bandwidth) -> Bandwidth {
        self.hyper_increase.unwrap_or_else(|| {
            let step = self.step(line_rate).bits_per_second();
            Bandwidth::from_bps(step.saturating_mul(u64::from(self.hai_factor)))
        })
    }

    /// Never above the line rate in the paper's form; HPCC's ns-3 simulator has no such bound.
    fn floor(&self, line_rate: Bandwidth) -> Bandwidth {
        match self.preset {
            Preset::Paper => self.min_rate.unwrap_or(Bandwidth::from_mbps(100)).min(line_rate),
            Preset::Hpcc => self.min_rate.unwrap_or(Bandwidth::from_gbps(1)),
        }
    }
}

impl Definition for Parameters {
    fn feedback(&self, _: Bandwidth) -> Feedback {
        Feedback::Rtt
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless(
            self.t_low <= self.t_high,
            "t_low",
            &self.t_low,
            "is above t_high",
            "lower it, or raise t_high",
        )?;
        InvalidParameter::unless_share("beta", self.beta)?;
        InvalidParameter::unless_share("ewma_weight", self.ewma_weight)?;
        InvalidParameter::unless(
            self.min_rtt > Duration::ZERO,
            "min_rtt",
            &self.min_rtt,
            "divides by zero",
            "give the round-trip time of the idle network, such as \"20us\"",
        )?;
        let rates = [
            ("delta", self.delta),
            ("hyper_increase", self.hyper_increase),
            ("min_rate", self.min_rate),
        ];
        for (key, rate) in rates {
            rate.map_or(Ok(()), |rate| InvalidParameter::unless_moving(key, rate))?;
        }
        InvalidParameter::unless(
            self.hai_factor > 0,
            "hai_factor",
            &self.hai_factor,
            "stops the increase",
            "give 1 or more",
        )
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        match self.preset {
            Preset::Paper => Box::new(PerSegment::new(self, path)),
            Preset::Hpcc => Box::new(PerRoundTrip::new(self, path.line_rate)),
        }
    }
}
