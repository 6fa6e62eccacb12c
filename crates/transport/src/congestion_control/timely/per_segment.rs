//! TIMELY as in the paper: an update after each segment.

use rocelab_units::{Bandwidth, Duration};

use super::parameters::Parameters;
use crate::congestion_control::{Ack, CongestionControl, Path, arithmetic};

/// The state of one queue pair.
#[derive(Debug)]
pub(super) struct PerSegment {
    /// T_low and T_high.
    thresholds: [Duration; 2],
    /// Rates in bits per second.
    delta: f64,
    hyper_increase: f64,
    min_rate: f64,
    rate: f64,
    line_rate: Bandwidth,
    beta: f64,
    ewma_weight: f64,
    /// Picoseconds.
    min_rtt: f64,
    hai_after: u32,
    /// Bytes.
    segment: u64,
    previous_rtt: Option<Duration>,
    /// Smoothed difference of successive round-trip times [ps].
    difference: f64,
    /// Increases in a row for a gradient that is not positive.
    increases: u32,
    /// Acknowledged since the last update (bytes).
    acked_bytes: u64,
}

rocelab_state::state!(PerSegment {
    values: rate, previous_rtt, difference, increases, acked_bytes;
    kept: thresholds, delta, hyper_increase, min_rate, line_rate, beta, ewma_weight, min_rtt,
        hai_after, segment
});

impl PerSegment {
    pub(super) fn new(parameters: &Parameters, path: &Path) -> Self {
        let bits = |rate: Bandwidth| rate.bits_per_second() as f64;
        let (line_rate, min_rate) = (path.line_rate, parameters.floor(path.line_rate));
        Self {
            thresholds: [parameters.t_low, parameters.t_high],
            delta: bits(parameters.step(line_rate)),
            hyper_increase: bits(parameters.hyper_step(line_rate)),
            min_rate: bits(min_rate),
            rate: bits(path.share().max(min_rate)),
            line_rate,
            beta: parameters.beta.as_f64(),
            ewma_weight: parameters.ewma_weight.as_f64(),
            min_rtt: parameters.min_rtt.ps() as f64,
            hai_after: parameters.hai_after,
            segment: parameters.segment.get(),
            previous_rtt: None,
            difference: 0.0,
            increases: 0,
            acked_bytes: 0,
        }
    }

    fn update(&mut self, previous: Duration, rtt: Duration) {
        let newest = rtt.ps() as f64 - previous.ps() as f64;
        self.difference = (1.0 - self.ewma_weight) * self.difference + self.ewma_weight * newest;
        let gradient = self.difference / self.min_rtt;
        let [t_low, t_high] = self.thresholds;
        let rate = if rtt < t_low {
            self.rate + self.delta
        } else if rtt > t_high {
            self.increases = 0;
            self.rate * (1.0 - self.beta * (1.0 - t_high.ps() as f64 / rtt.ps() as f64))
        } else if gradient <= 0.0 {
            self.increases = self.increases.saturating_add(1);
            let hyper = self.increases >= self.hai_after;
            self.rate + if hyper { self.hyper_increase } else { self.delta }
        } else {
            self.increases = 0;
            self.rate * (1.0 - self.beta * gradient)
        };
        self.rate = rate.clamp(self.min_rate, self.line_rate.bits_per_second() as f64);
    }
}

impl CongestionControl for PerSegment {
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
    use crate::congestion_control::Telemetry;
    use crate::congestion_control::testing::path;

    /// Rates [Gb/s] after each of a script of round-trip times [us], a segment each, on 10G. The
    /// rate is cut off to whole bits, and doubles of tens of Gb/s are exact to some of 1e-6 bit/s.
    #[track_caller]
    fn check(script: &[(u64, f64)]) {
        let mut timely = PerSegment::new(&Parameters::default(), &path(Bandwidth::from_gbps(10)));
        for (row, &(rtt, gbps)) in script.iter().enumerate() {
            timely.on_ack(&Ack {
                now: SimTime::ZERO,
                acked_bytes: 16 * 1024,
                acknowledged: 0,
                sent: 0,
                rtt: Some(Duration::from_us(rtt)),
                ecn_echo: false,
                telemetry: Telemetry::None,
            });
            let rate = timely.rate().bits_per_second() as f64;
            let short = gbps * 1e9 - rate;
            assert!((-0.001..1.0).contains(&short), "row {row}: {rate}, {short} below {gbps} Gb/s");
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
    fn a_queue_pair_starts_at_its_share_of_the_port_and_not_below_the_least_rate() {
        for (gbps, others, mbps) in
            [(10, 0, 10_000), (10, 3, 2_500), (100, 1, 50_000), (10, 999, 100)]
        {
            let path = Path { others, ..path(Bandwidth::from_gbps(gbps)) };
            let timely = PerSegment::new(&Parameters::default(), &path);
            assert_eq!(timely.rate(), Bandwidth::from_mbps(mbps), "{gbps} {others}");
        }
    }

    #[test]
    fn the_step_is_in_proportion_to_the_line_rate() {
        for (gbps, mbps) in [(10, 10), (100, 100), (400, 400)] {
            let timely = PerSegment::new(&Parameters::default(), &path(Bandwidth::from_gbps(gbps)));
            assert_eq!(timely.delta, f64::from(mbps) * 1e6);
        }
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
