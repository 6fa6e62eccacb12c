//! The calculator of headroom.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rocelab_sim::proof::{
    Bandwidth, Bytes, COMMON_CELL, Duration, HeadroomQuestion, Length, Ratio,
};

use crate::error::of_input;
use crate::json;

/// What `rocelab headroom` says, as numbers and as text.
#[pyfunction]
pub(crate) fn headroom<'py>(
    py: Python<'py>,
    arguments: &Bound<'py, PyDict>,
) -> PyResult<(Bound<'py, PyAny>, String)> {
    let arguments = Arguments(arguments);
    let cable = arguments.quantity::<Length>("cable")?;
    let delay = arguments.quantity::<Duration>("delay")?;
    let delay = match (cable, delay) {
        (Some(_), Some(_)) => {
            return Err(of_input("cable and delay say the same: give one of them".to_owned()));
        }
        (_, Some(delay)) => delay,
        (Some(cable), None) => cable.propagation_delay(),
        (None, None) => {
            return Err(of_input(
                "give the length of the cables, such as cable=\"100m\", or their delay".to_owned(),
            ));
        }
    };
    let Some(rate) = arguments.quantity::<Bandwidth>("rate")? else {
        return Err(of_input("give the rate of the ports, such as rate=\"100Gbps\"".to_owned()));
    };
    let question = HeadroomQuestion {
        rate,
        delay,
        path_mtu: arguments.number("mtu")?.unwrap_or(1024),
        largest_frame: arguments.quantity("largest_frame")?,
        response: arguments.quantity("response")?,
        cell: arguments.quantity("cell")?.unwrap_or(COMMON_CELL),
        ports: arguments.number("ports")?.unwrap_or(32),
        buffer: arguments.quantity("buffer")?.unwrap_or(Bytes::new(12_000_000)),
        shared: arguments.quantity("shared")?.unwrap_or(Ratio::new(1, 2)),
        reserve: arguments.quantity("reserve")?.unwrap_or(Bytes::new(0)),
    };
    let answer = question.answer().map_err(|error| match cable {
        Some(cable) if error.key == "delay" => of_input(format!(
            "cable = {cable}: its delay is {}; give at most 200000km, whose delay is 1s, or `delay` itself",
            error.value
        )),
        _ => of_input(error.to_string()),
    })?;
    Ok((json::to_python(py, &answer)?, answer.to_string()))
}

/// The arguments by their names, which are checked in `rocelab/__init__.py`.
struct Arguments<'a, 'py>(&'a Bound<'py, PyDict>);

impl Arguments<'_, '_> {
    /// A quantity with its unit, as a text.
    fn quantity<T: std::str::FromStr<Err: std::fmt::Display>>(
        &self,
        name: &str,
    ) -> PyResult<Option<T>> {
        let Some(value) = self.0.get_item(name)?.filter(|value| !value.is_none()) else {
            return Ok(None);
        };
        let text = value.str()?.to_string();
        text.parse().map(Some).map_err(|error| of_input(format!("{name} = {text}: {error}")))
    }

    fn number(&self, name: &str) -> PyResult<Option<u32>> {
        self.quantity(name)
    }
}
