//! One level of the timing wheel: a ring of bins, and a bitmap of those that hold something.
//!
//! A bin is a bag: what comes into it goes behind what came before, in blocks out of one store that all
//! levels share, so that events which happen at about the same time are beside each other in memory. They are
//! put in order as they are taken out, by counting where most have a place of their own.

use crate::{EventKey, Place, Scheduled, ask_for_large_pages};

/// Events of a block.
const BLOCK: u32 = 16;
/// No block.
const NONE: u32 = u32::MAX;
/// Events of a bin that there is room for from the start, where they are put in order: without it such lists grow late
/// and little by little, as a bin holds more than any before.
pub(crate) const ROOM: usize = 256;
/// Up to so many events are put in order as they come.
const FEW: usize = 12;
/// Up to so many are counted in few parts of a bin's time.
const SOME: usize = 32;

/// Blocks of events, and places for more.
#[derive(Debug)]
pub(crate) struct Blocks<E> {
    /// Block after block.
    events: Vec<Scheduled<E>>,
    /// For each block, the one that was filled before it for the same bin; or the next free one.
    before: Vec<u32>,
    /// The block that was left last, and through it those before.
    free: u32,
    /// Events that are being put in order.
    unordered: Vec<Scheduled<E>>,
}

impl<E: Copy> Blocks<E> {
    pub(crate) fn new() -> Self {
        let unordered = Vec::with_capacity(ROOM);
        Self { events: Vec::new(), before: Vec::new(), free: NONE, unordered }
    }

    /// The events of a bin that [ends](Bins) there, those of a block beside each other, in no order.
    pub(crate) fn of(&self, end: u32) -> impl Iterator<Item = &Scheduled<E>> + '_ {
        let mut end = end;
        std::iter::from_fn(move || {
            let block = block_of(end);
            let before = self.before.get(block as usize)?;
            let events = &self.events[(block * BLOCK) as usize..end as usize];
            end = end_of(*before);
            Some(events)
        })
        .flatten()
    }

    /// Moves the events of a bin that was [taken](Bins::take) behind those of a list, in order. They are of one span of
    /// at most 2^`width` ps, which begins at `begin` ps.
    #[inline(always)]
    pub(crate) fn pour(
        &mut self,
        end: u32,
        (begin, width): (u64, u32),
        to: &mut Vec<Scheduled<E>>,
    ) {
        let before = to.len();
        self.pour_unordered(end, to);
        let events = &mut to[before..];
        if events.len() <= FEW {
            return order_few(events);
        }
        self.unordered.clear();
        self.unordered.extend_from_slice(events);
        if events.len() <= SOME {
            order_by_counting::<_, 16>(&self.unordered, (begin, width - 4), events);
        } else {
            order_by_counting::<_, 64>(&self.unordered, (begin, width - 6), events);
        }
    }

    /// Moves the events of a bin that was [taken](Bins::take) behind those of a list.
    #[inline(always)]
    pub(crate) fn pour_unordered(&mut self, mut end: u32, to: &mut Vec<Scheduled<E>>) {
        while end != 0 {
            let block = block_of(end);
            to.extend_from_slice(&self.events[(block * BLOCK) as usize..end as usize]);
            let before = std::mem::replace(&mut self.before[block as usize], self.free);
            self.free = block;
            end = end_of(before);
        }
    }

    /// Asks for the last block of a bin that [ends](Bins) there, ahead of its turn.
    #[inline(always)]
    pub(crate) fn prefetch(&self, end: u32) {
        let block = (end.wrapping_sub(1) / BLOCK) * BLOCK;
        Place::of_element(&self.events, block).prefetch::<8>();
    }

    /// Puts an event, made where it goes, behind those that [end](Bins) there; where they end then.
    #[inline(always)]
    pub(crate) fn push(&mut self, mut end: u32, key: EventKey, event: impl Fn() -> E) -> u32 {
        if end.is_multiple_of(BLOCK) {
            end = self.open(block_of(end), Scheduled { key, event: event() });
        }
        let place = &mut self.events[end as usize];
        (place.key, place.event) = (key, event());
        end + 1
    }

    /// The first place of a block that is behind the one of `before`, and free so far.
    #[inline(never)]
    fn open(&mut self, before: u32, filler: Scheduled<E>) -> u32 {
        let block = self.free;
        match self.before.get_mut(block as usize) {
            Some(link) => {
                self.free = std::mem::replace(link, before);
                block * BLOCK
            }
            None => self.grow(before, filler),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, before: u32, filler: Scheduled<E>) -> u32 {
        let places = self.events.len() + BLOCK as usize;
        let first = u32::try_from(places).expect("fewer than 2^32 events wait at once") - BLOCK;
        let capacity = self.events.capacity();
        self.events.resize(places, filler);
        if self.events.capacity() > capacity {
            ask_for_large_pages(&self.events);
        }
        self.before.push(before);
        first
    }
}

