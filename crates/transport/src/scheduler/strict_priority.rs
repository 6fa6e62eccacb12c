//! The highest priority that has anything to send, of all stacks; equal shares among stacks with the
//! same. Lower ones wait as long as it takes (IEEE 802.1Q, strict priority).

use super::{Offer, STACKS, Schedule, Turn, round_robin};

/// What it remembers.
#[derive(Debug)]
pub(super) struct Scheduler {
    /// Between stacks that have data of the same priority.
    equals: round_robin::Scheduler,
}

rocelab_state::state!(Scheduler { states: equals });

impl Scheduler {
    pub(super) const fn new() -> Self {
        Self { equals: round_robin::Scheduler::new() }
    }
}

impl Schedule for Scheduler {
    fn next(&mut self, offers: &[Offer; STACKS]) -> Option<Turn> {
        let data = offers.iter().fold(0, |all, offer| all | offer.data);
        let highest = data.checked_ilog2().map_or(0, |priority| 1 << priority);
        let of_it = offers.map(|offer| Offer { data: offer.data & highest, ..offer });
        let turn = self.equals.next(&of_it)?;
        let is_control = of_it[turn.stack].control != 0;
        Some(if is_control { turn } else { Turn { priorities: highest, ..turn } })
    }

    fn minds_priorities(&self) -> bool {
        true
    }
}
