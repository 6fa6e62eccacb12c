//! A run from its first event to its end.

mod audit;
mod barrier;
mod capture_files;
mod execution;
mod parts;
mod state;
mod whole;
mod workers;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocelab_capture::{CaptureWriter, Format, Interface};
use rocelab_engine::{EventKey, Scheduled};
use rocelab_transport::CompletionStatus;
use rocelab_units::{Bytes, Duration, SimTime};

use self::capture_files::CaptureFiles;
pub use self::execution::Execution;
use self::parts::{Parts, Running, Workers};
pub use self::whole::WholeNetwork;
use crate::Plan;
use crate::network::watch::Watch;
use crate::network::{
    BuildError, Cut, Deadlock, FlowEnd, FlowFailure, Network, Part, Record, RecordKind, Setting,
    Standstill, StuckQueue,
};
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

/// A network, in one part or several, and the engines that run it.
#[derive(Debug)]
pub struct Simulation<P: Profile = Roce> {
    parts: Parts<P>,
    captures: Option<CaptureFiles>,
    /// Those that were found, in order of time.
    deadlocks: Vec<Deadlock>,
    /// The same: when each began, and its cycle.
    known: BTreeSet<(SimTime, Vec<StuckQueue>)>,
    /// What was recorded and has not been handed over.
    records: Vec<Record>,
    /// Flows of an unreliable service that have not ended, as far as is known, ascending.
    open_flows: Vec<u32>,
    /// Flows of TCP that have ended, and whose sources do not know it yet.
    unacknowledged: BTreeMap<u32, (EventKey, FlowEnd)>,
    is_over: bool,
    /// The end of the window that is being run.
    window_end: SimTime,
    /// Advancing stops at the end of the first window that does not end before.
    pause_at: SimTime,
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
    /// The network of `plan` at time zero, in one part.
    ///
    /// # Errors
    /// If the plan cannot become a network.
    pub fn new(plan: Arc<Plan>) -> Result<Self, BuildError> {
        let part = Part::whole(&plan);
        Self::of_parts(plan, std::iter::once(part), Workers::Always(1))
    }

