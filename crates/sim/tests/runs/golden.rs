//! Whole runs by the rules of HPCC's ns-3 simulator give its output files, byte for byte.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocelab_results::{Overwrite, ResultsDir, RunInfo};
use rocelab_sim::{Execution, Planning, reference, run};

/// The golden runs of the repository whose names begin with `prefix`.
fn cases(prefix: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/hpcc-ns3");
    let entries = std::fs::read_dir(folder).expect("golden runs are part of the repository");
    let mut cases: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(prefix))
        .collect();
    cases.sort();
    cases
}

/// Runs every case and compares its files; there are `count`.
#[track_caller]
fn check(prefix: &str, count: usize) {
    let cases = cases(prefix);
    assert_eq!(cases.len(), count, "{cases:?}");
    for case in cases {
        let config = case.join("config.txt");
        let loaded = reference::load(&config, &[]).unwrap_or_else(|error| panic!("{error}"));
        let plan = loaded.scenario.plan().unwrap_or_else(|error| panic!("{error}"));
        let results = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("golden-{}", plan.name));
        let directory = ResultsDir::create(&results, Overwrite::Replace).unwrap();
        let outcome = run(Arc::new(plan), (&directory).into(), Execution::SEQUENTIAL, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
        let results = directory.finish(&outcome.summary, &RunInfo::default()).unwrap();
        for file in ["fct.txt", "pfc.txt"] {
            compare(&case.join(file), &results.join(file));
        }
    }
}

/// The first line that differs says more than all of them.
#[track_caller]
fn compare(golden: &Path, ours: &Path) {
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let (expected, found) = (read(golden), read(ours));
    if expected == found {
        return;
    }
    let lines = (1..).zip(expected.lines().zip(found.lines()));
    let different = lines.into_iter().find(|(_, (expected, found))| expected != found);
    let (expected, found) = (expected.lines().count(), found.lines().count());
    panic!("{}: {different:?}, in {expected} and {found} lines", golden.display());
}

#[test]
fn two_senders() {
    check("incast2-", 5);
}

#[test]
fn sixteen_senders() {
    check("incast16-", 6);
}

#[test]
fn a_bottleneck() {
    check("dumbbell-", 2);
}

#[test]
fn lossy_links() {
    check("lossy-", 6);
}

#[test]
fn pauses_that_spread() {
    check("pfcstorm-", 3);
}

#[test]
fn web_search_on_a_leaf_and_spine_network() {
    check("leafspine-websearch-", 4);
}
