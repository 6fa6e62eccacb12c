//! A policer: what comes in faster than a rate, beyond a burst, is dropped. One token bucket for each port, without
//! colours (RFC 2697 with an excess burst of 0, where red frames are dropped and all others pass).

use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Admit, Condition, IngressFrame, InvalidIngress, check_priorities};

/// `[[ingress.policer]]`. Bytes of frames count, FCS included; preambles and gaps do not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PolicerParameters")]
pub struct Parameters {
    /// Ports of switches: `leaf-0:3`, or all of `leaf-0`. Each has a token bucket of its own.
    pub ports: Vec<String>,
    /// The rate that passes (the committed information rate), above zero.
    pub rate: Bandwidth,
    /// How much passes at once after a rest (the committed burst size), at least the largest frame.
    pub burst: Bytes,
    /// Only frames that come in with these priorities count and are dropped. Default: all but pause frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(max = 7)))]
    pub priorities: Option<Vec<u8>>,
}

impl Condition for Parameters {
    type AtPort = AtPort;

    fn check(&self, largest_frame: u64) -> Result<(), InvalidIngress> {
        let invalid = |key, value: String, problem: &str, fix: String| {
            Err(InvalidIngress { key, value, problem: problem.into(), fix })
        };
        if self.rate.bits_per_second() == 0 {
            let fix =
                "give a rate above 0, such as \"10Gbps\"; `access_list` drops all of a priority";
            return invalid("rate", self.rate.to_string(), "nothing would pass", fix.into());
        }
        if self.burst.get() < largest_frame {
            let fix = format!("give the largest frame or more: {largest_frame}B");
            let problem = "the largest frames would never pass";
            return invalid("burst", self.burst.to_string(), problem, fix);
        }
        let Some(some) = &self.priorities else { return Ok(()) };
        check_priorities("priorities", some).map_err(|mut invalid| {
            invalid.fix += ", or leave the key out for all";
            invalid
        })
    }

    fn at_port(&self) -> AtPort {
        let bit = |mask: u8, priority: &u8| mask | 1 << (priority & 7);
        let priorities = self.priorities.as_ref();
        AtPort {
            rate: self.rate,
            tolerance: self.rate.transmission_time(self.burst),
            priorities: priorities.map_or(0xff, |some| some.iter().fold(0, bit)),
            paid_at: SimTime::ZERO,
        }
    }
}

/// The token bucket of a port, expressed in times: the burst less the tokens that are there is what takes from now
/// to `paid_at` at the rate (the virtual scheduling form of the leaky bucket, ITU-T I.371 annex A).
#[derive(Debug)]
pub struct AtPort {
    rate: Bandwidth,
    /// The time that a burst takes at the rate.
    tolerance: Duration,
    /// Bit p: frames of priority p are policed.
    priorities: u8,
    /// When all that has passed would have, at the rate.
    paid_at: SimTime,
}

// A checkpoint has what has passed; the rest comes from the scenario.
rocelab_state::state!(AtPort { values: paid_at; kept: rate, tolerance, priorities });

impl Admit for AtPort {
    fn admits(&mut self, frame: &IngressFrame) -> bool {
        if self.priorities & 1 << (frame.priority & 7) == 0 {
            return true;
        }
        let takes = self.rate.transmission_time(Bytes::new(frame.len.into()));
        let paid_at = self.paid_at.max(frame.now).saturating_add(takes);
        if paid_at.since(frame.now) > self.tolerance {
            return false;
        }
        self.paid_at = paid_at;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::frame;
    use super::*;

    fn policer(priorities: Option<Vec<u8>>) -> Parameters {
        let (rate, burst) = (Bandwidth::from_gbps(8), Bytes::new(3_000));
        Parameters { ports: Vec::new(), rate, burst, priorities }
    }

    /// At 8 Gb/s a byte takes 1 ns: three frames of 1,000 bytes pass at once, and one more every microsecond.
    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let mut bucket = policer(None).at_port();
        let mut admits = |ns| bucket.admits(&frame(ns, 3));
        assert_eq!([0, 0, 0, 0].map(&mut admits), [true, true, true, false]);
        assert_eq!([999, 1_000, 1_000].map(&mut admits), [false, true, false]);
        // After a rest there is one burst, and no more.
        assert_eq!([90_000; 4].map(&mut admits), [true, true, true, false]);
    }

    #[test]
    fn other_priorities_neither_count_nor_are_dropped() {
        let mut bucket = policer(Some(vec![3])).at_port();
        assert!((0..9).all(|_| bucket.admits(&frame(0, 4))));
        assert!((0..3).all(|_| bucket.admits(&frame(0, 3))));
        assert!(!bucket.admits(&frame(0, 3)));
    }

    #[test]
    fn what_cannot_work_is_refused() {
        assert_eq!(policer(None).check(3_000), Ok(()));
        let key = |parameters: Parameters, largest| parameters.check(largest).unwrap_err().key;
        assert_eq!(key(policer(None), 3_001), "burst");
        assert_eq!(key(policer(Some(Vec::new())), 3_000), "priorities");
        assert_eq!(key(policer(Some(vec![8])), 3_000), "priorities");
        let still = Parameters { rate: Bandwidth::from_bps(0), ..policer(None) };
        assert_eq!(key(still, 3_000), "rate");
    }
}
