//! What is kept of many roots, up to a bound on memory.

use std::collections::{BTreeMap, VecDeque};

use super::ground::Ground;

/// What was worked out for each key, as long as there is room: what came first goes first.
#[derive(Debug)]
pub(super) struct Kept<K, T> {
    values: BTreeMap<K, T>,
    /// The keys in the order in which they came, and what is taken to be held for each (bytes).
    order: VecDeque<(K, usize)>,
    bytes: usize,
    most_bytes: usize,
}

impl<K: Copy + Ord, T> Kept<K, T> {
    /// None yet, and never more than this, but for the last one, which stays however large it is.
    pub(super) const fn new(most_bytes: usize) -> Self {
        Self { values: BTreeMap::new(), order: VecDeque::new(), bytes: 0, most_bytes }
    }

    pub(super) fn get(&self, key: K) -> Option<&T> {
        self.values.get(&key)
    }

    /// Keeps what was worked out for a key that is not there, and gives up others for it.
    pub(super) fn insert(&mut self, key: K, value: T, bytes: usize) {
        while self.bytes + bytes > self.most_bytes
            && let Some((first, freed)) = self.order.pop_front()
        {
            self.values.remove(&first);
            self.bytes -= freed;
        }
        self.bytes += bytes;
        self.order.push_back((key, bytes));
        self.values.insert(key, value);
    }

    /// How many are kept.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }
}

/// What holds of each switch that has hosts. Equal values are there once: in a regular topology they are few.
#[derive(Debug)]
pub(super) struct PerSwitch<T> {
    values: Vec<T>,
    /// By the place of the switch among those with hosts; [`NOTHING`] where there is none.
    places: Vec<u32>,
}

const NOTHING: u32 = u32::MAX;

impl<T> PerSwitch<T> {
    /// By what `of` says of a switch, by its place among all switches; `value` makes of that what is kept.
    pub(super) fn new<N: Copy + Ord>(
        ground: &Ground,
        of: impl Fn(usize) -> Option<N>,
        value: impl Fn(N) -> T,
    ) -> Self {
        let mut known: BTreeMap<N, u32> = BTreeMap::new();
        let mut values = Vec::new();
        let mut place_of = |name: N| {
            *known.entry(name).or_insert_with(|| {
                values.push(value(name));
                u32::try_from(values.len() - 1).expect("they are no more than the switches")
            })
        };
        let places = ground.switches_with_hosts();
        let places = places.map(|switch| of(switch).map_or(NOTHING, &mut place_of)).collect();
        Self { values, places }
    }

    /// Of a switch, by its place among those with hosts.
    pub(super) fn get(&self, place: usize) -> Option<&T> {
        self.values.get(*self.places.get(place)? as usize)
    }

    /// Bytes that are held, where a value holds so many.
    pub(super) fn bytes(&self, of_value: impl Fn(&T) -> usize) -> usize {
        let values: usize = self.values.iter().map(of_value).sum();
        size_of::<Self>() + self.places.len() * size_of::<u32>() + values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_first_goes_first_and_the_last_one_stays() {
        let mut kept = Kept::new(10);
        for key in [3, 1, 2] {
            kept.insert(key, key * 100, 4);
        }
        assert_eq!([1, 2, 3].map(|key| kept.get(key).copied()), [Some(100), Some(200), None]);
        kept.insert(7, 700, 50);
        assert_eq!((kept.get(7), kept.len()), (Some(&700), 1));
        kept.insert(8, 800, 10);
        assert_eq!((kept.get(7), kept.get(8)), (None, Some(&800)));
    }
}
