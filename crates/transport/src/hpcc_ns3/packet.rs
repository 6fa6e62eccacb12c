//! What is under way between two end hosts.

use rocelab_units::SimTime;
use rocelab_wire::TelemetryUnits;

use crate::congestion_control::Feedback;

/// A data packet, ACK or NACK: 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub struct Packet {
    /// What the packet carries for its algorithm: the start of the data packet's transmission
    /// (round-trip times), or a probabilistic value. ACK and NACK carry it back. In halves, the lower one first: so the
    /// packet is aligned to 4, and an `enum` of this and a frame of another stack needs no more than 4 bytes beside it.
    carried: [u32; 2],
    /// The flow, by its number in the plan.
    pub flow: u32,
    /// The queue pair of the flow at its source.
    pub queue_pair: u32,
    /// First payload byte of a data packet; the byte expected next in an ACK or NACK.
    pub sequence: u32,
    /// Payload bytes.
    pub payload_len: u16,
    /// What it is.
    pub kind: Kind,
    class: u8,
}

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub enum Kind {
    /// Payload.
    Data,
    /// All before the sequence number arrived.
    Ack,
    /// A packet is missing from the sequence number on.
    Nack,
}

/// The priority in `class`.
const PRIORITY: u8 = 0b0111;
/// Each switch writes a word into the packet, kept beside it; its acknowledgement returns them.
const HOPS: u8 = 0b0000_1000;
/// Switches write a value into `carried`.
const VALUE: u8 = 0b0001_0000;
/// A switch marked the packet.
const MARKED: u8 = 0b0100_0000;
/// An ACK or NACK of a packet that was marked.
const ECHO: u8 = 0b1000_0000;

impl Packet {
    /// What it carries for its algorithm.
    #[must_use]
    pub const fn carried(&self) -> u64 {
        let [low, high] = self.carried;
        (high as u64) << 32 | low as u64
    }

    /// It carries this value.
    #[expect(clippy::cast_possible_truncation, reason = "the other half is beside it")]
    pub const fn carry(&mut self, value: u64) {
        self.carried = [value as u32, (value >> 32) as u32];
    }

    pub(super) const fn new(kind: Kind, flow: u32, queue_pair: u32, sequence: u32) -> Self {
        Self { carried: [0; 2], flow, queue_pair, sequence, payload_len: 0, kind, class: 0 }
    }

    pub(super) const fn with_priority(mut self, priority: u8) -> Self {
        self.class = priority & PRIORITY;
        self
    }

    /// What switches write into the packet, for the sake of this feedback.
    pub(super) const fn with_telemetry(mut self, feedback: Feedback) -> Self {
        self.class |= match feedback {
            Feedback::Telemetry(TelemetryUnits::Int(_)) => HOPS,
            Feedback::Telemetry(TelemetryUnits::Pint(_)) => VALUE,
            _ => 0,
        };
        self
    }

    /// Carries back what `packet` carried.
    pub(super) const fn answering(mut self, packet: &Self) -> Self {
        self.carried = packet.carried;
        self.class |= packet.class & (PRIORITY | HOPS | VALUE);
        if packet.is_marked() {
            self.class |= ECHO;
        }
        self
    }

    /// Whether it carries a word of each switch on its way.
    #[inline]
    #[must_use]
    pub const fn carries_hops(&self) -> bool {
        self.class & HOPS != 0
    }

    /// Whether it carries one value for its whole way.
    #[inline]
    #[must_use]
    pub const fn carries_value(&self) -> bool {
        self.class & VALUE != 0
    }

    /// Its priority, 0 to 7; also that of acknowledgements.
    #[inline]
    #[must_use]
    pub const fn priority(&self) -> u8 {
        self.class & PRIORITY
    }

    /// A switch marks it.
    #[inline]
    pub const fn mark(&mut self) {
        self.class |= MARKED;
    }

    /// Whether a switch marked it.
    #[inline]
    #[must_use]
    pub const fn is_marked(&self) -> bool {
        self.class & MARKED != 0
    }

    /// Whether it is the ACK or NACK of a marked packet.
    #[inline]
    #[must_use]
    pub const fn has_echo(&self) -> bool {
        self.class & ECHO != 0
    }

    /// The start of the data packet's transmission, where the algorithm asks for that.
    #[inline]
    #[must_use]
    pub const fn sent_at(&self) -> SimTime {
        SimTime::from_ps(self.carried())
    }
}

/// A packet that leaves, and its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The packet.
    pub packet: Packet,
    /// The host that it goes to.
    pub destination: u32,
    /// Its ports: the source port, and above it the destination port (16 bits each).
    pub ports: u32,
    /// Bytes of the frame.
    pub frame_len: u16,
}

#[cfg(test)]
mod tests {
    use rocelab_wire::IntUnits;

    use super::*;

    #[test]
    fn a_packet_is_24_bytes() {
        assert_eq!(size_of::<Packet>(), 24);
    }

    #[test]
    fn an_answer_has_its_packets_priority_and_echoes_its_mark() {
        let feedback = Feedback::Telemetry(TelemetryUnits::Int(IntUnits { multiplier: 1 }));
        let mut data = Packet::new(Kind::Data, 1, 2, 3).with_priority(5).with_telemetry(feedback);
        let answer = |data: &Packet| Packet::new(Kind::Ack, 1, 2, 4).answering(data);
        let ack = answer(&data);
        assert_eq!((ack.priority(), ack.carries_hops(), ack.has_echo()), (5, true, false));
        data.mark();
        let ack = answer(&data);
        assert_eq!((ack.is_marked(), ack.carries_value(), ack.has_echo()), (false, false, true));
    }
}
