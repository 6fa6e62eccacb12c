//! The target of the fabric's delay, as a function of the window and of the hops.

use super::hops::Hops;
use super::parameters::Parameters;
use crate::congestion_control::Path;

const PICOSECONDS_PER_SECOND: f64 = 1e12;

/// Times in ps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// Without hops and flow scaling.
    base: f64,
    per_hop: f64,
    /// The most that flow scaling adds.
    range: f64,
    /// `a` and `b`.
    slope: f64,
    offset: f64,
    /// Packets that leave at the line rate in a picosecond.
    packets_per_ps: (f64, f64),
}

impl Target {
    pub(super) fn new(parameters: &Parameters, path: &Path) -> Self {
        let base = parameters.base_target.unwrap_or(path.base_rtt).ps() as f64;
        let range = parameters.fs_range.map_or(5.0 * base, |range| range.ps() as f64);
        let inverse_root = |cwnd: f64| 1.0 / cwnd.sqrt();
        let full = inverse_root(parameters.fs_min_cwnd.as_f64());
        let none = inverse_root(parameters.fs_max_cwnd.as_f64());
        let slope = range / (full - none);
        let packet = f64::from(path.path_mtu.max(1));
        let bits = path.line_rate.bits_per_second() as f64;
        Self {
            base,
            per_hop: parameters.hop_scaling.ps() as f64,
            range,
            slope,
            offset: -slope * none,
            packets_per_ps: (bits, packet),
        }
    }

    /// For a window of `cwnd` packets and a path of `hops` (ps).
    pub(super) fn at(&self, cwnd: f64, hops: u32) -> f64 {
        self.without_scaling(hops) + (self.slope / cwnd.sqrt() + self.offset).clamp(0.0, self.range)
    }

    /// The window that fills the path at the line rate for the longest target, at least one packet.
    pub(super) fn longest_window(&self, hops: u32) -> f64 {
        let longest = self.without_scaling(hops) + self.range;
        let (bits, packet) = self.packets_per_ps;
        (longest * bits / 8.0 / PICOSECONDS_PER_SECOND / packet).max(1.0)
    }

    fn without_scaling(&self, hops: u32) -> f64 {
        self.base + f64::from(hops) * self.per_hop
    }
}

impl Hops {
    /// Those of a path of which nothing has been counted yet.
    pub(super) const fn known(self) -> u32 {
        match self {
            Self::Given(hops) => hops,
            Self::Counted => 0,
        }
    }
}
