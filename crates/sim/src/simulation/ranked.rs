//! A run that several ranks carry out together, as one of them sees it.
//!
//! A rank has some of the parts, and goes through the same windows as all others. Between two windows it
//! hands over what goes to parts elsewhere, with the time at which something happens next here: so all
//! know the next window. What is decided between windows of fixed length follows from what all ranks
//! know together, and each decides for itself. The first rank gets what all record and capture, and
//! at the end the state of their parts, of which it makes the network as if it had been in one part.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use rocelab_capture::CaptureWriter;
use rocelab_state::{BorshDeserialize, BorshSerialize, Result as StateResult, load_value};
use rocelab_units::SimTime;

use super::capture_files::CaptureFiles;
use super::collected::Collected;
use super::coordinator::{Assembly, Coordinator, Fact};
use super::parts::{Running, Windows};
use super::{Ending, Execution, Progress, Simulation};
use crate::Plan;
use crate::network::{
    BatchOf, CapturedFrame, Cut, Part, Record, SavedNetwork, Setting, Traversals,
};
use crate::output::RunError;
use crate::profile::roce::Roce;
use crate::ranks::{CommunicationError, Message, Ranks, Received};

/// The part of a run that one rank carries out.
#[derive(Debug)]
pub(crate) struct RankedSimulation<'a, 'r> {
    coordinator: Coordinator,
    all: Spread<'a, 'r>,
    /// At the first rank: what was recorded anywhere.
    collected: Collected,
    /// At the first rank.
    captures: Option<CaptureFiles>,
    /// How far the run had come at the end of the last step.
    tally: Tally,
}

/// Parts of a network that are spread over ranks.
#[derive(Debug)]
struct Spread<'a, 'r> {
    /// Those that are here.
    parts: Vec<Running<Roce>>,
    /// The number of the first of them.
    first: u32,
    /// The rank of each part.
    rank_of: Vec<u32>,
    windows: Windows,
    /// When something happens next at any rank.
    next: SimTime,
    /// Events that all ranks have executed.
    executed: u64,
    ranks: &'r mut Ranks<'a>,
}

/// What a rank says at the end of a window, before what goes to other parts.
#[derive(BorshSerialize, BorshDeserialize)]
struct Ahead {
    /// When something happens next by what it knows.
    next: SimTime,
    /// Events that it has executed in all.
    executed: u64,
    /// Batches that follow, each with its part.
    batches: u64,
}

/// What a rank has recorded and captured in a step, and how far it has come.
#[derive(Default, BorshSerialize, BorshDeserialize)]
struct Step {
    records: Vec<Record>,
    captured: Vec<CapturedFrame>,
    /// Why nothing is captured any more.
    capture_error: Option<String>,
    tally: Tally,
}

/// How far some parts have come.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
struct Tally {
    now: SimTime,
    last_flow_end: SimTime,
    flows_ended: u32,
    operations_ended: u64,
    traversals: Traversals,
    has_open_connections: bool,
    frames: u64,
}

/// The state of a rank's parts.
#[derive(BorshSerialize, BorshDeserialize)]
struct SavedParts {
    now: SimTime,
    network: SavedNetwork,
}

/// The parts of a rank, where so many are spread over so many ranks: side by side, as evenly as can be.
/// Without enough parts the last ranks have none.
fn parts_of(rank: u32, parts: u32, ranks: u32) -> Range<u32> {
    let busy = ranks.min(parts).max(1);
    // There are at most 256 parts.
    let first = |rank: u32| rank.min(busy) * parts / busy;
    first(rank)..first(rank + 1)
}

