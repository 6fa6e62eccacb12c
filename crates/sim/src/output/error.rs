//! What stops a run from giving results.

use rocelab_results::ResultsError;
use rocelab_units::SimTime;
use thiserror::Error;

use super::control_faults::FailedControl;
use crate::network::{AuditError, BuildError};
use crate::ranks::{Blame, CommunicationError};
use crate::simulation::RankedError;

/// What stopped a run from giving results.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The plan cannot become a network: bad input.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The machine failed: results could not be written.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The machine failed: a capture could not be written.
    #[error("cannot write the capture: {0}")]
    Capture(#[from] std::io::Error),
    /// The machine failed: `fct.txt`, `pfc.txt` or `qlen.txt` of a run by the rules of HPCC's ns-3 simulator
    /// could not be written.
    #[error("cannot write fct.txt, pfc.txt and qlen.txt: {0}")]
    Reference(#[source] std::io::Error),
    /// Checkpoints were asked for, and there are none by the rules of HPCC's ns-3 simulator.
    #[error(
        "by the rules of HPCC's ns-3 simulator there are no checkpoints: run it without \
         --checkpoint-every, or without [profile.hpcc-ns3]"
    )]
    NotResumable,
    /// A run was to be spread over ranks, and by the rules of HPCC's ns-3 simulator none can be.
    #[error(
        "by the rules of HPCC's ns-3 simulator a run cannot be spread over ranks: run it by \
         `rocelab run`, or without [profile.hpcc-ns3]"
    )]
    NotOnRanks,
    /// Another rank failed, or cannot be reached.
    #[error(transparent)]
    Communication(#[from] CommunicationError),
    /// A checkpoint does not fit the scenario, or holds what is no number.
    #[error("the checkpoint of {time} cannot be used: {error}")]
    Checkpoint {
        /// When it was made.
        time: SimTime,
        /// What is wrong.
        error: std::io::Error,
    },
    /// The user broke the run off; it can go on from its last checkpoint.
    #[error("broken off at {time}")]
    BrokenOff {
        /// How far it had come.
        time: SimTime,
    },
    /// A congestion control that a user wrote went wrong.
    #[error("{0}")]
    Control(FailedControl),
    /// A defect of the simulator.
    #[error("defect in the simulator, no results: {0}")]
    Audit(#[from] AuditError),
}

impl RunError {
    /// Whose fault it is.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Build(_)
            | Self::NotResumable
            | Self::NotOnRanks
            | Self::Checkpoint { .. }
            | Self::Control(_) => Blame::Input,
            Self::Results(error) => error.kind().into(),
            Self::Communication(error) => error.blame(),
            Self::Capture(_) | Self::Reference(_) | Self::BrokenOff { .. } => Blame::Machine,
            Self::Audit(_) => Blame::Program,
        }
    }
}

impl From<RankedError> for RunError {
    fn from(error: RankedError) -> Self {
        match error {
            RankedError::Build(error) => Self::Build(error),
            RankedError::Communication(error) => Self::Communication(error),
        }
    }
}
