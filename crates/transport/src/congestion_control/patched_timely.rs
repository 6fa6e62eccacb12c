//! Patched TIMELY: Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY",
//! CoNEXT 2016.
//!
//! TIMELY reacts to the gradient of the round-trip time only, and so has no fixed point: any split
//! of the capacity may last. The patch lets the distance from a reference decide how deep a cut is,
//! and the gradient how much of it counts. After each segment, with the newest round-trip time
//! `rtt`:
//!
//! ```text
//! difference = (1 - a) difference + a (rtt - previous rtt)
//! gradient   = difference / min_rtt
//! rtt < t_low     rate += delta
//! rtt > t_high    rate *= 1 - beta_high (1 - t_high / rtt)
//! otherwise       w = 2 gradient + 1/2, at least 0 and at most 1
//!                 rate = delta (1 - w) + rate (1 - beta w (rtt - t_ref) / t_ref)
//! ```
//!
//! `t_ref` is `t_low` unless it is given. Form, `w`, `beta`, `t_ref` and the segment are those of
//! the paper, which uses one `beta` for both decreases; thresholds, `delta`, the rate at the start and
//! the rest those of TIMELY.

use rocelab_units::{Bandwidth, Bytes, Duration, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::timely::default_step;
use super::{
    Ack, CongestionControl, Definition, Delay, Feedback, InvalidParameter, Path, arithmetic,
};

pub(super) const SUMMARY: &str = "TIMELY with a reference delay, so that shares become equal";
pub(super) const REFERENCE: &str = "Zhu et al., ECN or Delay: Lessons Learnt from Analysis of \
    DCQCN and TIMELY, CoNEXT 2016";

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "PatchedTimelyParameters")]
pub struct Parameters {
    /// The delay that is followed.
    #[serde(skip_serializing_if = "Delay::is_measured")]
    pub delay: Delay,
    /// Below this round-trip time the rate always rises. Above 0s.
    pub t_low: Duration,
    /// Above this round-trip time the rate always falls.
    pub t_high: Duration,
    /// The round-trip time that is wanted; t_low if left out. Above 0s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_ref: Option<Duration>,
    /// Additive increase step; 10Mbps per 10Gbps of line rate if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Bandwidth>,
    /// Multiplicative decrease factor up to t_high, above 0 and at most 1.
    pub beta: Ratio,
    /// Multiplicative decrease factor above t_high, above 0 and at most 1; the paper's is `beta`.
    pub beta_high: Ratio,
    /// Weight `a` of the newest round-trip time difference, above 0 and at most 1.
    pub ewma_weight: Ratio,
    /// What a round-trip time difference is measured against.
    pub min_rtt: Duration,
    /// Payload acknowledged between two rate updates; `0B` for an update at each round-trip time.
    pub segment: Bytes,
    /// The rate does not fall below.
    pub min_rate: Bandwidth,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            delay: Delay::default(),
            t_low: Duration::from_us(50),
            t_high: Duration::from_us(500),
            t_ref: None,
            delta: None,
            beta: Ratio::new(8, 1_000),
            beta_high: Ratio::new(8, 1_000),
            ewma_weight: Ratio::new(7, 8),
            min_rtt: Duration::from_us(20),
            segment: Bytes::new(16 * 1024),
            min_rate: Bandwidth::from_mbps(100),
        }
    }
}

impl Definition for Parameters {
    fn feedback(&self, _: Bandwidth) -> Feedback {
        self.delay.feedback()
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless(
            self.t_low <= self.t_high,
            "t_low",
            &self.t_low,
            "is above t_high",
            "lower it, or raise t_high",
        )?;
        let times = [
            ("t_low", self.t_low),
            ("t_ref", self.t_ref.unwrap_or(self.t_low)),
            ("min_rtt", self.min_rtt),
        ];
        for (key, time) in times {
            let fix = "give a time above 0s, such as \"50us\"";
            InvalidParameter::unless(time > Duration::ZERO, key, &time, "divides by zero", fix)?;
        }
        let shares =
            [("beta", self.beta), ("beta_high", self.beta_high), ("ewma_weight", self.ewma_weight)];
        for (key, ratio) in shares {
            InvalidParameter::unless_share(key, ratio)?;
        }
        self.delta.map_or(Ok(()), |delta| InvalidParameter::unless_moving("delta", delta))?;
        InvalidParameter::unless_moving("min_rate", self.min_rate)
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        let bits = |rate: Bandwidth| rate.bits_per_second() as f64;
        let min_rate = self.min_rate.min(path.line_rate);
        Box::new(PatchedTimely {
            rate: bits(path.share().max(min_rate)),
            line_rate: path.line_rate,
            min_rate: bits(min_rate),
            delta: bits(self.delta.unwrap_or_else(|| default_step(path.line_rate))),
            parameters: self.clone(),
            previous_rtt: None,
            difference: 0.0,
            acked_bytes: 0,
        })
    }
}

/// The state of one queue pair.
#[derive(Debug)]
struct PatchedTimely {
    parameters: Parameters,
    line_rate: Bandwidth,
    /// Bits per second.
    min_rate: f64,
    delta: f64,
    rate: f64,
    previous_rtt: Option<Duration>,
    /// Smoothed difference of successive round-trip times [ps].
    difference: f64,
    /// Acknowledged since the last update (bytes).
    acked_bytes: u64,
}

