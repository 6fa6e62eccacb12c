//! The native half of the Python package `rocelab`. What users see of it is declared, with its documentation, in
//! `rocelab/__init__.py` and the files beside it; nothing here decides anything that the program does not.

mod capture;
mod check;
mod clock;
mod control;
mod error;
mod explanation;
mod headroom;
mod json;
mod results;
mod running;
mod scenario;
mod sweep;
mod table;

use pyo3::prelude::*;

/// Functions and classes behind the Python package.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::capture::{decode_capture, verify_capture};
    #[pymodule_export]
    use super::check::Check;
    #[pymodule_export]
    use super::explanation::Explanation;
    #[pymodule_export]
    use super::headroom::headroom;
    #[pymodule_export]
    use super::results::{Results, open_results};
    #[pymodule_export]
    use super::scenario::{Scenario, json_schema};
    #[pymodule_export]
    use super::sweep::SweepPlan;
    #[pymodule_export]
    use super::table::Table;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