impl<'a, 'r> RankedSimulation<'a, 'r> {
    /// This rank's part of a run of `plan` at time zero, in so many parts, or so many as the topology
    /// has.
    ///
    /// # Errors
    /// If the plan cannot become a network, or another rank has failed.
    pub(crate) fn new(
        plan: Arc<Plan>,
        partitions: u32,
        ranks: &'r mut Ranks<'a>,
    ) -> Result<Self, RunError> {
        let execution = Execution { partitions, threads: 1 };
        let cut = Cut::new(&plan, execution.partitioning(&plan));
        let here = parts_of(ranks.rank(), cut.parts(), ranks.size());
        let setting = Setting::new(Arc::clone(&plan))?;
        let windows = Windows::over(&setting, cut.links());
        let own = Part::all(&cut).skip(here.start as usize).take(here.len());
        let parts = own.map(|part| Running::new(&setting, part)).collect::<Result<_, _>>()?;
        let mut rank_of = Vec::new();
        for rank in 0..ranks.size() {
            rank_of.extend(parts_of(rank, cut.parts(), ranks.size()).map(|_| rank));
        }
        let mut all = Spread {
            parts,
            first: here.start,
            rank_of,
            windows,
            next: SimTime::NEVER,
            executed: 0,
            ranks,
        };
        all.meet(SimTime::ZERO)?;
        Ok(Self {
            coordinator: Coordinator::new(plan),
            all,
            collected: Collected::default(),
            captures: None,
            tally: Tally::default(),
        })
    }

    /// How it is carried out: the parts of all ranks, of which each has one thread.
    pub(crate) fn execution(&self) -> Execution {
        let partitions = u32::try_from(self.all.rank_of.len()).unwrap_or(u32::MAX);
        Execution { partitions, threads: 1 }
    }

    /// Starts capturing the plan's ports; the first rank writes files, in `folder`.
    pub(crate) fn start_capture(&mut self, folder: Option<&Path>) -> Result<(), RunError> {
        let plan = &self.coordinator.plan;
        let Some(captured) = &plan.capture else { return Ok(()) };
        if let Some(folder) = folder {
            let files = CaptureFiles::create(folder, plan, captured, CaptureWriter::create)?;
            self.captures = Some(files);
        }
        for part in &mut self.all.parts {
            part.network.start_capture();
        }
        Ok(())
    }

    /// Runs about `budget` events, counted at all ranks, and hands what was recorded and captured to the
    /// first rank; says so if the run is over.
    pub(crate) fn step(&mut self, budget: u64) -> Result<Option<Ending>, CommunicationError> {
        let before = self.all.executed;
        let mut ending = None;
        while ending.is_none() && self.all.executed - before < budget {
            ending = match self.coordinator.begin(&mut self.all)? {
                std::ops::ControlFlow::Break(ending) => Some(ending),
                std::ops::ControlFlow::Continue(end) => {
                    self.all.run_until(end)?;
                    self.coordinator.look(&mut self.all)?
                }
            };
        }
        self.hand_over_step()?;
        Ok(ending)
    }

    fn hand_over_step(&mut self) -> Result<(), CommunicationError> {
        let own = self.all.take_step();
        let steps = self.all.ranks.gather(&own)?;
        let plan = Arc::clone(&self.coordinator.plan);
        let (mut records, mut frames) = (Vec::new(), Vec::new());
        self.tally = Tally::default();
        for (rank, step) in (0u32..).zip(steps) {
            if !step.fits(&plan) {
                let error = rocelab_state::unfit("what was recorded");
                return Err(self.all.ranks.malformed(rank, error));
            }
            records.extend(step.records);
            frames.extend(step.captured);
            if let (Some(files), Some(error)) = (&mut self.captures, step.capture_error) {
                files.fail(std::io::Error::other(error));
            }
            self.tally = std::mem::take(&mut self.tally).with(step.tally);
        }
        self.collected.add(&plan, records);
        if let (Some(files), Some(places)) = (&mut self.captures, &plan.capture) {
            files.write_all(places, frames);
        }
        Ok(())
    }

    /// At the first rank: hands over what has been recorded since the last time.
    pub(crate) fn take_records(&mut self) -> Vec<Record> {
        self.collected.take()
    }

    /// At the first rank: how far the run has come.
    pub(crate) fn progress(&self) -> Progress {
        let plan = &self.coordinator.plan;
        let tally = &self.tally;
        let has_all_flows_ended =
            tally.flows_ended as usize == plan.flows.len() && !tally.has_open_connections;
        let is_over = has_all_flows_ended && tally.frames == 0;
        Progress {
            now: if is_over { tally.last_flow_end } else { tally.now },
            stop: plan.stop,
            flows_ended: tally.flows_ended,
            flows: plan.flows.len(),
            operations_ended: tally.operations_ended,
            traversals: tally.traversals.total(),
            events: self.all.executed,
        }
    }

