//! Where the workers of a run meet between two windows.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Looks at the gate before a worker goes to sleep: some tens of microseconds, longer than parts of
/// the same load differ by.
const LOOKS: u32 = 5_000;

/// A barrier: workers that wait look for a while, and sleep then.
#[derive(Debug)]
pub(super) struct Gate {
    workers: usize,
    arrived: AtomicUsize,
    /// How often it has opened.
    opened: AtomicU64,
    /// Whether a worker will never come again.
    broken: AtomicBool,
    /// How many sleep.
    asleep: Mutex<usize>,
    open: Condvar,
}

/// A worker's promise to come to the gate. One that panics breaks it, and the others go home.
#[derive(Debug)]
pub(super) struct Promise<'a>(&'a Gate);

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
            let _asleep = self.0.asleep.lock().unwrap_or_else(PoisonError::into_inner);
            self.0.open.notify_all();
        }
    }
}

impl Gate {
    /// A gate for so many workers.
    pub(super) fn new(workers: usize) -> Self {
        Self {
            workers,
            arrived: AtomicUsize::new(0),
            opened: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            asleep: Mutex::new(0),
            open: Condvar::new(),
        }
    }

    /// A worker begins. It keeps what it gets for as long as it works.
    pub(super) fn promise(&self) -> Promise<'_> {
        Promise(self)
    }

    /// Waits for all workers; false if one of them panicked. The last one to come does `last` before
    /// any goes on.
    pub(super) fn pass(&self, last: impl FnOnce()) -> bool {
        let round = self.opened.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 < self.workers {
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
        for _ in 0..LOOKS {
            if !waits() {
                return;
            }
            spin_loop();
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
        let gate = Gate::new(2);
        std::thread::scope(|scope| {
            let lost = scope.spawn(|| {
                let _promise = gate.promise();
                panic!("a defect");
            });
            assert!(!gate.pass(|| {}));
            assert!(lost.join().is_err());
        });
    }

    /// Nobody is a round ahead of anybody, and each round has one last worker.
    #[test]
    fn all_workers_are_in_the_same_round() {
        const ROUNDS: u32 = 500;
        for workers in [1, 2, 5] {
            let gate = Gate::new(workers);
            let (working, rounds) = (AtomicU32::new(0), AtomicU32::new(0));
            std::thread::scope(|scope| {
                for worker in 0..workers {
                    let (gate, working, rounds) = (&gate, &working, &rounds);
                    scope.spawn(move || {
                        for round in 0..ROUNDS {
                            assert_eq!(rounds.load(Ordering::SeqCst), round);
                            working.fetch_add(1, Ordering::SeqCst);
                            if worker == 0 && round % 100 == 0 {
                                std::thread::sleep(std::time::Duration::from_millis(2));
                            }
                            gate.pass(|| {
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