rocelab_state::state!(PatchedTimely {
    values: rate, previous_rtt, difference, acked_bytes;
    kept: parameters, line_rate, min_rate, delta
});

impl PatchedTimely {
    fn update(&mut self, previous: Duration, rtt: Duration) {
        let Parameters { t_low, t_high, .. } = self.parameters;
        let newest = picoseconds(rtt) - picoseconds(previous);
        let weight = self.parameters.ewma_weight.as_f64();
        self.difference = (1.0 - weight) * self.difference + weight * newest;
        let rate = if rtt < t_low {
            self.rate + self.delta
        } else if rtt > t_high {
            let beyond = 1.0 - picoseconds(t_high) / picoseconds(rtt);
            self.rate * (1.0 - self.parameters.beta_high.as_f64() * beyond)
        } else {
            let cut = self.cut_share();
            let reference = picoseconds(self.parameters.t_ref.unwrap_or(t_low));
            let excess = (picoseconds(rtt) - reference) / reference;
            let kept = 1.0 - self.parameters.beta.as_f64() * cut * excess;
            self.delta * (1.0 - cut) + self.rate * kept
        };
        self.rate = rate.clamp(self.min_rate, self.line_rate.bits_per_second() as f64);
    }

    /// `w`: how much of a cut the gradient asks for, 0 to 1.
    fn cut_share(&self) -> f64 {
        let gradient = self.difference / picoseconds(self.parameters.min_rtt);
        (2.0 * gradient + 0.5).clamp(0.0, 1.0)
    }
}

impl CongestionControl for PatchedTimely {
    fn rate(&self) -> Bandwidth {
        arithmetic::whole(self.rate, self.line_rate)
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.acked_bytes += ack.acked_bytes;
        let Some(rtt) = ack.rtt else { return };
        let Some(previous) = self.previous_rtt else {
            self.previous_rtt = Some(rtt);
            self.acked_bytes = 0;
            return;
        };
        if self.acked_bytes >= self.parameters.segment.get() {
            self.acked_bytes = 0;
            self.update(previous, rtt);
            self.previous_rtt = Some(rtt);
        }
    }
}

fn picoseconds(time: Duration) -> f64 {
    time.ps() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion_control::testing::{ack, path};

    /// Rates [Gb/s] after each of a script of round-trip times [us], a segment each, on 10G.
    #[track_caller]
    fn check(text: &str, script: &[(u64, f64)]) {
        let parameters: Parameters = toml::from_str(text).unwrap();
        let mut control = parameters.build(&path(Bandwidth::from_gbps(10)));
        for (row, &(rtt, gbps)) in script.iter().enumerate() {
            let rtt = Some(Duration::from_us(rtt));
            control.on_ack(&Ack { acked_bytes: 16 * 1024, rtt, ..ack(0, 0) });
            let rate = control.rate().bits_per_second() as f64;
            // Cut off to whole bits.
            let short = gbps * 1e9 - rate;
            assert!((-0.001..1.0).contains(&short), "row {row}: {rate}, {short} below {gbps} Gb/s");
        }
    }

    #[test]
    fn between_the_thresholds_the_distance_decides() {
        // 100 us twice after 98 us. First 0.875 x 2 = 1.75 us, gradient 0.0875, w = 0.675; then
        // 0.125 x 1.75 us, 0.0109375, w = 0.521875. Both times 100 us is 1 above 50 us.
        let first = 0.01 * (1.0 - 0.675) + 10.0 * (1.0 - 0.008 * 0.675);
        let second = 0.01 * (1.0 - 0.521_875) + first * (1.0 - 0.008 * 0.521_875);
        check("", &[(98, 10.0), (100, first), (100, second)]);
    }

    #[test]
    fn a_steep_gradient_counts_in_full_and_a_falling_one_not_at_all() {
        // 20 us up, gradient 0.875, w = 1; then 40 us down, w = 0.
        let cut = 10.0 * (1.0 - 0.008 * 1.4);
        check("", &[(100, 10.0), (120, cut), (80, cut + 0.01)]);
    }

    #[test]
    fn beyond_the_thresholds_it_is_timely() {
        for (text, beta) in [("", 0.008), ("beta_high = \"4/5\"", 0.8)] {
            let cut = 10.0 * (1.0 - beta * 0.5);
            check(text, &[(400, 10.0), (1_000, cut), (40, cut + 0.01)]);
        }
    }

    #[test]
    fn the_reference_may_be_another() {
        // 100 us are twice below 200 us: at w = 1/2 that is an increase of 0.2 %.
        let cut = 10.0 * (1.0 - 0.8 * 0.5);
        let text = "t_ref = \"200us\"\newma_weight = 1\nbeta_high = \"4/5\"";
        check(
            text,
            &[
                (400, 10.0),
                (1_000, cut),
                (100, cut + 0.01),
                (100, {
                    let before = cut + 0.01;
                    0.005 + before * 1.002
                }),
            ],
        );
    }
}
