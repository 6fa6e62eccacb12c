//! Bins and their store, against a list of what is in them.

use std::collections::BTreeMap;

use rocelab_units::SimTime;

use super::*;
use crate::{RngStream, TieCounter};

/// Picoseconds of a bin, as a power of two.
const WIDTH: u32 = 13;

fn key(ties: &mut TieCounter, ps: u64) -> EventKey {
    EventKey { time: SimTime::from_ps(ps), tie: ties.reserve() }
}

/// Fills bins and empties them, a ring of so many at a time: events come out in order, whatever their number
/// and however they lie within their bin.
fn comes_out_in_order(seed: u64, mut within: impl FnMut(&mut RngStream) -> u64) {
    let mut random = RngStream::new(seed, "bins");
    let (mut bins, mut blocks) = (Bins::new(6), Blocks::new());
    let mut ties = TieCounter::new(0);
    for round in 0..200 {
        let first = round * 37;
        let mut expected = BTreeMap::<u64, Vec<EventKey>>::new();
        for _ in 0..random.below(2_000) {
            let number = first + random.below(64).min(random.below(64));
            let key = key(&mut ties, (number << WIDTH) + within(&mut random) % (1 << WIDTH));
            bins.push(number, &mut blocks, key, || key.time);
            expected.entry(number).or_default().push(key);
        }
        let (mut from, mut poured) = (first, Vec::new());
        for (number, mut keys) in expected {
            keys.sort_unstable();
            assert_eq!(bins.next_from(from), Some(number));
            assert_eq!(blocks.of(bins.end_of(number)).count(), keys.len());
            poured.clear();
            blocks.pour(bins.take(number), (number << WIDTH, WIDTH), &mut poured);
            assert!(poured.iter().all(|one| one.event == one.key.time));
            assert_eq!(poured.iter().map(|one| one.key).collect::<Vec<_>>(), keys);
            from = number;
        }
        assert!(bins.next_from(from).is_none() && bins.ends().count() == 0);
    }
    let most = 2_000 / BLOCK as usize + 64;
    assert!(blocks.before.len() <= most, "{} blocks: they are used again", blocks.before.len());
}

#[test]
fn bins_come_out_in_order_wherever_in_them_events_are() {
    comes_out_in_order(1, |random| random.below(1 << WIDTH));
    comes_out_in_order(2, |_| 77);
    comes_out_in_order(3, |random| random.below(3) * 4_000);
    comes_out_in_order(4, |random| random.below(1 << 6) * random.below(2));
}

#[test]
fn the_ring_has_no_end() {
    let (mut bins, mut blocks) = (Bins::new(6), Blocks::new());
    let mut ties = TieCounter::new(0);
    for first in 0..1_000 {
        for distance in [63, 8, 1] {
            bins.push(first + distance, &mut blocks, key(&mut ties, 0), || distance);
            assert_eq!(bins.next_from(first), Some(first + distance));
        }
        for distance in [1, 8, 63] {
            assert_eq!(bins.next_from(first), Some(first + distance));
            let mut events = Vec::new();
            blocks.pour_unordered(bins.take(first + distance), &mut events);
            assert_eq!(events.iter().map(|one| one.event).collect::<Vec<_>>(), [distance]);
        }
    }
}
