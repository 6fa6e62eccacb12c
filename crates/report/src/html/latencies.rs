//! The latencies of a run's operations, by application and kind.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_results::{Results, ResultsError};
use serde::Serialize;

use super::flows::{Cdf, cdf};

/// Operations of one kind of an application.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Latencies {
    /// `disk`, or `disk read` if the application has several kinds.
    pub(crate) name: String,
    #[serde(skip)]
    app: String,
    #[serde(skip)]
    kind: String,
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
    let each = kinds.into_iter();
    Ok(each
        .map(|((app, kind), (known, missing))| Latencies {
            name: app.clone(),
            app,
            kind,
            completed: known.len() as u64,
            missing,
            latency: cdf(known, missing),
        })
        .collect())
}

/// Names the latencies of several runs: with their kinds where any run has several kinds of the
/// application's operations, so that equal kinds stand together.
pub(crate) fn name_alike<'l>(runs: impl Iterator<Item = &'l mut Vec<Latencies>>) {
    let mut all: Vec<&mut Vec<Latencies>> = runs.collect();
    let mut several = BTreeSet::new();
    for run in &all {
        let mut apps = BTreeSet::new();
        several.extend(run.iter().filter(|one| !apps.insert(&one.app)).map(|one| one.app.clone()));
    }
    for one in all.iter_mut().flat_map(|run| run.iter_mut()) {
        if several.contains(&one.app) {
            one.name = format!("{} {}", one.app, one.kind);
        }
    }
}
