//! The packets of a message: first, middles, last, or only.

use crate::scenario::Verb;
use rocelab_wire::Opcode;

/// A message of at least one byte.
pub(super) struct Message {
    verb: Verb,
    bytes: u64,
    path_mtu: u64,
}

/// Packets of equal length that follow each other.
pub(super) struct Segment {
    pub(super) opcode: Opcode,
    /// Payload bytes of each packet.
    pub(super) payload: u64,
    pub(super) count: u64,
    /// How many packets of the message are before these.
    before: u64,
    ends_message: bool,
}

/// Which packets of a segment are acknowledged: `first`, and every `step`-th after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Selection {
    pub(super) first: u64,
    pub(super) step: u64,
}

impl Message {
    pub(super) fn new(verb: Verb, bytes: u64, path_mtu: u64) -> Self {
        Self { verb, bytes, path_mtu }
    }

    pub(super) fn segments(&self) -> Vec<Segment> {
        let [first, middle, last, only] = self.opcodes();
        let packets = self.bytes.div_ceil(self.path_mtu).max(1);
        if packets == 1 {
            return vec![self.segment(only, self.bytes, 0, 1, true)];
        }
        let rest = self.bytes - (packets - 1) * self.path_mtu;
        let mut segments = vec![self.segment(first, self.path_mtu, 0, 1, false)];
        if packets > 2 {
            segments.push(self.segment(middle, self.path_mtu, 1, packets - 2, false));
        }
        segments.push(self.segment(last, rest, packets - 1, 1, true));
        segments
    }

    fn segment(
        &self,
        opcode: Opcode,
        payload: u64,
        before: u64,
        count: u64,
        ends_message: bool,
    ) -> Segment {
        Segment { opcode, payload, count, before, ends_message }
    }

    fn opcodes(&self) -> [Opcode; 4] {
        use Opcode as O;
        match self.verb {
            Verb::Send => [O::RcSendFirst, O::RcSendMiddle, O::RcSendLast, O::RcSendOnly],
            Verb::Write => {
                [O::RcRdmaWriteFirst, O::RcRdmaWriteMiddle, O::RcRdmaWriteLast, O::RcRdmaWriteOnly]
            }
            Verb::WriteWithImmediate => [
                O::RcRdmaWriteFirst,
                O::RcRdmaWriteMiddle,
                O::RcRdmaWriteLastWithImmediate,
                O::RcRdmaWriteOnlyWithImmediate,
            ],
            Verb::Read => [
                O::RcRdmaReadResponseFirst,
                O::RcRdmaReadResponseMiddle,
                O::RcRdmaReadResponseLast,
                O::RcRdmaReadResponseOnly,
            ],
        }
    }
}

impl Segment {
    /// The packets that ask for an acknowledgement: every `interval`-th of the message, and its
    /// last.
    pub(super) fn acknowledged(&self, interval: u64) -> Selection {
        if self.ends_message {
            return Selection { first: self.count - 1, step: 1 };
        }
        Selection { first: interval - 1 - self.before % interval, step: interval }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_first_middles_last() {
        let shape = |bytes| {
            let segments = Message::new(Verb::Write, bytes, 1024).segments();
            segments.iter().map(|s| (s.count, s.payload)).collect::<Vec<_>>()
        };
        assert_eq!(shape(1), [(1, 1)]);
        assert_eq!(shape(1024), [(1, 1024)]);
        assert_eq!(shape(1025), [(1, 1024), (1, 1)]);
        assert_eq!(shape(4096), [(1, 1024), (2, 1024), (1, 1024)]);
    }

    #[test]
    fn every_nth_packet_and_the_last_ask_for_an_acknowledgement() {
        let segments = Message::new(Verb::Send, 10 * 256, 256).segments();
        let asked =
            |interval| segments.iter().map(|s| s.acknowledged(interval)).collect::<Vec<_>>();
        let of = |first, step| Selection { first, step };
        assert_eq!(asked(1), [of(0, 1), of(0, 1), of(0, 1)]);
        // Packets 3, 6 and 9 of 10; the middles start with packet 2.
        assert_eq!(asked(3), [of(2, 3), of(1, 3), of(0, 1)]);
    }
}
