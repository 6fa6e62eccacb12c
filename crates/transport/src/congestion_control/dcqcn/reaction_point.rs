//! The reaction point: the sender's rate and its three timers.

use rocelab_units::SimTime;

use super::settings::{AlphaUpdate, Settings};
use crate::congestion_control::{CongestionControl, Sent};

/// Closer than this to the line rate the increase is over [bit/s].
const RESOLUTION: f64 = 1.0;

/// The state of one queue pair.
#[derive(Debug)]
pub(super) struct ReactionPoint {
    settings: Settings,
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
    /// When a CNP that came too early takes effect.
    deferred_cut: SimTime,
    /// When the increase timer expires.
    next_increase: SimTime,
    /// `T`.
    timer_steps: u32,
    /// `B`.
    byte_steps: u32,
    /// Bytes sent since the last step of the byte counter.
    bytes: u64,
}

impl ReactionPoint {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            rate: settings.line_rate,
            target: settings.line_rate,
            alpha: settings.initial_alpha,
            alpha_at: SimTime::ZERO,
            cnp_since_alpha: false,
            started: false,
            next_cut: SimTime::ZERO,
            deferred_cut: SimTime::NEVER,
            next_increase: SimTime::NEVER,
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
        self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(self.settings.min_rate);
        if self.settings.alpha_update == AlphaUpdate::OnCnp {
            self.alpha = (1.0 - self.settings.g) * self.alpha + self.settings.g;
            self.alpha_at = now;
        }
        self.timer_steps = 0;
        self.byte_steps = 0;
        self.bytes = 0;
        self.deferred_cut = SimTime::NEVER;
        self.next_cut = now + self.settings.rate_decrease_interval;
        self.next_increase = now + self.settings.increase_timer;
    }

    /// Applies the whole alpha intervals that have passed.
    fn advance_alpha(&mut self, now: SimTime) {
        let interval = self.settings.alpha_interval;
        let mut passed = now.since(self.alpha_at).ps() / interval.ps().max(1);
        self.alpha_at += interval * passed;
        if passed > 0 && self.cnp_since_alpha {
            self.cnp_since_alpha = false;
            self.alpha = (1.0 - self.settings.g) * self.alpha + self.settings.g;
            passed -= 1;
        }
        self.alpha *= power(1.0 - self.settings.g, passed);
    }

    /// One increase step of timer or byte counter.
    fn increase(&mut self) {
        let Settings { fast_recovery_threshold, byte_counter, line_rate, .. } = self.settings;
        let bytes = if byte_counter == 0 { self.timer_steps } else { self.byte_steps };
        let least = bytes.min(self.timer_steps);
        if least > fast_recovery_threshold {
            let grown = f64::from(least - fast_recovery_threshold);
            let steps = if self.settings.growing_hyper_increase { grown } else { 1.0 };
            self.target += steps * self.settings.hyper_increase;
        } else if bytes.max(self.timer_steps) >= fast_recovery_threshold {
            self.target += self.settings.additive_increase;
        }
        self.target = self.target.min(line_rate);
        self.rate = (self.rate + self.target) / 2.0;
        if line_rate - self.rate < RESOLUTION {
            self.rate = line_rate;
            self.next_increase = SimTime::NEVER;
        }
    }

    fn is_increasing(&self) -> bool {
        self.next_increase != SimTime::NEVER
    }
}

impl CongestionControl for ReactionPoint {
    fn rate(&self) -> f64 {
        self.rate
    }

    fn on_cnp(&mut self, now: SimTime) {
        if !self.started {
            self.started = true;
            self.alpha_at = now;
            if !self.settings.cut_on_first_cnp {
                self.deferred_cut = now + self.settings.rate_decrease_interval;
                return;
            }
        }
        if self.settings.alpha_update == AlphaUpdate::Periodic {
            self.advance_alpha(now);
            self.cnp_since_alpha = true;
        }
        if now >= self.next_cut && self.deferred_cut == SimTime::NEVER {
            self.cut(now);
        } else if self.deferred_cut == SimTime::NEVER {
            self.deferred_cut = self.next_cut;
        }
    }

    fn counts_sent_bytes(&self) -> bool {
        self.settings.byte_counter > 0
    }

    fn on_sent(&mut self, sent: &Sent) -> bool {
        if !self.is_increasing() {
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

    fn poll_timeout(&self) -> SimTime {
        self.deferred_cut.min(self.next_increase)
    }

    fn handle_timeout(&mut self, now: SimTime) {
        if self.deferred_cut <= now {
            self.cut(now);
        }
        while self.next_increase <= now {
            self.next_increase += self.settings.increase_timer;
            self.increase();
            self.timer_steps += 1;
        }
    }
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
