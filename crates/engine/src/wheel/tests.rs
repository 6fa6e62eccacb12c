//! The order of events, against that of a plain heap.

use super::*;
use crate::{RngStream, TieCounter};

/// The order that a plain binary heap gives to the same pushes.
#[derive(Default)]
struct Oracle(BinaryHeap<Reverse<EventKey>>);

/// Seeds from this one on are of queues that look far.
const FAR: u64 = 100;

/// Pops and pushes at random, comparing with the oracle. `delay` draws a delay in ps.
fn agrees(seed: u64, steps: usize, mut delay: impl FnMut(&mut RngStream) -> u64) {
    let mut random = RngStream::new(seed, "queue");
    let (mut queue, mut oracle) = (TimingWheel::new(), Oracle::default());
    if seed >= FAR {
        queue.foresee(Foresight::Three);
    }
    let mut ties = TieCounter::new(0);
    let mut now = SimTime::ZERO;
    for step in 0..steps {
        for _ in 0..=random.below(2) {
            let time = SimTime::from_ps(now.ps().saturating_add(delay(&mut random)));
            let key = EventKey { time, tie: ties.reserve() };
            queue.push(key, step);
            oracle.0.push(Reverse(key));
        }
        if random.below(3) > 0 {
            let expected = oracle.0.pop().map(|r| r.0);
            assert_eq!(queue.peek(), expected);
            if let Some(next) = expected.and_then(|key| key.time.ps().checked_sub(1)) {
                assert!(queue.pop_until(SimTime::from_ps(next)).is_none(), "not before {next}");
                // What a window leaves for the next one is not always the first of that.
                let waited = next.saturating_sub(now.ps());
                if random.below(4) == 0 {
                    let between = next - random.below(waited.min(1 << 23) + 1);
                    let key = EventKey { time: SimTime::from_ps(between), tie: ties.reserve() };
                    queue.push(key, step);
                    assert_eq!(queue.pop().map(|scheduled| scheduled.key), Some(key));
                }
            }
            if random.below(2) == 0 {
                let limit = expected.map_or(SimTime::NEVER, |key| key.time);
                assert_eq!(queue.pop_until(limit).map(|s| s.key), expected);
                now = expected.map_or(now, |key| key.time);
                continue;
            }
            assert_eq!(queue.pop().map(|s| s.key), expected);
            now = expected.map_or(now, |key| key.time);
        }
        assert_eq!(queue.len(), oracle.0.len());
    }
    while let Some(Reverse(expected)) = oracle.0.pop() {
        assert_eq!(queue.pop().map(|s| s.key), Some(expected));
    }
    assert!(queue.len() == 0 && queue.pop().is_none());
}

#[test]
fn events_stay_in_order_while_bins_change() {
    for far in [false, true] {
        let (mut queue, mut oracle) = (TimingWheel::new(), Oracle::default());
        if far {
            queue.foresee(Foresight::Three);
        }
        let mut random = RngStream::new(7, "queue");
        let mut ties = TieCounter::new(0);
        let (mut widths, mut waiting) = (vec![queue.width], 0);
        let mut push = |queue: &mut TimingWheel<()>, oracle: &mut Oracle, ps: u64| {
            let key = EventKey { time: SimTime::from_ps(ps), tie: ties.reserve() };
            queue.push(key, ());
            oracle.0.push(Reverse(key));
        };
        for _ in 0..50_000 {
            push(&mut queue, &mut oracle, random.below(5_000_000));
        }
        // Fifty thousand wait, ten a nanosecond, and then fewer and fewer.
        for step in 0..400_000 {
            let popped = queue.pop().map(|scheduled| scheduled.key);
            assert_eq!(popped, oracle.0.pop().map(|key| key.0));
            let Some(now) = popped else { break };
            if step < 250_000 || random.below(100) < 70 {
                push(&mut queue, &mut oracle, now.time.ps() + random.below(5_000_000));
            }
            if widths.last() != Some(&queue.width) {
                widths.push(queue.width);
                waiting = waiting.max(queue.len());
            }
        }
        assert_eq!(widths, [14, 11, 12]);
        assert!(waiting > 10_000, "{waiting} at a change");
    }
}

#[test]
fn bins_are_as_wide_as_is_good() {
    let mut queue = TimingWheel::new();
    let mut ties = TieCounter::new(0);
    let dense = (0..400_000).map(|event| event * 20);
    let sparse = (0..40_000).map(|event| 8_000_000 + event * 2_000);
    let times: Vec<SimTime> = dense.chain(sparse).map(SimTime::from_ps).collect();
    for &time in &times {
        queue.push(EventKey { time, tie: ties.reserve() }, ());
    }
    let mut widths = Vec::new();
    for &time in &times {
        assert_eq!(queue.pop().map(|scheduled| scheduled.key.time), Some(time));
        widths.push(queue.width);
    }
    widths.dedup();
    assert_eq!(widths, [14, 9, 10, 11, 12, 13, 14]);
}

