//! One level of the timing wheel: a ring of slots with a bitmap of those that hold something.
//!
//! Slots are lists of small blocks from one store, and a block that is emptied is the next to be
//! filled: what the wheel touches is as large as what waits in it, and not as all slots were at
//! their fullest.

/// Slots of a level.
pub(crate) const SLOTS: usize = 4096;
const WORDS: usize = SLOTS / 64;
/// Items of a block.
const BLOCK: usize = 8;
/// No block.
const NONE: u32 = u32::MAX;

/// A ring of slots. A slot is named by its absolute number, counted from time zero; the ring holds
/// the `SLOTS` numbers from the one being served on.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    slots: Box<[Slot; SLOTS]>,
    /// Bit s % 64 of word s / 64: slot s holds something.
    occupied: [u64; WORDS],
    /// Bit w: word w is not zero.
    summary: u64,
    blocks: Vec<Block<T>>,
    /// The block that was emptied last, and through it those before.
    free: u32,
}

/// A list of blocks, all but the last of them full.
#[derive(Clone, Copy, Debug)]
struct Slot {
    first: u32,
    last: u32,
    len: u32,
}

#[derive(Debug)]
struct Block<T> {
    items: [T; BLOCK],
    next: u32,
}

impl<T: Copy> Slots<T> {
    pub(crate) fn new() -> Self {
        Self {
            slots: Box::new([Slot { first: NONE, last: NONE, len: 0 }; SLOTS]),
            occupied: [0; WORDS],
            summary: 0,
            blocks: Vec::new(),
            free: NONE,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, number: u64, item: T) {
        let index = index(number);
        let Slot { last, len, .. } = self.slots[index];
        let place = len as usize % BLOCK;
        if place == 0 {
            self.append_block(index, item);
        } else {
            self.blocks[last as usize].items[place] = item;
        }
        self.slots[index].len = len + 1;
    }

    /// Moves a slot's items behind those of `items`, in the order in which they were pushed.
    #[inline(always)] // Into the loop that serves slot after slot, whoever else calls it.
    pub(crate) fn drain(&mut self, number: u64, items: &mut Vec<T>) {
        let index = index(number);
        let Slot { first, last, len } = self.slots[index];
        if len == 0 {
            return;
        }
        let mut left = len as usize;
        let mut here = first;
        while left > 0 {
            let block = &self.blocks[here as usize];
            let count = left.min(BLOCK);
            items.extend_from_slice(&block.items[..count]);
            left -= count;
            here = block.next;
        }
        self.blocks[last as usize].next = self.free;
        self.free = first;
        self.slots[index].len = 0;
        self.occupied[index / 64] &= !(1 << (index % 64));
        if self.occupied[index / 64] == 0 {
            self.summary &= !(1 << (index / 64));
        }
    }

    /// Begins a block of a slot with `item`.
    #[inline]
    fn append_block(&mut self, index: usize, item: T) {
        let id = self.take_block(item);
        let slot = &mut self.slots[index];
        if slot.len == 0 {
            slot.first = id;
            self.occupied[index / 64] |= 1 << (index % 64);
            self.summary |= 1 << (index / 64);
        } else {
            self.blocks[slot.last as usize].next = id;
        }
        slot.last = id;
    }

    #[inline]
    fn take_block(&mut self, item: T) -> u32 {
        let id = self.free;
        if id == NONE {
            return self.add_block(item);
        }
        let block = &mut self.blocks[id as usize];
        self.free = block.next;
        block.next = NONE;
        block.items[0] = item;
        id
    }

    #[cold]
    fn add_block(&mut self, item: T) -> u32 {
        let id = u32::try_from(self.blocks.len()).expect("fewer than 2^35 events wait at once");
        self.blocks.push(Block { items: [item; BLOCK], next: NONE });
        id
    }

    /// The first slot after `number` that holds something; the ring's slots all lie within one
    /// round after it, `number` itself counting as the last of them.
    #[inline]
    pub(crate) fn next_after(&self, number: u64) -> Option<u64> {
        if self.summary == 0 {
            return None;
        }
        let start = index(number + 1);
        let found = self.first_from(start).or_else(|| self.first_from(0))?;
        let distance = (found + SLOTS - start) % SLOTS;
        Some(number + 1 + distance as u64)
    }

    /// The first occupied index from `start` to the end of the ring.
    #[inline]
    fn first_from(&self, start: usize) -> Option<usize> {
        let word = start / 64;
        let here = self.occupied[word] & (u64::MAX << (start % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        let later = self.summary & u64::MAX.checked_shl(u32::try_from(word).ok()? + 1).unwrap_or(0);
        if later == 0 {
            return None;
        }
        let word = later.trailing_zeros() as usize;
        Some(word * 64 + self.occupied[word].trailing_zeros() as usize)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "masked to the ring's size")]
#[inline]
fn index(number: u64) -> usize {
    number as usize & (SLOTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_back_in_order_and_blocks_are_used_again() {
        let mut slots = Slots::new();
        let mut items = Vec::new();
        for round in 0..3 {
            let first = round * 1_000;
            for item in 0..100u64 {
                slots.push(first + item % 3, item);
            }
            for slot in 0..3 {
                items.clear();
                slots.drain(first + slot, &mut items);
                let expected: Vec<_> = (0..100).filter(|item| item % 3 == slot).collect();
                assert_eq!(items, expected);
            }
            assert_eq!(slots.next_after(first), None);
        }
        // Three slots of at most 34 items: five blocks each.
        assert_eq!(slots.blocks.len(), 15);
    }
}
