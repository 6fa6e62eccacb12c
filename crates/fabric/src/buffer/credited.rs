//! The memory of a switch of InfiniBand: a buffer for each input port and virtual lane, which nobody shares.

use rocelab_state::{State, load_value, save_value, unfit};
use rocelab_wire::CREDIT_BLOCK_LEN;

use super::{Admission, Arrival, BufferPolicy, Departure, DropReason, MemoryParts, Occupancy};
use crate::flow_control::{DATA_LANES, blocks_of, counted_blocks_of};

/// Bytes of a block.
#[expect(clippy::cast_possible_truncation, reason = "64")]
const BLOCK: u32 = CREDIT_BLOCK_LEN as u32;

/// Buffers by input port and lane, in blocks of 64 bytes. A frame that there is no room for is dropped, which never happens
/// where senders have the credits that flow control gave them.
#[derive(Clone, Debug)]
pub struct CreditedBuffer {
    /// By ingress port x 8 + lane, in blocks.
    held: Vec<u16>,
    /// By ingress port x 8 + lane, in blocks.
    size: Vec<u16>,
}

impl CreditedBuffer {
    /// Empty buffers of these sizes, by ingress port and lane (blocks).
    pub fn new(sizes: &[[u16; DATA_LANES]]) -> Self {
        let size = sizes.concat();
        Self { held: vec![0; size.len()], size }
    }
}

fn place(ingress: u16, lane: u8) -> usize {
    usize::from(ingress) * DATA_LANES + usize::from(lane)
}

impl State for CreditedBuffer {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        save_value(&self.held, to)
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        let held: Vec<u16> = load_value(from)?;
        if held.len() != self.size.len() {
            return Err(unfit("the buffers of a switch"));
        }
        self.held = held;
        Ok(())
    }
}

impl BufferPolicy for CreditedBuffer {
    fn admit(&mut self, arrival: Arrival) -> Admission {
        let place = place(arrival.ingress, arrival.priority);
        let (held, size) = (self.held[place], self.size[place]);
        match held.checked_add(counted_blocks_of(arrival.len)).filter(|&sum| sum <= size) {
            Some(sum) => {
                self.held[place] = sum;
                Admission::Stored
            }
            None => Admission::Dropped(DropReason::CreditsExceeded {
                used: u32::from(held) * BLOCK,
                len: arrival.len,
                limit: u32::from(size) * BLOCK,
            }),
        }
    }

    fn release(&mut self, departure: Departure) -> bool {
        let place = place(departure.ingress, departure.priority);
        self.held[place] = self.held[place].saturating_sub(counted_blocks_of(departure.len));
        false
    }

    fn held(&self, ingress: u16, priority: u8) -> u32 {
        u32::from(self.held[place(ingress, priority)]) * BLOCK
    }

    fn held_by_egress(&self, _ingress: u16, _priority: u8) -> Option<&[u32]> {
        None
    }

    fn follow(&mut self, _ingress: u16, _priority: u8, _held: Box<[u32]>) {}

    fn stored(&self) -> u64 {
        self.held.iter().map(|&blocks| u64::from(blocks) * u64::from(BLOCK)).sum()
    }

    fn occupancy(&self, ingress: u16, priority: u8) -> Occupancy {
        Occupancy { stored: self.held(ingress, priority), ..Occupancy::default() }
    }

    fn in_use(&self) -> MemoryParts {
        MemoryParts { shared: self.stored(), headroom: 0 }
    }

    fn sizes(&self) -> MemoryParts {
        let all = self.size.iter().map(|&blocks| u64::from(blocks) * u64::from(BLOCK)).sum();
        MemoryParts { shared: all, headroom: 0 }
    }

    fn memory_of(&self, len: u32) -> u32 {
        blocks_of(len) * BLOCK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_input_and_lane_has_its_own() {
        let mut buffer =
            CreditedBuffer::new(&[[130, 0, 0, 0, 0, 0, 0, 0], [65, 65, 0, 0, 0, 0, 0, 0]]);
        let arrival = |ingress, priority| Arrival {
            ingress,
            egress: 0,
            priority,
            len: 4124,
            egress_queue: 0,
        };
        for (ingress, lane) in [(0, 0), (0, 0), (1, 0), (1, 1)] {
            assert_eq!(buffer.admit(arrival(ingress, lane)), Admission::Stored);
        }
        assert_eq!(
            (buffer.held(0, 0), buffer.stored(), buffer.in_use()),
            (8320, 16_640, buffer.sizes())
        );
        assert!(buffer.admit(arrival(1, 0)).exceeds_headroom());
        buffer.release(Departure { ingress: 1, egress: 0, priority: 0, len: 4124 });
        assert_eq!(buffer.admit(arrival(1, 0)), Admission::Stored);
    }
}
