//! A run from its first event to its end.

mod assembly;
mod audit;
mod barrier;
mod capture_files;
mod collected;
mod compiled;
mod coordinator;
mod ending;
mod execution;
mod parts;
mod ranked;
mod running;
mod state;
mod whole;
mod windows;
mod workers;

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocelab_capture::{CaptureWriter, Format, Interface};
use rocelab_engine::{Scheduled, World};
use rocelab_units::SimTime;

use self::capture_files::CaptureFiles;
use self::collected::Collected;
pub use self::compiled::Compiled;
use self::coordinator::Coordinator;
pub(crate) use self::coordinator::stall_limit;
pub use self::ending::Ending;
pub use self::execution::Execution;
use self::parts::{Parts, Workers};
pub(crate) use self::ranked::{RankedError, RankedSimulation};
pub use self::whole::WholeNetwork;
use crate::Plan;
use crate::network::watch::Watch;
use crate::network::{BuildError, Cut, Overview, Part, Record, Setting};
use crate::profile::Profile;
use crate::profile::roce::Roce;

/// A network, in one part or several, and the engines that run it.
#[derive(Debug)]
pub struct Simulation<P: Profile = Roce> {
    parts: Parts<P>,
    captures: Option<CaptureFiles>,
    coordinator: Coordinator,
    collected: Collected,
    is_over: bool,
    /// Advancing stops at the end of the first window that does not end before.
    pause_at: SimTime,
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

impl Progress {
    /// The share of the run that is done, 0 to 1: of its flows or of its time, whichever is larger.
    pub fn fraction(&self) -> f64 {
        let flows = match self.flows {
            0 => 0.0,
            flows => f64::from(self.flows_ended) / flows as f64,
        };
        let time = self.stop.map_or(0.0, |stop| self.now.ps() as f64 / stop.ps().max(1) as f64);
        flows.max(time).min(1.0)
    }
}

impl<P: Profile> Simulation<P> {
    /// See [`Compiled`].
    fn in_one_part(plan: Arc<Plan>) -> Result<Self, BuildError> {
        let part = Part::whole(&plan);
        Self::of_parts(plan, std::iter::once(part), Workers::Always(1))
    }

    /// See [`Compiled`].
    fn executed_so(plan: Arc<Plan>, execution: Execution) -> Result<Self, BuildError> {
        let execution = execution.for_plan(&plan);
        let cut = Cut::new(&plan, execution.partitioning(&plan));
        let workers = Workers::WhereWorth(execution.threads as usize);
        Self::of_parts(plan, Part::all(&cut), workers)
    }

    /// How it is carried out: in how many parts, and on how many threads at the most.
    pub fn execution(&self) -> Execution {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Execution {
            partitions: number(self.parts.all.len()),
            threads: number(self.parts.workers()),
        }
    }

    fn of_parts(
        plan: Arc<Plan>,
        parts: impl Iterator<Item = Part>,
        workers: Workers,
    ) -> Result<Self, BuildError> {
        let coordinator = Coordinator::new(Arc::clone(&plan));
        let setting = Setting::new(plan)?;
        Ok(Self {
            parts: Parts::new(&setting, parts, workers)?,
            captures: None,
            coordinator,
            collected: Collected::default(),
            is_over: false,
            pause_at: SimTime::NEVER,
        })
    }

    /// The network.
    pub fn network(&self) -> WholeNetwork<'_, P> {
        WholeNetwork::new(&self.parts.all, &self.coordinator.deadlocks)
    }

    /// The network of a run in one part, to change.
    #[cfg(test)]
    pub(crate) fn network_mut(&mut self) -> &mut crate::network::Network<P> {
        &mut self.parts.all[0].network
    }

    /// Hands over what has been recorded since the last time, in the order of events; what nodes did
    /// because of one event from outside, in the order of nodes. The end of a flow of TCP comes when
    /// its source knows of it, or when the run is over.
    pub fn take_records(&mut self) -> Vec<Record> {
        self.collect_records();
        if self.is_over {
            for (flow, (key, end)) in std::mem::take(&mut self.collected.unacknowledged) {
                self.note_known(flow);
                let retransmitted_packets = self.network().retransmitted_packets(flow);
                self.collected.end(key, end, retransmitted_packets);
            }
        }
        self.collected.take()
    }