#[test]
fn agrees_with_a_heap_on_link_and_timer_delays() {
    const DELAYS: [u64; 8] = [0, 84_480, 320_000, 1_000_000, 1_000_000, 55_000_000, 4_190_000, 0];
    for seed in [1, FAR + 1] {
        agrees(seed, 20_000, |random| {
            let mut delays = DELAYS;
            random.shuffle(&mut delays);
            delays[0]
        });
    }
}

#[test]
fn agrees_with_a_heap_on_every_scale() {
    for seed in [2, FAR + 2] {
        agrees(seed, 20_000, |random| {
            let scale = random.below(50);
            random.below(1 << scale)
        });
    }
}

#[test]
fn agrees_with_a_heap_when_everything_happens_at_once() {
    agrees(3, 5_000, |_| 0);
    agrees(FAR + 3, 5_000, |_| 0);
    agrees(FAR + 6, 20_000, |random| random.below(60_000));
}

#[test]
fn agrees_with_a_heap_around_bin_borders() {
    agrees(4, 20_000, |random| (1 << 22) - 2 + random.below(5));
    agrees(FAR + 4, 20_000, |random| (1 << 22) - 2 + random.below(5));
    agrees(5, 20_000, |random| (1 << 34) - 2 + random.below(5));
}

/// Between two windows a part asks when it goes on, which may be late, and is sent something then.
#[test]
fn who_asks_for_the_first_key_can_push_before_it() {
    for late in [100_000, 3_000_000, 5_000_000, 20_000_000_000] {
        let mut queue = TimingWheel::new();
        let mut ties = TieCounter::new(0);
        let mut key = |ps| EventKey { time: SimTime::from_ps(ps), tie: ties.reserve() };
        let last = key(late);
        queue.push(last, ());
        for soon in (0..5).map(|step| step * 17_000).map(&mut key) {
            assert_eq!(queue.peek(), Some(last));
            queue.push(soon, ());
            assert!(queue.current.len() == queue.served, "it is in a bin");
            assert_eq!(queue.peek(), Some(soon));
            assert_eq!(queue.pop().map(|scheduled| scheduled.key), Some(soon));
        }
    }
}

/// What is in order ahead is what comes next.
#[test]
fn a_queue_that_looks_far_looks_beyond_the_bin_being_served() {
    let mut queue = TimingWheel::new();
    queue.foresee(Foresight::Three);
    let mut ties = TieCounter::new(0);
    for time in (0..400).map(|event| SimTime::from_ps(event * 1_000)) {
        queue.push(EventKey { time, tie: ties.reserve() }, time);
    }
    let (mut seen, mut beyond) = (Vec::new(), 0);
    for number in 0..400 {
        let popped = queue.pop().map(|scheduled| scheduled.event);
        assert_eq!(popped, Some(SimTime::from_ps(number * 1_000)));
        seen.extend(queue.look_beyond(4).map(|&event| (number + 5, event)));
        beyond += u32::from(queue.look_ahead(4).is_none() && queue.look_beyond(4).is_some());
    }
    assert!(seen.iter().all(|&(number, event)| event == SimTime::from_ps(number * 1_000)));
    assert!(seen.len() > 350 && beyond > 100, "{} of which {beyond} were ahead", seen.len());
}

/// An empty queue into which everything that waits in another was pushed.
fn rebuilt(queue: &TimingWheel<usize>) -> TimingWheel<usize> {
    let (mut fresh, all) = (TimingWheel::new(), queue.scheduled());
    assert_eq!(all.len(), queue.len());
    fresh.foresee(queue.foresight());
    for Scheduled { key, event } in all {
        fresh.push(key, event);
    }
    fresh
}

/// Runs a queue from `start` on, and beside it one that is built anew from it time and again: pops
/// are the same.
fn goes_on_rebuilt(seed: u64, start: SimTime, mut delay: impl FnMut(&mut RngStream) -> u64) {
    let mut random = RngStream::new(seed, "rebuilt");
    let mut queue = TimingWheel::new();
    if seed >= FAR {
        queue.foresee(Foresight::Three);
    }
    let (mut ties, mut now, mut other) = (TieCounter::new(0), start, None::<TimingWheel<usize>>);
    for step in 0..30_000 {
        let growing = step < 10_000;
        for _ in 0..random.below(if growing { 4 } else { 3 }) {
            let time = SimTime::from_ps(now.ps().saturating_add(delay(&mut random)));
            let key = EventKey { time, tie: ties.reserve() };
            queue.push(key, step);
            other.iter_mut().for_each(|other| other.push(key, step));
        }
        if random.below(1_000) == 0 {
            other = Some(rebuilt(&queue));
        }
        let popped = queue.pop().map(|scheduled| (scheduled.key, scheduled.event));
        if let Some(other) = &mut other {
            assert_eq!(other.pop().map(|scheduled| (scheduled.key, scheduled.event)), popped);
            assert_eq!(other.len(), queue.len());
        }
        now = popped.map_or(now, |(key, _)| key.time);
    }
    let rest = queue.scheduled();
    assert_eq!(other.map(|other| other.scheduled()), Some(rest.clone()));
    for expected in rest {
        assert_eq!(queue.pop(), Some(expected));
    }
    assert!(queue.len() == 0);
}

