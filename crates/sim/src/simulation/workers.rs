//! Parts of a network that run at once, window by window, on threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_queue::SegQueue;
use rocelab_units::SimTime;

use super::gate::Gate;
use super::parts::{Running, Windows};
use crate::network::BatchOf;
use crate::profile::Profile;

/// What the workers of a stretch of windows share.
struct Shared<'a, P: Profile> {
    parts: Vec<Desk<'a, P>>,
    windows: &'a Windows,
    gate: Gate,
    /// The number of the window, from 1, and its last instant.
    window: AtomicU64,
    end: AtomicU64,
    /// Windows that are over.
    passed: AtomicU64,
    /// When something happens next in any part, as far as is known.
    next: AtomicU64,
}

/// A part, and what has come for it.
struct Desk<'a, P: Profile> {
    part: Mutex<&'a mut Running<P>>,
    /// The last window in which somebody took it on.
    taken: AtomicU64,
    /// What was sent to it in windows with an even number, and in those with an odd one: what is
    /// being sent in this window must not be read before the next.
    inbox: [SegQueue<BatchOf<P>>; 2],
}

/// The window number that says that there is none any more.
const OVER: u64 = 0;

/// Runs parts from what happens `next` on for as long as there are `windows`; their number.
pub(super) fn run<P: Profile>(
    parts: &mut [Running<P>],
    windows: &Windows,
    next: SimTime,
    workers: usize,
) -> u64 {
    let Some(end) = windows.end(next) else { return 0 };
    let desk = |part| Desk {
        part: Mutex::new(part),
        taken: AtomicU64::new(0),
        inbox: [SegQueue::new(), SegQueue::new()],
    };
    let shared = Shared {
        parts: parts.iter_mut().map(desk).collect(),
        windows,
        gate: Gate::new(workers),
        window: AtomicU64::new(1),
        end: AtomicU64::new(end.ps()),
        passed: AtomicU64::new(0),
        next: AtomicU64::new(u64::MAX),
    };
    std::thread::scope(|scope| {
        for worker in 1..workers {
            let shared = &shared;
            scope.spawn(move || shared.work(worker, workers));
        }
        shared.work(0, workers);
    });
    // What was sent in the last window.
    for desk in shared.parts {
        let part = desk.part.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        for batch in desk.inbox.into_iter().flatten() {
            part.enter(batch);
        }
    }
    shared.passed.into_inner()
}

impl<P: Profile> Shared<'_, P> {
    /// Takes on parts, window after window. Each worker begins with parts of its own, so that they
    /// stay in its cache, and goes on with those that others have not come to.
    fn work(&self, worker: usize, workers: usize) {
        let _promise = self.gate.promise();
        let first = worker * self.parts.len() / workers;
        loop {
            let window = self.window.load(Ordering::Acquire);
            if window == OVER {
                return;
            }
            let end = SimTime::from_ps(self.end.load(Ordering::Acquire));
            for place in (first..self.parts.len()).chain(0..first) {
                if self.parts[place].taken.fetch_max(window, Ordering::AcqRel) < window {
                    self.run_part(place, window, end);
                }
            }
            if !self.gate.pass(|| self.begin_next(window)) {
                return; // The thread's panic is everybody's.
            }
        }
    }

    /// Runs a part through a window, and sends on what leaves it.
    fn run_part(&self, place: usize, window: u64, end: SimTime) {
        let desk = &self.parts[place];
        let mut part = desk.part.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        while let Some(batch) = desk.inbox[parity(window - 1)].pop() {
            part.enter(batch);
        }
        part.run_until(end);
        let mut next = part.next();
        for (number, to) in (0u32..).zip(&self.parts) {
            let batch = part.network.take_batch(number);
            if !batch.is_empty() {
                next = next.min(batch.first_arrival());
                to.inbox[parity(window)].push(batch);
            }
        }
        self.next.fetch_min(next.ps(), Ordering::AcqRel);
    }

    /// Begins the next window, if there is one. Called by one worker while all wait.
    fn begin_next(&self, window: u64) {
        self.passed.store(window, Ordering::Release);
        let next = SimTime::from_ps(self.next.swap(u64::MAX, Ordering::AcqRel));
        match self.windows.end(next) {
            Some(end) => {
                self.end.store(end.ps(), Ordering::Release);
                self.window.store(window + 1, Ordering::Release);
            }
            None => self.window.store(OVER, Ordering::Release),
        }
    }
}

fn parity(window: u64) -> usize {
    usize::from(!window.is_multiple_of(2))
}
