//! HPCC over PINT: Ben Basat et al., "PINT: Probabilistic In-band Network Telemetry", SIGCOMM 2020.
//!
//! HPCC, but a packet collects one number only: the logarithm of the largest utilization of the
//! ports that it leaves by, as each port computes it itself. With the number `field` of a packet:
//!
//! ```text
//! u = log_base ^ field / 512
//! c = u / eta
//! c >= 1 or stage >= max_stage    rate = reference / c + additive_increase,  stage = 0
//! otherwise                       rate = reference + additive_increase,      stage += 1
//! ```
//!
//! Once a round trip the new rate becomes the reference, as with HPCC; the acknowledgements in
//! between set the rate too. Who has only a share of the packets carry the number tells the
//! controller of those alone. Scale and start: HPCC's ns-3 simulator.

use rocelab_units::{Bandwidth, Ratio};
use rocelab_wire::{PintUnits, TelemetryHeader, TelemetryUnits, pint_utilization};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hpcc::default_step;
use super::reaction::{Reaction, Reference};
use super::{Ack, CongestionControl, Definition, Feedback, InvalidParameter, Path, arithmetic};

pub(super) const SUMMARY: &str = "HPCC with one number in each packet: the highest utilization";
pub(super) const REFERENCE: &str = "Ben Basat et al., PINT: Probabilistic In-band Network \
    Telemetry, SIGCOMM 2020";

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "HpccPintParameters")]
pub struct Parameters {
    /// Additive increase step; 10Mbps per 25Gbps of line rate if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additive_increase: Option<Bandwidth>,
    /// The utilization that is wanted (U_TARGET), above 0 and at most 1.
    pub eta: Ratio,
    /// Additive increases in a row before the utilization is met at once (MI_THRESH).
    pub max_stage: u32,
    /// The rate does not fall below.
    pub min_rate: Bandwidth,
    /// The base of the logarithm in packets, above 1 and at most 2.
    pub log_base: Ratio,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            additive_increase: None,
            eta: Ratio::new(95, 100),
            max_stage: 5,
            min_rate: Bandwidth::from_gbps(1),
            log_base: Ratio::new(105, 100),
        }
    }
}

impl Parameters {
    fn units(&self) -> PintUnits {
        PintUnits { log_base: self.log_base.as_f64() }
    }
}

impl Definition for Parameters {
    fn feedback(&self, _: Bandwidth) -> Feedback {
        Feedback::Telemetry(TelemetryUnits::Pint(self.units()))
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        if let Some(step) = self.additive_increase {
            InvalidParameter::unless_moving("additive_increase", step)?;
        }
        InvalidParameter::unless_share("eta", self.eta)?;
        InvalidParameter::unless_moving("min_rate", self.min_rate)?;
        let base = self.log_base.as_f64();
        InvalidParameter::unless(
            1.0 < base && base <= 2.0,
            "log_base",
            &self.log_base,
            "is no base of these logarithms",
            "give a fraction above 1 and at most 2, such as 1.05",
        )
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        let line_rate = path.line_rate;
        let step = self.additive_increase.unwrap_or_else(|| default_step(line_rate));
        let reaction = Reaction::new(step, self.max_stage, self.min_rate, line_rate);
        Box::new(Sender {
            eta: self.eta.as_f64(),
            units: self.units(),
            line_rate: line_rate.bits_per_second(),
            full_window: path.bdp,
            rate: reaction.start().rate,
            rate_was_set: false,
            reference: reaction.start(),
            reaction,
            updated_at: 0,
        })
    }
}

/// The state of one queue pair.
#[derive(Debug)]
struct Sender {
    reaction: Reaction,
    eta: f64,
    units: PintUnits,
    /// Bits per second.
    line_rate: u64,
    /// Bytes.
    full_window: u64,
    /// Bits per second.
    rate: u64,
    /// Whether the latest acknowledgement set it, be it to the same.
    rate_was_set: bool,
    reference: Reference,
    /// A packet from this position on was sent after the last update of the reference; 0 before
    /// the first acknowledgement (bytes).
    updated_at: u64,
}

rocelab_state::state!(Sender {
    values: rate, rate_was_set, reference, updated_at;
    kept: reaction, eta, units, line_rate, full_window
});

impl CongestionControl for Sender {
    fn rate(&self) -> Bandwidth {
        Bandwidth::from_bps(self.rate)
    }

    fn window(&self) -> Option<u64> {
        arithmetic::window(self.full_window, self.rate, self.line_rate)
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.rate_was_set = false;
        let Some(&TelemetryHeader::Pint(field)) = ack.telemetry else { return };
        let first = self.updated_at == 0;
        let full = ack.acknowledged > self.updated_at;
        if !first {
            let excess = pint_utilization(self.units, field) / self.eta;
            let next = self.reaction.next(self.reference, excess);
            self.rate = next.rate;
            self.rate_was_set = true;
            if full {
                self.reference = next;
            }
        }
        if first || full {
            self.updated_at = self.updated_at.max(ack.sent);
        }
    }

    fn repaces(&self) -> bool {
        self.rate_was_set
    }
}

#[cfg(test)]
mod golden;
