//! The window of the remote endpoint: it follows what the receiver tells of itself.

use super::parameters::Parameters;
use super::window::Window;

/// The endpoint's window, and the delay that it follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Endpoint {
    pub(super) window: Window,
    /// The endpoint delay, smoothed [ps]; below 0 before the first.
    smoothed: f64,
    /// The part of a packet's time to memory after which it is acknowledged, at most 1.
    share: f64,
}

rocelab_state::state!(Endpoint { values: window, smoothed, share });

/// What never changes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndpointTarget {
    /// [ps]
    pub(super) target: f64,
    /// The weight of a new delay.
    gain: f64,
}

impl EndpointTarget {
    pub(super) fn new(parameters: &Parameters) -> Option<Self> {
        let target = parameters.endpoint_target?.ps() as f64;
        Some(Self { target, gain: parameters.endpoint_gain.as_f64() })
    }

    /// The weight of a new delay. Below one packet delays come 1 / `cwnd` round trips apart, and each counts for as many: else
    /// one that is long over would cut the window again and again, and the less often packets leave the longer.
    fn weight(self, cwnd: f64) -> f64 {
        if cwnd < 1.0 { (self.gain / cwnd).min(1.0) } else { self.gain }
    }
}

impl Endpoint {
    pub(super) const fn new(cwnd: f64) -> Self {
        Self { window: Window::new(cwnd), smoothed: -1.0, share: 1.0 }
    }

    /// An acknowledgement told a delay; it came after `rtt`, of which the fabric took a part [ps], and the sender had a window
    /// of `cwnd` packets. Gives the smoothed delay.
    pub(super) fn smooth(
        &mut self,
        known: EndpointTarget,
        delay: f64,
        cwnd: f64,
        (fabric, rtt): (f64, f64),
    ) -> f64 {
        self.smoothed = if self.smoothed < 0.0 {
            delay
        } else {
            self.smoothed + known.weight(cwnd) * (delay - self.smoothed)
        };
        self.share = (rtt / (fabric + self.smoothed)).min(1.0);
        self.smoothed
    }

    /// The packets of the window that may be unacknowledged: it counts those that memory does not have.
    pub(super) fn unacknowledged(&self) -> f64 {
        self.window.cwnd * self.share
    }
}
