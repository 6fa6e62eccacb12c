//! The hold model: the number of waiting events stays the same, because each event that is taken
//! causes another.
//!
//! Delays are those of a network: serialisation times, propagation, timers, and some zeros.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rocelab_engine::{EventKey, EventQueue, RngStream, Scheduled, TieCounter};
use rocelab_units::{Duration, SimTime};

/// An event of the same size as in the simulator.
type Event = [u32; 3];

/// Delays in picoseconds, in these proportions: 47 % serialisation of a frame, 44 % propagation, 8
/// % timers, 1 % zero.
fn delays(stream: &mut RngStream) -> Vec<Duration> {
    (0..1 << 16)
        .map(|_| {
            let ps = match stream.below(100) {
                0..12 => 80_000,
                12..24 => 84_480,
                24..36 => 320_000,
                36..47 => 640_000,
                47..91 => 1_000_000,
                91..95 => 50_000_000,
                95..99 => 55_000_000,
                _ => 0,
            };
            Duration::from_ps(ps)
        })
        .collect()
}

/// A queue under test.
trait Queue {
    fn push(&mut self, key: EventKey, event: Event);
    fn pop(&mut self) -> Scheduled<Event>;
}

impl Queue for EventQueue<Event> {
    fn push(&mut self, key: EventKey, event: Event) {
        Self::push(self, key, event);
    }

    fn pop(&mut self) -> Scheduled<Event> {
        Self::pop(self).expect("events wait")
    }
}

impl Queue for BinaryHeap<Reverse<Scheduled<Event>>> {
    fn push(&mut self, key: EventKey, event: Event) {
        Self::push(self, Reverse(Scheduled { key, event }));
    }

    fn pop(&mut self) -> Scheduled<Event> {
        Self::pop(self).expect("events wait").0
    }
}

/// A queue in the steady state of the hold model.
struct Hold<Q> {
    queue: Q,
    delays: Vec<Duration>,
    next: usize,
    ties: TieCounter,
}

impl<Q: Queue> Hold<Q> {
    fn new(queue: Q, pending: usize) -> Self {
        let mut stream = RngStream::new(1, "event queue bench");
        let delays = delays(&mut stream);
        let mut hold = Self { queue, delays, next: 0, ties: TieCounter::new(0) };
        for _ in 0..pending {
            hold.push(SimTime::ZERO);
        }
        // Every event is replaced twice, so that the initial distribution has no influence.
        for _ in 0..2 * pending {
            hold.step();
        }
        hold
    }

    fn push(&mut self, now: SimTime) {
        let delay = self.delays[self.next % self.delays.len()];
        self.next += 1;
        let key = EventKey { time: now + delay, tie: self.ties.reserve() };
        self.queue.push(key, [0; 3]);
    }

    fn step(&mut self) {
        let first = black_box(self.queue.pop());
        self.push(first.key.time);
    }
}

fn hold(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hold");
    group.throughput(Throughput::Elements(1));
    for pending in [1_000, 10_000, 100_000, 1_000_000] {
        group.bench_with_input(
            BenchmarkId::new("wheel", pending),
            &pending,
            |bencher, &pending| {
                let mut hold = Hold::new(EventQueue::new(), pending);
                bencher.iter(|| hold.step());
            },
        );
        group.bench_with_input(BenchmarkId::new("heap", pending), &pending, |bencher, &pending| {
            let mut hold = Hold::new(BinaryHeap::new(), pending);
            bencher.iter(|| hold.step());
        });
    }
    group.finish();
}

criterion_group!(benches, hold);
criterion_main!(benches);
