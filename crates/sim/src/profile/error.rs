//! Plans that no network can be made of.

use rocelab_fabric::{BufferError, RouteError};
use thiserror::Error;

/// A plan that cannot become a network.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A switch's memory cannot be divided as asked.
    #[error("{switch}: {error}")]
    Buffer {
        /// The switch's name.
        switch: String,
        /// Why.
        error: BufferError,
    },
    /// There is no way through the topology.
    #[error(transparent)]
    Routes(#[from] RouteError),
}
