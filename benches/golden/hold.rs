//! The hold model of an event queue: take the first event, add another. The standard library's heap
//! is measured beside our queue, so the result shows the speed of the machine too.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use rocelab_engine::{EventKey, EventQueue, RngStream, Scheduled, TieCounter};
use rocelab_units::{Duration, SimTime};

use rocelab_benches::usage::Usage;

/// An event of a size that makes an entry 32 bytes.
type Event = [u32; 4];
const _: () = assert!(size_of::<Scheduled<Event>>() == 32);

/// Numbers of waiting events.
const PENDING: [u32; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Number of steps that are timed.
const STEPS: u32 = 4_000_000;
/// Number of steps before these, for each waiting event. A step takes about 5 us / pending of
/// simulated time, so the longest delay, 55 us, has passed then.
const WARM_UP: u32 = 12;

/// Nanoseconds of CPU time for a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub(crate) pending: u32,
    pub(crate) heap: f64,
    pub(crate) ours: f64,
}

/// Both queues at every number of waiting events.
pub(crate) fn all() -> Vec<Hold> {
    let one = |pending| {
        eprintln!("event queue, {pending} events ...");
        let heap = measure::<BinaryHeap<Reverse<Scheduled<Event>>>>(pending);
        Hold { pending, heap, ours: measure::<EventQueue<Event>>(pending) }
    };
    PENDING.map(one).into()
}

/// A queue of events.
trait Queue: Default {
    fn add(&mut self, scheduled: Scheduled<Event>);
    /// The first event; `None` if the queue is empty.
    fn first(&mut self) -> Option<Scheduled<Event>>;
}

impl Queue for EventQueue<Event> {
    fn add(&mut self, scheduled: Scheduled<Event>) {
        self.push(scheduled.key, scheduled.event);
    }

    fn first(&mut self) -> Option<Scheduled<Event>> {
        self.pop()
    }
}

impl Queue for BinaryHeap<Reverse<Scheduled<Event>>> {
    fn add(&mut self, scheduled: Scheduled<Event>) {
        self.push(Reverse(scheduled));
    }

    fn first(&mut self) -> Option<Scheduled<Event>> {
        self.pop().map(|first| first.0)
    }
}

fn measure<Q: Queue>(pending: u32) -> f64 {
    let mut queue = Q::default();
    let mut source = Source::new();
    for _ in 0..pending {
        queue.add(source.next(SimTime::ZERO));
    }
    step(&mut queue, &mut source, WARM_UP * pending);
    let before = Usage::so_far().cpu_s;
    step(&mut queue, &mut source, STEPS);
    (Usage::so_far().cpu_s - before) * 1e9 / f64::from(STEPS)
}

fn step<Q: Queue>(queue: &mut Q, source: &mut Source, steps: u32) {
    for _ in 0..steps {
        if let Some(first) = black_box(queue.first()) {
            queue.add(source.next(first.key.time));
        }
    }
}

/// Events with the delays of a network: 47 % serialisation of a frame, 43.6 % propagation of 1 us,
/// 8.6 % timers, 0.8 % none.
struct Source {
    draws: RngStream,
    ties: TieCounter,
}

impl Source {
    fn new() -> Self {
        Self { draws: RngStream::new(1, "hold model"), ties: TieCounter::new(0) }
    }

    fn next(&mut self, now: SimTime) -> Scheduled<Event> {
        let ps = match self.draws.below(1000) {
            0..118 => 80_000,
            118..236 => 84_480,
            236..353 => 320_000,
            353..470 => 640_000,
            470..906 => 1_000_000,
            906..949 => 50_000_000,
            949..992 => 55_000_000,
            _ => 0,
        };
        let key = EventKey { time: now + Duration::from_ps(ps), tie: self.ties.reserve() };
        Scheduled { key, event: [0; 4] }
    }
}
