//! One reaction point of DCQCN alone, whose packets are marked with a constant probability.
//!
//! The algorithm of Zhu et al., SIGCOMM 2015, event by event and with nothing averaged, written here
//! a second time. It tells what a marking probability does to a flow when
//! neither a queue nor other flows are about, and so how much of the difference between fluid model
//! and packets is the fluid model's.

use rocelab_engine::RngStream;

use super::fluid::{ALPHA_INTERVAL, CNP_INTERVAL, FRAME, GAIN, INCREASE_TIMER, LINK, PACKET_BITS};

/// Of the byte counter.
const BYTE_COUNTER: f64 = 10e6;

/// Of a flow whose every packet is marked [bit/s].
const MIN_RATE: f64 = 100e6;

/// Whose rules the flow keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rules {
    /// Those of the algorithm.
    Algorithm,
    /// Two of the fluid model's, which simplifies here: a marked packet always interrupts the
    /// increase, also within 50 us of the last CNP, though then it does not cut; and alpha is at
    /// once what it tends to, the probability of a mark in 55 us.
    FluidModel,
}

/// Mean rate [bit/s] over 4 s, from `share` on.
fn mean_rate(rules: Rules, p: f64, share: f64) -> f64 {
    const SECONDS: f64 = 4.0;
    let mut dice = RngStream::new(1, "marks");
    // Alpha finds its value by itself.
    let mut flow = Flow::new(share, 0.1);
    let marks_per_second = p * share / PACKET_BITS;
    let marks_per_interval = marks_per_second * CNP_INTERVAL;
    // Of all marks, so many cut in the fluid model.
    let cutting = -libm::expm1(-marks_per_interval) / marks_per_interval;
    if rules == Rules::FluidModel {
        flow.alpha = -libm::expm1(-marks_per_second * ALPHA_INTERVAL);
    }
    let mut packets_to_mark = dice.exponential(1.0 / p);
    let (mut now, mut bits) = (0.0, 0.0);
    while now < SECONDS {
        let mark = now + packets_to_mark * PACKET_BITS / flow.rate;
        let counter = now + (BYTE_COUNTER - flow.bytes) / FRAME * PACKET_BITS / flow.rate;
        let next = mark.min(counter).min(flow.timer);
        let packets = (next - now) * flow.rate / PACKET_BITS;
        bits += packets * PACKET_BITS;
        packets_to_mark -= packets;
        flow.bytes += packets * FRAME;
        now = next;
        if next == mark {
            packets_to_mark = dice.exponential(1.0 / p);
            match rules {
                Rules::Algorithm => flow.marked(now),
                Rules::FluidModel => flow.marked_in_the_fluid(now, dice.uniform() < cutting),
            }
        } else if next == flow.timer {
            flow.timer_expired();
        } else {
            flow.bytes_sent();
        }
    }
    bits / now
}

/// Rates in bits and times in seconds.
#[derive(Debug)]
pub(super) struct Flow {
    rate: f64,
    target: f64,
    alpha: f64,
    alpha_since: f64,
    last_cnp: f64,
    /// When it expires.
    timer: f64,
    /// Since the byte counter's last step.
    bytes: f64,
    timer_steps: u32,
    byte_steps: u32,
    /// The rate when the packet under way began: a new one counts from the next packet on.
    sending_rate: f64,
    /// How much of it has left, as a share.
    sent: f64,
}

impl Flow {
    pub(super) fn new(rate: f64, alpha: f64) -> Self {
        Self {
            rate,
            target: rate,
            alpha,
            alpha_since: 0.0,
            last_cnp: -1.0,
            timer: INCREASE_TIMER,
            bytes: 0.0,
            timer_steps: 0,
            byte_steps: 0,
            sending_rate: rate,
            sent: 0.0,
        }
    }

    /// Sends for `step` seconds until `now`, in which timer and byte counter may each make a step.
    pub(super) fn send(&mut self, now: f64, step: f64) {
        let packets = self.sending_rate * step / PACKET_BITS;
        self.bytes += packets * FRAME;
        self.sent += packets;
        if self.sent >= 1.0 {
            self.sent -= 1.0;
            self.sending_rate = self.rate;
        }
        if now >= self.timer {
            self.timer_expired();
        } else if self.bytes >= BYTE_COUNTER {
            self.bytes_sent();
        }
    }

    pub(super) fn sending_rate(&self) -> f64 {
        self.sending_rate
    }

    fn timer_expired(&mut self) {
        self.timer += INCREASE_TIMER;
        self.increase();
        self.timer_steps += 1;
    }

    fn bytes_sent(&mut self) {
        self.bytes = 0.0;
        self.increase();
        self.byte_steps += 1;
    }

    /// A marked packet is a CNP unless there was one just before, and a CNP is a cut.
    pub(super) fn marked(&mut self, now: f64) {
        if now - self.last_cnp < CNP_INTERVAL {
            return;
        }
        self.last_cnp = now;
        while now - self.alpha_since >= ALPHA_INTERVAL {
            self.alpha *= 1.0 - GAIN;
            self.alpha_since += ALPHA_INTERVAL;
        }
        self.target = self.rate;
        self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(MIN_RATE);
        self.alpha = (1.0 - GAIN) * self.alpha + GAIN;
        self.alpha_since = now;
        self.restart_increase(now);
    }

    fn marked_in_the_fluid(&mut self, now: f64, cuts: bool) {
        if cuts {
            self.target = self.rate;
            self.rate *= 1.0 - self.alpha / 2.0;
        }
        self.restart_increase(now);
    }

    fn restart_increase(&mut self, now: f64) {
        self.timer = now + INCREASE_TIMER;
        self.bytes = 0.0;
        self.timer_steps = 0;
        self.byte_steps = 0;
    }

    fn increase(&mut self) {
        let hyper = self.timer_steps.min(self.byte_steps).saturating_sub(5);
        if hyper > 0 {
            self.target += f64::from(hyper) * 200e6;
        } else if self.timer_steps.max(self.byte_steps) >= 5 {
            self.target += 40e6;
        }
        self.target = self.target.min(LINK);
        self.rate = (self.rate + self.target) / 2.0;
    }
}

/// The marking probability at which the mean rate is an N-th of the link.
pub(super) fn balance(rules: Rules, flows: u32, guess: f64) -> f64 {
    let share = LINK / f64::from(flows);
    let (mut low, mut high) = (guess / 2.0, guess * 2.0f64);
    for _ in 0..12 {
        let middle = (low * high).sqrt();
        if mean_rate(rules, middle, share) > share { low = middle } else { high = middle }
    }
    low
}
