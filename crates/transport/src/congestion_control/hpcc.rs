//! HPCC: Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019.
//!
//! Every data packet collects a record of each switch port that it leaves by (time, bytes sent,
//! queue, rate), and its acknowledgement brings them back. From two records of a port that are
//! `tau` apart (algorithm 1 of the paper, with rates for windows as in HPCC's ns-3 simulator):
//!
//! ```text
//! u_i = 8 bytes sent / tau / rate_i + min(queue, queue before) line rate / rate_i / W
//! U   = the largest u_i,  dt = its tau, at most T
//! u   = (u (T - dt) + U dt) / T
//! c   = u / eta
//! c >= 1 or stage >= max_stage    rate = reference / c + additive_increase,  stage = 0
//! otherwise                       rate = reference + additive_increase,      stage += 1
//! ```
//!
//! `T` is the round-trip time of the idle path and `W` the payload that fills it. Once a round trip,
//! when a packet is acknowledged that was sent after the last such update, the new rate becomes the
//! reference. With `fast_react` the acknowledgements in between set the rate too, from the old
//! reference. The window is `W` times rate over line rate.
//!
//! With `per_hop_rate` each port has its own `u`, reference and stage, and the smallest rate of
//! those that were looked at applies. With `sample_feedback` the acknowledgements in between only
//! count ports with a queue; if there is none the rate stays.
//!
//! Without records nothing happens: the rate is the line rate, and the window bounds what is on its
//! way.

#[cfg(test)]
mod golden;
mod parameters;
mod sender;

use rocelab_units::Bandwidth;
use rocelab_wire::{IntUnits, TelemetryUnits};

pub use self::parameters::Parameters;
pub(super) use self::parameters::default_step;
use self::sender::Sender;
use super::{CongestionControl, Definition, Feedback, InvalidParameter, Path};

pub(super) const SUMMARY: &str = "switches write their load into packets, which sets the rate";
pub(super) const REFERENCE: &str = "Li et al., HPCC: High Precision Congestion Control, \
    SIGCOMM 2019";

impl Definition for Parameters {
    fn feedback(&self, line_rate: Bandwidth) -> Feedback {
        let multiplier = self.multiplier(line_rate);
        Feedback::Telemetry(TelemetryUnits::Int(IntUnits { multiplier }))
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        if let Some(step) = self.additive_increase {
            InvalidParameter::unless_moving("additive_increase", step)?;
        }
        InvalidParameter::unless_share("eta", self.eta)?;
        InvalidParameter::unless_moving("min_rate", self.min_rate)?;
        InvalidParameter::unless(
            self.int_multiplier != Some(0),
            "int_multiplier",
            &0,
            "leaves the records without a unit",
            "give 1 or more, or leave it out",
        )
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        Box::new(Sender::new(self, path))
    }
}
