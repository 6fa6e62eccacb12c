//! What can be proved before a run.

use pyo3::prelude::*;
use rocelab_sim::Plan;
use rocelab_sim::proof::Proof;

use crate::json;

/// What `rocelab check` says.
#[pyclass(frozen, module = "rocelab")]
#[derive(Debug)]
pub(crate) struct Check {
    proof: Proof,
}

impl Check {
    /// Makes the proofs.
    pub(crate) fn of(plan: &Plan) -> Self {
        Self { proof: Proof::watched(plan, &mut |_| ()) }
    }
}

#[pymethods]
impl Check {
    /// The number of what is wrong: a lossless network that drops, pauses that can wait for each other.
    #[getter]
    fn faults(&self) -> usize {
        self.proof.faults()
    }

    /// The number of what is seldom intended.
    #[getter]
    fn warnings(&self) -> usize {
        self.proof.warnings()
    }

    /// All findings with their numbers, as `rocelab check --json` has them.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.proof)
    }

    fn __str__(&self) -> String {
        self.proof.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<rocelab.Check: {} faults, {} warnings>", self.faults(), self.warnings())
    }
}
