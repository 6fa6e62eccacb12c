//! The receiving end of a flow.

use rocelab_units::{Duration, SimTime};

use super::Config;
use super::packet::Kind;

/// The least time between two NACKs for the same gap.
const NACK_INTERVAL: Duration = Duration::from_us(500);

/// What the receiving end of a flow knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct Receiver {
    /// The byte expected next.
    expected: u32,
    /// The gap that the last NACK was about.
    last_nack: u32,
    /// No NACK about the same gap before.
    next_nack: SimTime,
    /// The most that `expected` has been: what is before was delivered.
    delivered: u32,
}

impl Default for Receiver {
    fn default() -> Self {
        Self { expected: 0, last_nack: 0, next_nack: SimTime::ZERO, delivered: 0 }
    }
}

impl Receiver {
    /// The byte expected next.
    #[inline]
    pub const fn expected(&self) -> u32 {
        self.expected
    }

    /// Payload delivered so far, each byte once.
    #[inline]
    pub const fn delivered(&self) -> u32 {
        self.delivered
    }

    /// The flow has completed: what still arrives of it finds a state like that of a new flow.
    pub fn forget(&mut self) {
        *self = Self { delivered: self.delivered, ..Self::default() };
    }

    /// A data packet of `payload_len` bytes from `sequence` on: which answer leaves, if any. Its
    /// sequence number is then [`expected`](Self::expected).
    #[inline]
    pub fn receive(
        &mut self,
        now: SimTime,
        sequence: u32,
        payload_len: u16,
        config: &Config,
    ) -> Option<Kind> {
        if sequence == self.expected {
            self.expected = self.expected.wrapping_add(u32::from(payload_len));
            self.delivered = self.delivered.max(self.expected);
            let acknowledged = self.expected >= config.ack_interval_bytes
                || self.expected.checked_rem(config.chunk_bytes) == Some(0);
            return acknowledged.then_some(Kind::Ack);
        }
        if sequence < self.expected {
            return None;
        }
        self.on_gap(now, config)
    }

    #[cold]
    fn on_gap(&mut self, now: SimTime, config: &Config) -> Option<Kind> {
        if now < self.next_nack && self.last_nack == self.expected {
            return None;
        }
        self.next_nack = now + NACK_INTERVAL;
        self.last_nack = self.expected;
        if config.back_to_chunk {
            self.expected = chunk_start(self.expected, config.chunk_bytes);
        }
        Some(Kind::Nack)
    }
}

/// The start of the chunk that `sequence` is in.
pub(super) fn chunk_start(sequence: u32, chunk_bytes: u32) -> u32 {
    sequence - sequence.checked_rem(chunk_bytes).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use rocelab_units::Bandwidth;

    use super::*;
    use crate::Algorithm;

    fn config(chunk_bytes: u32, ack_interval_bytes: u32, back_to_chunk: bool) -> Config {
        Config {
            payload_bytes: 1_000,
            chunk_bytes,
            back_to_chunk,
            ack_interval_bytes,
            scale_window: false,
            pace_at_rate: true,
            ack_priority: 3,
            algorithm: Algorithm::None(Default::default()),
            sampled_acks: 0,
            serialisation: |bytes, rate: Bandwidth| {
                rate.transmission_time(rocelab_units::Bytes::new(u64::from(bytes)))
            },
        }
    }

    const fn at(us: u64) -> SimTime {
        SimTime::from_ps(us * 1_000_000)
    }

    #[test]
    fn packets_in_order_are_acknowledged_from_the_interval_on_and_at_chunks() {
        let config = config(2_000, 3_500, false);
        let mut receiver = Receiver::default();
        let answers: Vec<_> =
            (0..5).map(|k| receiver.receive(at(1), 1_000 * k, 1_000, &config)).collect();
        // 1000 neither, 2000 a chunk, 3000 neither, 4000 and 5000 beyond the interval.
        let ack = Some(Kind::Ack);
        assert_eq!(answers, [None, ack, None, ack, ack]);
        assert_eq!((receiver.expected(), receiver.delivered()), (5_000, 5_000));
    }

    #[test]
    fn a_gap_is_reported_once_in_500_us_and_duplicates_never() {
        let config = config(4_000, 1, false);
        let mut receiver = Receiver::default();
        assert_eq!(receiver.receive(at(1), 0, 1_000, &config), Some(Kind::Ack));
        assert_eq!(receiver.receive(at(2), 2_000, 1_000, &config), Some(Kind::Nack));
        assert_eq!(receiver.receive(at(501), 3_000, 1_000, &config), None);
        assert_eq!(receiver.receive(at(502), 4_000, 1_000, &config), Some(Kind::Nack));
        assert_eq!(receiver.receive(at(503), 0, 1_000, &config), None);
        assert_eq!(receiver.receive(at(504), 1_000, 1_000, &config), Some(Kind::Ack));
        // Another gap is reported at once.
        assert_eq!(receiver.receive(at(505), 3_000, 1_000, &config), Some(Kind::Nack));
    }

    #[test]
    fn a_loss_sets_the_receiver_back_to_its_chunk_but_delivers_nothing_twice() {
        let config = config(4_000, 1, true);
        let mut receiver = Receiver::default();
        for k in 0..6 {
            receiver.receive(at(1), 1_000 * k, 1_000, &config);
        }
        assert_eq!(receiver.receive(at(7), 7_000, 1_000, &config), Some(Kind::Nack));
        assert_eq!((receiver.expected(), receiver.delivered()), (4_000, 6_000));
        receiver.receive(at(8), 4_000, 1_000, &config);
        assert_eq!((receiver.expected(), receiver.delivered()), (5_000, 6_000));
        receiver.forget();
        assert_eq!((receiver.expected(), receiver.delivered()), (0, 6_000));
    }
}
