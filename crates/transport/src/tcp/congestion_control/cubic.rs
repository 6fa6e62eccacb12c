//! CUBIC (RFC 9438): in congestion avoidance the window is a cubic function of the time since that
//! began, steep far from the window of the last congestion, flat near it.
//!
//! ```text
//! W_cubic(t) = C (t - K)^3 + W_max           K = cbrt((W_max - cwnd_epoch) / C)
//! W_est      = what Reno would have          alpha = 3 (1 - beta) / (1 + beta), later 1
//! ```
//!
//! Windows in segments, times in seconds. On congestion the window falls to `beta` of what is in
//! flight; with fast convergence `W_max` falls with each congestion that comes before it is reached
//! again. After a timeout K is 0 and `W_max` the window at the start of congestion avoidance.
//! HyStart++ is not modelled.

use rocelab_units::{Duration, Ratio, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::react_as_reno;
use super::window::Window;
use super::{Definition, TcpAck, TcpCongestion, TcpCongestionControl, TcpCongestionKind, TcpPath};
use crate::congestion_control::InvalidParameter;

pub(super) const SUMMARY: &str = "a cubic function of the time since the last congestion";
pub(super) const REFERENCE: &str = "RFC 9438";

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "TcpCubicParameters")]
pub struct Parameters {
    /// C: how steep the function is (segments per second cubed), above 0.
    pub c: Ratio,
    /// What of the window is left after congestion, above 0 and below 1.
    pub beta: Ratio,
    /// Whether a connection gives way to new ones faster: fast convergence.
    pub fast_convergence: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { c: Ratio::new(4, 10), beta: Ratio::new(7, 10), fast_convergence: true }
    }
}

impl Definition for Parameters {
    fn validate(&self) -> Result<(), InvalidParameter> {
        let refused = |key, value: Ratio, problem: &'static str, fix: &'static str| {
            Err(InvalidParameter {
                key,
                value: value.to_string(),
                problem: problem.into(),
                fix: fix.into(),
            })
        };
        if self.c.numerator() == 0 {
            return refused("c", self.c, "never grows", "give a number above 0, such as 0.4");
        }
        if !(1..self.beta.denominator()).contains(&self.beta.numerator()) {
            let fix = "give a fraction above 0 and below 1, such as 0.7";
            return refused("beta", self.beta, "is not a share that is left", fix);
        }
        Ok(())
    }

    fn build(&self, path: &TcpPath) -> Box<dyn TcpCongestionControl> {
        Box::new(Cubic::new(self, path))
    }
}

#[derive(Debug)]
struct Cubic {
    window: Window,
    c: f64,
    beta: Ratio,
    fast_convergence: bool,
    /// The window before the last reduction (segments), as fast convergence corrects it; none
    /// before the first, and after a timeout.
    w_max: Option<f64>,
    /// The window before the last reduction (segments).
    prior: f64,
    /// Congestion avoidance, since it began.
    epoch: Option<Epoch>,
}

rocelab_state::state!(Cubic {
    values: w_max, prior, epoch;
    states: window;
    kept: c, beta, fast_convergence
});

/// A stretch of congestion avoidance. Windows in segments.
#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
struct Epoch {
    start: SimTime,
    /// The window, with its fraction.
    size: f64,
    w_max: f64,
    /// When the function is back at `w_max` (seconds).
    k: f64,
    w_est: f64,
}

impl Cubic {
    fn new(parameters: &Parameters, path: &TcpPath) -> Self {
        Self {
            window: Window::new(path),
            c: parameters.c.as_f64(),
            beta: parameters.beta,
            fast_convergence: parameters.fast_convergence,
            w_max: None,
            prior: f64::INFINITY,
            epoch: None,
        }
    }

    fn segments(&self) -> f64 {
        self.window.size() as f64 / self.window.mss() as f64
    }

    fn begin_epoch(&self, now: SimTime) -> Epoch {
        let size = self.segments();
        let w_max = self.w_max.map_or(size, |w_max| w_max.max(size));
        let k = libm::cbrt((w_max - size) / self.c);
        Epoch { start: now, size, w_max, k, w_est: size }
    }

    /// What Reno gains with this `beta`, for the same average window.
    fn alpha(&self, w_est: f64) -> f64 {
        if w_est >= self.prior {
            return 1.0;
        }
        let beta = self.beta.as_f64();
        3.0 * (1.0 - beta) / (1.0 + beta)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the fraction is kept in the epoch")]
    fn avoid_congestion(&mut self, ack: &TcpAck, acked_bytes: u64) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(ack.now));
        let acked = acked_bytes as f64 / self.window.mss() as f64;
        let t = ack.now.since(epoch.start).as_secs_f64();
        let rtt = ack.rtt.map_or(0.0, Duration::as_secs_f64);

        epoch.w_est += self.alpha(epoch.w_est) * acked / epoch.size;
        if epoch.cubic(self.c, t) < epoch.w_est {
            epoch.size = epoch.size.max(epoch.w_est);
        } else {
            let target = epoch.cubic(self.c, t + rtt).clamp(epoch.size, 1.5 * epoch.size);
            epoch.size += (target - epoch.size) / epoch.size * acked;
        }
        self.window.set((epoch.size * self.window.mss() as f64) as u64);
        self.epoch = Some(epoch);
    }
}

impl Epoch {
    fn cubic(&self, c: f64, t: f64) -> f64 {
        let from_k = t - self.k;
        c * (from_k * from_k * from_k) + self.w_max
    }
}

impl TcpCongestionControl for Cubic {
    fn window(&self) -> u64 {
        self.window.size()
    }

    fn threshold(&self) -> u64 {
        self.window.threshold()
    }

    fn on_ack(&mut self, ack: &TcpAck) {
        if !ack.grows {
            return;
        }
        let left = self.window.slow_start(ack);
        if left > 0 {
            self.avoid_congestion(ack, left);
        }
    }

    fn on_congestion(&mut self, congestion: &TcpCongestion) {
        let size = self.segments();
        let again = congestion.kind == (TcpCongestionKind::Timeout { again: true });
        if !again {
            let fell_short = self.w_max.is_some_and(|w_max| size < w_max);
            let convergence = if fell_short && self.fast_convergence {
                (1.0 + self.beta.as_f64()) / 2.0
            } else {
                1.0
            };
            self.w_max = Some(size * convergence);
            self.prior = size;
        }
        if matches!(congestion.kind, TcpCongestionKind::Timeout { .. }) {
            self.w_max = None;
        }
        self.epoch = None;
        react_as_reno(&mut self.window, congestion, self.beta);
    }

    fn on_restart(&mut self, idle: Duration, long: bool) {
        if long {
            self.window.restart();
            self.epoch = None;
        } else if let Some(epoch) = &mut self.epoch {
            // Time without anything to send is no time to grow.
            epoch.start += idle;
        }
    }
}

#[cfg(test)]
mod golden;
