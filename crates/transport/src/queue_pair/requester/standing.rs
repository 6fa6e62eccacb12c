//! Why a requester does not send, and what it still has to do.

use super::Requester;
use crate::queue_pair::outstanding_work::OutstandingWork;
use crate::queue_pair::standing::Standing;
use crate::sequence::{expand, psn};

impl Requester {
    /// What keeps it from sending with `window` bytes of unacknowledged payload allowed; none if
    /// nothing does. The reasons are asked in the order of [`can_send`](Self::can_send).
    pub(in crate::queue_pair) fn waits_for(&self, window: u64) -> Option<Standing> {
        if self.messages.is_empty() {
            return Some(Standing::NoWork);
        }
        if self.window.is_parked() {
            return Some(Standing::ReceiverNotReady);
        }
        if self.messages.get(self.window.cursor).is_none() {
            return Some(Standing::Unanswered);
        }
        if self.can_send(window) {
            return None;
        }
        if self.bytes_in_flight() >= window {
            return Some(Standing::Window);
        }
        if self.window.packets_in_flight() >= self.rules.max_outstanding {
            return Some(Standing::PacketLimit);
        }
        Some(Standing::ReadLimit)
    }
    /// Work that is posted and not completed, oldest first.
    pub(in crate::queue_pair) fn outstanding(&self) -> impl Iterator<Item = OutstandingWork> + '_ {
        self.messages.iter().map(|message| OutstandingWork {
            id: message.id,
            first_psn: psn(message.first),
            end_psn: psn(message.end()),
        })
    }

    /// Whether a packet is done with: acknowledged, or, of a response, here.
    pub(in crate::queue_pair) fn is_done_with(&self, psn: u32) -> bool {
        let sequence = expand(psn, self.window.acknowledged);
        let is_answered = || self.arrivals.as_ref().is_some_and(|all| all.is_answered(sequence));
        sequence < self.window.acknowledged || is_answered()
    }
}
