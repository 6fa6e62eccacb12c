//! TIMELY: Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015.
//!
//! After each segment, with the newest round-trip time `rtt` (algorithm 1 of the paper):
//!
//! ```text
//! difference = (1 - a) difference + a (rtt - previous rtt)
//! gradient   = difference / min_rtt
//! rtt < t_low     rate += delta
//! rtt > t_high    rate *= 1 - beta (1 - t_high / rtt)
//! gradient <= 0   rate += n delta      n = hai_factor after hai_after of these in a row, else 1
//! otherwise       rate *= 1 - beta gradient
//! ```
//!
//! A new queue pair starts at an equal share of its host's link: C / (N + 1), with C the line rate and N
//! the other queue pairs of the NIC that have sent and are not done. The step `delta` is 10 Mbit/s for a NIC of 10
//! Gbit/s, and in proportion for others.
//!
//! The paper's segments leave in one burst, whose serialisation it subtracts. Here every packet is
//! paced and a round-trip time is that of one packet, so nothing is subtracted.
//!
//! With `preset = "hpcc"` it is the TIMELY of HPCC's ns-3 simulator: one update a round trip, when
//! a packet is acknowledged that was sent after the last one; times in whole nanoseconds and rates
//! in whole bits per second; a hyper increase also below `t_low`, and only after `hai_after`
//! increases before it; it starts at the line rate; and the last line is `rate *= max(0, 1 - beta gradient)`.

mod parameters;
mod per_round_trip;
mod per_segment;

use rocelab_units::{Bandwidth, Duration};

pub(super) use self::parameters::default_step;
pub use self::parameters::{Parameters, Preset};
use self::per_round_trip::PerRoundTrip;
use self::per_segment::PerSegment;
use super::{Algorithm, CongestionControl, Definition, Feedback, InvalidParameter, Path};

pub(super) const SUMMARY: &str = "the rate follows the gradient of the round-trip time";
pub(super) const REFERENCE: &str = "Mittal et al., TIMELY: RTT-based Congestion Control for the \
    Datacenter, SIGCOMM 2015";

impl Definition for Parameters {
    fn feedback(&self, _: Bandwidth) -> Feedback {
        self.delay.feedback()
    }

    fn validate(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless(
            self.t_low <= self.t_high,
            "t_low",
            &self.t_low,
            "is above t_high",
            "lower it, or raise t_high",
        )?;
        InvalidParameter::unless_share("beta", self.beta)?;
        InvalidParameter::unless_share("ewma_weight", self.ewma_weight)?;
        InvalidParameter::unless(
            self.min_rtt > Duration::ZERO,
            "min_rtt",
            &self.min_rtt,
            "divides by zero",
            "give the round-trip time of the idle network, such as \"20us\"",
        )?;
        let rates = [
            ("delta", self.delta),
            ("hyper_increase", self.hyper_increase),
            ("min_rate", self.min_rate),
        ];
        for (key, rate) in rates {
            rate.map_or(Ok(()), |rate| InvalidParameter::unless_moving(key, rate))?;
        }
        InvalidParameter::unless(
            self.hai_factor > 0,
            "hai_factor",
            &self.hai_factor,
            "stops the increase",
            "give 1 or more",
        )
    }

    fn effective(&self, line_rate: Bandwidth) -> Option<Algorithm> {
        Some(Algorithm::Timely(Self {
            delta: Some(self.step(line_rate)),
            hyper_increase: Some(self.hyper_step(line_rate)),
            min_rate: Some(self.floor(line_rate)),
            ..self.clone()
        }))
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        match self.preset {
            Preset::Paper => Box::new(PerSegment::new(self, path)),
            Preset::Hpcc => Box::new(PerRoundTrip::new(self, path.line_rate)),
        }
    }
}
