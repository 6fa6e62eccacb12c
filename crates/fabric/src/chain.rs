//! Queues of packets that allocate no memory: the links between packets are in the slab that holds
//! them.

/// The index of a packet in its owner's slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct PacketId(pub u32);

impl PacketId {
    /// No packet.
    pub const NONE: Self = Self(u32::MAX);
}

/// Access to the links between packets, one for each packet of the slab.
pub trait Chain {
    /// The packet behind `id` in its queue.
    fn next(&self, id: PacketId) -> PacketId;

    /// Puts `next` behind `id`.
    fn set_next(&mut self, id: PacketId, next: PacketId);
}

/// A first-in-first-out queue of packets. A packet is in at most one queue at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fifo {
    head: PacketId,
    tail: PacketId,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { head: PacketId::NONE, tail: PacketId::NONE }
    }
}

impl Fifo {
    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == PacketId::NONE
    }

    /// The first packet, or [`PacketId::NONE`].
    #[inline]
    pub fn head(&self) -> PacketId {
        self.head
    }

    /// The last packet, or [`PacketId::NONE`].
    #[inline]
    pub fn tail(&self) -> PacketId {
        if self.is_empty() { PacketId::NONE } else { self.tail }
    }

    /// Puts `id` at the end.
    #[inline]
    pub fn push_back(&mut self, chain: &mut impl Chain, id: PacketId) {
        chain.set_next(id, PacketId::NONE);
        if self.is_empty() {
            self.head = id;
        } else {
            chain.set_next(self.tail, id);
        }
        self.tail = id;
    }

    /// Takes the first packet.
    #[inline]
    pub fn pop_front(&mut self, chain: &impl Chain) -> Option<PacketId> {
        if self.is_empty() {
            return None;
        }
        let id = self.head;
        self.head = chain.next(id);
        Some(id)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A slab that has the links only, for tests.
    #[derive(Debug)]
    pub(crate) struct Links(pub(crate) Vec<u32>);

    impl Chain for Links {
        fn next(&self, id: PacketId) -> PacketId {
            PacketId(self.0[id.0 as usize])
        }

        fn set_next(&mut self, id: PacketId, next: PacketId) {
            self.0[id.0 as usize] = next.0;
        }
    }

    #[test]
    fn first_in_first_out_also_after_running_empty() {
        let mut links = Links(vec![0; 8]);
        let mut fifo = Fifo::default();
        for round in 0..3 {
            assert_eq!(fifo.pop_front(&links), None);
            for id in 0..5 {
                fifo.push_back(&mut links, PacketId((id + round) % 8));
            }
            for id in 0..5 {
                assert_eq!(fifo.pop_front(&links), Some(PacketId((id + round) % 8)));
            }
        }
    }
}
