//! One level of the timing wheel: a ring of slots with a bitmap of those that hold something.

/// Slots of a level.
pub(crate) const SLOTS: usize = 4096;
const WORDS: usize = SLOTS / 64;

/// A ring of slots. A slot is named by its absolute number, counted from time zero; the ring holds
/// the `SLOTS` numbers from the one being served on.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    slots: Box<[Vec<T>]>,
    /// Bit s % 64 of word s / 64: slot s holds something.
    occupied: [u64; WORDS],
    /// Bit w: word w is not zero.
    summary: u64,
}

impl<T> Slots<T> {
    pub(crate) fn new() -> Self {
        Self { slots: (0..SLOTS).map(|_| Vec::new()).collect(), occupied: [0; WORDS], summary: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, number: u64, item: T) {
        let index = index(number);
        self.slots[index].push(item);
        self.occupied[index / 64] |= 1 << (index % 64);
        self.summary |= 1 << (index / 64);
    }

    /// Exchanges a slot's items for those of `items`, which is empty but keeps its memory.
    #[inline]
    pub(crate) fn swap(&mut self, number: u64, items: &mut Vec<T>) {
        let index = index(number);
        std::mem::swap(&mut self.slots[index], items);
        self.occupied[index / 64] &= !(1 << (index % 64));
        if self.occupied[index / 64] == 0 {
            self.summary &= !(1 << (index / 64));
        }
    }

    /// Returns the memory of an emptied slot.
    pub(crate) fn give_back(&mut self, number: u64, memory: Vec<T>) {
        let slot = &mut self.slots[index(number)];
        if slot.capacity() == 0 {
            *slot = memory;
        }
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
