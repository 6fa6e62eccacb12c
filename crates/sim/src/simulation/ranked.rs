//! A run that several ranks carry out together, as one of them sees it.
//!
//! A rank has some of the parts, and goes through the same windows as all others. Between two windows it
//! hands over what goes to parts elsewhere, with the time at which something happens next here: so all
//! know the next window. What is decided between windows of fixed length follows from what all ranks
//! know together, and each decides for itself. The first rank gets what all record and capture, and
//! at the end the state of their parts, of which it makes the network as if it had been in one part.

mod error;
mod spread;
mod step;

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_capture::CaptureWriter;
use rocelab_units::SimTime;

pub(crate) use self::error::RankedError;
use self::spread::Spread;
use self::step::Tally;
use super::assembly::Assembly;
use super::capture_files::CaptureFiles;
use super::collected::Collected;
use super::coordinator::Coordinator;
use super::{Ending, Execution, Progress, Simulation};
use crate::Plan;
use crate::network::{Cut, Record, SavedNetwork};
use crate::profile::roce::Roce;
use crate::ranks::{CommunicationError, Ranks};

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
    ) -> Result<Self, RankedError> {
        let execution = Execution { partitions, threads: 1 };
        let cut = Cut::new(&plan, execution.partitioning(&plan));
        let all = Spread::new(&plan, &cut, ranks)?;
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
        let partitions = u32::try_from(self.all.parts_of_all()).unwrap_or(u32::MAX);
        Execution { partitions, threads: 1 }
    }

    /// Starts capturing the plan's ports; the first rank writes files, in `folder`.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub(crate) fn start_capture(&mut self, folder: Option<&Path>) -> io::Result<()> {
        let plan = &self.coordinator.plan;
        let Some(captured) = &plan.capture else { return Ok(()) };
        if let Some(folder) = folder {
            let files = CaptureFiles::create(folder, plan, captured, CaptureWriter::create)?;
            self.captures = Some(files);
        }
        for part in self.all.parts() {
            part.network.start_capture();
        }
        Ok(())
    }

    /// Runs about `budget` events, counted at all ranks, and hands what was recorded and captured to the
    /// first rank; says so if the run is over.
    pub(crate) fn step(&mut self, budget: u64) -> Result<Option<Ending>, CommunicationError> {
        let before = self.all.executed();
        let mut ending = None;
        while ending.is_none() && self.all.executed() - before < budget {
            ending = match self.coordinator.begin(&mut self.all)? {
                ControlFlow::Break(ending) => Some(ending),
                ControlFlow::Continue(end) => {
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
                files.fail(io::Error::other(error));
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
        // Pings go on after flows.
        let is_over = has_all_flows_ended && tally.frames == 0 && plan.monitoring.is_none();
        Progress {
            now: if is_over { tally.last_flow_end } else { tally.now },
            stop: plan.stop,
            flows_ended: tally.flows_ended,
            flows: plan.flows.len(),
            operations_ended: tally.operations_ended,
            traversals: tally.traversals.total(),
            events: self.all.executed(),
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
    pub(crate) fn gather(mut self) -> Result<Simulation<Roce>, RankedError> {
        let (mut now, mut network) = (SimTime::ZERO, SavedNetwork::default());
        for saved in self.all.gather()? {
            now = now.max(saved.now);
            network.add(saved.network);
        }
        network.sort();
        let mut whole = Simulation::new(Arc::clone(&self.coordinator.plan))?;
        let loaded = whole.take_over(&network, now, self.all.executed(), self.coordinator);
        loaded.map_err(|error| CommunicationError::Malformed { rank: 0, error })?;
        whole.collected = self.collected;
        whole.captures = self.captures;
        whole.is_over = true;
        Ok(whole)
    }
}
