//! Scenarios.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use rocelab_sim::explain::Selection;
use rocelab_sim::reference;
use rocelab_sim::{Plan, Planning};

use crate::check::Check;
use crate::control::PythonAlgorithm;
use crate::error::{of_input, of_scenario};
use crate::explanation::Explanation;
use crate::results::Results;
use crate::running::{Destination, Watch, run};
use crate::{explanation, json};

/// A scenario that was read without an error.
#[pyclass(frozen, module = "rocelab")]
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    scenario: rocelab_sim::Scenario,
    text: String,
    path: PathBuf,
    overrides: Vec<(String, String)>,
    /// The class of Python that controls congestion.
    control: Option<PythonAlgorithm>,
}

impl Scenario {
    /// The scenario of the `text` that stands, or could stand, in the file at `path`.
    pub(crate) fn read(
        text: String,
        path: PathBuf,
        overrides: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let scenario = if reference::is_config(&path) {
            reference::parse_config(&text, &path, &overrides).map(|loaded| loaded.scenario)
        } else {
            rocelab_sim::Scenario::parse(&text, &path, &overrides)
        };
        let scenario = scenario.map_err(|error| of_scenario(&error))?;
        Ok(Self { scenario, text, path, overrides, control: None })
    }

    /// The scenario in the file at `path`.
    pub(crate) fn open(path: PathBuf, overrides: Vec<(String, String)>) -> PyResult<Self> {
        let text = rocelab_fabric::read_text(&path)
            .map_err(|error| of_scenario(&rocelab_sim::ScenarioError::unreadable(&path, &error)))?;
        Self::read(text, path, overrides)
    }

    /// What will run.
    pub(crate) fn plan(&self) -> PyResult<Plan> {
        self.scenario.plan().map_err(|error| of_scenario(&error))
    }

    /// The class of Python that controls congestion.
    pub(crate) fn control(&self) -> Option<&PythonAlgorithm> {
        self.control.as_ref()
    }

    /// What it was read as.
    pub(crate) fn inner(&self) -> &rocelab_sim::Scenario {
        &self.scenario
    }
}

#[pymethods]
impl Scenario {
    /// Reads a file.
    #[staticmethod]
    #[pyo3(signature = (path, overrides))]
    fn load(path: PathBuf, overrides: Vec<(String, String)>) -> PyResult<Self> {
        Self::open(path, overrides)
    }

    /// Reads a text, which could stand in the file at `path`.
    #[staticmethod]
    fn parse(text: String, path: PathBuf, overrides: Vec<(String, String)>) -> PyResult<Self> {
        Self::read(text, path, overrides)
    }

    /// Reads an object of JSON, with the keys of a scenario, that could stand in the file at `path`.
    #[staticmethod]
    fn from_json(text: &str, path: PathBuf, overrides: Vec<(String, String)>) -> PyResult<Self> {
        let table: toml::Table = json::from_text(text)?;
        let text = toml::to_string(&table).map_err(|error| of_input(error.to_string()))?;
        Self::read(text, path, overrides)
    }

    /// The same with a congestion control that is a class of Python, of which its own `_describe` tells.
    fn with_control(
        &self,
        class: Py<PyAny>,
        name: String,
        metadata: &str,
        sha256: String,
    ) -> PyResult<Self> {
        let control = PythonAlgorithm::new(class, metadata, sha256)?;
        let mut with = self.clone();
        with.scenario.congestion_control = Some(control.in_scenario(name));
        with.control = Some(control);
        Ok(with)
    }

    /// The same with more settings.
    fn with_settings(&self, overrides: Vec<(String, String)>) -> PyResult<Self> {
        let overrides = [&self.overrides[..], &overrides].concat();
        Self::read(self.text.clone(), self.path.clone(), overrides)
    }

    /// What it was read from: its text, its path, and what is set.
    fn parts(&self) -> (&str, String, Vec<(String, String)>) {
        (&self.text, self.path.display().to_string(), self.overrides.clone())
    }

    /// Whether frames are captured, which takes a results directory.
    #[getter]
    fn captures(&self) -> bool {
        self.scenario.capture.is_some()
    }

    /// What the run is called: as its file, without the ending.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        if reference::is_config(&self.path) {
            return py.detach(|| Ok(self.plan()?.name));
        }
        let stem = self.path.file_stem().unwrap_or_default();
        Ok(stem.to_string_lossy().into_owned())
    }

    /// All of it, with every default, as TOML.
    fn to_toml(&self) -> PyResult<String> {
        self.scenario.resolved().to_toml().map_err(|error| of_input(error.to_string()))
    }

    /// Runs it; `out` is a results directory, and whether one that is there is replaced.
    #[pyo3(signature = (out, threads, partitions, progress))]
    fn run(
        &self,
        py: Python<'_>,
        out: Option<(PathBuf, bool)>,
        threads: Option<u32>,
        partitions: Option<u32>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Results> {
        let destination = match out {
            None => Destination::Memory,
            Some((path, replaces)) => Destination::Directory { path, replaces },
        };
        py.detach(|| run(self, destination, (threads, partitions), Watch::new(progress)))
    }

    /// What can be proved of it before it runs.
    fn check(&self, py: Python<'_>) -> PyResult<Check> {
        py.detach(|| Ok(Check::of(&self.plan()?)))
    }

    /// Where the time of a flow or an operation went, or, of neither, what was paused and why.
    #[pyo3(signature = (flow, operation, progress))]
    fn explain(
        &self,
        py: Python<'_>,
        flow: Option<u32>,
        operation: Option<(u32, u64)>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Explanation> {
        let selection = match (flow, operation) {
            (Some(flow), _) => Some(Selection::Flows(vec![flow])),
            (None, Some((connection, operation))) => {
                Some(Selection::Operation { connection, operation })
            }
            (None, None) => None,
        };
        let watch = Watch::new(progress);
        py.detach(|| explanation::explain(Arc::new(self.plan()?), selection.as_ref(), watch))
    }

    fn __repr__(&self) -> String {
        format!("<rocelab.Scenario {}>", self.path.display())
    }
}

/// The JSON Schema of scenarios.
#[pyfunction]
pub(crate) fn json_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    json::to_python(py, &rocelab_sim::Scenario::json_schema())
}

/// The path of a scenario in a results directory.
pub(crate) fn scenario_of(results: &Path) -> PathBuf {
    results.join(rocelab_results::SCENARIO_TOML)
}
