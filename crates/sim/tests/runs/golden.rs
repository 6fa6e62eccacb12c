//! Whole runs by the rules of HPCC's ns-3 simulator give its output files, byte for byte.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocelab_results::{Overwrite, ResultsDir, RunInfo};
use rocelab_sim::scenario::{ProfileConfig, Scenario};
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
        let results = results_of(&case, scenario_of(&case.join("config.txt")));
        for file in ["fct.txt", "pfc.txt", "qlen.txt"] {
            compare(&case.join(file), &results.join(file));
        }
    }
}

fn scenario_of(config: &Path) -> Scenario {
    let loaded = reference::load(config, &[]).unwrap_or_else(|error| panic!("{error}"));
    loaded.scenario
}

/// Runs a case, and returns its results.
fn results_of(case: &Path, scenario: Scenario) -> PathBuf {
    let plan = scenario.plan().unwrap_or_else(|error| panic!("{error}"));
    let name = case.file_name().unwrap().to_string_lossy().into_owned();
    let kind = plan.stop.unwrap_or_default().ps();
    let results = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("golden-{name}-{kind}"));
    let directory = ResultsDir::create(&results, Overwrite::Replace).unwrap();
    let outcome = run(Arc::new(plan), (&directory).into(), Execution::SEQUENTIAL, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    directory.finish(&outcome.summary, &RunInfo::default()).unwrap()
}

/// A case whose queues are looked at for 100 ms, as in a run of its own of that simulator.
fn check_queues(case: &Path, golden: &Path) {
    let mut scenario = scenario_of(&case.join("config.txt"));
    scenario.stop = Some("2.100001s".parse().unwrap());
    let Some(ProfileConfig::HpccNs3(profile)) = &mut scenario.profile else {
        panic!("{}", case.display())
    };
    let monitor = profile.queue_monitor.as_mut().expect("configurations name a file");
    monitor.to = "2.1s".parse().unwrap();
    compare(golden, &results_of(case, scenario).join("qlen.txt"));
}

#[test]
fn histograms_of_queues() {
    let mut found = 0;
    for case in cases("") {
        let golden = case.join("qlen_hist.txt");
        if golden.is_file() {
            check_queues(&case, &golden);
            found += 1;
        }
    }
    assert_eq!(found, 11);
}

/// All of them, where the golden runs of the project are at hand.
#[test]
fn histograms_of_queues_in_all_golden_runs() {
    let shared = std::env::var_os("ROCELAB_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let all = std::fs::read_dir(shared.join("golden/hpcc-ns3/public"));
    let Ok(all) = all else {
        println!("skipped: there are no shared golden runs");
        return;
    };
    let mut found = 0;
    for case in all.map(|entry| entry.unwrap().path()) {
        let golden = case.join("qlen_hist.txt");
        if golden.is_file() {
            check_queues(&case, &golden);
            found += 1;
        }
    }
    println!("run {found}, skipped 0");
    assert!(found >= 26, "{found}");
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
