//! Queues that watchdogs act on.

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::SimTime;

/// The queues that watchdogs act on.
#[derive(Debug, Default)]
pub(in crate::network) struct Watchdogs {
    pub(in crate::network) storms: Vec<Storm>,
}

/// A queue in a storm.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(in crate::network) struct Storm {
    /// Among all ports.
    pub(in crate::network) port: u32,
    /// Its number.
    pub(in crate::network) queue: u8,
    /// The priority whose pause lasted.
    pub(in crate::network) priority: u8,
    pub(in crate::network) since: SimTime,
    /// Since when it is not paused, if it is not.
    pub(in crate::network) quiet_since: Option<SimTime>,
}

impl Storm {
    /// The same at the same port, by its place in another part.
    pub(in crate::network) fn at(self, port: u32) -> Self {
        Self { port, ..self }
    }

    /// By this, storms stand in the order in which they were found.
    pub(in crate::network) fn found(&self) -> (SimTime, u32, u8) {
        (self.since, self.port, self.queue)
    }
}
