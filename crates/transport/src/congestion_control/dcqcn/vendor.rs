//! The reaction point of adapters: three timers, no byte counter.
//!
//! ```text
//! on a CNP             note it;  the first one starts alpha timer and decrease timer
//! each alpha_interval  alpha = (1 - g) alpha + g if one was noted, else (1 - g) alpha
//! each rate_decrease_interval with one noted
//!                      if clamp_target_rate or T > 0: Rt = Rc
//!                      Rc = Rc (1 - alpha / 2),  T = 0,  restart the increase timer
//! each increase_timer  T < F: nothing;  T = F: Rt += additive_increase;  T > F:
//!                      Rt += hyper_increase;  and always Rc = Rc / 2 + Rt / 2,  T += 1
//! ```
//!
//! Rates are whole bits per second; products are cut off, and so is each half. The first decrease
//! comes 1 ns later than its interval says, as in HPCC's ns-3 simulator, so that the alpha timer
//! goes first. A cut takes at most `max_cut` of the rate. The timers run as long as the queue pair
//! sends.

#[cfg(test)]
mod golden;

use rocelab_units::{Bandwidth, Duration, SimTime};

use super::settings::Settings;
use crate::congestion_control::{CongestionControl, Timers, arithmetic};

const ALPHA: usize = 0;
const DECREASE: usize = 1;
const INCREASE: usize = 2;

/// What the first decrease waits longer than its interval.
const DECREASE_AFTER_ALPHA: Duration = Duration::from_ns(1);

/// The state of one queue pair.
#[derive(Debug)]
pub(super) struct VendorReactionPoint {
    settings: Settings,
    timers: Timers,
    /// `Rc` [bit/s].
    rate: u64,
    /// `Rt` [bit/s].
    target: u64,
    alpha: f64,
    /// Whether there was a CNP at all.
    started: bool,
    /// Whether there was one since the alpha timer expired.
    noted_for_alpha: bool,
    /// Whether there was one since the decrease timer expired.
    noted_for_decrease: bool,
    /// `T`: increases since the last cut.
    steps: u32,
}

rocelab_state::state!(VendorReactionPoint {
    values: timers, rate, target, alpha, started, noted_for_alpha, noted_for_decrease, steps;
    kept: settings
});

impl VendorReactionPoint {
    pub(super) fn new(settings: Settings) -> Self {
        let line_rate = settings.line_rate.bits_per_second();
        Self {
            timers: Timers::new(),
            rate: line_rate,
            target: line_rate,
            alpha: settings.initial_alpha,
            started: false,
            noted_for_alpha: false,
            noted_for_decrease: false,
            steps: 0,
            settings,
        }
    }

    fn start(&mut self, now: SimTime) {
        let Settings { alpha_interval, rate_decrease_interval, .. } = self.settings;
        self.started = true;
        self.noted_for_alpha = false;
        self.target = self.rate;
        self.timers.arm(ALPHA, now + alpha_interval);
        self.timers.arm(DECREASE, now + rate_decrease_interval + DECREASE_AFTER_ALPHA);
    }

    fn update_alpha(&mut self, now: SimTime) {
        let kept = (1.0 - self.settings.g) * self.alpha;
        self.alpha = if self.noted_for_alpha { kept + self.settings.g } else { kept };
        self.noted_for_alpha = false;
        self.timers.arm(ALPHA, now + self.settings.alpha_interval);
    }

    fn decrease(&mut self, now: SimTime) {
        self.timers.arm(DECREASE, now + self.settings.rate_decrease_interval);
        if !core::mem::take(&mut self.noted_for_decrease) {
            return;
        }
        if self.settings.clamp_target_rate || self.steps > 0 {
            self.target = self.rate;
        }
        let cut = arithmetic::times(self.rate, 1.0 - self.alpha / 2.0);
        let deepest = arithmetic::times(self.rate, 1.0 - self.settings.max_cut);
        self.rate = cut.max(deepest).max(self.settings.min_rate.bits_per_second());
        self.steps = 0;
        self.timers.arm(INCREASE, now + self.settings.increase_timer);
    }

    fn increase(&mut self, now: SimTime) {
        let Settings { fast_recovery_threshold, line_rate, .. } = self.settings;
        self.timers.arm(INCREASE, now + self.settings.increase_timer);
        let step = match self.steps.cmp(&fast_recovery_threshold) {
            core::cmp::Ordering::Less => Bandwidth::default(),
            core::cmp::Ordering::Equal => self.settings.additive_increase,
            core::cmp::Ordering::Greater => self.settings.hyper_increase,
        };
        let raised = self.target.saturating_add(step.bits_per_second());
        self.target = raised.min(line_rate.bits_per_second());
        self.rate = self.rate / 2 + self.target / 2;
        self.steps = self.steps.saturating_add(1);
    }
}

impl CongestionControl for VendorReactionPoint {
    fn rate(&self) -> Bandwidth {
        Bandwidth::from_bps(self.rate.max(1))
    }

    fn on_cnp(&mut self, now: SimTime) {
        self.noted_for_alpha = true;
        self.noted_for_decrease = true;
        if !self.started {
            self.start(now);
        }
    }

    fn timers(&mut self) -> Option<&mut Timers> {
        Some(&mut self.timers)
    }

    fn expire(&mut self, timer: usize, now: SimTime) {
        if self.timers.deadline(timer) > now {
            return;
        }
        match timer {
            ALPHA => self.update_alpha(now),
            DECREASE => self.decrease(now),
            INCREASE => self.increase(now),
            _ => {}
        }
    }
}
