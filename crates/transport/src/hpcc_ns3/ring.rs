//! The queue pairs of a NIC, and the ring in which they are scanned.

use rocelab_units::SimTime;

use super::sender::Sender;

/// Queue pairs of flows that have started, by the number that packets carry.
#[derive(Debug)]
pub(super) struct Ring<T> {
    /// Places of finished ones are used again.
    pub(super) queue_pairs: Vec<Option<Sender<T>>>,
    pub(super) unused: Vec<u32>,
    /// Numbers of the queue pairs that are scanned, oldest first.
    pub(super) scanned: Vec<u32>,
    /// Place in the ring of the queue pair that was served last; it may have gone.
    pub(super) last: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { queue_pairs: Vec::new(), unused: Vec::new(), scanned: Vec::new(), last: 0 }
    }
}

impl<T: Copy> Ring<T> {
    /// Adds a queue pair, behind all others.
    pub(super) fn add(&mut self, sender: Sender<T>) {
        let number = match self.unused.pop() {
            Some(number) => {
                self.queue_pairs[number as usize] = Some(sender);
                number
            }
            None => {
                self.queue_pairs.push(Some(sender));
                u32::try_from(self.queue_pairs.len() - 1).unwrap_or(u32::MAX)
            }
        };
        self.scanned.push(number);
    }

    /// Whether no queue pair is scanned.
    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.scanned.is_empty()
    }

    /// The queue pair of a number that is one of this NIC's.
    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<&Sender<T>> {
        self.queue_pairs[number as usize].as_ref()
    }

    /// The same, to change.
    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Sender<T>> {
        self.queue_pairs[number as usize].as_mut()
    }

    /// The queue pair of a number that a packet carries.
    #[inline]
    pub(super) fn find_mut(&mut self, number: u32) -> Option<&mut Sender<T>> {
        self.queue_pairs.get_mut(number as usize).and_then(Option::as_mut)
    }

    /// All queue pairs, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Sender<T>> {
        self.queue_pairs.iter().flatten()
    }

    /// The queue pair that sends next, once round from the one after the last. Finished queue pairs leave the
    /// ring when a scan has come upon one.
    #[inline]
    pub(super) fn choose(&mut self, now: SimTime, paused: u8) -> Option<u32> {
        let len = self.scanned.len();
        let mut first_finished = usize::MAX;
        let mut chosen = None;
        let first = (self.last + 1).checked_rem(len).unwrap_or(0);
        for place in (first..len).chain(0..first) {
            let Some(sender) = &self.queue_pairs[self.scanned[place] as usize] else { continue };
            let may_send = paused & (1 << sender.flow.priority) == 0
                && sender.has_bytes_left()
                && !sender.is_window_bound();
            if may_send {
                if sender.next_available <= now {
                    chosen = Some(place);
                    break;
                }
            } else if sender.is_finished() {
                first_finished = first_finished.min(place);
            }
        }
        if first_finished != usize::MAX {
            chosen = self.forget_finished(first_finished, chosen);
        }
        let place = chosen?;
        self.last = place;
        Some(self.scanned[place])
    }

    /// Takes the finished queue pairs from place `first` on out of the ring; says where the
    /// chosen one is then.
    #[cold]
    fn forget_finished(&mut self, first: usize, chosen: Option<usize>) -> Option<usize> {
        let mut moved = chosen;
        let mut kept = first;
        for place in first..self.scanned.len() {
            let number = self.scanned[place];
            let finished =
                self.queue_pairs[number as usize].as_ref().is_none_or(Sender::is_finished);
            if finished {
                self.queue_pairs[number as usize] = None;
                self.unused.push(number);
                continue;
            }
            if chosen == Some(place) {
                moved = Some(kept);
            }
            self.scanned[kept] = number;
            kept += 1;
        }
        self.scanned.truncate(kept);
        moved
    }

    /// When the first queue pair with bytes left may send by its pacing.
    pub(super) fn earliest_release(&self) -> Option<SimTime> {
        let senders = self.scanned.iter().filter_map(|&number| self.get(number));
        senders.filter(|sender| sender.has_bytes_left()).map(|s| s.next_available).min()
    }
}
