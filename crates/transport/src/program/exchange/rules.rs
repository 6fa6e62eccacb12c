//! How the ranks of a collective operation use their connections.

use rocelab_collective::Protocol;
use rocelab_units::{Bandwidth, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How messages use the queue pairs of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Split {
    /// Each message goes over one queue pair, the next message over the next one.
    #[default]
    #[serde(rename = "round-robin")]
    RoundRobin,
    /// Each message is cut over all queue pairs, in multiples of 128 bytes. A queue pair for which nothing is left sends an
    /// empty message.
    #[serde(rename = "all")]
    All,
}

/// What holds for every rank of an operation.
#[derive(Clone, Debug)]
pub(in crate::program) struct Rules {
    /// How fast a lane adds up what has arrived; `None`: in no time.
    pub(in crate::program) reduce_rate: Option<Bandwidth>,
    /// Whether a message is sent only when its receiver has said that it is ready.
    pub(in crate::program) receiver_ready: bool,
    /// Messages to a lane of another rank that are not completed, at most; and messages that a lane has room for from each.
    pub(in crate::program) window: u64,
    /// Queue pairs of a connection and channel, at least 1.
    pub(in crate::program) queue_pairs: u32,
    /// How messages use them.
    pub(in crate::program) split: Split,
    /// How data are laid out on the wire.
    pub(in crate::program) protocol: Protocol,
}

/// Pieces of a message are multiples of it, but for the last one (bytes).
const PIECE_UNIT: u32 = 128;

impl Rules {
    /// Pieces of each message.
    pub(in crate::program) fn pieces(&self) -> u64 {
        match self.split {
            Split::RoundRobin => 1,
            Split::All => self.queue_pairs.into(),
        }
    }

    /// Bytes of one of the pieces of a message.
    pub(in crate::program) fn piece(&self, bytes: u32, piece: u64) -> u32 {
        let pieces = self.pieces();
        if pieces == 1 {
            return bytes;
        }
        let unit = u64::from(PIECE_UNIT);
        let each = u64::from(bytes).div_ceil(pieces).next_multiple_of(unit);
        let rest = u64::from(bytes).saturating_sub(each * piece);
        u32::try_from(rest.min(each)).unwrap_or(u32::MAX)
    }

    /// Bytes that are posted for so many bytes of data. Scenarios whose messages would be too long are refused.
    pub(in crate::program) fn posted(&self, data: u64) -> u32 {
        u32::try_from(self.protocol.wire_bytes(data)).unwrap_or(u32::MAX)
    }

    /// The queue pair, among all of a pair of ranks, for piece number `number` of a lane that is of `channel`.
    pub(in crate::program) fn queue_pair(&self, channel: u32, number: u64) -> u32 {
        let within = number % u64::from(self.queue_pairs);
        channel * self.queue_pairs + u32::try_from(within).unwrap_or(0)
    }

    /// How long it takes to add up so many bytes.
    pub(in crate::program) fn reduction(&self, bytes: u64) -> Duration {
        self.reduce_rate.map_or(Duration::ZERO, |rate| rate.transmission_time(Bytes::new(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(queue_pairs: u32, split: Split) -> Rules {
        Rules {
            reduce_rate: None,
            receiver_ready: false,
            window: u64::MAX,
            queue_pairs,
            split,
            protocol: Protocol::Simple,
        }
    }

    #[test]
    fn a_message_is_cut_over_all_queue_pairs() {
        let rules = rules(4, Split::All);
        let cut = |bytes| -> Vec<u32> { (0..4).map(|piece| rules.piece(bytes, piece)).collect() };
        assert_eq!(cut(1_000), [256, 256, 256, 232]);
        assert_eq!(cut(129), [128, 1, 0, 0]);
        assert_eq!(cut(0), [0; 4]);
        let used: Vec<_> = (4..8).map(|number| rules.queue_pair(2, number)).collect();
        assert_eq!(used, [8, 9, 10, 11]);
    }

    #[test]
    fn messages_take_turns() {
        let rules = rules(2, Split::RoundRobin);
        assert_eq!((rules.pieces(), rules.piece(1_000, 0)), (1, 1_000));
        let used: Vec<_> = (0..4).map(|number| rules.queue_pair(1, number)).collect();
        assert_eq!(used, [2, 3, 2, 3]);
    }
}
