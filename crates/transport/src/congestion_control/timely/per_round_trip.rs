//! TIMELY as HPCC's ns-3 simulator has it: an update a round trip.

#[cfg(test)]
mod golden;

use rocelab_units::{Bandwidth, Duration};

use super::parameters::Parameters;
use crate::congestion_control::{Ack, CongestionControl, arithmetic};

/// The state of one queue pair.
#[derive(Debug)]
pub(super) struct PerRoundTrip {
    /// Nanoseconds.
    t_low: u64,
    t_high: u64,
    min_rtt: u64,
    beta: f64,
    ewma_weight: f64,
    hai_after: u32,
    /// Rates in bits per second.
    delta: u64,
    hyper_increase: u64,
    min_rate: u64,
    line_rate: u64,
    rate: u64,
    /// An acknowledgement beyond this position brings the next update; 0 before the first (bytes).
    updated_at: u64,
    /// Nanoseconds.
    previous_rtt: u64,
    /// Smoothed difference of successive round-trip times [ns].
    difference: f64,
    /// Increases in a row.
    increases: u32,
}

rocelab_state::state!(PerRoundTrip {
    values: rate, updated_at, previous_rtt, difference, increases;
    kept: t_low, t_high, min_rtt, beta, ewma_weight, hai_after, delta, hyper_increase, min_rate,
        line_rate
});

impl PerRoundTrip {
    pub(super) fn new(parameters: &Parameters, line_rate: Bandwidth) -> Self {
        Self {
            t_low: whole_ns(parameters.t_low),
            t_high: whole_ns(parameters.t_high),
            min_rtt: whole_ns(parameters.min_rtt).max(1),
            beta: parameters.beta.as_f64(),
            ewma_weight: parameters.ewma_weight.as_f64(),
            hai_after: parameters.hai_after,
            delta: parameters.step(line_rate).bits_per_second(),
            hyper_increase: parameters.hyper_step(line_rate).bits_per_second(),
            min_rate: parameters.floor(line_rate).bits_per_second(),
            line_rate: line_rate.bits_per_second(),
            rate: line_rate.bits_per_second(),
            updated_at: 0,
            previous_rtt: 0,
            difference: 0.0,
            increases: 0,
        }
    }

    /// What the rate is multiplied with; none means that it rises.
    fn decrease(&self, rtt: u64, gradient: f64) -> Option<f64> {
        if rtt < self.t_low {
            None
        } else if rtt > self.t_high {
            Some(1.0 - self.beta * (1.0 - self.t_high as f64 / rtt as f64))
        } else if gradient <= 0.0 {
            None
        } else {
            Some((1.0 - self.beta * gradient).max(0.0))
        }
    }

    fn update(&mut self, rtt: u64) {
        let newest = rtt as f64 - self.previous_rtt as f64;
        self.difference = (1.0 - self.ewma_weight) * self.difference + self.ewma_weight * newest;
        if let Some(factor) = self.decrease(rtt, self.difference / self.min_rtt as f64) {
            self.rate = arithmetic::times(self.rate, factor).max(self.min_rate);
            self.increases = 0;
        } else {
            let calm = self.increases < self.hai_after;
            let step = if calm { self.delta } else { self.hyper_increase };
            self.rate = self.rate.saturating_add(step).min(self.line_rate);
            self.increases = self.increases.saturating_add(1);
        }
    }
}

impl CongestionControl for PerRoundTrip {
    fn rate(&self) -> Bandwidth {
        Bandwidth::from_bps(self.rate)
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(rtt) = ack.rtt.map(whole_ns) else { return };
        if ack.acknowledged <= self.updated_at {
            return;
        }
        if self.updated_at != 0 {
            self.update(rtt);
        }
        if ack.sent > self.updated_at {
            self.updated_at = ack.sent;
            self.previous_rtt = rtt;
        }
    }
}

/// Rounded down.
const fn whole_ns(time: Duration) -> u64 {
    time.ps() / 1000
}
