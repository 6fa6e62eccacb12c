//! A pipeline of the NIC: several processing units that each handle one thing at a time.

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};

/// How a pipeline works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineConfig {
    /// Processing units, at least one.
    pub units: u8,
    /// How long one of them is busy with one thing.
    pub service: Duration,
    /// How long all takes that holds up nothing else.
    pub latency: Duration,
}

/// The units of a pipeline: what comes takes the one that is free first.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Pipeline {
    free_at: Vec<SimTime>,
}

impl Pipeline {
    /// All units are free.
    pub fn new(units: u8) -> Self {
        Self { free_at: vec![SimTime::ZERO; usize::from(units.max(1))] }
    }

    /// When the first unit is free.
    pub fn free_at(&self) -> SimTime {
        self.free_at.iter().copied().min().unwrap_or_default()
    }

    /// A unit takes up something at `now` or when the first one is free, and is busy until `until` says, given when it
    /// begins. Gives both.
    pub fn handle(
        &mut self,
        now: SimTime,
        until: impl FnOnce(SimTime) -> SimTime,
    ) -> (SimTime, SimTime) {
        let mut first = 0;
        for (place, free_at) in self.free_at.iter().enumerate() {
            if *free_at < self.free_at[first] {
                first = place;
            }
        }
        let begins = now.max(self.free_at[first]);
        let ends = until(begins);
        self.free_at[first] = ends;
        (begins, ends)
    }
}
