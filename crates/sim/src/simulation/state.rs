//! A run as a checkpoint has it, at the end of a window.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_engine::EventKey;
use rocelab_state::{BorshDeserialize, BorshSerialize, Result, load_value, save_value, unfit};
use rocelab_units::SimTime;

use super::Simulation;
use super::coordinator::Coordinator;
use crate::network::{Checkpoint, Deadlock, FlowEnd, SavedNetwork, StuckQueue};
use crate::profile::roce::Roce;

/// All but what the plan says.
#[derive(BorshSerialize, BorshDeserialize)]
struct SavedSimulation {
    now: SimTime,
    executed: u64,
    deadlocks: Vec<Deadlock>,
    known: BTreeSet<(SimTime, Vec<StuckQueue>)>,
    open_flows: Vec<u32>,
    unacknowledged: BTreeMap<u32, (EventKey, FlowEnd)>,
    window_end: SimTime,
    deadlock_look: SimTime,
    last_progress: (SimTime, u64),
    network: SavedNetwork,
}

impl Simulation<Roce> {
    /// Appends its state, which does not depend on the parts that it is carried out in. It is not over,
    /// and all records have been taken.
    ///
    /// # Errors
    /// If a number is not one.
    pub(crate) fn save(&mut self, to: &mut Vec<u8>) -> Result {
        debug_assert!(self.collected.is_empty() && !self.is_over, "records are taken before");
        let mut network = SavedNetwork::default();
        for part in &mut self.parts.all {
            Checkpoint(part.join().1).save(&mut network)?;
        }
        network.sort();
        let saved = SavedSimulation {
            now: self.parts.now(),
            executed: self.parts.executed(),
            deadlocks: self.coordinator.deadlocks.clone(),
            known: self.coordinator.known.clone(),
            open_flows: self.coordinator.open_flows.clone(),
            unacknowledged: self.collected.unacknowledged.clone(),
            window_end: self.coordinator.window_end,
            deadlock_look: self.coordinator.deadlock_look,
            last_progress: self.coordinator.last_progress,
            network,
        };
        save_value(&saved, to)
    }

    /// Goes on from what was saved; this one is at its beginning.
    ///
    /// # Errors
    /// If that does not fit: it is of another scenario, or damaged.
    pub(crate) fn load(&mut self, from: &mut &[u8]) -> Result {
        let saved: SavedSimulation = load_value(from)?;
        let flows = self.network().plan().flows.len();
        let numbers = saved.open_flows.iter().chain(saved.unacknowledged.keys());
        if numbers.max().is_some_and(|&flow| flow as usize >= flows) {
            return Err(unfit("the flows"));
        }
        self.load_parts(&saved.network, saved.window_end, (saved.now, saved.executed))?;
        self.coordinator.deadlocks = saved.deadlocks;
        self.coordinator.known = saved.known;
        self.coordinator.open_flows = saved.open_flows;
        self.collected.unacknowledged = saved.unacknowledged;
        self.coordinator.window_end = saved.window_end;
        self.coordinator.deadlock_look = saved.deadlock_look;
        self.coordinator.last_progress = saved.last_progress;
        Ok(())
    }

    /// Goes on from where parts of the same run, in other processes, have come to; this one is at its
    /// beginning.
    ///
    /// # Errors
    /// If their state does not fit.
    pub(super) fn take_over(
        &mut self,
        network: &SavedNetwork,
        now: SimTime,
        executed: u64,
        coordinator: Coordinator,
    ) -> Result {
        self.load_parts(network, coordinator.window_end, (now, executed))?;
        self.coordinator = coordinator;
        Ok(())
    }

    /// Loads what parts were saved at the end of a window, when the last event had been and so many had
    /// been executed.
    fn load_parts(
        &mut self,
        saved: &SavedNetwork,
        window_end: SimTime,
        (now, executed): (SimTime, u64),
    ) -> Result {
        for (number, part) in (0u64..).zip(&mut self.parts.all) {
            let (engine, network) = part.join();
            Checkpoint(network).load(saved, window_end)?;
            // Events are counted in all; the first part has those so far.
            engine.resume(now, if number == 0 { executed } else { 0 });
        }
        Ok(())
    }
}
