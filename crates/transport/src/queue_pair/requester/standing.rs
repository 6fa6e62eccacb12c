//! Why a requester does not send.

use super::Requester;
use crate::queue_pair::Standing;

impl Requester {
    /// What keeps it from sending with `window` bytes of unacknowledged payload allowed; none if
    /// nothing does. The reasons are asked in the order of [`can_send`](Self::can_send).
    pub(in crate::queue_pair) fn waits_for(&self, window: u64) -> Option<Standing> {
        if self.messages.is_empty() {
            return Some(Standing::NoWork);
        }
        if self.is_parked() {
            return Some(Standing::ReceiverNotReady);
        }
        if self.messages.get(self.cursor).is_none() {
            return Some(Standing::Unanswered);
        }
        if self.can_send(window) {
            return None;
        }
        if self.bytes_in_flight() >= window {
            return Some(Standing::Window);
        }
        if self.next - self.acknowledged >= self.max_outstanding {
            return Some(Standing::PacketLimit);
        }
        Some(Standing::ReadLimit)
    }
}
