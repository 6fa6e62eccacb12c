//! Reasons for which a command ends early, and their messages.

use std::fmt;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use rocelab_capture::CaptureError;
use rocelab_results::ResultsError;
use rocelab_sim::explain::ExplainError;
use rocelab_sim::ranks::Blame;
use rocelab_sim::{RunError, ScenarioError};
use rocelab_sweep::SweepError;

use crate::exit::Exit;

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A scenario has an error.
    Scenario(ScenarioError),
    /// An argument or a file has an error.
    Input(String),
    /// A run did not produce results.
    Run(RunError),
    /// A flow could not be explained.
    Explain(ExplainError),
    /// Results could not be read or written.
    Results(ResultsError),
    /// The program has a defect.
    Defect(String),
    /// The operating system reported an error.
    Machine {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
}

impl Failure {
    /// Prints the message, and returns the exit code.
    pub(crate) fn report(&self) -> Exit {
        match self {
            Self::Scenario(error) => report_scenario(error),
            _ => stderr_line!("error: {self}"),
        }
        self.exit()
    }

    /// The side that has to fix it.
    pub(crate) fn blame(&self) -> Blame {
        match self {
            Self::Scenario(_) | Self::Input(_) => Blame::Input,
            Self::Run(error) => error.blame(),
            Self::Explain(error) if error.is_defect() => Blame::Program,
            Self::Explain(_) => Blame::Input,
            Self::Results(error) => error.kind().into(),
            Self::Defect(_) => Blame::Program,
            Self::Machine { .. } => Blame::Machine,
        }
    }

    fn exit(&self) -> Exit {
        match self.blame() {
            Blame::Input => Exit::BadInput,
            Blame::Program => Exit::Defect,
            Blame::Machine => Exit::MachineFailed,
        }
    }
}

/// Errors of a scenario that are printed.
const SHOWN: usize = 20;

/// Prints all errors of a scenario that were found, and their lines on a terminal.
fn report_scenario(error: &ScenarioError) {
    for error in error.all().take(SHOWN) {
        stderr_line!("error: {error}");
        if io::stderr().is_terminal() && !error.text().is_empty() {
            stderr_line!("{:?}", miette::Report::new(Place::of(error)));
        }
    }
    let more = error.all().count().saturating_sub(SHOWN);
    if more > 0 {
        stderr_line!("error: and {more} more in {}", error.file().display());
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(error) => error.fmt(f),
            Self::Input(message) => f.write_str(message),
            Self::Run(error) => error.fmt(f),
            Self::Explain(error) => error.fmt(f),
            Self::Results(error) => error.fmt(f),
            Self::Defect(message) => {
                write!(
                    f,
                    "this is a defect of rocelab ({message}); please report it with the scenario"
                )
            }
            Self::Machine { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}

impl From<CaptureError> for Failure {
    fn from(error: CaptureError) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Scenario(error) => Self::Scenario(error),
            SweepError::Run(error) => Self::Run(error),
            SweepError::Results(error) => Self::Results(error),
            SweepError::Machine { path, error } => Self::Machine { path, error },
            SweepError::OtherSettings { .. } | SweepError::Earlier { .. } => {
                Self::Input(error.to_string())
            }
            SweepError::Defect { message } => Self::Defect(message),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<ResultsError> for Failure {
    fn from(error: ResultsError) -> Self {
        Self::Results(error)
    }
}

/// The line of a scenario with a mark below the error.
#[derive(Debug)]
struct Place {
    source: NamedSource<String>,
    label: LabeledSpan,
    message: String,
    help: Option<String>,
}

impl Place {
    fn of(error: &ScenarioError) -> Self {
        let file = error.file().display().to_string();
        Self {
            source: NamedSource::new(file, error.text().to_owned()),
            label: LabeledSpan::underline(error.span()),
            message: error.message().to_owned(),
            help: error.help().map(str::to_owned),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Place {}

impl Diagnostic for Place {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(self.label.clone())))
    }
}