/// The last block of a bin that ends there.
fn block_of(end: u32) -> u32 {
    if end == 0 { NONE } else { (end - 1) / BLOCK }
}

/// Where a bin ends whose last block is full.
fn end_of(block: u32) -> u32 {
    if block == NONE { 0 } else { (block + 1) * BLOCK }
}

/// Puts few events in order.
#[inline(always)]
fn order_few<E: Copy>(events: &mut [Scheduled<E>]) {
    for end in 1..events.len() {
        let mut place = end;
        while place > 0 && events[place].key < events[place - 1].key {
            events.swap(place, place - 1);
            place -= 1;
        }
    }
}

/// Puts events into a list of as many in order, by which of `PARTS` parts of 2^`part` ps since `begin` they are of.
#[inline(always)]
fn order_by_counting<E: Copy, const PARTS: usize>(
    events: &[Scheduled<E>],
    (begin, part): (u64, u32),
    to: &mut [Scheduled<E>],
) {
    #[expect(clippy::cast_possible_truncation, reason = "its last bits are what counts")]
    let part_of =
        |event: &Scheduled<E>| (event.key.time.ps().wrapping_sub(begin) >> part) as usize % PARTS;
    let mut places = [0u32; PARTS];
    for event in events {
        places[part_of(event)] += 1;
    }
    let (mut end, mut most) = (0, 0);
    for place in &mut places {
        most = most.max(*place);
        end += std::mem::replace(place, end);
    }
    for event in events {
        let place = &mut places[part_of(event)];
        to[*place as usize] = *event;
        *place += 1;
    }
    if most as usize > FEW {
        to.sort_unstable_by_key(|scheduled| scheduled.key);
    } else {
        order_few(to);
    }
}

/// A ring of bins. A bin is named by its absolute number, counted from time zero; the ring holds as many
/// numbers as it has bins, from the one on that is served next.
#[derive(Debug)]
pub(crate) struct Bins {
    /// The place in the store behind the last event of each; 0 if it is empty.
    ends: Box<[u32]>,
    /// Bit b % 64 of word b / 64: bin b holds something.
    occupied: Box<[u64]>,
}

impl Bins {
    /// A ring of 2^`bits` bins, of at least 64.
    pub(crate) fn new(bits: u32) -> Self {
        let bins = 1_usize << bits.max(6);
        Self { ends: vec![0; bins].into(), occupied: vec![0; bins / 64].into() }
    }

    /// The number of bins.
    #[inline(always)]
    pub(crate) fn len(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Puts an event into a bin, made where it goes.
    #[inline(always)]
    pub(crate) fn push<E: Copy>(
        &mut self,
        number: u64,
        blocks: &mut Blocks<E>,
        key: EventKey,
        event: impl Fn() -> E,
    ) {
        let index = self.index(number);
        let end = self.ends[index];
        if end == 0 {
            self.occupied[index / 64] |= 1 << (index % 64);
        }
        self.ends[index] = blocks.push(end, key, event);
    }

    /// Where a bin ends; it is empty from now on.
    #[inline(always)]
    pub(crate) fn take(&mut self, number: u64) -> u32 {
        let index = self.index(number);
        self.occupied[index / 64] &= !(1 << (index % 64));
        std::mem::take(&mut self.ends[index])
    }

    /// Where a bin ends, which stays.
    pub(crate) fn end_of(&self, number: u64) -> u32 {
        self.ends[self.index(number)]
    }

    /// Where those end that hold something.
    pub(crate) fn ends(&self) -> impl Iterator<Item = u32> + '_ {
        self.ends.iter().copied().filter(|&end| end != 0)
    }

    /// The first bin from `number` on that holds something; `number` is the first of the ring.
    #[inline(always)]
    pub(crate) fn next_from(&self, number: u64) -> Option<u64> {
        let start = self.index(number);
        let here = self.occupied[start / 64] >> (start % 64);
        if here != 0 {
            return Some(number + u64::from(here.trailing_zeros()));
        }
        self.next_beyond(number, start)
    }

    /// As [`Self::next_from`], in the words after that of `start`, the place of `number`.
    #[inline(never)]
    fn next_beyond(&self, number: u64, start: usize) -> Option<u64> {
        let word = start / 64;
        let found = self.word_from(word + 1).or_else(|| self.word_from(0))?;
        let found = found * 64 + self.occupied[found].trailing_zeros() as usize;
        let distance = found.wrapping_sub(start) & (self.ends.len() - 1);
        Some(number + distance as u64)
    }

    /// The first word from `word` on that is not zero.
    fn word_from(&self, word: usize) -> Option<usize> {
        let words = self.occupied.get(word..)?;
        words.iter().position(|&word| word != 0).map(|distance| word + distance)
    }

    #[expect(clippy::cast_possible_truncation, reason = "masked to the ring's size")]
    #[inline(always)]
    fn index(&self, number: u64) -> usize {
        number as usize & (self.ends.len() - 1)
    }
}

#[cfg(test)]
mod tests;