    /// The network of `plan` at time zero, carried out like this.
    ///
    /// # Errors
    /// If the plan cannot become a network.
    pub fn with_execution(plan: Arc<Plan>, execution: Execution) -> Result<Self, BuildError> {
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
        let stall_limit = stall_limit(&plan);
        let is_native = plan.profile.hpcc_ns3().is_none();
        let flows = if plan.service().is_reliable() { 0 } else { plan.flows.len() };
        let open_flows = (0u32..).take(flows).collect();
        let setting = Setting::new(plan)?;
        Ok(Self {
            parts: Parts::new(&setting, parts, workers)?,
            captures: None,
            deadlocks: Vec::new(),
            known: BTreeSet::new(),
            records: Vec::new(),
            open_flows,
            unacknowledged: BTreeMap::new(),
            is_over: false,
            window_end: SimTime::ZERO,
            pause_at: SimTime::NEVER,
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
    pub fn network(&self) -> WholeNetwork<'_, P> {
        WholeNetwork::new(&self.parts.all, &self.deadlocks)
    }

    /// The network of a run in one part, to change.
    #[cfg(test)]
    pub(crate) fn network_mut(&mut self) -> &mut Network<P> {
        &mut self.parts.all[0].network
    }

    /// Hands over what has been recorded since the last time, in the order of events; what nodes did
    /// because of one event from outside, in the order of nodes. The end of a flow of TCP comes when
    /// its source knows of it, or when the run is over.
    pub fn take_records(&mut self) -> Vec<Record> {
        self.collect_records();
        if self.is_over {
            for (flow, (key, end)) in std::mem::take(&mut self.unacknowledged) {
                self.note_known(flow);
                let retransmitted_packets = self.network().retransmitted_packets(flow);
                let end = FlowEnd { retransmitted_packets, ..end };
                self.records.push(Record { key, kind: RecordKind::FlowEnd(end) });
            }
        }
        std::mem::take(&mut self.records)
    }

    /// A flow of TCP ended before the run did, and its source has not come to know: what its destination
    /// has counts as acknowledged in its last sample.
    fn note_known(&mut self, flow: u32) {
        let source = self.network().plan().flows[flow as usize].source;
        self.parts.part_of(source).network.note_sampled_end(flow, true);
    }

    fn collect_records(&mut self) {
        let records = self.merge_records();
        if self.network().plan().tcp.is_none() {
            self.records.extend(records);
            return;
        }
        let joined = self.join_ends(records);
        self.records.extend(joined);
    }

    /// Completes the ends of flows of TCP by what their sources know.
    fn join_ends(&mut self, records: Vec<Record>) -> Vec<Record> {
        let mut joined = Vec::with_capacity(records.len());
        for Record { key, kind } in records {
            match kind {
                RecordKind::FlowEnd(end) if self.is_tcp(end.flow) => {
                    self.unacknowledged.insert(end.flow, (key, end));
                }
                RecordKind::FlowAcknowledged(known) => {
                    if let Some((_, end)) = self.unacknowledged.remove(&known.flow) {
                        let retransmitted_packets = known.retransmitted_packets;
                        let end = FlowEnd { retransmitted_packets, ..end };
                        joined.push(Record { key, kind: RecordKind::FlowEnd(end) });
                    }
                }
                kind => joined.push(Record { key, kind }),
            }
        }
        joined
    }

    fn is_tcp(&self, flow: u32) -> bool {
        self.network().plan().flows[flow as usize].is_tcp()
    }

    fn merge_records(&mut self) -> Vec<Record> {
        let mut records = Vec::new();
        for part in &mut self.parts.all {
            records.append(&mut part.network.take_records());
        }
        records.sort_by_key(|record| (record.key, record.kind.place()));
        records
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

    /// Writes what was captured since the last time, in the order of events; what nodes send because
    /// of one event from outside, in the order of nodes.
    fn write_captures(&mut self) {
        let plan = Arc::clone(self.network().plan());
        let (Some(files), Some(places)) = (&mut self.captures, &plan.capture) else { return };
        let mut captured = Vec::new();
        for part in &mut self.parts.all {
            match part.network.take_captured() {
                Ok(frames) => captured.extend(frames),
                Err(error) => files.fail(error),
            }
        }
        captured.sort_by_key(|frame| (frame.key, places.ports[usize::from(frame.interface)].0));
        for frame in &captured {
            files.write(frame);
        }
    }

    /// Has [`advance`](Self::advance) stop, once, at the end of the first window that does not end before.
    pub(crate) const fn pause_at(&mut self, time: SimTime) {
        self.pause_at = time;
    }

    /// How far it has come: all that is to happen is later.
    pub(crate) const fn window_end(&self) -> SimTime {
        self.window_end
    }

    /// Whether it stopped there.
    pub(crate) fn is_paused(&self) -> bool {
        self.window_end >= self.pause_at
    }

    /// Runs about `budget` events; says so if the run is over.
    pub fn advance(&mut self, budget: u64) -> Option<Ending> {
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

    /// Simulated time: of the last event, or after the last flow's end, of that.
    pub fn now(&self) -> SimTime {
        let network = self.network();
        if network.all_flows_ended() && network.is_drained() {
            network.last_flow_end()
        } else {
            self.parts.now()
        }
    }

    /// When the run is over: measures what counts over an interval, of the one that is not over.
    pub fn finish_samples(&mut self) {
        self.is_over = true;
        self.collect_records();
        for flow in self.unacknowledged.keys().copied().collect::<Vec<_>>() {
            self.note_known(flow);
        }
        let now = self.parts.now();
        for part in &mut self.parts.all {
            part.network.finish_samples(now);
        }
    }

    /// Events executed so far.
    pub fn events(&self) -> u64 {
        self.parts.executed()
    }

    /// When something was last seen to have moved: at the end of a window.
    pub(crate) const fn last_movement(&self) -> SimTime {
        self.last_progress.0
    }

    fn run_window(&mut self, run: impl FnOnce(&mut Parts<P>, SimTime)) -> Option<Ending> {
        let ending = self.run_one_window(run);
        self.is_over = ending.is_some();
        ending
    }

    fn run_one_window(&mut self, run: impl FnOnce(&mut Parts<P>, SimTime)) -> Option<Ending> {
        let stop = self.network().plan().stop.map_or(SimTime::NEVER, P::last_instant);
        let next = self.parts.next();
        if self.deadlocked_before(next.unwrap_or(SimTime::NEVER).min(stop)) {
            return Some(Ending::Deadlocked);
        }
        match next {
            None => return Some(self.ending_without_events()),
            Some(next) if next > stop => {
                self.parts.advance_to(stop);
                return Some(Ending::Stopped);
            }
            Some(next) => {
                self.window_end = window_after(next).min(stop).min(self.deadlock_look);
            }
        }
        run(&mut self.parts, self.window_end);
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
        let found = self.look_for_deadlock(due);
        if found && self.network().plan().on_deadlock == OnDeadlock::Stop {
            self.parts.advance_to(due);
            return true;
        }
        false
    }

    /// Looks for deadlocks, and keeps those that are not known; true if there are any.
    #[cold]
    #[inline(never)] // Few windows look, and the loop over them is hot.
    fn look_for_deadlock(&mut self, now: SimTime) -> bool {
        let parts = &mut self.parts.all;
        if parts.iter().map(|part| part.network.counted().pauses).sum::<u64>() < 2 {
            return false;
        }
        let all = parts.iter().map(|part| part.network.standstill());
        let all = all.reduce(Standstill::with).unwrap_or_default();
        let before = self.deadlocks.len();
        for deadlock in all.deadlocks(now) {
            self.keep_deadlock(deadlock);
        }
        self.deadlocks.len() > before
    }

    /// Keeps a deadlock, unless it is known.
    fn keep_deadlock(&mut self, found: Deadlock) {
        if !self.known.insert((found.began, found.cycle.clone())) {
            return;
        }
        if let Some(first) = found.cycle.first() {
            self.parts.part_of(first.node).network.note_deadlock(&found);
        }
        self.deadlocks.push(found);
    }

    /// If nothing is under way any more, ends every flow of an unreliable service that has sent all:
    /// at the end of the window in which that came to be, whatever else happened in it.
    fn end_lost_flows(&mut self) {
        if self.network().plan().service().is_reliable() || !self.network().is_drained() {
            return;
        }
        let mut open = std::mem::take(&mut self.open_flows);
        open.retain(|&number| {
            let network = self.network();
            if network.end_of(number).is_some() {
                return false;
            }
            let source = network.plan().flows[number as usize].source;
            let is_lost = network.part_of(source).has_sent_all(number);
            if is_lost {
                let undelivered = network.undelivered_messages(number).unwrap_or(0);
                self.end_lost_flow(&FlowEnd {
                    flow: number,
                    status: CompletionStatus::Flushed,
                    finished: self.window_end,
                    retransmitted_packets: 0,
                    failure: Some(FlowFailure::MessagesLost(undelivered)),
                });
            }
            !is_lost
        });
        self.open_flows = open;
    }

    fn end_lost_flow(&mut self, end: &FlowEnd) {
        let source = self.network().plan().flows[end.flow as usize].source;
        let part = self.parts.part_of(source);
        part.network.note_sampled_end(end.flow, false);
        part.network.end_lost_flow(end);
    }

    /// At the end of a window: is the run over?
    fn look(&mut self) -> Option<Ending> {
        let moved = self.parts.all.iter().map(|part| part.network.movements()).sum();
        if moved != self.last_progress.1 {
            self.last_progress = (self.window_end, moved);
        }
        let idle = self.window_end.since(self.last_progress.0);
        self.end_lost_flows();
        let network = self.network();
        if network.all_flows_ended() {
            let over = network.is_drained() || idle > DRAIN_LIMIT;
            return over.then_some(Ending::Finished);
        }
        let stalled = idle > self.stall_limit && !network.parts().any(Network::will_move);
        stalled.then_some(Ending::Stalled)
    }

    fn ending_without_events(&mut self) -> Ending {
        self.end_lost_flows();
        if self.network().all_flows_ended() {
            return Ending::Finished;
        }
        match self.network().plan().stop {
            Some(stop) => {
                self.parts.advance_to(stop);
                Ending::Stopped
            }
            None => Ending::Stalled,
        }
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
                let [Running { engine, network }] = &mut parts.all[..] else {
                    debug_assert!(false, "who looks at single events has all in one part");
                    return parts.run_until(until);
                };
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
