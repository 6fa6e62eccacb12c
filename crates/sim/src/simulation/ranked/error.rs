//! Why a run over ranks cannot begin, or not be put together.

use thiserror::Error;

use crate::network::BuildError;
use crate::ranks::CommunicationError;

/// What stops a run over ranks.
#[derive(Debug, Error)]
pub(crate) enum RankedError {
    /// The plan cannot become a network: bad input.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Another rank failed, or cannot be reached.
    #[error(transparent)]
    Communication(#[from] CommunicationError),
}
