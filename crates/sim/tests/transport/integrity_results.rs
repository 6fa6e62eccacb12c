//! What the results say.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_results::{IntegrityResult, Overwrite, ResultsDir};

use crate::support::try_plan;

fn summary_of(text: &str, name: &str) -> rocelab_results::Summary {
    let plan = try_plan(text).unwrap_or_else(|error| panic!("{error}"));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let directory = ResultsDir::create(path, Overwrite::Replace).expect("a directory");
    let outcome = rocelab_sim::run(
        Arc::new(plan),
        (&directory).into(),
        rocelab_sim::Execution::SEQUENTIAL,
        &mut |_| ControlFlow::Continue(()),
    );
    outcome.expect("a run").summary
}

const TEXT: &str = "[topology.single-switch]\nhosts = 2\n\
                    link = { rate = \"100Gbps\", cable = \"3m\" }\n[workload.flows]\n\
                    list = [{ from = \"host-0\", to = \"host-1\", bytes = \"10KB\" }]\n";

#[test]
fn the_summary_counts_and_runs_without_it_say_nothing() {
    let with = summary_of(&format!("integrity = true\n{TEXT}"), "integrity-on");
    let expected = IntegrityResult { flows: 1, bytes: 10_000, ..IntegrityResult::default() };
    assert_eq!(with.integrity, Some(expected));
    let without = summary_of(TEXT, "integrity-off");
    assert_eq!(without.integrity, None);
    // Bytes take no time.
    assert_eq!((with.digest, with.fct_ps), (without.digest, without.fct_ps));
}
