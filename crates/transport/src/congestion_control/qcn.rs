//! QCN: quantized congestion notification, IEEE 802.1Qau.
//!
//! Switches sample the frames of a queue and send the sender of a sampled one a congestion
//! notification message (CNM), which says in 6 bits how bad it is (`QntzFb`, 1 to 63; what a switch
//! computes is in the fabric's `CongestionPoint`). The reaction point of a queue pair keeps a rate
//! `Rc` and a target rate `Rt`:
//!
//! ```text
//! on a CNM:
//!     Rt = Rc, unless no increase followed the last CNM
//!     Rc = Rc (1 - min(gd QntzFb, max_cut)), at least min_rate
//! each increase_timer, and each byte_counter bytes sent (T and B count these since the CNM, and
//! both periods are halved once their own count has reached F):
//!     max(T, B) <= F     fast recovery
//!     min(T, B) > F      hyper-active increase     Rt += i hyper_increase,  i = min(T, B) - F
//!     otherwise          active increase           Rt += additive_increase
//!     and always         Rc = (Rt + Rc) / 2
//! ```
//!
//! `T` and `B` are counted before the step. At the line rate nothing runs until the next CNM.
//! Defaults are those of the managed objects of the standard (IEEE8021-CN-MIB, `ieee8021CnRpg...`)
//! but for the least rate: 10 Mb/s, as simulators have it; 5 Mb/s in the MIB.
//!
//! Not modelled: that both periods vary by 15 % at random, and that a target rate of more than ten
//! times the rate is divided by 8.

#[cfg(test)]
mod golden;

use rocelab_units::{Bandwidth, Bytes, Duration, Ratio, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CongestionControl, Definition, Feedback, InvalidParameter, Path, Sent, Timers, arithmetic,
};

pub(super) const SUMMARY: &str = "switches sample their queues and notify senders at layer 2";
pub(super) const REFERENCE: &str = "IEEE 802.1Qau, Congestion Notification";

/// Expires at the next increase by time.
const INCREASE: usize = 0;

/// Closer than this to the line rate the increase is over (bit/s).
const RESOLUTION: f64 = 1.0;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "QcnParameters")]
pub struct Parameters {
    /// Share of the rate that a notification takes for each unit of its quantized feedback (1 to
    /// 63), above 0 and at most 1.
    pub gd: Ratio,
    /// The largest share of the rate that one notification takes, above 0 and at most 1.
    pub max_cut: Ratio,
    /// Time between two increases; half of it after fast recovery.
    pub increase_timer: Duration,
    /// Bytes sent between two increases; half of them after fast recovery.
    pub byte_counter: Bytes,
    /// Increases that are fast recovery.
    pub fast_recovery_threshold: u32,
    /// Active increase step.
    pub additive_increase: Bandwidth,
    /// Hyper-active increase step.
    pub hyper_increase: Bandwidth,
    /// The rate does not fall below.
    pub min_rate: Bandwidth,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            gd: Ratio::new(1, 128),
            max_cut: Ratio::new(1, 2),
            increase_timer: Duration::from_ms(15),
            byte_counter: Bytes::new(150_000),
            fast_recovery_threshold: 5,
            additive_increase: Bandwidth::from_mbps(5),
            hyper_increase: Bandwidth::from_mbps(50),
            min_rate: Bandwidth::from_mbps(10),
        }
    }
}

impl Definition for Parameters {
    fn feedback(&self, _: Bandwidth) -> Feedback {
        Feedback::Qcn
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless_share("gd", self.gd)?;
        InvalidParameter::unless_share("max_cut", self.max_cut)?;
        InvalidParameter::unless_interval("increase_timer", self.increase_timer)?;
        InvalidParameter::unless(
            self.byte_counter >= Bytes::new(2),
            "byte_counter",
            &self.byte_counter,
            "would count without end",
            "give at least 2B, such as \"150KB\"",
        )?;
        for (key, rate) in [
            ("additive_increase", self.additive_increase),
            ("hyper_increase", self.hyper_increase),
            ("min_rate", self.min_rate),
        ] {
            InvalidParameter::unless_moving(key, rate)?;
        }
        Ok(())
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        let line_rate = bits(path.line_rate);
        Box::new(ReactionPoint {
            parameters: self.clone(),
            line_rate: path.line_rate,
            timers: Timers::new(),
            rate: line_rate,
            target: line_rate,
            timer_steps: 0,
            byte_steps: 0,
            bytes: 0,
        })
    }
}

