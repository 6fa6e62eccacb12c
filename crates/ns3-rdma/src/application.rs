//! Sending applications: they push packets into the NIC, throttled by what waits there.

use crate::time::Arithmetic;
use crate::timely::TimelyRate;

/// What an application that sends in chunks may send before an answer, and with each answer (bytes).
pub(crate) const CHUNK_BYTES: u64 = 4_000_000;
/// Where jitter begins, and where it ends.
pub(crate) const JITTER: (f64, f64) = (0.45, 0.55);
/// What an application that would have to wait longer (s) does not do: send.
pub(crate) const PATIENCE: f64 = 5e-6;
/// The shortest interval between two looks at the NIC (s), before it is cut to nanoseconds.
const SHORTEST: f64 = 2.5e-7;

/// The application of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Application {
    /// Packets, and bytes, that it has made.
    pub(crate) sent: u32,
    pub(crate) sent_bytes: u64,
    /// Bytes that it may make.
    pub(crate) allowed: u64,
    /// The number of the next event that it schedules, from 1.
    pub(crate) next_serial: u32,
    /// The number of an event that was cancelled; 0 if none was.
    pub(crate) cancelled: u32,
    pub(crate) has_stopped: bool,
    /// Its rate in the branch `timely`.
    pub(crate) rate: TimelyRate,
}

impl Application {
    pub(crate) const fn new(rate: TimelyRate) -> Self {
        Self {
            sent: 0,
            sent_bytes: 0,
            allowed: CHUNK_BYTES,
            next_serial: 1,
            cancelled: 0,
            has_stopped: false,
            rate,
        }
    }

    /// Whether a chunk has room for one of its packets of `size` bytes.
    pub(crate) const fn chunk_has_room(&self, packets: u32, size: u32) -> bool {
        self.sent_bytes < self.allowed && self.sent_bytes / (size as u64) < packets as u64
    }
}

/// The shortest interval (s) between two looks at the NIC.
pub(crate) fn shortest_interval(arithmetic: Arithmetic) -> f64 {
    arithmetic.seconds(arithmetic.nanoseconds(SHORTEST))
}

/// The interval (s) after which an application looks at its NIC again, but for jitter: the time in
/// which 40 Gbit/s would send most of what waits.
#[inline]
pub(crate) fn interval(backlog: u32, shortest: f64) -> f64 {
    // The order of these operations must not change: they round.
    let time = (f64::from(backlog) * 8.0 - 12_000.0) / 40.0 / 1e9 * 0.95;
    if time > shortest { time } else { shortest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_waits_for_most_of_what_its_nic_has() {
        let shortest = shortest_interval(Arithmetic::Linux);
        assert_eq!(interval(0, shortest), 2.489_999_999_999_632e-7);
        assert!(interval(27_815, shortest) < PATIENCE);
        assert!(interval(27_817, shortest) > PATIENCE);
    }

    #[test]
    fn a_chunk_is_4_mb() {
        let mut application = Application::new(TimelyRate::default());
        assert!(application.chunk_has_room(1, 1_000));
        application.sent_bytes = 1_000;
        assert!(!application.chunk_has_room(1, 1_000));
        application.sent_bytes = CHUNK_BYTES;
        assert!(!application.chunk_has_room(9_999, 1_000));
        application.allowed += CHUNK_BYTES;
        assert!(application.chunk_has_room(9_999, 1_000));
    }
}
