//! Swift: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
//! Datacenter", SIGCOMM 2020.
//!
//! A window `cwnd`, in packets, follows a target for a delay. With each acknowledgement of `acked` packets:
//!
//! ```text
//! target = base_target + hops hop_scaling + min(fs_range, max(0, a / sqrt(cwnd) + b))
//!     a = fs_range / (1 / sqrt(fs_min_cwnd) - 1 / sqrt(fs_max_cwnd)),  b = -a / sqrt(fs_max_cwnd)
//! delay < target   cwnd += additive_increase acked / cwnd    (without "/ cwnd" below 1)
//! otherwise        cwnd *= max(1 - beta (delay - target) / delay, 1 - max_mdf)
//! ```
//!
//! A cut follows the one before it no sooner than after the round-trip time; something that has to be sent again
//! cuts by `max_mdf`, and from `retransmit_reset` timeouts in a row on the window becomes `min_cwnd`. The window stays between `min_cwnd`
//! and what fills the path at the line rate
//! for the longest target. Below 1 there is a single packet on its way, and packets are paced:
//! `cwnd` of them in a round trip. It starts with what fills the idle path.
//!
//! There are two such windows if `endpoint_target` is given, and the lesser counts. That of the *endpoint* follows the smoothed
//! endpoint delay, with a target that has no scaling; that of the *fabric* follows the round-trip time without the time in NICs.
//! Acknowledgements bring both times (the [kind of telemetry](rocelab_wire::TelemetryKind::Endpoint) `endpoint`). They come before
//! memory has a packet, so that of the endpoint's window only a share may be unacknowledged: that of the round-trip time in the time
//! until memory has the packet, which is also the least time between two cuts. Without `endpoint_target` there is only the window of
//! the fabric, and its delay is the round-trip time. With `hops = "counted"` acknowledgements also bring the hops of their packet.
//!
//! The paper has no numbers for the targets; where htsim has some, they are the defaults.

mod endpoint;
mod hops;
mod parameters;
mod sender;
mod target;
mod window;

use rocelab_units::{Bandwidth, Duration};

pub use self::hops::Hops;
pub use self::parameters::Parameters;
use self::sender::Sender;
use super::{CongestionControl, Definition, Feedback, InvalidParameter, Path};

pub(super) const SUMMARY: &str = "a window that keeps the round-trip time at a target";
pub(super) const REFERENCE: &str = "Kumar et al., Swift: Delay is Simple and Effective for \
    Congestion Control in the Datacenter, SIGCOMM 2020";

impl Definition for Parameters {
    fn feedback(&self, _: Bandwidth) -> Feedback {
        if self.asks_ends() { Feedback::ENDPOINT } else { self.delay.feedback() }
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        if let Some(target) = self.base_target {
            let fix = "give a time above 0s, or leave it out for that of the idle path";
            let holds = target > Duration::ZERO;
            InvalidParameter::unless(holds, "base_target", &target, "is never met", fix)?;
        }
        self.validate_ends()?;
        let shares =
            [("beta", self.beta), ("max_mdf", self.max_mdf), ("endpoint_gain", self.endpoint_gain)];
        for (key, ratio) in shares {
            InvalidParameter::unless_share(key, ratio)?;
        }
        let positive = [
            ("fs_min_cwnd", self.fs_min_cwnd),
            ("additive_increase", self.additive_increase),
            ("min_cwnd", self.min_cwnd),
        ];
        for (key, ratio) in positive {
            let fix = "give a number of packets above 0";
            InvalidParameter::unless(ratio.numerator() > 0, key, &ratio, "ends at nothing", fix)?;
        }
        InvalidParameter::unless(
            self.min_cwnd.as_f64() <= 1.0,
            "min_cwnd",
            &self.min_cwnd,
            "is more than a packet",
            "give a fraction of at most 1",
        )?;
        InvalidParameter::unless(
            self.fs_min_cwnd.as_f64() < self.fs_max_cwnd.as_f64(),
            "fs_max_cwnd",
            &self.fs_max_cwnd,
            "is not above fs_min_cwnd",
            "raise it, or lower fs_min_cwnd",
        )
    }

    fn counts_hops(&self) -> bool {
        self.hops == Hops::Counted
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        Box::new(Sender::new(self, path))
    }
}

/// The largest hop limit of a packet.
const MOST_HOPS: u32 = 255;

impl Parameters {
    /// Whether acknowledgements have to bring what the ends of the path know.
    fn asks_ends(&self) -> bool {
        self.endpoint_target.is_some() || self.counts_hops()
    }

    /// Whether it has a weight for endpoint delays other than the usual one, and no window that follows them.
    pub fn has_idle_gain(&self) -> bool {
        self.endpoint_target.is_none() && self.endpoint_gain != Self::default().endpoint_gain
    }

    fn validate_ends(&self) -> Result<(), InvalidParameter> {
        if let Some(target) = self.endpoint_target {
            let fix = "give a time above 0s, or leave it out for a single window";
            let holds = target > Duration::ZERO;
            InvalidParameter::unless(holds, "endpoint_target", &target, "is never met", fix)?;
            InvalidParameter::unless(
                self.delay.is_measured(),
                "endpoint_target",
                &target,
                "needs the round-trip time",
                "leave `delay` out, or the target",
            )?;
        }
        if let Hops::Given(hops) = self.hops {
            InvalidParameter::unless(
                hops <= MOST_HOPS,
                "hops",
                &hops,
                "is more than a hop limit allows",
                "give 0 to 255, or \"counted\"",
            )?;
        }
        InvalidParameter::unless(
            !self.counts_hops() || self.delay.is_measured(),
            "hops",
            &"counted",
            "needs acknowledgements that tell hops, and not queueing delays",
            "give a number, or leave `delay` out",
        )?;
        let resets = self.retransmit_reset;
        InvalidParameter::unless(
            resets != Some(0),
            "retransmit_reset",
            &0,
            "is no number of timeouts",
            "give at least 1, or leave it out",
        )
    }
}