/// The state of one queue pair.
#[derive(Debug)]
struct ReactionPoint {
    parameters: Parameters,
    line_rate: Bandwidth,
    timers: Timers,
    /// `Rc` (bit/s).
    rate: f64,
    /// `Rt` (bit/s).
    target: f64,
    /// `T`.
    timer_steps: u32,
    /// `B`.
    byte_steps: u32,
    /// Bytes sent since the last step of the byte counter.
    bytes: u64,
}

rocelab_state::state!(ReactionPoint {
    values: timers, rate, target, timer_steps, byte_steps, bytes;
    kept: parameters, line_rate
});

impl ReactionPoint {
    /// Whether a notification has come that is not recovered from.
    fn is_limited(&self) -> bool {
        self.timers.deadline(INCREASE) != SimTime::NEVER
    }

    /// Until the next increase by time.
    fn timer_period(&self) -> Duration {
        let full = self.parameters.increase_timer;
        let halved = self.timer_steps >= self.parameters.fast_recovery_threshold;
        if halved { Duration::from_ps((full.ps() / 2).max(1)) } else { full }
    }

    /// Bytes until the next increase by the byte counter.
    fn byte_period(&self) -> u64 {
        let full = self.parameters.byte_counter.get();
        let halved = self.byte_steps >= self.parameters.fast_recovery_threshold;
        if halved { (full / 2).max(1) } else { full.max(1) }
    }

    /// What follows a step that was counted.
    fn increase(&mut self) {
        let Parameters { fast_recovery_threshold: recovery, .. } = self.parameters;
        let least = self.timer_steps.min(self.byte_steps);
        if least > recovery {
            let steps = f64::from(least - recovery);
            self.target += steps * bits(self.parameters.hyper_increase);
        } else if self.timer_steps.max(self.byte_steps) > recovery {
            self.target += bits(self.parameters.additive_increase);
        }
        let line_rate = bits(self.line_rate);
        self.target = self.target.min(line_rate);
        self.rate = (self.rate + self.target) / 2.0;
        if line_rate - self.rate < RESOLUTION {
            self.rate = line_rate;
            self.timers.stop(INCREASE);
        }
    }
}

impl CongestionControl for ReactionPoint {
    fn rate(&self) -> Bandwidth {
        arithmetic::whole(self.rate, self.line_rate)
    }

    fn on_cnm(&mut self, now: SimTime, feedback: u8) {
        if self.timer_steps > 0 || self.byte_steps > 0 {
            self.target = self.rate;
        }
        let cut = self.parameters.gd.as_f64() * f64::from(feedback);
        let kept = 1.0 - cut.min(self.parameters.max_cut.as_f64());
        let least = self.parameters.min_rate.min(self.line_rate);
        self.rate = (self.rate * kept).max(bits(least));
        self.timer_steps = 0;
        self.byte_steps = 0;
        self.bytes = 0;
        self.timers.arm(INCREASE, now + self.timer_period());
    }

    fn counts_sent_bytes(&self) -> bool {
        true
    }

    fn on_sent(&mut self, sent: &Sent) -> bool {
        if !self.is_limited() {
            return false;
        }
        self.bytes += sent.bytes;
        let period = self.byte_period();
        if self.bytes < period {
            return false;
        }
        self.bytes -= period;
        self.byte_steps = self.byte_steps.saturating_add(1);
        self.increase();
        true
    }

    fn timers(&mut self) -> Option<&mut Timers> {
        Some(&mut self.timers)
    }

    fn expire(&mut self, timer: usize, now: SimTime) {
        if timer != INCREASE || self.timers.deadline(INCREASE) > now {
            return;
        }
        self.timer_steps = self.timer_steps.saturating_add(1);
        self.timers.arm(INCREASE, now + self.timer_period());
        self.increase();
    }
}

fn bits(rate: Bandwidth) -> f64 {
    rate.bits_per_second() as f64
}