    /// A flow of TCP ended before the run did, and its source has not come to know: it is not sampled any
    /// more.
    fn note_known(&mut self, flow: u32) {
        let source = self.network().plan().flows[flow as usize].source;
        self.parts.part_of(source).network.collecting().note_sampled_end(flow);
    }

    fn collect_records(&mut self) {
        let mut records = Vec::new();
        for part in &mut self.parts.all {
            records.append(&mut part.network.collecting().take_records());
        }
        self.collected.add(&self.coordinator.plan, records);
    }

    /// Starts capturing the plan's ports into files in `folder`.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn start_capture(&mut self, folder: &Path) -> io::Result<()> {
        self.capture_into(folder, CaptureWriter::create)
    }

    /// Goes on capturing into the files in `folder`, as a checkpoint has them.
    ///
    /// # Errors
    /// If a file cannot be opened.
    pub(crate) fn go_on_capturing(&mut self, folder: &Path) -> io::Result<()> {
        self.capture_into(folder, CaptureWriter::go_on)
    }

    /// Writes out what was captured and is buffered.
    pub(crate) fn flush_capture(&mut self) -> io::Result<()> {
        self.captures.as_mut().map_or(Ok(()), CaptureFiles::flush)
    }

    fn capture_into(
        &mut self,
        folder: &Path,
        open: fn(Format, PathBuf, &[Interface]) -> io::Result<CaptureWriter>,
    ) -> io::Result<()> {
        let plan = Arc::clone(self.network().plan());
        let Some(captured) = &plan.capture else { return Ok(()) };
        self.captures = Some(CaptureFiles::create(folder, &plan, captured, open)?);
        for part in &mut self.parts.all {
            part.network.start_capture();
        }
        Ok(())
    }

    /// Writes out what is buffered and closes the files.
    ///
    /// # Errors
    /// The first thing that went wrong since the start.
    pub fn finish_capture(&mut self) -> io::Result<()> {
        self.write_captures();
        self.captures.take().map_or(Ok(()), CaptureFiles::finish)
    }

    /// Whether writing a capture has failed.
    pub fn capture_failed(&self) -> bool {
        self.captures.as_ref().is_some_and(CaptureFiles::has_failed)
    }

    /// Writes what was captured since the last time.
    fn write_captures(&mut self) {
        let plan = Arc::clone(self.network().plan());
        let (Some(files), Some(places)) = (&mut self.captures, &plan.capture) else { return };
        let mut captured = Vec::new();
        for part in &mut self.parts.all {
            match part.network.collecting().take_captured() {
                Ok(frames) => captured.extend(frames),
                Err(error) => files.fail(error),
            }
        }
        files.write_all(places, captured);
    }

    /// Has [`advance`](Self::advance) stop, once, at the end of the first window that does not end before.
    pub(crate) const fn pause_at(&mut self, time: SimTime) {
        self.pause_at = time;
    }

    /// How far it has come: all that is to happen is later.
    pub(crate) const fn window_end(&self) -> SimTime {
        self.coordinator.window_end
    }

    /// Whether it stopped there.
    pub(crate) fn is_paused(&self) -> bool {
        self.coordinator.window_end >= self.pause_at
    }

    /// See [`Compiled`].
    fn advance_here(&mut self, budget: u64) -> Option<Ending> {
        let before = self.parts.executed();
        while self.parts.executed() - before < budget && !self.is_paused() {
            let ending = self.run_window(Parts::run_until);
            self.write_captures();
            if ending.is_some() {
                return ending;
            }
        }
        None
    }

    /// How far the run has come.
    pub fn progress(&self) -> Progress {
        let network = self.network();
        let (completed, failed, flows) = network.flow_counts();
        let (operations_completed, operations_failed) = network.operation_counts();
        Progress {
            now: self.now(),
            stop: network.plan().stop,
            flows_ended: completed + failed,
            flows,
            operations_ended: operations_completed + operations_failed,
            traversals: network.traversals().total(),
            events: self.parts.executed(),
        }
    }

    /// Simulated time: of the last event, or after the last flow's end, of that. Pings may go on after flows: of a run with
    /// a mesh that is over, of the last of flows, answers, and the mesh's own end.
    pub fn now(&self) -> SimTime {
        let network = self.network();
        let plan = network.plan();
        let has_only_flows = plan.streams.all.is_empty();
        if !(has_only_flows && network.all_flows_ended() && network.is_drained()) {
            return self.parts.now();
        }
        match &plan.monitoring {
            None => network.last_flow_end(),
            Some(mesh) if self.is_over => {
                let stop = plan.stop.unwrap_or(SimTime::NEVER);
                let until = mesh.rules.until.map_or(SimTime::ZERO, |until| until.min(stop));
                self.last_answer().max(network.last_flow_end()).max(until)
            }
            Some(_) => self.parts.now(),
        }
    }

    /// When the last ping was answered that has been.
    fn last_answer(&self) -> SimTime {
        let parts = self.parts.all.iter();
        let pings = parts.flat_map(|part| Overview(&part.network).pings()).flat_map(|(_, own)| own);
        let answers = pings.filter_map(|ping| Some(ping.sent.saturating_add(ping.took?)));
        answers.max().unwrap_or_default()
    }

    /// When the run is over, and was not interrupted: looks at queues for as long as HPCC's simulator would. Nothing
    /// moves any more.
    pub(crate) fn finish_queue_histograms(&mut self) {
        for part in &mut self.parts.all {
            part.network.measuring().finish_histograms();
        }
    }

    /// See [`Compiled`].
    fn finish_samples_here(&mut self) {
        self.is_over = true;
        self.collect_records();
        for flow in self.collected.unacknowledged.keys().copied().collect::<Vec<_>>() {
            self.note_known(flow);
        }
        let now = self.parts.now();
        for part in &mut self.parts.all {
            part.network.measuring().finish_samples(now);
        }
    }

    /// Events executed so far.
    pub fn events(&self) -> u64 {
        self.parts.executed()
    }

    /// When something was last seen to have moved: at the end of a window.
    pub(crate) const fn last_movement(&self) -> SimTime {
        self.coordinator.last_progress.0
    }

    fn run_window(&mut self, run: impl FnOnce(&mut Parts<P>, SimTime)) -> Option<Ending> {
        let Ok(begun) = self.coordinator.begin(&mut self.parts);
        let ending = match begun {
            ControlFlow::Break(ending) => Some(ending),
            ControlFlow::Continue(end) => {
                run(&mut self.parts, end);
                let Ok(ending) = self.coordinator.look(&mut self.parts);
                ending
            }
        };
        self.is_over = ending.is_some();
        ending
    }
}

impl Simulation<Roce> {
    /// The network of `plan` at time zero, in several parts, of which so many run at once as there
    /// are `workers`, even where that takes longer. What a run comes to does not depend on either, as
    /// long as hosts are in the part of their switch: else switches that cut through may act on what
    /// hosts send at the instant of a failure as on what they send behind it.
    ///
    /// # Errors
    /// If the plan cannot become a network.
    pub fn in_parts(plan: Arc<Plan>, cut: &Arc<Cut>, workers: usize) -> Result<Self, BuildError> {
        Self::of_parts(plan, Part::all(cut), Workers::Always(workers))
    }

    /// Runs about `budget` events while somebody looks; says so if the run is over.
    pub(crate) fn advance_watched(
        &mut self,
        budget: u64,
        watch: &mut impl Watch,
    ) -> Option<Ending> {
        let before = self.parts.executed();
        while self.parts.executed() - before < budget {
            let ending = self.run_window(|parts, until| {
                let [part] = &mut parts.all[..] else {
                    debug_assert!(false, "who looks at single events has all in one part");
                    return parts.run_until(until);
                };
                let (engine, network) = part.join();
                while let Some(&Scheduled { key, event }) = network.queue_mut().first()
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
