//! Swift: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
//! Datacenter", SIGCOMM 2020.
//!
//! A window `cwnd`, in packets, follows a target for the round-trip time `rtt`. With each
//! acknowledgement of `acked` packets:
//!
//! ```text
//! target = base_target + hops hop_scaling + min(fs_range, max(0, a / sqrt(cwnd) + b))
//!     a = fs_range / (1 / sqrt(fs_min_cwnd) - 1 / sqrt(fs_max_cwnd)),  b = -a / sqrt(fs_max_cwnd)
//! rtt < target     cwnd += additive_increase acked / cwnd    (without "/ cwnd" below 1)
//! otherwise        cwnd *= max(1 - beta (rtt - target) / rtt, 1 - max_mdf)
//! ```
//!
//! A cut follows the one before it no sooner than after `rtt`; something that has to be sent again
//! cuts by `max_mdf`. The window stays between `min_cwnd` and what fills the path at the line rate
//! for the longest target. Below 1 there is a single packet on its way, and packets are paced:
//! `cwnd` of them in a round trip. It starts with what fills the idle path.
//!
//! Of the paper's two windows only that of the fabric is here: hosts take no time. Neither are the
//! hops counted on the way, nor has the paper numbers for the target; where htsim has some, they are
//! the defaults.

mod parameters;
mod sender;

use rocelab_units::{Bandwidth, Duration};

pub use self::parameters::Parameters;
use self::sender::Sender;
use super::{CongestionControl, Definition, Feedback, InvalidParameter, Path};

pub(super) const SUMMARY: &str = "a window that keeps the round-trip time at a target";
pub(super) const REFERENCE: &str = "Kumar et al., Swift: Delay is Simple and Effective for \
    Congestion Control in the Datacenter, SIGCOMM 2020";

impl Definition for Parameters {
    fn feedback(&self, _: Bandwidth) -> Feedback {
        self.delay.feedback()
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        if let Some(target) = self.base_target {
            let fix = "give a time above 0s, or leave it out for that of the idle path";
            let holds = target > Duration::ZERO;
            InvalidParameter::unless(holds, "base_target", &target, "is never met", fix)?;
        }
        for (key, ratio) in [("beta", self.beta), ("max_mdf", self.max_mdf)] {
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

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        Box::new(Sender::new(self, path))
    }
}
