//! Why runs end.

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
