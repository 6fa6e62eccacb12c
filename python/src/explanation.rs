//! Why something took its time.

use std::sync::Arc;

use pyo3::prelude::*;
use rocelab_sim::Plan;
use rocelab_sim::explain::{Explained, Selection, Survey};

use crate::error::of_explanation;
use crate::json;
use crate::running::Watch;

/// What `rocelab explain` says.
#[pyclass(frozen, module = "rocelab")]
#[derive(Debug)]
pub(crate) struct Explanation(Kind);

#[derive(Debug)]
enum Kind {
    Selected(Explained),
    Pauses(Survey),
}

/// Runs the plan again and looks at what is selected; without a selection, at all pauses.
pub(crate) fn explain(
    plan: Arc<Plan>,
    selection: Option<&Selection>,
    mut watch: Watch,
) -> PyResult<Explanation> {
    let kind = match selection {
        Some(selection) => {
            rocelab_sim::explain::explain(plan, selection, &mut |progress| watch.look(progress))
                .map(Kind::Selected)
        }
        None => rocelab_sim::explain::survey(plan, &mut |progress| watch.look(progress))
            .map(Kind::Pauses),
    };
    watch.ended()?;
    kind.map(Explanation).map_err(|error| of_explanation(&error))
}

#[pymethods]
impl Explanation {
    /// The digest of the run that was looked at.
    #[getter]
    fn digest(&self) -> &str {
        match &self.0 {
            Kind::Selected(explained) => &explained.digest,
            Kind::Pauses(survey) => &survey.digest,
        }
    }

    /// All of it, as `rocelab explain --json` has it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.0 {
            Kind::Selected(explained) => json::to_python(py, explained),
            Kind::Pauses(survey) => json::to_python(py, survey),
        }
    }

    fn __str__(&self) -> String {
        match &self.0 {
            Kind::Selected(explained) => {
                let all = explained.flows.iter().chain(&explained.operations);
                all.map(ToString::to_string).collect()
            }
            Kind::Pauses(survey) => survey.to_string(),
        }
    }

    fn __repr__(&self) -> String {
        self.__str__()
    }
}
