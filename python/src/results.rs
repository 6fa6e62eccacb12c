//! Results of runs, in memory or in a directory.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use rocelab_results::{MemoryResults, RECORD_TYPES, RunInfo, Summary};

use crate::error::of_results;
use crate::json;
use crate::scenario::{Scenario, scenario_of};
use crate::table::Table;

/// The results of a run.
#[pyclass(frozen, module = "rocelab")]
#[derive(Debug)]
pub(crate) struct Results {
    summary: Summary,
    info: RunInfo,
    place: Place,
}

/// Where the tables are.
#[derive(Debug)]
enum Place {
    Memory { scenario: Box<Scenario>, tables: BTreeMap<&'static str, Py<Table>> },
    Directory(PathBuf),
}

impl Results {
    /// Results that are in no directory.
    pub(crate) fn in_memory(
        scenario: Scenario,
        results: MemoryResults,
        summary: Summary,
        info: RunInfo,
    ) -> PyResult<Self> {
        let kept = |(name, table)| {
            let table = Table::new(table)?;
            Python::attach(|py| Ok((name, Py::new(py, table)?)))
        };
        let tables = results.tables.into_iter().map(kept).collect::<PyResult<_>>()?;
        let place = Place::Memory { scenario: Box::new(scenario), tables };
        Ok(Self { summary, info, place })
    }

    /// Those in a directory.
    pub(crate) fn open(path: PathBuf) -> PyResult<Self> {
        let results = rocelab_results::Results::open(&path).map_err(|error| of_results(&error))?;
        let (summary, info) = (results.summary().clone(), results.run().clone());
        Ok(Self { summary, info, place: Place::Directory(path) })
    }
}

#[pymethods]
impl Results {
    /// The directory; `None` in memory.
    #[getter]
    fn directory(&self) -> Option<PathBuf> {
        match &self.place {
            Place::Memory { .. } => None,
            Place::Directory(path) => Some(path.clone()),
        }
    }

    /// The names of the tables that there are.
    #[getter]
    fn names(&self) -> Vec<&'static str> {
        match &self.place {
            Place::Memory { tables, .. } => tables.keys().copied().collect(),
            Place::Directory(path) => {
                let there = RECORD_TYPES.iter().filter(|one| path.join(one.file).exists());
                there.map(|one| one.name).collect()
            }
        }
    }

    /// A table by its name.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Py<Table>> {
        let missing = || PyKeyError::new_err(format!("the run has no table `{name}`"));
        match &self.place {
            Place::Memory { tables, .. } => {
                tables.get(name).map(|table| table.clone_ref(py)).ok_or_else(missing)
            }
            Place::Directory(path) => {
                let kind = RECORD_TYPES.iter().find(|one| one.name == name).ok_or_else(missing)?;
                let table = py.detach(|| kind.read(path)).map_err(|error| of_results(&error))?;
                Py::new(py, Table::new(table.ok_or_else(missing)?)?)
            }
        }
    }

    /// `summary.json`.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.summary)
    }

    /// `run.json`.
    fn run_info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.info)
    }

    /// What tells equal runs: the same scenario and seed give the same digest.
    #[getter]
    fn digest(&self) -> &str {
        &self.summary.digest
    }

    /// The scenario that was run.
    #[getter]
    fn scenario(&self) -> PyResult<Scenario> {
        match &self.place {
            Place::Memory { scenario, .. } => Ok((**scenario).clone()),
            Place::Directory(path) => Scenario::open(scenario_of(path), Vec::new()),
        }
    }
}

/// Opens a results directory.
#[pyfunction]
pub(crate) fn open_results(path: PathBuf) -> PyResult<Results> {
    Results::open(path)
}
