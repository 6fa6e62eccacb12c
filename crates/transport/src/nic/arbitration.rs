//! Which queue pair sends next, and when a queue pair wants to be woken.

use rocelab_units::SimTime;

use super::ready::ReadyRings;
use super::timers::{Timer, Timers};
use crate::queue_pair::{QueuePair, Schedule};

/// Where each queue pair of a NIC stands: in the ring of its priority, among those that wait for pacing credit,
/// or nowhere; and its timer.
///
/// The fields stand in the order of their use: what every packet touches comes first.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Arbitration {
    /// Queue pairs that wait for pacing credit. The earliest entry of each is never late, and is
    /// checked again when it expires.
    pub(super) paced: Timers,
    /// At most one live entry a queue pair, checked again when it expires.
    pub(super) timers: Timers,
    pub(super) ready: ReadyRings,
    /// How many queue pairs wait for pacing credit.
    pub(super) pacing: u32,
    /// The time of the earliest entry in `paced`, by queue pair; [`SimTime::NEVER`] if it has none.
    pub(super) paced_entries: Vec<SimTime>,
}

impl Arbitration {
    /// Makes room for queue pairs of the indices 0 to `len` - 1.
    pub(super) fn resize(&mut self, len: usize) {
        self.ready.resize(len);
        self.paced_entries.resize(len, SimTime::NEVER);
    }

    /// Takes out the queue pair that sends next, of those whose priority is not paused.
    #[inline]
    pub(super) fn pop(&mut self, paused: u8) -> Option<u32> {
        self.ready.pop(paused)
    }

    /// Bit n: priority n has queue pairs that may send.
    #[inline]
    pub(super) const fn waiting(&self) -> u8 {
        self.ready.waiting()
    }

    /// Whether a queue pair waits for pacing credit.
    #[inline]
    pub(super) const fn is_pacing(&self) -> bool {
        self.pacing > 0
    }

    /// All that may send or wait for pacing credit. In no order; one may come twice.
    pub(super) fn indices(&self) -> impl Iterator<Item = u32> + '_ {
        self.ready.indices().chain(self.paced.entries().map(|(_, index)| index))
    }

    /// Puts a queue pair where it belongs after something happened to it: into its ring, among
    /// those that wait for pacing credit, or nowhere; and arms its timer. `active` is as in
    /// [`QueuePair::may_leave`].
    #[inline]
    pub(super) fn settle(
        &mut self,
        now: SimTime,
        index: u32,
        queue_pair: &mut QueuePair,
        active: &mut u32,
    ) {
        let belongs = if !queue_pair.has_data() {
            Schedule::Idle
        } else if queue_pair.may_leave(now, active) {
            Schedule::Ready
        } else {
            Schedule::Paced
        };
        if belongs != queue_pair.schedule {
            self.forget(index, queue_pair);
            match belongs {
                Schedule::Ready => self.ready.push(queue_pair.priority(), index),
                Schedule::Paced => self.pacing += 1,
                Schedule::Idle => {}
            }
            queue_pair.schedule = belongs;
        }
        // A higher rate ends the gap sooner; if a lower one ends it later, the entry is early.
        if belongs == Schedule::Paced {
            let release = queue_pair.release();
            let entry = &mut self.paced_entries[index as usize];
            if release < *entry {
                *entry = release;
                self.paced.push(release, index);
            }
        }
        let timeout = queue_pair.poll_timeout();
        if timeout < queue_pair.timer_entry {
            queue_pair.timer_entry = timeout;
            self.timers.push(timeout, index);
        }
    }

    /// Takes a queue pair out of where it stands.
    #[inline]
    pub(super) fn forget(&mut self, index: u32, queue_pair: &QueuePair) {
        match queue_pair.schedule {
            Schedule::Ready => self.ready.remove(queue_pair.priority(), index),
            Schedule::Paced => self.pacing -= 1,
            Schedule::Idle => {}
        }
    }

    /// The next queue pair whose pacing credit has come: it is to be [settled](Self::settle).
    #[inline]
    pub(super) fn pop_released(&mut self, now: SimTime) -> Option<u32> {
        while let Some((due, index)) = self.paced.pop_due(now) {
            let entry = &mut self.paced_entries[index as usize];
            if *entry == due {
                *entry = SimTime::NEVER;
                return Some(index);
            }
        }
        None
    }

    /// The next timer that is due; it may be one that was replaced by an earlier one.
    #[inline]
    pub(super) fn pop_expired(&mut self, now: SimTime) -> Option<Timer> {
        self.timers.pop_due(now)
    }
}
