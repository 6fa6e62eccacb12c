//! DCTCP (RFC 8257): as Reno, but on ECN marks the window falls by the share of marked bytes.
//!
//! ```text
//! once a window of data   M = marked bytes / acknowledged bytes
//!                         alpha = (1 - g) alpha + g M
//! on ECE, once a window   cwnd = cwnd (1 - alpha / 2)
//! ```
//!
//! Loss is answered as in Reno, also in a window of data that marks have made smaller already.

use rocelab_units::{Duration, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reno::react_as_reno;
use super::window::Window;
use super::{
    Definition, EcnEcho, TcpAck, TcpCongestion, TcpCongestionControl, TcpCongestionKind, TcpPath,
};
use crate::congestion_control::InvalidParameter;

pub(super) const SUMMARY: &str = "the share of marked bytes cuts the window";
pub(super) const REFERENCE: &str = "RFC 8257";

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "TcpDctcpParameters")]
pub struct Parameters {
    /// Weight of the newest share of marked bytes, above 0 and at most 1.
    pub g: Ratio,
    /// The share that is assumed at the start, 0 to 1.
    pub initial_alpha: Ratio,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { g: Ratio::new(1, 16), initial_alpha: Ratio::new(1, 1) }
    }
}

impl Definition for Parameters {
    fn echo(&self) -> EcnEcho {
        EcnEcho::EachSegment
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        let share = |key, ratio: Ratio, least| {
            if (least..=ratio.denominator()).contains(&ratio.numerator()) {
                return Ok(());
            }
            Err(InvalidParameter {
                key,
                value: ratio.to_string(),
                problem: "is not a share".into(),
                fix: "give a fraction of at most 1, such as \"1/16\"".into(),
            })
        };
        share("g", self.g, 1)?;
        share("initial_alpha", self.initial_alpha, 0)
    }

    fn build(&self, path: &TcpPath) -> Box<dyn TcpCongestionControl> {
        Box::new(Dctcp {
            window: Window::new(path),
            g: self.g.as_f64(),
            alpha: self.initial_alpha.as_f64(),
            window_end: 0,
            acked: 0,
            marked: 0,
        })
    }
}

#[derive(Debug)]
struct Dctcp {
    window: Window,
    g: f64,
    /// The smoothed share of marked bytes.
    alpha: f64,
    /// An acknowledgement beyond this position ends the window of observation.
    window_end: u64,
    /// Bytes acknowledged in it, and those of them with ECE.
    acked: u64,
    marked: u64,
}

rocelab_state::state!(Dctcp { values: alpha, window_end, acked, marked; states: window; kept: g });

impl Dctcp {
    fn observe(&mut self, ack: &TcpAck) {
        self.acked += ack.acked_bytes;
        if ack.ece {
            self.marked += ack.acked_bytes;
        }
        if ack.acknowledged <= self.window_end || self.acked == 0 {
            return;
        }
        let share = self.marked as f64 / self.acked as f64;
        self.alpha = self.alpha * (1.0 - self.g) + self.g * share;
        self.window_end = ack.sent;
        (self.acked, self.marked) = (0, 0);
    }

    /// The threshold too, so that congestion avoidance follows.
    #[expect(clippy::cast_possible_truncation, reason = "a part of a window is a window")]
    fn cut(&mut self) {
        let kept = 1.0 - self.alpha / 2.0;
        self.window.set_both((self.window.size() as f64 * kept) as u64);
    }
}

impl TcpCongestionControl for Dctcp {
    fn window(&self) -> u64 {
        self.window.size()
    }

    fn threshold(&self) -> u64 {
        self.window.threshold()
    }

    fn on_ack(&mut self, ack: &TcpAck) {
        self.observe(ack);
        if ack.grows {
            self.window.grow_as_reno(ack);
        }
    }

    fn on_congestion(&mut self, congestion: &TcpCongestion) {
        if congestion.kind == TcpCongestionKind::Ecn {
            self.cut();
        } else {
            react_as_reno(&mut self.window, congestion, Ratio::new(1, 2));
        }
    }

    /// RFC 8257 section 3.5: a loss is answered as by any TCP. A mark takes less, so the one does not
    /// stand for the other.
    fn answers_loss_after_marks(&self) -> bool {
        true
    }

    fn on_restart(&mut self, _: Duration, long: bool) {
        if long {
            self.window.restart();
        }
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::SimTime;

    use super::*;

    /// A window of ten segments acknowledged, `marked` of them with ECE; then a cut.
    fn window_of_ten(control: &mut dyn TcpCongestionControl, first: u64, marked: u64) {
        for segment in 1..=10 {
            control.on_ack(&TcpAck {
                now: SimTime::ZERO,
                acked_bytes: 1_000,
                acknowledged: first + segment * 1_000,
                sent: first + 10_000,
                ece: segment <= marked,
                rtt: None,
                grows: false,
                after_timeout: false,
            });
        }
    }

    #[test]
    fn alpha_follows_the_share_of_marked_bytes() {
        let path = TcpPath { mss: 1_000, initial_window: 100_000 };
        let mut control = Dctcp {
            window: Window::new(&path),
            g: 1.0 / 16.0,
            alpha: 1.0,
            window_end: 0,
            acked: 0,
            marked: 0,
        };
        for round in 0..200 {
            window_of_ten(&mut control, round * 10_000, 3);
        }
        // Steps of 1/16 from 1 towards 0.3: what is left after 199 is 0.7 (15/16)^199 = 2e-6.
        assert!((control.alpha - 0.3).abs() < 1e-5, "{}", control.alpha);
        let ecn =
            TcpCongestion { now: SimTime::ZERO, kind: TcpCongestionKind::Ecn, in_flight: 100_000 };
        control.on_congestion(&ecn);
        assert!(control.window().abs_diff(85_000) <= 1, "{}", control.window());
        assert_eq!(control.threshold(), control.window());
        let loss = TcpCongestion { kind: TcpCongestionKind::Loss, ..ecn };
        control.on_congestion(&loss);
        assert!(control.window().abs_diff(42_500) <= 1, "loss halves");
    }

    #[test]
    fn the_first_mark_halves() {
        let path = TcpPath { mss: 1_000, initial_window: 10_000 };
        let mut control = Parameters::default().build(&path);
        let kind = TcpCongestionKind::Ecn;
        control.on_congestion(&TcpCongestion { now: SimTime::ZERO, kind, in_flight: 10_000 });
        assert_eq!(control.window(), 5_000, "alpha is 1");
    }
}
