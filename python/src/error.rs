//! Errors of Rust as exceptions of Python, which `rocelab/errors.py` declares.

use pyo3::prelude::*;
use rocelab_results::ResultsError;
use rocelab_sim::explain::ExplainError;
use rocelab_sim::{RunError, ScenarioError};
use rocelab_sweep::SweepError;

/// An exception of the class `name` with these arguments.
fn raised<A>(name: &str, arguments: A) -> PyErr
where
    A: for<'py> pyo3::call::PyCallArgs<'py>,
{
    Python::attach(|py| {
        let class = py.import("rocelab.errors").and_then(|module| module.getattr(name));
        match class.and_then(|class| class.call1(arguments)) {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    })
}

/// The words of the program, and the place as attributes.
pub(crate) fn of_scenario(error: &ScenarioError) -> PyErr {
    let place = (error.file().display().to_string(), error.line(), error.column());
    let what = (error.key(), error.value(), error.message(), error.help());
    raised("ScenarioError", (error.to_string(), place, what))
}

/// A run that gave no results.
pub(crate) fn of_run(error: &RunError) -> PyErr {
    raised("RunError", (in_words_of_python(&error.to_string()),))
}

/// Results that cannot be read or written.
pub(crate) fn of_results(error: &ResultsError) -> PyErr {
    raised("ResultsError", (in_words_of_python(&error.to_string()),))
}

/// The program's options by the names of arguments.
pub(crate) fn in_words_of_python(message: &str) -> String {
    message.replace("--out", "`out`").replace("--force", "`force=True`")
}

/// What cannot be explained.
pub(crate) fn of_explanation(error: &ExplainError) -> PyErr {
    raised("RunError", (error.to_string(),))
}

/// A sweep that cannot go on.
pub(crate) fn of_sweep(error: &SweepError) -> PyErr {
    match error {
        SweepError::Scenario(error) => of_scenario(error),
        SweepError::Run(error) => of_run(error),
        SweepError::Results(error) => of_results(error),
        SweepError::Machine { .. } => raised("ResultsError", (error.to_string(),)),
        other => raised("RunError", (in_words_of_python(&other.to_string()),)),
    }
}

/// An argument, a capture, or a table that cannot be what it is.
pub(crate) fn of_input(message: String) -> PyErr {
    raised("InputError", (message,))
}
