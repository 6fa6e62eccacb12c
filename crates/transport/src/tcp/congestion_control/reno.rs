//! Reno, as RFC 5681 and RFC 6582 have it: slow start, congestion avoidance, and half the window
//! on loss. Which segments a fast recovery sends again is the sender's business.

use rocelab_units::{Duration, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::window::Window;
use super::{Definition, TcpAck, TcpCongestion, TcpCongestionControl, TcpCongestionKind, TcpPath};

pub(super) const SUMMARY: &str = "half the window on loss, a segment more each round trip";
pub(super) const REFERENCE: &str = "RFC 5681; RFC 6582";

/// Parameters: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "TcpRenoParameters")]
pub struct Parameters {}

impl Definition for Parameters {
    fn build(&self, path: &TcpPath) -> Box<dyn TcpCongestionControl> {
        Box::new(Reno { window: Window::new(path) })
    }
}

#[derive(Debug)]
struct Reno {
    window: Window,
}

rocelab_state::state!(Reno { states: window });

impl TcpCongestionControl for Reno {
    fn window(&self) -> u64 {
        self.window.size()
    }

    fn threshold(&self) -> u64 {
        self.window.threshold()
    }

    fn on_ack(&mut self, ack: &TcpAck) {
        if ack.grows {
            self.window.grow_as_reno(ack);
        }
    }

    fn on_congestion(&mut self, congestion: &TcpCongestion) {
        react_as_reno(&mut self.window, congestion, Ratio::new(1, 2));
    }

    fn on_restart(&mut self, _: Duration, long: bool) {
        if long {
            self.window.restart();
        }
    }
}

/// Threshold to `share` of what is in flight; the window to the threshold, or after a timeout to
/// one segment. The threshold stays when the timer expires again for the same data.
pub(super) fn react_as_reno(window: &mut Window, congestion: &TcpCongestion, share: Ratio) {
    if congestion.kind != (TcpCongestionKind::Timeout { again: true }) {
        window.lower_threshold(congestion.in_flight, share);
    }
    match congestion.kind {
        TcpCongestionKind::Timeout { .. } => window.fall_to_one_segment(),
        TcpCongestionKind::Loss | TcpCongestionKind::Ecn => window.fall_to_threshold(),
    }
}
