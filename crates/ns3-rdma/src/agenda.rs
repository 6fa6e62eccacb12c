//! What happens when: events in the order of their times, and of their insertion among equals.

use rocelab_engine::{EventKey, EventQueue, InsertionOrder, TieOrder};
use rocelab_units::SimTime;

/// Picoseconds in a nanosecond.
const NANOSECOND: u64 = 1_000;

/// What happens.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The application of a flow starts.
    Start { flow: u32 },
    /// It stops.
    Stop { flow: u32 },
    /// It may send a packet, or a burst.
    Send { flow: u32, serial: u32 },
    /// A port has sent a packet.
    Free { port: u32 },
    /// A packet reaches a port.
    Receive { port: u32 },
    /// A NIC was told to try to send now.
    Wake { port: u32 },
    /// A pause of a class ends.
    Resume { port: u32, class: u8, serial: u32 },
    /// Port `port` looks whether port `from` should pause its sender again.
    Check { port: u32, from: u32, class: u8, serial: u32 },
    /// A receiver may send a CNP.
    Cnp { stream: u32 },
    /// A sender's alpha decreases.
    Alpha { stream: u32, serial: u32 },
    /// A sender's rate increases.
    Increase { stream: u32, serial: u32 },
    /// A sender has waited too long for an acknowledgement.
    TimeOut { stream: u32, serial: u32 },
    /// The branch `timely` prints a queue.
    Sample,
}

/// The events that wait, and the present time.
#[derive(Debug)]
pub(crate) struct Agenda {
    pub(crate) queue: EventQueue<Event>,
    order: InsertionOrder,
    /// The present time (ns).
    pub(crate) now: u64,
    /// When the run ends (ns).
    stop: u64,
}

impl Agenda {
    pub(crate) fn new(stop: u64) -> Self {
        Self { queue: EventQueue::new(), order: InsertionOrder::default(), now: 0, stop }
    }

    /// Has an event happen at `time` (ns), not earlier than now. What would not happen before the run
    /// ends is left out.
    #[inline]
    pub(crate) fn at(&mut self, time: u64, event: Event) {
        if time < self.stop {
            let tie = self.order.reserve(&mut ());
            self.queue.push(EventKey { time: SimTime::from_ps(time * NANOSECOND), tie }, event);
        }
    }

    /// Has an event happen `delay` (ns) from now.
    #[inline]
    pub(crate) fn after(&mut self, delay: u64, event: Event) {
        self.at(self.now.saturating_add(delay), event);
    }

    /// The time of `key` is the present one.
    #[inline]
    pub(crate) const fn advance(&mut self, key: EventKey) {
        self.now = key.time.ps() / NANOSECOND;
    }

    /// The last time (ps) at which anything happens.
    pub(crate) const fn limit(&self) -> SimTime {
        SimTime::from_ps((self.stop * NANOSECOND).saturating_sub(1))
    }
}
