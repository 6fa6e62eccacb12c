//! One of the two windows: it follows a delay.

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};

use super::parameters::Parameters;

/// How windows change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    additive_increase: f64,
    beta: f64,
    max_mdf: f64,
    /// In packets.
    pub(super) min_cwnd: f64,
}

impl Law {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            additive_increase: parameters.additive_increase.as_f64(),
            beta: parameters.beta.as_f64(),
            max_mdf: parameters.max_mdf.as_f64(),
            min_cwnd: parameters.min_cwnd.as_f64(),
        }
    }
}

/// What is measured: the delay that a window follows, and its target [ps].
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) delay: f64,
    pub(super) target: f64,
    /// Packets that were acknowledged.
    pub(super) packets: f64,
}

/// A window and when it was cut.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Window {
    /// In packets.
    pub(super) cwnd: f64,
    last_decrease: Option<SimTime>,
}

impl Window {
    pub(super) const fn new(cwnd: f64) -> Self {
        Self { cwnd, last_decrease: None }
    }

    /// An acknowledgement told a delay. The window stays at `max_cwnd` at the most, and a cut follows another no sooner than
    /// after `rtt`.
    pub(super) fn follow(
        &mut self,
        law: &Law,
        measured: &Measured,
        max_cwnd: f64,
        (now, rtt): (SimTime, Duration),
    ) {
        let &Measured { delay, target, packets } = measured;
        if delay < target {
            let gain = law.additive_increase * packets;
            let gain = if self.cwnd >= 1.0 { gain / self.cwnd } else { gain };
            self.cwnd = (self.cwnd + gain).min(max_cwnd);
        } else {
            self.decrease(law, (now, rtt), 1.0 - law.beta * (delay - target) / delay);
        }
    }

    /// Something was lost: the largest cut.
    pub(super) fn cut(&mut self, law: &Law, at: (SimTime, Duration)) {
        self.decrease(law, at, 0.0);
    }

    /// To the least window.
    pub(super) fn reset(&mut self, law: &Law, now: SimTime) {
        self.cwnd = law.min_cwnd;
        self.last_decrease = Some(now);
    }

    /// Below one packet, each packet that arrives adds as if it had been in time, up to one packet.
    pub(super) fn restart(&mut self, law: &Law, packets: f64) {
        if self.cwnd < 1.0 {
            self.cwnd = (self.cwnd + law.additive_increase * packets).min(1.0);
        }
    }

    /// Keeps `share` of the window, but at least what the largest cut leaves.
    fn decrease(&mut self, law: &Law, (now, rtt): (SimTime, Duration), share: f64) {
        if self.last_decrease.is_none_or(|last| now.since(last) >= rtt) {
            self.cwnd = (self.cwnd * share.max(1.0 - law.max_mdf)).max(law.min_cwnd);
            self.last_decrease = Some(now);
        }
    }
}
