//! What a run comes to.

use rocelab_results::{Summary, UserControl};

use crate::simulation::{Ending, Execution};

/// What a run came to. Results are in the directory, but for what the caller adds to finish it.
#[derive(Debug)]
pub struct Outcome {
    /// Why the run is over.
    pub ending: Ending,
    /// The content of `summary.json`.
    pub summary: Summary,
    /// Events executed.
    pub events: u64,
    /// Of these events, and of the link traversals, those that were before the checkpoint that the run went
    /// on from: another process executed them.
    pub before: Before,
    /// How it was carried out.
    pub execution: Execution,
    /// The congestion controls that the user wrote.
    pub congestion_controls: Vec<UserControl>,
}

/// What there was before a run went on from a checkpoint; nothing for one that began at time zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    /// Events executed.
    pub events: u64,
    /// Frames over links.
    pub traversals: u64,
}
