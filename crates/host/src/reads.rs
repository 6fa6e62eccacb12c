//! Reads of the NIC from memory, of which only so many are outstanding.

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};

use crate::memory::MemoryPath;
use crate::pcie::{Direction, Pcie};

/// The reads of one NIC: each has a tag from its request to its last byte.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Reads {
    /// When each tag is free, in the order in which they are used.
    tags: Vec<SimTime>,
    next: u32,
}

impl Reads {
    /// So many may be outstanding, at least one.
    pub fn new(tags: u32) -> Self {
        Self { tags: vec![SimTime::ZERO; tags.max(1) as usize], next: 0 }
    }

    /// Reads so many bytes from `from` on, asked at `now`; gives when the last one is at the NIC. A place in memory is given where it matters in
    /// which page they lie.
    pub fn read(
        &mut self,
        now: SimTime,
        from: SimTime,
        (place, bytes): (Option<u64>, u64),
        link: Pcie,
        (up, down): (&mut Direction, &mut Direction),
        memory: &mut MemoryPath,
    ) -> SimTime {
        let rate = link.packet_rate();
        let mut last = from;
        let mut left = bytes;
        while left > 0 {
            let piece = left.min(link.max_read_request.into());
            let tag = &mut self.tags[self.next as usize];
            let asked = up.carry(now, from.max(*tag), link.request_bytes(piece), rate);
            let (found, walk) = match place {
                Some(place) => memory.translate(asked, place + bytes - left),
                None => (asked, Duration::ZERO),
            };
            // What memory takes is added behind, so that the link has no gaps.
            let carried = down.carry(now, found, link.completion_bytes(piece), rate);
            *tag = carried.saturating_add(link.read_latency).saturating_add(walk);
            last = *tag;
            self.next += 1;
            if self.next as usize == self.tags.len() {
                self.next = 0;
            }
            left -= piece;
        }
        last
    }
}
