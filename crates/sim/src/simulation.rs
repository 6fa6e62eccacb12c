//! A run from its first event to its end.

use std::sync::Arc;

use rocelab_engine::{Engine, Scheduled};
use rocelab_units::{Bytes, Duration, SimTime};

use crate::Plan;
use crate::network::watch::Watch;
use crate::network::{BuildError, Event, Network};
use crate::profile::Profile;
use crate::profile::roce::Roce;
use crate::scenario::OnDeadlock;

/// Time between two looks at whether the run is over. Fixed, and in simulated time, so that the
/// end of a run does not depend on the machine or on partitions.
const WINDOW: Duration = Duration::from_us(10);
/// Time between two searches for deadlocks: at its multiples, whatever happens around them.
const DEADLOCK_INTERVAL: Duration = Duration::from_us(100);
/// How long frames may stay in the network after the last flow's end without one arriving.
const DRAIN_LIMIT: Duration = Duration::from_ms(10);
/// How long nothing may move, at the least, before a run counts as stalled.
const STALL_LIMIT: Duration = Duration::from_ms(1_000);

/// A network and the engine that runs it.
#[derive(Debug)]
pub struct Simulation<P: Profile = Roce> {
    engine: Engine<Event>,
    network: Network<P>,
    /// The end of the window that is being run.
    window_end: SimTime,
    /// When deadlocks are looked for next.
    deadlock_look: SimTime,
    /// When something was last seen to have moved, and how much had.
    last_progress: (SimTime, u64),
    stall_limit: Duration,
}

/// Why a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every flow and application has ended and the network is empty.
    Finished,
    /// The scenario's `stop` was reached.
    Stopped,
    /// Flows are unfinished and nothing moves any more.
    Stalled,
    /// Queues wait for each other, so that they will never move.
    Deadlocked,
    /// The user broke it off.
    Interrupted,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: SimTime,
    /// When the run ends at the latest, if that is known.
    pub stop: Option<SimTime>,
    /// Flows that have ended, well or badly.
    pub flows_ended: u32,
    /// All flows.
    pub flows: usize,
    /// Operations of applications that have ended, well or badly.
    pub operations_ended: u64,
    /// Frames over links so far.
    pub traversals: u64,
    /// Events executed so far.
    pub events: u64,
}

impl<P: Profile> Simulation<P> {
    /// The network of `plan` at time zero.
    ///
    /// # Errors
    /// If the plan cannot become a network.
    pub fn new(plan: Arc<Plan>) -> Result<Self, BuildError> {
        let mut engine = Engine::new();
        let stall_limit = stall_limit(&plan);
        let is_native = plan.profile.hpcc_ns3().is_none();
        let network = Network::new(plan, &mut engine.queue)?;
        Ok(Self {
            engine,
            network,
            window_end: SimTime::ZERO,
            deadlock_look: if is_native {
                SimTime::ZERO + DEADLOCK_INTERVAL
            } else {
                SimTime::NEVER
            },
            last_progress: (SimTime::ZERO, 0),
            stall_limit,
        })
    }

    /// The network.
    pub fn network(&self) -> &Network<P> {
        &self.network
    }

    /// The network, to take its records or start a capture.
    pub fn network_mut(&mut self) -> &mut Network<P> {
        &mut self.network
    }

    /// Runs about `budget` events; says so if the run is over.
    pub fn advance(&mut self, budget: u64) -> Option<Ending> {
        let before = self.engine.executed();
        while self.engine.executed() - before < budget {
            let ending = self.run_window(|engine, network, until| {
                engine.run(network, until, u64::MAX);
            });
            if ending.is_some() {
                return ending;
            }
        }
        None
    }

    /// Runs to the end, without looking after records.
    pub fn run_to_end(&mut self) -> Ending {
        loop {
            if let Some(ending) = self.advance(u64::MAX) {
                return ending;
            }
        }
    }

    /// How far the run has come.
    pub fn progress(&self) -> Progress {
        let (completed, failed, flows) = self.network.flow_counts();
        let (operations_completed, operations_failed) = self.network.operation_counts();
        Progress {
            now: self.now(),
            stop: self.network.plan().stop,
            flows_ended: completed + failed,
            flows,
            operations_ended: operations_completed + operations_failed,
            traversals: self.network.traversals().total(),
            events: self.engine.executed(),
        }
    }

    /// Simulated time: of the last event, or after the last flow's end, of that.
    pub fn now(&self) -> SimTime {
        if self.network.all_flows_ended() && self.network.is_drained() {
            self.network.last_flow_end()
        } else {
            self.engine.now()
        }
    }

