//! What integrity mode finds.

/// A promise of a reliable connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// What was sent arrives.
    NothingLost,
    /// It arrives once.
    NothingTwice,
    /// It arrives in the order of sending.
    InOrder,
    /// It arrives as it was sent.
    NothingAltered,
}

impl Promise {
    /// What happened if it is broken.
    pub const fn broken(self) -> &'static str {
        match self {
            Self::NothingLost => "lost",
            Self::NothingTwice => "twice",
            Self::InOrder => "out-of-order",
            Self::NothingAltered => "altered",
        }
    }
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The flow's number in the plan.
    pub flow: u32,
    /// Which promise.
    pub promise: Promise,
    /// Where in the flow's payload (bytes from its start).
    pub offset: u64,
    /// What should be there: up to 16 bytes in hexadecimal, or a count in words.
    pub expected: String,
    /// What is there.
    pub found: String,
}

/// What integrity mode found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrityReport {
    /// Flows that completed and were checked.
    pub flows: u64,
    /// Their payload (bytes).
    pub bytes: u64,
    /// Flows that ended in an error completion: nothing was promised to them.
    pub failed: Vec<u32>,
    /// Every promise that was broken, by flow.
    pub violations: Vec<Violation>,
}
