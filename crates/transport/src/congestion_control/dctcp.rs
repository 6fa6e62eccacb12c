//! DCTCP: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, as a rate.
//!
//! TCP's window becomes a rate, as in HPCC's ns-3 simulator, which compares with it. For each
//! acknowledgement:
//!
//! ```text
//! once a round trip   F = marked acknowledgements / packets,  alpha = (1 - g) alpha + g F
//! marked, and none was since the last packet of then left
//!                     rate = rate (1 - alpha / 2)
//! once a round trip, unless there was such a cut in it
//!                     rate = rate + additive_increase
//! ```
//!
//! A round trip ends when a packet is acknowledged that was sent after the end of the last one.
//! The first one starts at the line rate and has no `alpha` of its own. The window is the payload
//! that fills the path, times rate over line rate.

#[cfg(test)]
mod golden;

use rocelab_units::{Bandwidth, Duration, Ratio, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ack, CongestionControl, Definition, Feedback, InvalidParameter, Path, arithmetic};

pub(super) const SUMMARY: &str = "the share of marked packets cuts the rate";
pub(super) const REFERENCE: &str = "Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010";

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "DctcpParameters")]
pub struct Parameters {
    /// Weight of the newest share of marked packets, above 0 and at most 1.
    pub g: Ratio,
    /// Additive increase for each round trip; one full packet per round trip of the idle network
    /// if left out, which is TCP's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additive_increase: Option<Bandwidth>,
    /// The rate does not fall below.
    pub min_rate: Bandwidth,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { g: Ratio::new(1, 16), additive_increase: None, min_rate: Bandwidth::from_gbps(1) }
    }
}

impl Definition for Parameters {
    fn feedback(&self, _: Bandwidth) -> Feedback {
        Feedback::EcnEcho
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless_share("g", self.g)?;
        if let Some(step) = self.additive_increase {
            InvalidParameter::unless_moving("additive_increase", step)?;
        }
        InvalidParameter::unless_moving("min_rate", self.min_rate)
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        let line_rate = path.line_rate.bits_per_second();
        let step = self.additive_increase.unwrap_or_else(|| packet_per_round_trip(path));
        Box::new(Dctcp {
            g: self.g.as_f64(),
            additive_increase: step.bits_per_second(),
            min_rate: self.min_rate.bits_per_second(),
            line_rate,
            full_window: path.bdp,
            path_mtu: u64::from(path.path_mtu.max(1)),
            rate: line_rate,
            alpha: 1.0,
            round_end: 0,
            marked: 0,
            packets: 0,
            cut_until: None,
        })
    }
}

/// The rate that one full packet in each round trip of the idle network is, at least 1 bit/s.
fn packet_per_round_trip(path: &Path) -> Bandwidth {
    let second = u128::from(Duration::from_ms(1_000).ps());
    let bits = u128::from(path.path_mtu) * 8 * second / u128::from(path.base_rtt.ps().max(1));
    Bandwidth::from_bps(u64::try_from(bits).unwrap_or(u64::MAX).max(1))
}

/// The state of one queue pair.
#[derive(Debug)]
struct Dctcp {
    g: f64,
    /// Rates in bits per second.
    additive_increase: u64,
    min_rate: u64,
    line_rate: u64,
    rate: u64,
    /// Bytes.
    full_window: u64,
    /// Bytes.
    path_mtu: u64,
    /// The smoothed share of marked packets.
    alpha: f64,
    /// An acknowledgement beyond this position ends the round trip; 0 before the first (bytes).
    round_end: u64,
    /// Marked acknowledgements in this round trip.
    marked: u64,
    /// Packets that were on their way at its start, and one.
    packets: u32,
    /// No further cut until an acknowledgement is beyond this position (bytes).
    cut_until: Option<u64>,
}

rocelab_state::state!(Dctcp {
    values: rate, alpha, round_end, marked, packets, cut_until;
    kept: g, additive_increase, min_rate, line_rate, full_window, path_mtu
});

impl Dctcp {
    fn end_round(&mut self, ack: &Ack<'_>) {
        let first = self.round_end == 0;
        let before = if first { 0 } else { ack.acknowledged };
        if !first {
            let share = (self.marked as f64 / f64::from(self.packets)).min(1.0);
            self.alpha = (1.0 - self.g) * self.alpha + self.g * share;
            self.marked = 0;
        }
        self.round_end = ack.sent;
        self.packets = packets_between(before, ack.sent, self.path_mtu);
    }
}

/// How many packets of `path_mtu` lie between two positions (bytes), and one more.
///
/// Where sending fell back behind what was acknowledged, the difference goes round in 64 bits and
/// its packets in 32, as they do in HPCC's ns-3 simulator: a number so large, as a rule, that the
/// marks of the round trip do not count.
#[expect(clippy::cast_possible_truncation, reason = "goes round")]
const fn packets_between(acknowledged: u64, sent: u64, path_mtu: u64) -> u32 {
    (sent.wrapping_sub(acknowledged) / path_mtu).wrapping_add(1) as u32
}

impl CongestionControl for Dctcp {
    fn rate(&self) -> Bandwidth {
        Bandwidth::from_bps(self.rate)
    }

    fn alpha(&self, _: SimTime) -> Option<f64> {
        Some(self.alpha)
    }

    fn window(&self) -> Option<u64> {
        arithmetic::window(self.full_window, self.rate, self.line_rate)
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.marked += u64::from(ack.ecn_echo);
        let new_round = ack.acknowledged > self.round_end;
        if new_round {
            self.end_round(ack);
        }
        self.cut_until = self.cut_until.filter(|&end| ack.acknowledged <= end);
        if ack.ecn_echo && self.cut_until.is_none() {
            self.rate = arithmetic::times(self.rate, 1.0 - self.alpha / 2.0).max(self.min_rate);
            self.cut_until = Some(ack.sent);
        }
        if self.cut_until.is_none() && new_round {
            self.rate = self.rate.saturating_add(self.additive_increase).min(self.line_rate);
        }
    }
}
