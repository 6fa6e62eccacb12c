//! Parts of a network that run window by window, on the threads of a crew.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use crossbeam_queue::SegQueue;
use rocelab_units::SimTime;

use super::barrier::Barrier;
use super::running::Running;
use super::windows::Windows;
use crate::network::{BatchOf, Crossing};
use crate::profile::Profile;

/// The thread that asks for windows to be run, and those that it has hired for that: they wait while
/// there is nothing to do, and go home with the crew.
pub(super) struct Crew<P: Profile> {
    board: Arc<Board<P>>,
    /// How many work at once, with the one that asks; fewer if the system refuses to start threads.
    workers: usize,
    hired: Vec<JoinHandle<()>>,
    /// What threads are like.
    thread: fn() -> Builder,
}

/// What the workers of a crew share.
struct Board<P: Profile> {
    seats: Vec<Seat<P>>,
    windows: Windows,
    /// Where all meet before each window, and wait for the next stretch of windows.
    barrier: Barrier,
    /// The last instant of this stretch.
    limit: AtomicU64,
    /// When something happens next in any part, as far as is known.
    next: AtomicU64,
    /// Windows that have begun.
    begun: AtomicU64,
    /// The number of the window that all work on, from 1, and its last instant.
    window: AtomicU64,
    end: AtomicU64,
    /// Whether all go home.
    closing: AtomicBool,
}

/// Where a part is worked on, and what has come for it.
struct Seat<P: Profile> {
    part: Mutex<Option<Running<P>>>,
    /// The last window in which somebody took it on.
    taken: AtomicU64,
    /// What was sent to it in windows with an even number, and in those with an odd one: what is
    /// being sent in this window must not be read before the next.
    inbox: [SegQueue<BatchOf<P>>; 2],
}

/// The window number that says that there is none now.
const NONE: u64 = 0;
/// The window number that says that there is none any more.
const CLOSED: u64 = u64::MAX;

impl<P: Profile> fmt::Debug for Crew<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").field("workers", &self.workers).finish_non_exhaustive()
    }
}

impl<P: Profile> Crew<P> {
    /// A crew of so many workers for so many parts. It hires threads when they are first to work.
    pub(super) fn new(parts: usize, windows: Windows, workers: usize) -> Self {
        let seat = || Seat {
            part: Mutex::new(None),
            taken: AtomicU64::new(0),
            inbox: [SegQueue::new(), SegQueue::new()],
        };
        let board = Board {
            seats: std::iter::repeat_with(seat).take(parts).collect(),
            windows,
            barrier: Barrier::new(workers),
            limit: AtomicU64::new(0),
            next: AtomicU64::new(u64::MAX),
            begun: AtomicU64::new(0),
            window: AtomicU64::new(NONE),
            end: AtomicU64::new(0),
            closing: AtomicBool::new(false),
        };
        Self { board: Arc::new(board), workers, hired: Vec::new(), thread: Builder::new }
    }

    /// How many work at once, at the most.
    pub(super) fn workers(&self) -> usize {
        self.workers
    }

    /// Runs parts from what happens `next` on until `limit`, all at once or one by one; the number of
    /// windows that this took.
    pub(super) fn run(
        &mut self,
        parts: &mut Vec<Running<P>>,
        (next, limit): (SimTime, SimTime),
        at_once: bool,
    ) -> u64 {
        for (seat, part) in self.board.seats.iter().zip(parts.drain(..)) {
            *seat.lock() = Some(part);
        }
        self.board.next.store(next.ps(), Ordering::Release);
        self.board.limit.store(limit.ps(), Ordering::Release);
        let before = self.board.begun.load(Ordering::Acquire);
        if at_once {
            self.hire();
        }
        if at_once && self.workers > 1 {
            self.work_together();
        } else {
            self.board.work_alone();
        }
        parts.extend(self.board.seats.iter().filter_map(Seat::clear));
        self.board.begun.load(Ordering::Acquire) - before
    }

    /// Hires threads, unless that was done. If the system refuses one, the crew goes on with those it
    /// has: nobody has passed the barrier before this thread comes there.
    fn hire(&mut self) {
        if self.workers < 2 || !self.hired.is_empty() {
            return;
        }
        for worker in 1..self.workers {
            let (board, workers) = (Arc::clone(&self.board), self.workers);
            let thread = (self.thread)().name(format!("parts-{worker}"));
            match thread.spawn(move || board.attend(worker, workers)) {
                Ok(hired) => self.hired.push(hired),
                Err(_) => break,
            }
        }
        self.workers = self.hired.len() + 1;
        self.board.barrier.expect(self.workers);
    }

    fn work_together(&mut self) {
        let attendance = self.board.barrier.attend();
        loop {
            if !self.board.barrier.pass(|| self.board.turn()) {
                break;
            }
            match self.board.window.load(Ordering::Acquire) {
                NONE => return,
                window => self.board.work_on(window, 0),
            }
        }
        drop(attendance);
        self.pass_on_panic();
    }

