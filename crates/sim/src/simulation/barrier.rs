//! Where the workers of a run meet between two windows.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Looks at the barrier without a break: a few microseconds.
const LOOKS: u32 = 300;
/// Looks after that, before a worker goes to sleep. Before each it lets others have its core, who may
/// be those it waits for: some tens of microseconds where nobody wants it.
const LATE_LOOKS: u32 = 200;

/// Workers that wait at it look for a while, and sleep then.
#[derive(Debug)]
pub(super) struct Barrier {
    /// How many are to come.
    workers: AtomicUsize,
    arrived: AtomicUsize,
    /// How often it has opened.
    opened: AtomicU64,
    /// Whether a worker will never come again.
    broken: AtomicBool,
    /// How many sleep.
    asleep: Mutex<usize>,
    open: Condvar,
}

/// That a worker comes to the barrier. If it panics it never will again, and the others go home.
#[derive(Debug)]
pub(super) struct Attendance<'a>(&'a Barrier);

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
            let _asleep = self.0.asleep.lock().unwrap_or_else(PoisonError::into_inner);
            self.0.open.notify_all();
        }
    }
}

impl Barrier {
    /// A barrier for so many workers.
    pub(super) fn new(workers: usize) -> Self {
        Self {
            workers: AtomicUsize::new(workers),
            arrived: AtomicUsize::new(0),
            opened: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            asleep: Mutex::new(0),
            open: Condvar::new(),
        }
    }

    /// Fewer workers come than was thought. One of them says so, before it comes for the first time.
    pub(super) fn expect(&self, workers: usize) {
        self.workers.store(workers, Ordering::Release);
    }

    /// A worker begins. It keeps what it gets for as long as it works.
    pub(super) fn attend(&self) -> Attendance<'_> {
        Attendance(self)
    }

    /// Waits for all workers; false if one of them panicked. The last one to come does `last` before
    /// any goes on.
    pub(super) fn pass(&self, last: impl FnOnce()) -> bool {
        let round = self.opened.load(Ordering::Acquire);
        // How many are expected is read behind that: who comes after the one that lowered it knows.
        let arrived = self.arrived.fetch_add(1, Ordering::AcqRel) + 1;
        if arrived < self.workers.load(Ordering::Acquire) {
            self.wait(round);
            return !self.broken.load(Ordering::Acquire);
        }
        last();
        self.arrived.store(0, Ordering::Release);
        let asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        self.opened.store(round + 1, Ordering::Release);
        if *asleep > 0 {
            self.open.notify_all();
        }
        true
    }

    fn wait(&self, round: u64) {
        let waits =
            || self.opened.load(Ordering::Acquire) == round && !self.broken.load(Ordering::Acquire);
        for look in 0..LOOKS + LATE_LOOKS {
            if !waits() {
                return;
            }
            if look < LOOKS { spin_loop() } else { std::thread::yield_now() }
        }
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        *asleep += 1;
        while waits() {
            asleep = self.open.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
        *asleep -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn a_worker_that_panics_keeps_nobody_waiting() {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            let lost = scope.spawn(|| {
                let _attendance = barrier.attend();
                panic!("a defect");
            });
            assert!(!barrier.pass(|| {}));
            assert!(lost.join().is_err());
        });
    }

    /// Whoever of two comes first, and however early.
    #[test]
    fn nobody_waits_for_those_who_are_not_expected_any_more() {
        for _ in 0..2_000 {
            let barrier = Barrier::new(4);
            std::thread::scope(|scope| {
                scope.spawn(|| barrier.pass(|| {}));
                barrier.expect(2);
                assert!(barrier.pass(|| {}));
            });
        }
    }

    /// Nobody is a round ahead of anybody, and each round has one last worker.
    #[test]
    fn all_workers_are_in_the_same_round() {
        const ROUNDS: u32 = 500;
        for workers in [1, 2, 5] {
            let barrier = Barrier::new(workers);
            let (working, rounds) = (AtomicU32::new(0), AtomicU32::new(0));
            std::thread::scope(|scope| {
                for worker in 0..workers {
                    let (barrier, working, rounds) = (&barrier, &working, &rounds);
                    scope.spawn(move || {
                        for round in 0..ROUNDS {
                            assert_eq!(rounds.load(Ordering::SeqCst), round);
                            working.fetch_add(1, Ordering::SeqCst);
                            if worker == 0 && round % 100 == 0 {
                                std::thread::sleep(std::time::Duration::from_millis(2));
                            }
                            barrier.pass(|| {
                                assert_eq!(working.swap(0, Ordering::SeqCst) as usize, workers);
                                rounds.fetch_add(1, Ordering::SeqCst);
                            });
                        }
                    });
                }
            });
            assert_eq!(rounds.into_inner(), ROUNDS);
        }
    }
}