    /// Whether writing a capture has failed.
    pub(crate) fn capture_failed(&self) -> bool {
        self.captures.as_ref().is_some_and(CaptureFiles::has_failed)
    }

    /// Whether any rank wants to break off the run.
    pub(crate) fn is_broken_off(&mut self, here: bool) -> Result<bool, CommunicationError> {
        self.all.of_all(here)
    }

    /// After the last step, at the other ranks: hands the state of the parts to the first one.
    pub(crate) fn hand_over(mut self) -> Result<(), CommunicationError> {
        self.all.gather().map(drop)
    }

    /// After the last step, at the first rank: a run in one part, with all parts in it, that has come as
    /// far.
    pub(crate) fn gather(mut self) -> Result<Simulation<Roce>, RunError> {
        let (mut now, mut network) = (SimTime::ZERO, SavedNetwork::default());
        for saved in self.all.gather()? {
            now = now.max(saved.now);
            network.add(saved.network);
        }
        network.sort();
        let mut whole = Simulation::new(Arc::clone(&self.coordinator.plan))?;
        let loaded = whole.take_over(&network, now, self.all.executed, self.coordinator);
        loaded.map_err(|error| CommunicationError::Malformed { rank: 0, error })?;
        whole.collected = self.collected;
        whole.captures = self.captures;
        whole.is_over = true;
        Ok(whole)
    }
}

impl Spread<'_, '_> {
    /// Runs all that happens until `limit`, window by window.
    fn run_until(&mut self, limit: SimTime) -> Result<(), CommunicationError> {
        while let Some(end) = self.windows.end(self.next, limit) {
            for part in &mut self.parts {
                part.run_until(end);
            }
            self.meet(end)?;
        }
        Ok(())
    }

    /// At the end of a window: hands over what goes to other parts, and learns when something happens
    /// next.
    fn meet(&mut self, window: SimTime) -> Result<(), CommunicationError> {
        let mut outgoing = vec![(0, Vec::new()); self.ranks.size() as usize];
        let mut next = self.parts.iter().map(Running::next).min().unwrap_or(SimTime::NEVER);
        let mut near = Vec::new();
        for place in 0..self.parts.len() {
            let batches: Vec<_> = self.parts[place].network.take_batches().collect();
            for (to, batch) in batches {
                next = next.min(batch.first_arrival());
                let rank = self.rank_of[to as usize];
                if rank == self.ranks.rank() {
                    near.push((to, batch));
                    continue;
                }
                let (count, bytes) = &mut outgoing[rank as usize];
                *count += 1;
                let saved = rocelab_state::save_value(&to, bytes).and_then(|()| batch.save(bytes));
                saved.map_err(|error| self.ranks.malformed(self.ranks.rank(), error))?;
                self.parts[place].network.keep_spare(batch);
            }
        }
        for (to, batch) in near {
            self.enter(to, batch);
        }
        self.exchange(next, outgoing, window)
    }

    fn exchange(
        &mut self,
        next: SimTime,
        outgoing: Vec<(u64, Vec<u8>)>,
        window: SimTime,
    ) -> Result<(), CommunicationError> {
        let executed = self.parts.iter().map(|part| part.engine.executed()).sum();
        let message = |(batches, bytes): (u64, Vec<u8>)| {
            let mut message = Message::default();
            message.add(&Ahead { next, executed, batches });
            message.bytes().extend(bytes);
            message
        };
        let received = self.ranks.exchange(outgoing.into_iter().map(message).collect())?;
        (self.next, self.executed) = (SimTime::NEVER, 0);
        for one in received {
            let taken = self.take_in(&one, window);
            taken.map_err(|error| self.ranks.malformed(one.rank, error))?;
        }
        Ok(())
    }

    /// Takes in what a rank has sent.
    fn take_in(&mut self, received: &Received, window: SimTime) -> StateResult {
        let mut rest = received.content();
        let Ahead { next, executed, batches } = load_value(&mut rest)?;
        self.next = self.next.min(next);
        self.executed += executed;
        for _ in 0..batches {
            let to: u32 = load_value(&mut rest)?;
            let part = to.checked_sub(self.first).and_then(|place| self.parts.get(place as usize));
            let part = part.ok_or_else(|| rocelab_state::unfit("the part that frames go to"))?;
            let batch = part.network.load_batch(&mut rest, window)?;
            self.enter(to, batch);
        }
        if rest.is_empty() { Ok(()) } else { Err(rocelab_state::unfit("what a rank has sent")) }
    }

