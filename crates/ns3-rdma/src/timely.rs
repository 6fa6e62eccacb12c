//! The branch `timely`: TIMELY in the applications, and what the simulator prints.

use crate::output::{Lines, Trace};
use crate::simulator::Simulator;

/// Bytes of a burst.
const BURST_BYTES: u32 = 16_000;
/// The rate (bit/s) that is built in.
const BUILT_IN: f64 = 1e10;
/// Bounds of the rate.
const BOUNDS: (f64, f64) = (0.01 * BUILT_IN, 0.96 * BUILT_IN);
/// What the rate rises by.
const INCREASE: f64 = 1e7;
/// Weight of the latest round-trip time, and of the gradient.
const WEIGHT: f64 = 0.875;
const BETA: f64 = 0.8;
/// Round-trip times (s): the least one, and the thresholds.
const LEAST: f64 = 20.0 / 1e6;
const LOW: f64 = 50.0 / 1e6;
const HIGH: f64 = 500.0 / 1e6;

/// The rate of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimelyRate {
    /// In bit/s.
    rate: f64,
    /// Round-trip times (s): the last one, and the smoothed difference of two.
    last: f64,
    difference: f64,
}

impl TimelyRate {
    /// Begins with `rate` (bit/s), for packets of `size` bytes.
    pub(crate) fn new(rate: f64, size: u32) -> Self {
        Self { rate, last: own_time(size), difference: 0.0 }
    }

    /// Packets of a burst.
    pub(crate) const fn burst(size: u32) -> u32 {
        BURST_BYTES / size
    }

    /// The time (s) between two bursts.
    pub(crate) fn time_of_burst(&self, size: u32) -> f64 {
        f64::from(Self::burst(size) * size) * 8.0 / self.rate
    }

    /// Reacts to a round-trip time (s) of a packet of `size` bytes.
    pub(crate) fn react(&mut self, round_trip: f64, size: u32) {
        let round_trip = round_trip - own_time(size);
        let latest = round_trip - self.last;
        self.difference = (1.0 - WEIGHT) * self.difference + WEIGHT * latest;
        self.last = round_trip;
        let gradient = self.difference / LEAST;
        let rate = if round_trip < LOW {
            self.rate + INCREASE
        } else if round_trip > HIGH {
            self.rate * (1.0 - BETA * (1.0 - HIGH / round_trip))
        } else if gradient < 0.0 {
            self.rate + INCREASE
        } else {
            self.rate * (1.0 - BETA * gradient)
        };
        self.rate = rate.max(BOUNDS.0).min(BOUNDS.1);
    }
}

/// The time (s) that a packet of `size` bytes takes at the rate that is built in.
fn own_time(size: u32) -> f64 {
    f64::from(size) * 8.0 / BUILT_IN
}

impl<T: Trace, L: Lines, P: Lines> Simulator<'_, T, L, P> {
    /// The answer to a packet of `flow` came that was made at `stamp`.
    pub(crate) fn on_answer(&mut self, flow: u32, stamp: u64) {
        const GIGABIT: f64 = 1e9;
        let size = self.input.config.payload;
        let arithmetic = self.input.options.arithmetic;
        let round_trip = arithmetic.seconds(self.agenda.now - stamp);
        let rate = &mut self.ends.applications[flow as usize].rate;
        let old = rate.rate;
        rate.react(round_trip, size);
        let new = rate.rate;
        let node = self.input.flows[flow as usize].source;
        self.print(format_args!("Z{node} {:.6} {:.6}", old / GIGABIT, new / GIGABIT));
    }
}
