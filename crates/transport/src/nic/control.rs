//! Acknowledgements and notifications on their way out: a queue for each priority.

use std::collections::VecDeque;

use rocelab_wire::{Opcode, Syndrome};

use crate::{Counters, Transmit};

/// First in, first out within a priority; the highest priority first.
#[derive(Debug, Default)]
pub(crate) struct ControlQueues {
    queues: [VecDeque<Transmit>; 8],
    /// Bit n: priority n has packets.
    waiting: u8,
}

impl ControlQueues {
    #[inline]
    pub(crate) fn push(&mut self, transmit: Transmit) {
        let priority = transmit.packet.priority();
        self.queues[usize::from(priority)].push_back(transmit);
        self.waiting |= 1 << priority;
    }

    /// The next packet whose priority is not paused.
    #[inline]
    pub(crate) fn pop(&mut self, paused: u8) -> Option<Transmit> {
        let priority = (self.waiting & !paused).checked_ilog2()?;
        let queue = &mut self.queues[priority as usize];
        let transmit = queue.pop_front();
        if queue.is_empty() {
            self.waiting &= !(1 << priority);
        }
        transmit
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
    let kind = if transmit.packet.opcode() == Opcode::Cnp {
        &mut counters.cnps_sent
    } else if transmit.packet.aeth().is_some_and(|aeth| aeth.syndrome == Syndrome::ACK) {
        &mut counters.acks_sent
    } else {
        &mut counters.naks_sent
    };
    kind.count(transmit.frame_len);
}
