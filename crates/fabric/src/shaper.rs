//! Rates that the queues of an egress port may not exceed.

use std::collections::BTreeMap;

use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Priority;
use crate::link::{INTERPACKET_GAP, PREAMBLE};

/// The most that a queue may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShaperConfig {
    /// Its rate, preambles and gaps included, above zero.
    pub rate: Bandwidth,
    /// How much it may send at once after a rest, beyond its rate. The default, a jumbo frame of
    /// 9,216 bytes, makes up for the time that others' frames are in the way; with less, the queue
    /// stays below its rate where it shares the port.
    #[serde(default = "jumbo_frame")]
    pub burst: Bytes,
}

fn jumbo_frame() -> Bytes {
    Bytes::new(9_216)
}

/// Token buckets of a port's queues, expressed in times: a queue may send while the time at which
/// all that it has sent would have left at its rate is at most one burst ahead of now (the virtual
/// scheduling form of the leaky bucket, ITU-T I.371 annex A).
#[derive(Clone, Debug)]
pub struct Shapers {
    queues: [Option<Shaper>; 8],
    /// Bit q: queue q must wait.
    closed: u8,
}

rocelab_state::state!(Shapers { values: closed; states: queues });

#[derive(Clone, Copy, Debug)]
struct Shaper {
    rate: Bandwidth,
    /// The time that a burst takes at the rate.
    tolerance: Duration,
    /// When everything sent so far would have been sent at the configured rate.
    paid_at: SimTime,
}

rocelab_state::state!(Shaper { values: paid_at; kept: rate, tolerance });

impl Shaper {
    /// When the queue may send its next frame.
    fn opens_at(&self) -> SimTime {
        SimTime::from_ps(self.paid_at.ps().saturating_sub(self.tolerance.ps()))
    }
}

impl Shapers {
    /// The shapers of a port; `None` if it has none. A shaper applies to the queue of the same
    /// number as its priority.
    pub fn new(config: &BTreeMap<Priority, ShaperConfig>) -> Option<Self> {
        let mut queues = [None; 8];
        for (priority, shaper) in config {
            queues[usize::from(priority.number())] = Some(Shaper {
                rate: shaper.rate,
                tolerance: shaper.rate.transmission_time(shaper.burst),
                paid_at: SimTime::ZERO,
            });
        }
        (!config.is_empty()).then_some(Self { queues, closed: 0 })
    }

    /// Bit q: queue q must wait.
    pub const fn closed(&self) -> u8 {
        self.closed
    }

    /// Counts a frame of `len` bytes of a queue that starts at `now`.
    pub fn on_sent(&mut self, now: SimTime, queue: u8, len: u32) {
        let Some(shaper) = &mut self.queues[usize::from(queue)] else { return };
        let bytes = Bytes::new(u64::from(PREAMBLE + len + INTERPACKET_GAP));
        shaper.paid_at = shaper.paid_at.max(now) + shaper.rate.transmission_time(bytes);
        if shaper.opens_at() > now {
            self.closed |= 1 << queue;
        }
    }

    /// When the first closed queue may send again, or never.
    pub fn poll_timeout(&self) -> SimTime {
        let waiting = (0..8).filter(|queue| self.closed & 1 << queue != 0);
        let times = waiting.filter_map(|queue| self.queues[queue].map(|one| one.opens_at()));
        times.min().unwrap_or(SimTime::NEVER)
    }

    /// Opens the queues that may send by `now`.
    pub fn handle_timeout(&mut self, now: SimTime) {
        for (queue, shaper) in self.queues.iter().enumerate() {
            if shaper.is_none_or(|shaper| shaper.opens_at() <= now) {
                self.closed &= !(1 << queue);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapers(rate: u64, burst: u64) -> Shapers {
        let shaper = ShaperConfig { rate: Bandwidth::from_gbps(rate), burst: Bytes::new(burst) };
        let priority = Priority::new(5).expect("5 is a priority");
        Shapers::new(&BTreeMap::from([(priority, shaper)])).expect("there is one")
    }

    /// Frames of `len` bytes that leave by `until`, each as early as allowed.
    fn sent(mut shapers: Shapers, len: u32, until: SimTime) -> u64 {
        let (mut now, mut frames) = (SimTime::ZERO, 0);
        while now <= until {
            shapers.handle_timeout(now);
            if shapers.closed() == 0 {
                shapers.on_sent(now, 5, len);
                frames += 1;
            } else {
                now = shapers.poll_timeout();
            }
        }
        frames
    }

    #[test]
    fn a_queue_sends_at_its_rate_and_no_faster() {
        // 1,230 bytes and 20 of preamble and gap: 1,000 ns at 10 Gb/s.
        assert_eq!(sent(shapers(10, 0), 1_230, SimTime::from_ps(99_999_999)), 100);
    }

    #[test]
    fn after_a_rest_it_may_send_a_burst() {
        assert_eq!(sent(shapers(10, 12_500), 1_230, SimTime::from_ps(999_999)), 11);
        assert_eq!(sent(shapers(10, 12_500), 1_230, SimTime::from_ps(99_999_999)), 110);
    }

    #[test]
    fn others_are_not_held_back() {
        let mut shapers = shapers(10, 0);
        shapers.on_sent(SimTime::ZERO, 4, 9_000);
        assert_eq!((shapers.closed(), shapers.poll_timeout()), (0, SimTime::NEVER));
        shapers.on_sent(SimTime::ZERO, 5, 1_230);
        assert_eq!((shapers.closed(), shapers.poll_timeout().ps()), (1 << 5, 1_000_000));
    }
}
