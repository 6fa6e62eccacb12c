//! ACKs and NACKs on their way out.

use std::collections::VecDeque;

use rocelab_wire::IntHeader;

use super::packet::Packet;

/// An ACK or NACK that waits, or a packet that leaves.
#[derive(Clone, Copy, Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct Answer {
    pub(super) packet: Packet,
    pub(super) destination: u32,
    pub(super) ports: u32,
}

/// First in, first out.
#[derive(Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct Answers {
    waiting: VecDeque<Answer>,
    /// The telemetry of those that wait or have just left, where there is any.
    telemetry: VecDeque<IntHeader>,
}

impl Answers {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// One more waits, with the telemetry that it brings back.
    pub(super) fn push(&mut self, answer: Answer, telemetry: Option<&IntHeader>) {
        self.waiting.push_back(answer);
        self.telemetry.extend(telemetry);
    }

    /// The next one.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Answer> {
        self.waiting.pop_front()
    }

    /// The telemetry of the one that left last.
    #[inline]
    pub(super) fn take_telemetry(&mut self) -> IntHeader {
        self.telemetry.pop_front().unwrap_or_default()
    }
}
