//! Parts of a network that are spread over ranks, and what ranks exchange at the ends of windows.

use std::ops::Range;
use std::sync::Arc;

use rocelab_state::{BorshDeserialize, BorshSerialize, Result as StateResult, load_value};
use rocelab_units::SimTime;

use super::super::assembly::{Assembly, Fact};
use super::super::running::Running;
use super::super::windows::Windows;
use super::error::RankedError;
use super::step::{Step, Tally};
use crate::Plan;
use crate::network::{BatchOf, Checkpoint, Crossing, Cut, Overview, Part, SavedNetwork, Setting};
use crate::profile::roce::Roce;
use crate::ranks::{CommunicationError, Message, Ranks, Received};

/// Parts of a network that are spread over ranks.
#[derive(Debug)]
pub(super) struct Spread<'a, 'r> {
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
    pub(super) ranks: &'r mut Ranks<'a>,
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

/// The state of a rank's parts.
#[derive(BorshSerialize, BorshDeserialize)]
pub(super) struct SavedParts {
    pub(super) now: SimTime,
    pub(super) network: SavedNetwork,
}

/// The parts of a rank, where so many are spread over so many ranks: side by side, as evenly as can be.
/// Without enough parts the last ranks have none.
fn parts_of(rank: u32, parts: u32, ranks: u32) -> Range<u32> {
    let busy = ranks.min(parts).max(1);
    // There are at most 256 parts.
    let first = |rank: u32| rank.min(busy) * parts / busy;
    first(rank)..first(rank + 1)
}

impl<'a, 'r> Spread<'a, 'r> {
    /// The parts of `plan` at time zero, of which this rank has its own.
    ///
    /// # Errors
    /// If the plan cannot become a network, or another rank has failed.
    pub(super) fn new(
        plan: &Arc<Plan>,
        cut: &Arc<Cut>,
        ranks: &'r mut Ranks<'a>,
    ) -> Result<Self, RankedError> {
        let here = parts_of(ranks.rank(), cut.parts(), ranks.size());
        let setting = Setting::new(Arc::clone(plan))?;
        let windows = Windows::over(&setting, cut);
        let own = Part::all(cut).skip(here.start as usize).take(here.len());
        let parts = own.map(|part| Running::new(&setting, part)).collect::<Result<_, _>>()?;
        let mut rank_of = Vec::new();
        for rank in 0..ranks.size() {
            rank_of.extend(parts_of(rank, cut.parts(), ranks.size()).map(|_| rank));
        }
        let mut all = Self {
            parts,
            first: here.start,
            rank_of,
            windows,
            next: SimTime::NEVER,
            executed: 0,
            ranks,
        };
        all.meet(SimTime::ZERO)?;
        Ok(all)
    }
}

impl Spread<'_, '_> {
    /// How many parts all ranks have.
    pub(super) fn parts_of_all(&self) -> usize {
        self.rank_of.len()
    }

    /// Events that all ranks have executed.
    pub(super) const fn executed(&self) -> u64 {
        self.executed
    }

    /// Runs all that happens until `limit`, window by window.
    pub(super) fn run_until(&mut self, limit: SimTime) -> Result<(), CommunicationError> {
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
            let batches: Vec<_> = Crossing(&mut self.parts[place].network).take_batches().collect();
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
                Crossing(&mut self.parts[place].network).keep_spare(batch);
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
            let batch = Overview(&part.network).load_batch(&mut rest, window)?;
            self.enter(to, batch);
        }
        if rest.is_empty() { Ok(()) } else { Err(rocelab_state::unfit("what a rank has sent")) }
    }

    fn enter(&mut self, to: u32, batch: BatchOf<Roce>) {
        self.parts[(to - self.first) as usize].enter(batch);
    }

    /// What was recorded and captured here since the last time, and how far the parts have come.
    pub(super) fn take_step(&mut self) -> Step {
        let mut step = Step::default();
        for part in &mut self.parts {
            step.records.append(&mut part.network.collecting().take_records());
            match part.network.collecting().take_captured() {
                Ok(frames) => step.captured.extend(frames),
                Err(error) => step.capture_error = Some(error.to_string()),
            }
            let tally = std::mem::take(&mut step.tally);
            step.tally = tally.with(Tally::of(part));
        }
        step
    }

    /// Hands the state of the parts, which are not needed any more, to the first rank; what it gets.
    pub(super) fn gather(&mut self) -> Result<Vec<SavedParts>, CommunicationError> {
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
            Checkpoint(part).save(&mut network)?;
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