    /// When the run is over: measures what counts over an interval, of the one that is not over.
    pub fn finish_samples(&mut self) {
        self.network.finish_samples(self.engine.now());
    }

    /// Events executed so far.
    pub fn events(&self) -> u64 {
        self.engine.executed()
    }

    /// When something was last seen to have moved: at the end of a window.
    pub(crate) const fn last_movement(&self) -> SimTime {
        self.last_progress.0
    }

    fn run_window(
        &mut self,
        run: impl FnOnce(&mut Engine<Event>, &mut Network<P>, SimTime),
    ) -> Option<Ending> {
        let stop = self.network.plan().stop.map_or(SimTime::NEVER, P::last_instant);
        let next = self.engine.queue.peek().map(|key| key.time);
        if self.deadlocked_before(next.unwrap_or(SimTime::NEVER).min(stop)) {
            return Some(Ending::Deadlocked);
        }
        match next {
            None => return Some(self.ending_without_events()),
            Some(next) if next > stop => {
                self.engine.advance_to(stop);
                return Some(Ending::Stopped);
            }
            Some(next) => {
                self.window_end = window_after(next).min(stop).min(self.deadlock_look);
            }
        }
        run(&mut self.engine, &mut self.network, self.window_end);
        self.look()
    }

    /// Looks for deadlocks if that is due before `next`, when something happens again: in the
    /// network as it is until then. True if the run ends with what is found.
    fn deadlocked_before(&mut self, next: SimTime) -> bool {
        if self.deadlock_look >= next {
            return false;
        }
        let due = self.deadlock_look;
        let intervals = next.ps().div_ceil(DEADLOCK_INTERVAL.ps());
        self.deadlock_look = SimTime::from_ps(intervals.saturating_mul(DEADLOCK_INTERVAL.ps()));
        let found = self.network.look_for_deadlock(due);
        if found && self.network.plan().on_deadlock == OnDeadlock::Stop {
            self.engine.advance_to(due);
            return true;
        }
        false
    }

    /// At the end of a window: is the run over?
    fn look(&mut self) -> Option<Ending> {
        let moved = self.network.movements();
        if moved != self.last_progress.1 {
            self.last_progress = (self.window_end, moved);
        }
        let idle = self.window_end.since(self.last_progress.0);
        self.network.end_lost_flows(self.engine.now());
        if self.network.all_flows_ended() {
            let over = self.network.is_drained() || idle > DRAIN_LIMIT;
            return over.then_some(Ending::Finished);
        }
        let stalled = idle > self.stall_limit && !self.network.will_move();
        stalled.then_some(Ending::Stalled)
    }

    fn ending_without_events(&mut self) -> Ending {
        self.network.end_lost_flows(self.engine.now());
        if self.network.all_flows_ended() {
            return Ending::Finished;
        }
        match self.network.plan().stop {
            Some(stop) => {
                self.engine.advance_to(stop);
                Ending::Stopped
            }
            None => Ending::Stalled,
        }
    }
}

impl Simulation<Roce> {
    /// Runs about `budget` events while somebody looks; says so if the run is over.
    pub(crate) fn advance_watched(
        &mut self,
        budget: u64,
        watch: &mut impl Watch,
    ) -> Option<Ending> {
        let before = self.engine.executed();
        while self.engine.executed() - before < budget {
            let ending = self.run_window(|engine, network, until| {
                while let Some(&Scheduled { key, event }) = engine.queue.first()
                    && key.time <= until
                {
                    network.watched(watch, (key, event), |network| {
                        engine.run(network, until, 1);
                    });
                }
            });
            if ending.is_some() {
                return ending;
            }
        }
        None
    }
}

/// The end of the window that holds `time`.
fn window_after(time: SimTime) -> SimTime {
    let windows = time.ps() / WINDOW.ps() + 1;
    SimTime::from_ps(windows.saturating_mul(WINDOW.ps()))
}

/// How long nothing moves in a network that is stalled and in no other: longer than a frame takes
/// over the slowest link, a pause lasts, and a lost packet waits to be sent again.
fn stall_limit(plan: &Plan) -> Duration {
    let slowest = plan.topology.links.iter().map(|link| link.rate).min().unwrap_or_default();
    let farthest = plan.topology.links.iter().map(|link| link.delay).max().unwrap_or_default();
    let mut limit = STALL_LIMIT.max(farthest * 4);
    if slowest.bits_per_second() > 0 {
        let pause = u64::from(u16::MAX) * u64::from(rocelab_fabric::QUANTUM_BITS / 8);
        limit = limit.max(slowest.transmission_time(Bytes::new(pause)) * 2);
    }
    limit.max(plan.common_queue_pair().ack_timeout.duration().unwrap_or_default() * 2)
}
