//! Round robin among the queue pairs that may send: one ring a priority.

const NONE: u32 = u32::MAX;

/// For each priority a doubly linked list through a table, in the order of arrival. Among the
/// priorities that are not paused, the queue pair that waits longest is next: round robin over
/// all of them, at no cost for those that are paused.
#[derive(Debug)]
#[repr(C)]
pub(super) struct ReadyRings {
    /// Bit n: priority n has queue pairs.
    waiting: u8,
    arrivals: u64,
    links: Vec<Link>,
    rings: [Ring; 8],
}

#[derive(Clone, Copy, Debug)]
struct Link {
    previous: u32,
    next: u32,
    /// When it came, in arrivals.
    arrival: u64,
}

#[derive(Clone, Copy, Debug)]
struct Ring {
    first: u32,
    last: u32,
}

impl Default for ReadyRings {
    fn default() -> Self {
        Self {
            links: Vec::new(),
            rings: [Ring { first: NONE, last: NONE }; 8],
            waiting: 0,
            arrivals: 0,
        }
    }
}

impl ReadyRings {
    /// Makes room for queue pairs 0 to `len` - 1.
    pub(super) fn resize(&mut self, len: usize) {
        self.links.resize(len, Link { previous: NONE, next: NONE, arrival: 0 });
    }

    /// Adds a queue pair that is in no ring.
    #[inline]
    pub(super) fn push(&mut self, priority: u8, index: u32) {
        let ring = &mut self.rings[usize::from(priority)];
        self.arrivals += 1;
        self.links[index as usize] =
            Link { previous: ring.last, next: NONE, arrival: self.arrivals };
        if ring.last == NONE {
            ring.first = index;
            self.waiting |= 1 << priority;
        } else {
            self.links[ring.last as usize].next = index;
        }
        ring.last = index;
    }

    /// Takes out a queue pair that is in this priority's ring.
    #[inline]
    pub(super) fn remove(&mut self, priority: u8, index: u32) {
        let Link { previous, next, .. } = self.links[index as usize];
        let ring = &mut self.rings[usize::from(priority)];
        if previous == NONE {
            ring.first = next;
        } else {
            self.links[previous as usize].next = next;
        }
        if next == NONE {
            ring.last = previous;
        } else {
            self.links[next as usize].previous = previous;
        }
        if ring.first == NONE {
            self.waiting &= !(1 << priority);
        }
    }

    /// Takes out the queue pair that waits longest in a priority that is not paused.
    #[inline]
    pub(super) fn pop(&mut self, paused: u8) -> Option<u32> {
        let mut candidates = self.waiting & !paused;
        let mut longest: Option<(u64, u8, u32)> = None;
        while candidates != 0 {
            let [priority, ..] = candidates.trailing_zeros().to_le_bytes();
            candidates &= candidates - 1;
            let first = self.rings[usize::from(priority)].first;
            let arrival = self.links[first as usize].arrival;
            if longest.is_none_or(|(earlier, ..)| arrival < earlier) {
                longest = Some((arrival, priority, first));
            }
        }
        let (_, priority, index) = longest?;
        self.remove(priority, index);
        Some(index)
    }

    /// All that are in a ring, ring by ring.
    pub(super) fn indices(&self) -> impl Iterator<Item = u32> + '_ {
        let next = |&index: &u32| self.links.get(index as usize).map(|link| link.next);
        let is_one = |index: &u32| *index != NONE;
        self.rings.iter().flat_map(move |ring| {
            let first = Some(ring.first).filter(is_one);
            core::iter::successors(first, move |index| next(index).filter(is_one))
        })
    }

    /// All that are in a ring, in the order of arrival.
    pub(super) fn in_order(&self) -> Vec<u32> {
        let mut indices: Vec<u32> = self.indices().collect();
        indices.sort_unstable_by_key(|&index| self.links[index as usize].arrival);
        indices
    }

    /// Bit n: priority n has queue pairs.
    #[inline]
    pub(super) const fn waiting(&self) -> u8 {
        self.waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rings() -> ReadyRings {
        let mut rings = ReadyRings::default();
        rings.resize(8);
        for (priority, index) in [(3, 0), (4, 1), (3, 2), (4, 3)] {
            rings.push(priority, index);
        }
        rings
    }

    #[test]
    fn order_of_arrival_across_priorities() {
        let mut rings = rings();
        let order: Vec<_> = core::iter::from_fn(|| rings.pop(0)).collect();
        assert_eq!(order, [0, 1, 2, 3]);
        assert_eq!(rings.waiting(), 0);
    }

    #[test]
    fn paused_priorities_keep_their_place() {
        let mut rings = rings();
        assert_eq!(rings.pop(1 << 3), Some(1));
        assert_eq!(rings.pop(1 << 3), Some(3));
        assert_eq!(rings.pop(1 << 3), None);
        assert_eq!(rings.pop(0), Some(0));
    }

    #[test]
    fn removal_anywhere() {
        for gone in 0..4_u32 {
            let mut rings = rings();
            rings.remove(if gone % 2 == 0 { 3 } else { 4 }, gone);
            let order: Vec<_> = core::iter::from_fn(|| rings.pop(0)).collect();
            let left: Vec<_> = (0..4).filter(|&index| index != gone).collect();
            assert_eq!(order, left);
        }
    }
}