#[test]
fn a_queue_that_is_rebuilt_goes_on_as_it_was() {
    const STARTS: [u64; 4] = [0, 5_000_000_000, (1 << 34) - 3, 3_000_000_000_000];
    for (seed, start) in (10..).zip(STARTS.map(SimTime::from_ps)) {
        for seed in [seed, FAR + seed] {
            goes_on_rebuilt(seed, start, |random| {
                let scale = random.below(50);
                random.below(1 << scale)
            });
            goes_on_rebuilt(seed, start, |random| random.below(60_000));
            goes_on_rebuilt(seed, start, |random| (1 << 22) - 2 + random.below(5));
            goes_on_rebuilt(seed, start, |random| (1 << 34) - 2 + random.below(5));
            goes_on_rebuilt(seed, start, |random| 84_480 * random.below(4));
        }
    }
}

/// Wherever an event waits, it is among those that are scheduled.
#[test]
fn what_waits_in_every_place_is_scheduled() {
    let mut queue = TimingWheel::new();
    queue.foresee(Foresight::Three);
    let mut ties = TieCounter::new(0);
    let mut key = |ps| EventKey { time: SimTime::from_ps(ps), tie: ties.reserve() };
    let near = (0..2_000).map(|event| event * 100);
    let later = [5_000_000, 6_000_000, 30_000_000_000, 40_000_000_000];
    let mut expected: Vec<EventKey> = near.chain(later).map(&mut key).collect();
    expected.iter().for_each(|&key| queue.push(key, 0));
    assert_eq!(queue.pop().map(|scheduled| scheduled.key), Some(expected.remove(0)));
    // Into the bin being served, and into the one that is in order already.
    for ps in [50, 17_050] {
        let late = key(ps);
        queue.push(late, 0);
        expected.push(late);
    }
    expected.sort_unstable();
    let Ahead { bin, events } = &queue.ahead;
    assert!(!events.is_empty() && queue.near.end_of(*bin) != 0, "one came into that bin since");
    assert!(!queue.side.is_empty() && !queue.overflow.is_empty() && queue.far.ends().count() > 0);
    let scheduled: Vec<EventKey> = queue.scheduled().iter().map(|one| one.key).collect();
    assert_eq!(scheduled, expected);
    let popped = std::iter::from_fn(|| queue.pop()).map(|scheduled| scheduled.key);
    assert_eq!(popped.collect::<Vec<_>>(), expected);
}

/// What comes into the bin being served goes among few, and aside of many.
#[test]
fn late_events_keep_the_order_among_few_and_among_many() {
    for waiting in [3, SHORT as u64, SHORT as u64 + 1, 1_000] {
        let mut queue = TimingWheel::new();
        let mut ties = TieCounter::new(0);
        let mut key = |ps| EventKey { time: SimTime::from_ps(ps), tie: ties.reserve() };
        (0..=waiting).for_each(|event| queue.push(key(event * 8_000 / waiting / 2), ()));
        let mut last = queue.pop().map(|first| first.key).unwrap();
        for late in 0..200 {
            queue.push(key(last.time.ps() + late * 37 % 4_000), ());
            let next = queue.pop().map(|next| next.key).unwrap();
            assert!(next > last && queue.len() as u64 == waiting);
            last = next;
        }
    }
}

#[test]
fn the_end_of_time_is_reached() {
    let mut queue = TimingWheel::new();
    let mut ties = TieCounter::new(0);
    for time in [SimTime::NEVER, SimTime::ZERO] {
        queue.push(EventKey { time, tie: ties.reserve() }, ());
    }
    assert_eq!(queue.pop().map(|s| s.key.time), Some(SimTime::ZERO));
    assert_eq!(queue.pop().map(|s| s.key.time), Some(SimTime::NEVER));
}

#[test]
fn a_scheduled_event_is_half_a_cache_line() {
    assert_eq!(size_of::<Scheduled<[u32; 3]>>(), 32);
}
