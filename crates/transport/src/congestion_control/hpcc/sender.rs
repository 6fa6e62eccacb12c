//! The sender: what it remembers of each port, and the rate that follows.

use rocelab_units::Bandwidth;
use rocelab_wire::{IntHeader, IntHop, TelemetryHeader};

use super::parameters::{Parameters, default_step};
use crate::congestion_control::reaction::{Reaction, Reference};
use crate::congestion_control::{Ack, CongestionControl, Path, arithmetic};

/// Nanoseconds to seconds.
const NANO: f64 = 1e-9;

/// The state of one queue pair.
#[derive(Debug)]
pub(super) struct Sender {
    reaction: Reaction,
    /// The utilization that is wanted.
    eta: f64,
    fast_react: bool,
    per_hop_rate: bool,
    sample_feedback: bool,
    multiplier: u32,
    /// Bits per second.
    line_rate: u64,
    /// `T` [ns].
    base_rtt: u64,
    /// `W` (bytes).
    full_window: u64,
    /// Bits per second.
    rate: u64,
    /// Whether the latest acknowledgement set it, be it to the same.
    rate_was_set: bool,
    /// A packet from this position on was sent after the last update of the reference; 0 before
    /// the first acknowledgement (bytes).
    updated_at: u64,
    /// All ports as one.
    path: Load,
    ports: [Port; IntHeader::MAX_HOPS],
}

rocelab_state::state!(Sender {
    values: rate, rate_was_set, updated_at, path, ports;
    kept: reaction, eta, fast_react, per_hop_rate, sample_feedback, multiplier, line_rate,
        base_rtt, full_window
});

/// A utilization, smoothed over a round trip, and the rate that answers to it.
#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
struct Load {
    utilization: f64,
    reference: Reference,
}

/// One port of the path.
#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
struct Port {
    /// What it last wrote.
    record: IntHop,
    load: Load,
}

/// Utilization since the record before.
#[derive(Clone, Copy, Debug)]
struct Sample {
    utilization: f64,
    /// The time between the two records [ns].
    span: u64,
}

impl Sender {
    pub(super) fn new(parameters: &Parameters, path: &Path) -> Self {
        let line_rate = path.line_rate;
        let step = parameters.additive_increase.unwrap_or_else(|| default_step(line_rate));
        let reaction = Reaction::new(step, parameters.max_stage, parameters.min_rate, line_rate);
        let load = Load { utilization: 1.0, reference: reaction.start() };
        Self {
            reaction,
            eta: parameters.eta.as_f64(),
            fast_react: parameters.fast_react,
            per_hop_rate: parameters.per_hop_rate,
            sample_feedback: parameters.sample_feedback,
            multiplier: parameters.multiplier(line_rate),
            line_rate: line_rate.bits_per_second(),
            base_rtt: (path.base_rtt.ps() / 1000).max(1),
            full_window: path.bdp,
            rate: line_rate.bits_per_second(),
            rate_was_set: false,
            updated_at: 0,
            path: load,
            ports: [Port { record: IntHop::default(), load }; IntHeader::MAX_HOPS],
        }
    }

    /// What the port's new record says, and the record is kept. None where the acknowledgement
    /// ignores the port, or no time has passed.
    fn sample(&mut self, port: usize, record: &IntHop, full: bool) -> Option<Sample> {
        let queue = record.queue(self.multiplier);
        if self.sample_feedback && !full && queue == 0 {
            return None;
        }
        let before = core::mem::replace(&mut self.ports[port].record, *record);
        let span = record.time_since(&before);
        if span == 0 {
            return None;
        }
        let bits = (record.bytes_since(&before, self.multiplier) * 8) as f64;
        let standing = queue.min(before.queue(self.multiplier)) as f64;
        let (rate, line_rate) = (record.rate_bps() as f64, self.line_rate as f64);
        let utilization = bits / (span as f64 * NANO) / rate
            + standing * line_rate / rate / self.full_window as f64;
        Some(Sample { utilization, span })
    }

    /// `load` after `sample`: the utilization with it, and the reference that would follow.
    fn reaction_to(&self, load: Load, sample: Sample) -> Load {
        let (whole, part) = (self.base_rtt, sample.span.min(self.base_rtt));
        let weighted = load.utilization * (whole - part) as f64 + sample.utilization * part as f64;
        let utilization = weighted / whole as f64;
        let reference = self.reaction.next(load.reference, utilization / self.eta);
        Load { utilization, reference }
    }

    /// One rate for all ports: that of the one with the highest utilization.
    fn react(&mut self, records: &[IntHop], full: bool) {
        let mut any = false;
        let mut highest = Sample { utilization: 0.0, span: 0 };
        for (port, record) in records.iter().enumerate() {
            let Some(sample) = self.sample(port, record, full) else { continue };
            any = true;
            if sample.utilization > highest.utilization {
                highest = sample;
            }
        }
        if !any {
            return;
        }
        let Load { utilization, reference } = self.reaction_to(self.path, highest);
        self.path.utilization = utilization;
        self.rate = reference.rate;
        self.rate_was_set = true;
        if full {
            self.path.reference = reference;
        }
    }

    /// A rate for each port, of which the lowest applies. As in HPCC's ns-3 simulator a port that
    /// the acknowledgement ignores has its reference for a rate; if all are ignored, none applies.
    fn react_per_hop(&mut self, records: &[IntHop], full: bool) {
        let mut any = false;
        let mut lowest = self.line_rate;
        for (port, record) in records.iter().enumerate() {
            let Some(sample) = self.sample(port, record, full) else {
                lowest = lowest.min(self.ports[port].load.reference.rate);
                continue;
            };
            any = true;
            let Load { utilization, reference } = self.reaction_to(self.ports[port].load, sample);
            let load = &mut self.ports[port].load;
            load.utilization = utilization;
            if full {
                load.reference = reference;
            }
            lowest = lowest.min(reference.rate);
        }
        if any {
            self.rate = lowest;
            self.rate_was_set = true;
        }
    }
}

impl CongestionControl for Sender {
    fn rate(&self) -> Bandwidth {
        Bandwidth::from_bps(self.rate)
    }

    fn window(&self) -> Option<u64> {
        arithmetic::window(self.full_window, self.rate, self.line_rate)
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.rate_was_set = false;
        let Some(TelemetryHeader::Int(header)) = ack.telemetry else { return };
        let full = ack.acknowledged > self.updated_at;
        if !full && !self.fast_react {
            return;
        }
        let first = self.updated_at == 0;
        if first {
            for (port, record) in self.ports.iter_mut().zip(header.hops()) {
                port.record = *record;
            }
        } else if self.per_hop_rate {
            self.react_per_hop(header.hops(), full);
        } else {
            self.react(header.hops(), full);
        }
        if first || full {
            self.updated_at = self.updated_at.max(ack.sent);
        }
    }

    fn repaces(&self) -> bool {
        self.rate_was_set
    }
}
