//! The reaction point of the paper.

use rocelab_units::{Bandwidth, SimTime};

use super::settings::{AlphaUpdate, Settings};
use crate::congestion_control::{CongestionControl, Sent, Timers, arithmetic};

/// Expires when a CNP that came too early takes effect.
const CUT: usize = 0;

/// Expires at the next increase by time.
const INCREASE: usize = 1;

/// Closer than this to the line rate the increase is over [bit/s].
const RESOLUTION: f64 = 1.0;

/// The state of one queue pair.
#[derive(Debug)]
pub(super) struct ReactionPoint {
    settings: Settings,
    timers: Timers,
    /// `Rc` [bit/s].
    rate: f64,
    /// `Rt` [bit/s].
    target: f64,
    alpha: f64,
    /// Up to when alpha is accounted for.
    alpha_at: SimTime,
    /// Whether a CNP arrived since then (periodic update only).
    cnp_since_alpha: bool,
    /// Whether there was a CNP at all.
    started: bool,
    /// No cut before.
    next_cut: SimTime,
    /// `T`.
    timer_steps: u32,
    /// `B`.
    byte_steps: u32,
    /// Bytes sent since the last step of the byte counter.
    bytes: u64,
}

rocelab_state::state!(ReactionPoint {
    values: timers, rate, target, alpha, alpha_at, cnp_since_alpha, started, next_cut, timer_steps,
        byte_steps, bytes;
    kept: settings
});

impl ReactionPoint {
    pub(super) fn new(settings: Settings) -> Self {
        let line_rate = bits(settings.line_rate);
        Self {
            timers: Timers::new(),
            rate: line_rate,
            target: line_rate,
            alpha: settings.initial_alpha,
            alpha_at: SimTime::ZERO,
            cnp_since_alpha: false,
            started: false,
            next_cut: SimTime::ZERO,
            timer_steps: 0,
            byte_steps: 0,
            bytes: 0,
            settings,
        }
    }

    fn cut(&mut self, now: SimTime) {
        self.advance_alpha(now);
        if self.settings.clamp_target_rate || self.timer_steps > 0 || self.byte_steps > 0 {
            self.target = self.rate;
        }
        let kept = (1.0 - self.alpha / 2.0).max(1.0 - self.settings.max_cut);
        self.rate = (self.rate * kept).max(bits(self.settings.min_rate));
        if self.settings.alpha_update == AlphaUpdate::OnCnp {
            self.alpha = (1.0 - self.settings.g) * self.alpha + self.settings.g;
            self.alpha_at = now;
        }
        self.timer_steps = 0;
        self.byte_steps = 0;
        self.bytes = 0;
        self.next_cut = now + self.settings.rate_decrease_interval;
        self.timers.stop(CUT);
        self.timers.arm(INCREASE, now + self.settings.increase_timer);
    }

    /// Applies the whole alpha intervals that have passed.
    fn advance_alpha(&mut self, now: SimTime) {
        let passed = self.intervals_until(now);
        self.alpha = self.alpha_after(passed);
        self.alpha_at += self.settings.alpha_interval * passed;
        self.cnp_since_alpha &= passed == 0;
    }

    /// Intervals of alpha that are over at `now` and not accounted for.
    fn intervals_until(&self, now: SimTime) -> u64 {
        now.since(self.alpha_at).ps() / self.settings.alpha_interval.ps().max(1)
    }

    /// Alpha after so many intervals more.
    fn alpha_after(&self, mut passed: u64) -> f64 {
        let mut alpha = self.alpha;
        if passed > 0 && self.cnp_since_alpha {
            alpha = (1.0 - self.settings.g) * alpha + self.settings.g;
            passed -= 1;
        }
        alpha * power(1.0 - self.settings.g, passed)
    }

    /// One increase step of timer or byte counter.
    fn increase(&mut self) {
        let Settings { fast_recovery_threshold, byte_counter, line_rate, .. } = self.settings;
        let bytes = if byte_counter == 0 { self.timer_steps } else { self.byte_steps };
        let least = bytes.min(self.timer_steps);
        if least > fast_recovery_threshold {
            let grown = f64::from(least - fast_recovery_threshold);
            let steps = if self.settings.growing_hyper_increase { grown } else { 1.0 };
            self.target += steps * bits(self.settings.hyper_increase);
        } else if bytes.max(self.timer_steps) >= fast_recovery_threshold {
            self.target += bits(self.settings.additive_increase);
        }
        let line_rate = bits(line_rate);
        self.target = self.target.min(line_rate);
        self.rate = (self.rate + self.target) / 2.0;
        if line_rate - self.rate < RESOLUTION {
            self.rate = line_rate;
            self.timers.stop(INCREASE);
        }
    }

    fn runs(&self, timer: usize) -> bool {
        self.timers.deadline(timer) != SimTime::NEVER
    }
}

impl CongestionControl for ReactionPoint {
    fn rate(&self) -> Bandwidth {
        arithmetic::whole(self.rate, self.settings.line_rate)
    }

    fn alpha(&self, now: SimTime) -> Option<f64> {
        Some(self.alpha_after(self.intervals_until(now)))
    }

    fn on_cnp(&mut self, now: SimTime) {
        if !self.started {
            self.started = true;
            self.alpha_at = now;
            if !self.settings.cut_on_first_cnp {
                self.timers.arm(CUT, now + self.settings.rate_decrease_interval);
                return;
            }
        }
        if self.settings.alpha_update == AlphaUpdate::Periodic {
            self.advance_alpha(now);
            self.cnp_since_alpha = true;
        }
        if self.runs(CUT) {
            return;
        }
        if now >= self.next_cut {
            self.cut(now);
        } else {
            self.timers.arm(CUT, self.next_cut);
        }
    }

    fn counts_sent_bytes(&self) -> bool {
        self.settings.byte_counter > 0
    }

    fn on_sent(&mut self, sent: &Sent) -> bool {
        if !self.runs(INCREASE) {
            return false;
        }
        self.bytes += sent.bytes;
        if self.bytes < self.settings.byte_counter {
            return false;
        }
        self.bytes -= self.settings.byte_counter;
        self.increase();
        self.byte_steps += 1;
        true
    }

    fn timers(&mut self) -> Option<&mut Timers> {
        Some(&mut self.timers)
    }

    fn expire(&mut self, timer: usize, now: SimTime) {
        if self.timers.deadline(timer) > now {
            return;
        }
        match timer {
            CUT => self.cut(now),
            INCREASE => {
                self.timers.arm(INCREASE, now + self.settings.increase_timer);
                self.increase();
                self.timer_steps += 1;
            }
            _ => {}
        }
    }
}

fn bits(rate: Bandwidth) -> f64 {
    rate.bits_per_second() as f64
}

/// `base` to the power of `exponent`, in IEEE multiplications only.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}
