//! The latencies of a run's operations, by application and kind.

use std::collections::BTreeMap;

use rocelab_results::{Results, ResultsError};
use serde::Serialize;

use super::flows::{Cdf, cdf};

/// Operations of one application, or of one of its kinds if there are several.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Latencies {
    /// `disk`, or `disk read`.
    pub(crate) name: String,
    /// Number of operations that completed.
    pub(crate) completed: u64,
    /// Number of operations that started and did not complete: they rank last.
    pub(crate) missing: u64,
    /// The distribution of latencies (ps).
    pub(crate) latency: Cdf,
}

/// The latencies of the measured operations in `operations.csv`; none if the run has no applications.
///
/// # Errors [`ResultsError::Read`] if the file is missing, [`ResultsError::Malformed`].
pub(crate) fn latencies(results: &Results) -> Result<Vec<Latencies>, ResultsError> {
    if results.summary().operations.is_empty() {
        return Ok(Vec::new());
    }
    let mut kinds: BTreeMap<(String, String), (Vec<u64>, u64)> = BTreeMap::new();
    for operation in results.operations()? {
        let operation = operation?;
        if operation.measured == 0 {
            continue;
        }
        let key = (operation.app.into_owned(), operation.kind.into_owned());
        let (known, missing) = kinds.entry(key).or_default();
        match operation.latency_ps {
            Some(latency) => known.push(latency),
            None => *missing += 1,
        }
    }
    let of_app = |app: &str| kinds.keys().filter(|(other, _)| other == app).count();
    let several: Vec<bool> = kinds.keys().map(|(app, _)| of_app(app) > 1).collect();
    let each = kinds.into_iter().zip(several);
    Ok(each
        .map(|(((app, kind), (known, missing)), several)| Latencies {
            name: if several { format!("{app} {kind}") } else { app },
            completed: known.len() as u64,
            missing,
            latency: cdf(known, missing),
        })
        .collect())
}