    /// A worker's panic is everybody's.
    fn pass_on_panic(&mut self) {
        for worker in self.hired.drain(..) {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

impl<P: Profile> Drop for Crew<P> {
    fn drop(&mut self) {
        if self.hired.is_empty() {
            return;
        }
        self.board.closing.store(true, Ordering::Release);
        self.board.barrier.pass(|| self.board.turn());
        for worker in self.hired.drain(..) {
            drop(worker.join());
        }
    }
}

impl<P: Profile> Board<P> {
    /// What a hired thread does: it begins each window with parts of its own, so that they stay in
    /// its cache, and goes on with those that others have not come to.
    fn attend(&self, worker: usize, workers: usize) {
        let _attendance = self.barrier.attend();
        let first = worker * self.seats.len() / workers;
        while self.barrier.pass(|| self.turn()) {
            match self.window.load(Ordering::Acquire) {
                CLOSED => return,
                NONE => {}
                window => self.work_on(window, first),
            }
        }
    }

    /// Says which window is next. Called by one worker while all wait.
    fn turn(&self) {
        if self.closing.load(Ordering::Acquire) {
            return self.window.store(CLOSED, Ordering::Release);
        }
        let (window, end) = self.begin().unwrap_or((NONE, SimTime::ZERO));
        self.end.store(end.ps(), Ordering::Release);
        self.window.store(window, Ordering::Release);
    }

    /// Begins the next window, if there is one: its number, and its last instant.
    fn begin(&self) -> Option<(u64, SimTime)> {
        let next = SimTime::from_ps(self.next.swap(u64::MAX, Ordering::AcqRel));
        let limit = SimTime::from_ps(self.limit.load(Ordering::Acquire));
        let end = self.windows.end(next, limit)?;
        Some((self.begun.fetch_add(1, Ordering::AcqRel) + 1, end))
    }

    /// Takes on the parts that nobody has come to in this window.
    fn work_on(&self, window: u64, first: usize) {
        let end = SimTime::from_ps(self.end.load(Ordering::Acquire));
        for place in (first..self.seats.len()).chain(0..first) {
            let taken = &self.seats[place].taken;
            if taken.load(Ordering::Acquire) < window
                && taken.fetch_max(window, Ordering::AcqRel) < window
            {
                self.run_part(place, window, end);
            }
        }
    }

    /// Runs all parts one after the other, while hired threads wait at the barrier.
    fn work_alone(&self) {
        while let Some((window, end)) = self.begin() {
            for place in 0..self.seats.len() {
                self.run_part(place, window, end);
            }
        }
    }

    /// Runs a part through a window, and sends on what leaves it.
    fn run_part(&self, place: usize, window: u64, end: SimTime) {
        let seat = &self.seats[place];
        let mut part = seat.lock();
        let Some(part) = &mut *part else { return };
        while let Some(batch) = seat.inbox[parity(window - 1)].pop() {
            part.enter(batch);
        }
        part.run_until(end);
        let mut next = part.next();
        for (to, batch) in Crossing(&mut part.network).take_batches() {
            next = next.min(batch.first_arrival());
            self.seats[to as usize].inbox[parity(window)].push(batch);
        }
        self.next.fetch_min(next.ps(), Ordering::AcqRel);
    }
}

impl<P: Profile> Seat<P> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Running<P>>> {
        self.part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the part away, with all that has come for it.
    fn clear(&self) -> Option<Running<P>> {
        let mut part = self.lock().take()?;
        for inbox in &self.inbox {
            while let Some(batch) = inbox.pop() {
                part.enter(batch);
            }
        }
        Some(part)
    }
}

fn parity(window: u64) -> usize {
    usize::from(!window.is_multiple_of(2))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::AtomicU32;

    use rocelab_fabric::Topology;
    use rocelab_fabric::topology::Partitioning;

    use super::*;
    use crate::network::Cut;
    use crate::profile::roce::Roce;
    use crate::{Planning, Scenario, Simulation};

    const TWO_SWITCHES: &str = "[topology.dumbbell]\nleft = 2\nright = 2\n\
         host_link = { rate = \"100Gbps\", cable = \"20m\" }\n\
         bottleneck = { rate = \"100Gbps\", cable = \"200m\" }\n[workload.flows]\n\
         list = [{ from = \"host-0\", to = \"host-2\", bytes = \"1MB\" }]\n";

    /// Cut like this, with so many workers.
    fn simulation_by(cut: impl Fn(&Topology) -> Partitioning, workers: usize) -> Simulation<Roce> {
        let scenario = Scenario::parse(TWO_SWITCHES, Path::new("t.toml"), &[]).unwrap();
        let plan = Arc::new(scenario.plan().unwrap());
        let cut = Cut::new(&plan, cut(&plan.topology));
        Simulation::in_parts(plan, &cut, workers).unwrap()
    }

    fn simulation(parts: u32, workers: usize) -> Simulation<Roce> {
        simulation_by(|topology| Partitioning::balanced(topology, parts), workers)
    }

    fn digest(mut simulation: Simulation<Roce>) -> (u64, u32) {
        simulation.run_to_end();
        (simulation.network().digest(), simulation.execution().threads)
    }

    /// No system has memory for such a stack.
    fn impossible() -> Builder {
        Builder::new().stack_size(1 << 60)
    }

    #[test]
    fn without_threads_the_only_one_does_all() {
        let (whole, _) = digest(simulation(1, 1));
        assert_eq!(digest(simulation(2, 2)), (whole, 2));
        let mut refused = simulation(2, 2);
        refused.parts.crew.thread = impossible;
        assert_eq!(digest(refused), (whole, 1));
    }

    /// The second thread is refused: the first has come to the barrier, perhaps, and is not kept waiting.
    #[test]
    fn workers_go_on_with_as_many_as_there_are() {
        let (whole, _) = digest(simulation(1, 1));
        let mut some = simulation_by(|_| Partitioning::by_parts(&[0, 1, 2, 3, 4, 5]), 4);
        some.parts.crew.thread = || {
            static STARTED: AtomicU32 = AtomicU32::new(0);
            match STARTED.fetch_add(1, Ordering::SeqCst) {
                0 => Builder::new(),
                _ => impossible(),
            }
        };
        assert_eq!(digest(some), (whole, 2));
    }
}
