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
//! The paper's segments leave in one burst, whose serialisation it subtracts. Here every packet is
//! paced and a round-trip time is that of one packet, so nothing is subtracted.

use rocelab_units::{Bandwidth, Bytes, Duration, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ack, CongestionControl, Definition, Feedback, InvalidParameter};

pub(super) const SUMMARY: &str = "the rate follows the gradient of the round-trip time";
pub(super) const REFERENCE: &str = "Mittal et al., TIMELY: RTT-based Congestion Control for the \
    Datacenter, SIGCOMM 2015";

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "TimelyParameters")]
pub struct Parameters {
    /// Below this round-trip time the rate always rises.
    pub t_low: Duration,
    /// Above this round-trip time the rate always falls.
    pub t_high: Duration,
    /// Additive increase step.
    pub delta: Bandwidth,
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
    /// Payload acknowledged between two rate updates; `0B` for an update at each round-trip time.
    pub segment: Bytes,
    /// The rate does not fall below.
    pub min_rate: Bandwidth,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            t_low: Duration::from_us(50),
            t_high: Duration::from_us(500),
            delta: Bandwidth::from_mbps(10),
            beta: Ratio::new(8, 10),
            ewma_weight: Ratio::new(7, 8),
            min_rtt: Duration::from_us(20),
            hai_after: 5,
            hai_factor: 5,
            segment: Bytes::new(16 * 1024),
            min_rate: Bandwidth::from_mbps(100),
        }
    }
}

impl Definition for Parameters {
    fn feedback(&self) -> Feedback {
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
        for (key, ratio) in [("beta", self.beta), ("ewma_weight", self.ewma_weight)] {
            InvalidParameter::unless(
                0 < ratio.numerator() && ratio.numerator() <= ratio.denominator(),
                key,
                &ratio,
                "is not a share",
                "give a fraction above 0 and at most 1, such as \"4/5\"",
            )?;
        }
        InvalidParameter::unless(
            self.min_rtt > Duration::ZERO,
            "min_rtt",
            &self.min_rtt,
            "divides by zero",
            "give the round-trip time of the idle network, such as \"20us\"",
        )?;
        for (key, rate) in [("delta", self.delta), ("min_rate", self.min_rate)] {
            InvalidParameter::unless(
                rate.bits_per_second() > 0,
                key,
                &rate,
                "lets a slow queue pair stop for ever",
                "give a rate above 0bps, such as \"10Mbps\"",
            )?;
        }
        InvalidParameter::unless(
            self.hai_factor > 0,
            "hai_factor",
            &self.hai_factor,
            "stops the increase",
            "give 1 or more",
        )
    }

    fn build(&self, line_rate: Bandwidth) -> Box<dyn CongestionControl> {
        let line_rate = line_rate.bits_per_second() as f64;
        Box::new(Timely {
            t_low: self.t_low,
            t_high: self.t_high,
            delta: self.delta.bits_per_second() as f64,
            beta: self.beta.as_f64(),
            ewma_weight: self.ewma_weight.as_f64(),
            min_rtt: self.min_rtt.ps() as f64,
            hai_after: self.hai_after,
            hai_factor: f64::from(self.hai_factor),
            segment: self.segment.get(),
            min_rate: (self.min_rate.bits_per_second() as f64).min(line_rate),
            line_rate,
            rate: line_rate,
            previous_rtt: None,
            difference: 0.0,
            increases: 0,
            acked_bytes: 0,
        })
    }
}

#[derive(Debug)]
struct Timely {
    t_low: Duration,
    t_high: Duration,
    delta: f64,
    beta: f64,
    ewma_weight: f64,
    min_rtt: f64,
    hai_after: u32,
    hai_factor: f64,
    segment: u64,
    min_rate: f64,
    line_rate: f64,
    rate: f64,
    previous_rtt: Option<Duration>,
    /// Smoothed difference of successive round-trip times [ps].
    difference: f64,
    /// Increases in a row for a gradient that is not positive.
    increases: u32,
    /// Acknowledged since the last update (bytes).
    acked_bytes: u64,
}

impl Timely {
    fn update(&mut self, previous: Duration, rtt: Duration) {
        let newest = rtt.ps() as f64 - previous.ps() as f64;
        self.difference = (1.0 - self.ewma_weight) * self.difference + self.ewma_weight * newest;
        let gradient = self.difference / self.min_rtt;
        let rate = if rtt < self.t_low {
            self.rate + self.delta
        } else if rtt > self.t_high {
            self.increases = 0;
            self.rate * (1.0 - self.beta * (1.0 - self.t_high.ps() as f64 / rtt.ps() as f64))
        } else if gradient <= 0.0 {
            self.increases = self.increases.saturating_add(1);
            let hyper = self.increases >= self.hai_after;
            self.rate + if hyper { self.hai_factor * self.delta } else { self.delta }
        } else {
            self.increases = 0;
            self.rate * (1.0 - self.beta * gradient)
        };
        self.rate = rate.clamp(self.min_rate, self.line_rate);
    }
}

impl CongestionControl for Timely {
    fn rate(&self) -> f64 {
        self.rate
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.acked_bytes += ack.acked_bytes;
        let Some(rtt) = ack.rtt else { return };
        let Some(previous) = self.previous_rtt else {
            self.previous_rtt = Some(rtt);
            self.acked_bytes = 0;
            return;
        };
        if self.acked_bytes >= self.segment {
            self.acked_bytes = 0;
            self.update(previous, rtt);
            self.previous_rtt = Some(rtt);
        }
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::SimTime;

    use super::*;

    /// Rates [Gb/s] after each of a script of round-trip times [us], a segment each, on 10G.
    #[track_caller]
    fn check(script: &[(u64, f64)]) {
        let mut timely = Parameters::default().build(Bandwidth::from_gbps(10));
        for (row, &(rtt, gbps)) in script.iter().enumerate() {
            timely.on_ack(&Ack {
                now: SimTime::ZERO,
                acked_bytes: 16 * 1024,
                rtt: Some(Duration::from_us(rtt)),
                ecn_echo: false,
            });
            let rate = timely.rate() / 1e9;
            assert!((rate - gbps).abs() < 1e-9, "row {row}: rtt {rtt} us gives {rate}, not {gbps}");
        }
    }

    #[test]
    fn rate_follows_the_formula() {
        // Differences: 10 us -> 0.875 x 10 = 8.75, gradient 0.4375; then 0.125 x 8.75 = 1.09375,
        // gradient 0.0546875; then 0.125 x 1.09375 - 0.875 x 40, negative.
        let rising = 10.0 * (1.0 - 0.8 * 0.4375);
        let calm = rising * (1.0 - 0.8 * 0.054_687_5);
        check(&[(90, 10.0), (100, rising), (100, calm), (60, calm + 0.01), (40, calm + 0.02)]);
    }

    #[test]
    fn long_round_trips_cut_by_their_excess() {
        check(&[(400, 10.0), (1000, 10.0 * (1.0 - 0.8 * 0.5))]);
    }

    #[test]
    fn the_step_grows_after_five_increases() {
        let cut = 10.0 * (1.0 - 0.8 * 0.5);
        let step = 0.01;
        check(&[
            (400, 10.0),
            (1000, cut),
            (100, cut + step),
            (100, cut + 2.0 * step),
            (100, cut + 3.0 * step),
            (100, cut + 4.0 * step),
            (100, cut + 9.0 * step),
            (100, cut + 14.0 * step),
        ]);
    }
}
