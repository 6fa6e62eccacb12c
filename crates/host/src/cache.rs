//! A cache of the NIC: contexts of queue pairs, or translations of pages.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use rocelab_state::{BorshDeserialize, BorshSerialize};

/// Entries in sets, by the number of what is cached, each replaced within its set.
///
/// Of things that are used one after the other, more than there are entries, a cache that forgets what was used longest
/// ago keeps none, and one that forgets at random keeps a share. Measured curves have a slope and no cliff (Kalia et al.,
/// "Datacenter RPCs can be general and fast", NSDI 2019, figure 1).
#[derive(Clone, Debug)]
pub struct ContextCache {
    /// What each entry holds; [`EMPTY`] if nothing.
    held: Vec<u32>,
    sets: u32,
    replacement: Replacement,
    seed: u64,
    counts: CacheCounts,
    /// Misses in which nobody asked.
    unasked: u64,
}

rocelab_state::state!(ContextCache { values: held, counts, unasked; kept: sets, replacement, seed });

/// What an entry is forgotten by, of those of a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replacement {
    /// Any.
    #[default]
    Random,
    /// That which was used longest ago.
    LeastRecentlyUsed,
}

/// How often a cache was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct CacheCounts {
    /// It had what was asked for.
    pub hits: u64,
    /// It had not, and has it now.
    pub misses: u64,
}

const EMPTY: u32 = u32::MAX;
/// Entries of a set, about.
const WAYS: u32 = 8;

impl ContextCache {
    /// A cache of so many entries, at least one.
    pub fn new(entries: u32, replacement: Replacement, seed: u64) -> Self {
        let entries = entries.max(1);
        Self {
            held: vec![EMPTY; entries as usize],
            sets: entries.div_ceil(WAYS),
            replacement,
            seed,
            counts: CacheCounts::default(),
            unasked: 0,
        }
    }

    /// Whether it has this; if not, it has it from now on. Numbers are below 2^32 - 1.
    pub fn has(&mut self, number: u32) -> bool {
        let set = self.set_of(number % self.sets);
        let entries = &mut self.held[set];
        if let Some(place) = entries.iter().position(|&held| held == number) {
            self.counts.hits += 1;
            if self.replacement == Replacement::LeastRecentlyUsed {
                entries[..=place].rotate_right(1);
            }
            return true;
        }
        self.counts.misses += 1;
        match self.replacement {
            Replacement::LeastRecentlyUsed => {
                entries.rotate_right(1);
                entries[0] = number;
            }
            Replacement::Random => {
                let free = entries.iter().position(|&held| held == EMPTY);
                let drawn = || {
                    let seed = self.seed.wrapping_add(self.counts.misses);
                    let drawn = SplitMix64::seed_from_u64(seed).next_u64();
                    usize::try_from(drawn % entries.len() as u64).unwrap_or(0)
                };
                let place = free.unwrap_or_else(drawn);
                entries[place] = number;
            }
        }
        false
    }

    /// It has this from now on, and nobody has asked for it.
    pub fn hold(&mut self, number: u32) {
        let before = self.counts;
        self.has(number);
        // What is drawn next is another one.
        self.counts = CacheCounts { misses: self.counts.misses, ..before };
        self.unasked += self.counts.misses - before.misses;
    }

    /// How often it was asked.
    pub const fn counts(&self) -> CacheCounts {
        CacheCounts { misses: self.counts.misses - self.unasked, ..self.counts }
    }

    /// The entries of a set: the first sets have one more if they are no multiple, so that as many consecutive numbers fit
    /// as there are entries.
    fn set_of(&self, set: u32) -> std::ops::Range<usize> {
        let entries = u32::try_from(self.held.len()).unwrap_or(u32::MAX);
        let (ways, rest) = (entries / self.sets, entries % self.sets);
        let first = set * ways + set.min(rest);
        let end = first + ways + u32::from(set < rest);
        first as usize..end as usize
    }
}