    fn enter(&mut self, to: u32, batch: BatchOf<Roce>) {
        self.parts[(to - self.first) as usize].enter(batch);
    }

    fn take_step(&mut self) -> Step {
        let mut step = Step::default();
        for part in &mut self.parts {
            step.records.append(&mut part.network.take_records());
            match part.network.take_captured() {
                Ok(frames) => step.captured.extend(frames),
                Err(error) => step.capture_error = Some(error.to_string()),
            }
            let tally = std::mem::take(&mut step.tally);
            step.tally = tally.with(Tally::of(part));
        }
        step
    }

    /// Hands the state of the parts, which are not needed any more, to the first rank; what it gets.
    fn gather(&mut self) -> Result<Vec<SavedParts>, CommunicationError> {
        let own = self.save();
        let own = own.map_err(|error| self.ranks.malformed(self.ranks.rank(), error))?;
        self.parts = Vec::new();
        self.ranks.gather(&own)
    }

    fn save(&mut self) -> StateResult<SavedParts> {
        let mut network = SavedNetwork::default();
        let mut now = SimTime::ZERO;
        for part in &mut self.parts {
            let (engine, part) = part.join();
            now = now.max(engine.now());
            part.save(&engine.queue, &mut network)?;
        }
        Ok(SavedParts { now, network })
    }
}

impl Assembly<Roce> for Spread<'_, '_> {
    type Error = CommunicationError;

    fn parts(&mut self) -> &mut [Running<Roce>] {
        &mut self.parts
    }

    fn next(&self) -> Option<SimTime> {
        (self.next != SimTime::NEVER).then_some(self.next)
    }

    fn of_all<F: Fact>(&mut self, here: F) -> Result<F, CommunicationError> {
        let all = self.ranks.of_each(&here)?;
        Ok(all.into_iter().reduce(F::with).unwrap_or(here))
    }
}

impl Step {
    /// Whether it can be of a run of `plan`.
    fn fits(&self, plan: &Plan) -> bool {
        let ports = plan.capture.as_ref().map_or(0, |capture| capture.ports.len());
        self.records.iter().all(|record| record.kind.fits(plan))
            && self.captured.iter().all(|frame| usize::from(frame.interface) < ports)
    }
}

impl Tally {
    fn of(Running { engine, network, .. }: &Running<Roce>) -> Self {
        let (flows_completed, flows_failed, _) = network.flow_counts();
        let (completed, failed) = network.operation_counts();
        Self {
            now: engine.now(),
            last_flow_end: network.last_flow_end(),
            flows_ended: flows_completed + flows_failed,
            operations_ended: completed + failed,
            traversals: network.traversals(),
            has_open_connections: network.has_open_connections(),
            frames: network.frames_in_network().into(),
        }
    }

    fn with(self, other: Self) -> Self {
        let mut traversals = self.traversals;
        traversals += other.traversals;
        Self {
            now: self.now.max(other.now),
            last_flow_end: self.last_flow_end.max(other.last_flow_end),
            flows_ended: self.flows_ended.saturating_add(other.flows_ended),
            operations_ended: self.operations_ended.saturating_add(other.operations_ended),
            traversals,
            has_open_connections: self.has_open_connections | other.has_open_connections,
            frames: self.frames.saturating_add(other.frames),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parts_of;

    #[test]
    fn every_part_is_at_one_rank_and_ranks_have_as_many() {
        for parts in 1..40 {
            for ranks in 1..12 {
                let all: Vec<_> = (0..ranks).map(|rank| parts_of(rank, parts, ranks)).collect();
                assert!(all.iter().cloned().flatten().eq(0..parts), "{all:?}");
                let sizes = all.iter().map(|own| u32::try_from(own.len()).unwrap());
                let (least, most) = (sizes.clone().min(), sizes.max());
                if parts < ranks {
                    assert_eq!((least, most), (Some(0), Some(1)), "{all:?}");
                    assert_eq!(all[0], 0..1, "the first rank has the first part");
                } else {
                    assert_eq!((least, most), (Some(parts / ranks), Some(parts.div_ceil(ranks))));
                }
            }
        }
    }
}
