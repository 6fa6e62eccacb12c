//! Kinds of operations that some runs have and others do not tell.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rocelab_results::{Results, Summary};

/// The summaries of runs. Where any run tells the kinds of an application's operations, all do: a
/// summary leaves them out if there is only one, and it would stand in no line of its kind.
pub(super) fn told_in_all(results: &[Results]) -> Vec<Cow<'_, Summary>> {
    let apps = results.iter().flat_map(|one| &one.summary().operations);
    let told: BTreeSet<&str> =
        apps.filter(|app| !app.kinds.is_empty()).map(|app| app.app.as_str()).collect();
    results.iter().map(|one| with_kinds(one, &told)).collect()
}

fn with_kinds<'r>(results: &'r Results, told: &BTreeSet<&str>) -> Cow<'r, Summary> {
    let mut summary = Cow::Borrowed(results.summary());
    for (place, app) in results.summary().operations.iter().enumerate() {
        if app.kinds.is_empty()
            && told.contains(app.app.as_str())
            // What is wrong with operations.csv is told where it is drawn.
            && let Ok(kinds) = results.kinds(app)
        {
            summary.to_mut().operations[place].kinds = kinds;
        }
    }
    summary
}
