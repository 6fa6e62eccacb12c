//! What can go wrong with a sweep as a whole.

use std::io;
use std::path::PathBuf;

use rocelab_results::ResultsError;
use rocelab_scenario::ScenarioError;
use thiserror::Error;

/// Why a sweep, or one of its points, was not carried out.
#[derive(Debug, Error)]
pub enum SweepError {
    /// The plan of the sweep, or the scenario of a point, has an error.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A point did not produce results.
    #[error(transparent)]
    Run(#[from] rocelab_sim::RunError),
    /// Results could not be read or written.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// There are results of other settings where those of a point belong.
    #[error(
        "{}: holds results of other settings than the sweep has now; name another directory with --out, or replace \
         them with --force", path.display()
    )]
    OtherSettings {
        /// The point's directory.
        path: PathBuf,
    },
    /// A point panicked.
    #[error("a defect of rocelab: {message}; please report it with the scenario")]
    Defect {
        /// What the panic said.
        message: String,
    },
    /// A point failed when it was carried out, perhaps elsewhere.
    #[error("{message}")]
    Earlier {
        /// What was told then.
        message: String,
    },
    /// The operating system reported an error.
    #[error("{}: {error}", path.display())]
    Machine {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
}
