//! The duration of a flow, and its payload in that time.

use std::time::Duration;

/// The time from a flow's first packet to its last.
///
/// A capture gives each frame one time, either of its beginning or of its end. Between the first
/// and the last time, all frames but one have passed: all but the last if times are of beginnings,
/// all but the first if they are of ends. So the larger of these two is not counted, and no rate is
/// above that of the link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) first: Duration,
    pub(super) last: Duration,
    /// New payload of packets with the first time, in bytes.
    at_first: u64,
    /// New payload of packets with the last time, in bytes.
    at_last: u64,
    /// All new payload, in bytes.
    bytes: u64,
}

impl Span {
    /// Starts with a packet.
    pub(super) fn at(time: Duration) -> Self {
        Self { first: time, last: time, ..Self::default() }
    }

    /// Extends the span to a packet's time.
    pub(super) fn extend(&mut self, time: Duration) {
        if time > self.last {
            (self.last, self.at_last) = (time, 0);
        }
    }

    /// Adds a packet's new payload, in bytes.
    pub(super) fn add(&mut self, time: Duration, payload: u64) {
        self.bytes += payload;
        if time == self.first {
            self.at_first += payload;
        }
        if time == self.last {
            self.at_last += payload;
        }
    }

    /// New payload divided by time, in bit/s; `None` if the time is zero, or all payload is at one
    /// end.
    pub(super) fn rate_bps(&self) -> Option<u64> {
        let ns = self.last.saturating_sub(self.first).as_nanos();
        let bytes = self.bytes - self.at_first.max(self.at_last);
        let rate = (u128::from(bytes) * 8 * 1_000_000_000).checked_div(ns)?;
        u64::try_from(rate).ok().filter(|_| bytes > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets without gaps between them: the rate is one packet's payload divided by its time.
    #[test]
    fn a_saturated_link_has_the_rate_of_one_packet_by_its_time() {
        for packets in 2..20_u64 {
            let mut span = Span::at(Duration::from_nanos(500));
            for number in 0..packets {
                let time = Duration::from_nanos(500 + 100 * number);
                span.extend(time);
                span.add(time, 1_000);
            }
            assert_eq!(span.rate_bps(), Some(80_000_000_000), "{packets} packets");
        }
    }

    #[test]
    fn whichever_end_the_times_are_of_the_rate_is_not_above_the_link() {
        // At 8 Gb/s, a byte takes 1 ns.
        for sizes in [[4_000, 100], [100, 4_000]] {
            for shift in [0, 1] {
                let mut span =
                    Span::at(Duration::from_nanos(if shift == 1 { sizes[0] } else { 0 }));
                let mut now = 0;
                for size in sizes {
                    let time = Duration::from_nanos(now + shift * size);
                    span.extend(time);
                    span.add(time, size);
                    now += size;
                }
                assert!(span.rate_bps() <= Some(8_000_000_000), "{sizes:?} {shift}");
            }
        }
        assert_eq!(Span::at(Duration::ZERO).rate_bps(), None);
        // Only one of the two packets has payload, so it is unknown how long that took.
        let mut span = Span::at(Duration::ZERO);
        span.add(Duration::ZERO, 4_000);
        span.extend(Duration::from_nanos(100));
        assert_eq!(span.rate_bps(), None);
    }
}
