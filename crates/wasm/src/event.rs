//! What a guest is called for.

use serde::{Deserialize, Serialize};

/// What a guest can be called for, beside the start of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestEvent {
    /// Something was acknowledged.
    Ack,
    /// A CNP arrived.
    Cnp,
    /// A notification of a switch arrived.
    Cnm,
    /// A data packet leaves: a call for each.
    Sent,
    /// Something is sent again.
    Loss,
    /// A timer expired.
    Timer,
}

impl GuestEvent {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Ack, Self::Cnp, Self::Cnm, Self::Sent, Self::Loss, Self::Timer];

    /// The argument of `rl_event`.
    pub const fn kind(self) -> u32 {
        match self {
            Self::Ack => 1,
            Self::Cnp => 2,
            Self::Cnm => 3,
            Self::Sent => 4,
            Self::Loss => 5,
            Self::Timer => 6,
        }
    }

    /// Its name in metadata, and in what is told of faults.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ack => "ack",
            Self::Cnp => "cnp",
            Self::Cnm => "cnm",
            Self::Sent => "sent",
            Self::Loss => "loss",
            Self::Timer => "timer",
        }
    }
}

/// A call of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestCall {
    /// A queue pair starts.
    Open,
    /// Something happened to it.
    Event(GuestEvent),
}

impl GuestCall {
    /// The argument of `rl_event`.
    pub const fn kind(self) -> u32 {
        match self {
            Self::Open => 0,
            Self::Event(event) => event.kind(),
        }
    }

    /// Its name in what is told of faults.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Event(event) => event.name(),
        }
    }
}
