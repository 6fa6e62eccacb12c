//! How far a lane has come.

use rocelab_state::{BorshDeserialize, BorshSerialize};

/// How far a rank has come in one lane of the present operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(super) struct Lane {
    /// The step that it is in.
    pub(super) step: u64,
    /// Receives of that step that are taken.
    pub(super) taken: u32,
    /// Sends of that step that are posted.
    pub(super) sent: u32,
    /// How far it has looked ahead to say that it is ready: a step, and receives of that.
    pub(super) ready: (u64, u32),
    pub(super) state: LaneState,
}

/// What a lane is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(super) enum LaneState {
    /// It goes on as soon as it is asked.
    #[default]
    Ready,
    /// It waits for the message of another rank.
    Receiving {
        /// That rank.
        from: u32,
    },
    /// It adds up what it has taken.
    Reducing,
    /// It waits until messages for another rank have gone.
    Sending {
        /// That rank.
        to: u32,
    },
    /// It has done all of its steps.
    Done,
}

impl LaneState {
    /// Whether a message of a rank may let the lane go on.
    pub(super) fn goes_on_by(self, rank: u32) -> bool {
        match self {
            Self::Receiving { from } => from == rank,
            Self::Ready => true,
            Self::Reducing | Self::Sending { .. } | Self::Done => false,
        }
    }
}
