//! Acknowledgements and notifications on their way out: a queue for each priority.

use std::collections::VecDeque;

use rocelab_wire::{Syndrome, TelemetryHeader};

use crate::{Content, Counters, Transmit};

/// First in, first out within a priority; the highest priority first.
#[derive(Debug, Default, borsh::BorshSerialize, borsh::BorshDeserialize)]
#[repr(C)]
pub(crate) struct ControlQueues {
    /// Bit n: priority n has packets.
    waiting: u8,
    queues: [VecDeque<Transmit>; 8],
    /// What those of these packets take along that carry telemetry, in the same order.
    telemetry: [VecDeque<TelemetryHeader>; 8],
    /// What travels beside those of these packets that have content, in the same order.
    contents: [VecDeque<Content>; 8],
    /// What the packet takes along that left last.
    departing: Option<TelemetryHeader>,
}

impl ControlQueues {
    #[inline]
    pub(crate) fn push(&mut self, transmit: Transmit) {
        let priority = transmit.packet.priority();
        self.queues[usize::from(priority)].push_back(transmit);
        self.waiting |= 1 << priority;
    }

    /// A packet that brings telemetry back.
    pub(crate) fn push_with_telemetry(&mut self, transmit: Transmit, header: TelemetryHeader) {
        debug_assert_eq!(transmit.packet.telemetry(), Some(header.kind()), "the packet says so");
        self.telemetry[usize::from(transmit.packet.priority())].push_back(header);
        self.push(transmit);
    }

    /// A packet that has content beside it.
    pub(super) fn push_with_content(&mut self, transmit: Transmit, content: Content) {
        debug_assert!(transmit.packet.has_content(), "the packet says so");
        self.contents[usize::from(transmit.packet.priority())].push_back(content);
        self.push(transmit);
    }

    /// The content of a packet that was popped last, if it has any.
    pub(super) fn content_of(&mut self, transmit: &Transmit) -> Option<Content> {
        let queue = &mut self.contents[usize::from(transmit.packet.priority())];
        if transmit.packet.has_content() { queue.pop_front() } else { None }
    }

    /// What the packet takes along that was popped last.
    pub(super) const fn take_departing(&mut self) -> Option<TelemetryHeader> {
        self.departing.take()
    }

    /// The next packet whose priority is not paused.
    #[inline]
    pub(crate) fn pop(&mut self, paused: u8) -> Option<Transmit> {
        let priority = (self.waiting & !paused).checked_ilog2()?;
        let queue = &mut self.queues[priority as usize];
        let transmit = queue.pop_front()?;
        if queue.is_empty() {
            self.waiting &= !(1 << priority);
        }
        if transmit.packet.telemetry().is_some() {
            self.departing = self.telemetry[priority as usize].pop_front();
        }
        Some(transmit)
    }

    /// All packets, the lowest priority first.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Transmit> {
        self.queues.iter().flatten()
    }

    /// Bit n: priority n has packets.
    #[inline]
    pub(super) const fn waiting(&self) -> u8 {
        self.waiting
    }
}

/// Counts a control packet that leaves.
#[inline]
pub(super) fn count(counters: &mut Counters, transmit: &Transmit) {
    let kind = if transmit.packet.opcode().is_congestion_notification() {
        &mut counters.cnps_sent
    } else if transmit.packet.has_content() {
        &mut counters.datagrams_sent
    } else if transmit.packet.aeth().is_some_and(|aeth| aeth.syndrome == Syndrome::ACK) {
        &mut counters.acks_sent
    } else {
        &mut counters.naks_sent
    };
    kind.count(transmit.frame_len);
}
