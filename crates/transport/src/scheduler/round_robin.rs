//! Equal shares: acknowledgements and notifications first; then the stack that has sent fewer bytes
//! since more than one has had something to send.

use super::{Offer, STACKS, Schedule, Turn};

/// What it remembers.
#[derive(Debug)]
pub(super) struct Scheduler {
    /// Bytes that each stack had sent when at most one of them last had something to send.
    since: [u64; STACKS],
}

rocelab_state::state!(Scheduler { values: since });

impl Scheduler {
    pub(super) const fn new() -> Self {
        Self { since: [0; STACKS] }
    }
}

impl Schedule for Scheduler {
    fn next(&mut self, offers: &[Offer; STACKS]) -> Option<Turn> {
        let busy = || (0..STACKS).filter(|&stack| !offers[stack].is_empty());
        if busy().count() <= 1 {
            self.since = offers.map(|offer| offer.sent);
            return busy().next().map(Turn::of);
        }
        if let Some(stack) = busy().find(|&stack| offers[stack].control != 0) {
            return Some(Turn::of(stack));
        }
        let sent = |stack: &usize| offers[*stack].sent - self.since[*stack];
        busy().rev().min_by_key(sent).map(Turn::of)
    }
}
