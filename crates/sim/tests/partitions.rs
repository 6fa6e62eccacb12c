//! What a run comes to does not depend on how its network is cut, or on how many threads run it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocelab_fabric::topology::Partitioning;
use rocelab_results::{Overwrite, ResultsDir, RunInfo};
use rocelab_sim::{Cut, Execution, Plan, Scenario, Simulation};

/// Partitions and threads.
const EXECUTIONS: [(u32, u32); 6] = [(2, 1), (2, 2), (3, 2), (4, 1), (8, 1), (8, 2)];

/// Where the digests of all scenarios are kept.
const FINGERPRINTS: &str = "tests/golden/fingerprints.csv";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn plan(path: &Path) -> Arc<Plan> {
    let scenario = Scenario::load(path, &[]).unwrap_or_else(|error| panic!("{error}"));
    Arc::new(scenario.plan().unwrap_or_else(|error| panic!("{error}")))
}

/// The native scenarios of the repository, but for the run of 320 servers, which takes too long.
fn scenarios() -> Vec<(String, Arc<Plan>)> {
    let entries = std::fs::read_dir(folder("../../scenarios")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let name = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    let all = files.iter().filter(|path| name(path) != "fat320-websearch");
    let all = all.map(|path| (name(path), plan(path)));
    all.filter(|(_, plan)| plan.profile.hpcc_ns3().is_none()).collect()
}

/// Every file of the results, and the digest.
fn results(plan: &Arc<Plan>, execution: Execution) -> (BTreeMap<String, Vec<u8>>, String) {
    let place = tempfile::tempdir().expect("a folder");
    let directory = ResultsDir::create(place.path().join("results"), Overwrite::Refuse).unwrap();
    let outcome =
        rocelab_sim::run(Arc::clone(plan), &directory, execution, |_| ControlFlow::Continue(()));
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    let path = directory.finish(&outcome.summary, &RunInfo::default()).unwrap();
    let mut files = BTreeMap::new();
    read_all(&path, &path, &mut files);
    (files, outcome.summary.digest)
}

/// Every file below a folder, by its name from `root` on.
fn read_all(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

/// The first line in which two files differ.
fn difference(a: &[u8], b: &[u8]) -> String {
    let (a, b) = (String::from_utf8_lossy(a), String::from_utf8_lossy(b));
    let lines = (1..).zip(a.lines().zip(b.lines())).find(|(_, (a, b))| a != b);
    lines.map_or_else(
        || "one is longer".to_owned(),
        |(line, (a, b))| format!("line {line}:\n{a:.400}\n{b:.400}"),
    )
}

#[test]
fn every_execution_of_every_scenario_gives_the_same_bytes() {
    let mut fingerprints = "scenario,digest\n".to_owned();
    for (name, plan) in scenarios() {
        let (whole, digest) = results(&plan, Execution::SEQUENTIAL);
        _ = writeln!(fingerprints, "{name},{digest}");
        for (partitions, threads) in EXECUTIONS {
            if Partitioning::balanced(&plan.topology, partitions).parts() < partitions.min(2) {
                continue;
            }
            let (cut, _) = results(&plan, Execution { partitions, threads });
            assert!(whole.keys().eq(cut.keys()), "{name}: {:?} {:?}", whole.keys(), cut.keys());
            for (file, bytes) in &whole {
                assert!(
                    *bytes == cut[file],
                    "{name}/{file} in {partitions} parts on {threads} threads: {}",
                    difference(bytes, &cut[file])
                );
            }
        }
    }
    let golden = folder(FINGERPRINTS);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &fingerprints).unwrap();
    }
    assert_eq!(fingerprints, std::fs::read_to_string(golden).unwrap());
}

/// No cut that a program would choose: every node is a part, or every other node is in the same one.
#[test]
fn cuts_through_everything_change_nothing() {
    let outcome = |plan: &Arc<Plan>, partitioning: Partitioning| {
        let cut = Cut::new(plan, partitioning);
        let mut simulation: Simulation =
            Simulation::in_parts(Arc::clone(plan), &cut, 2).expect("a plan becomes a network");
        let ending = simulation.run_to_end();
        simulation.finish_samples();
        simulation.network().audit().unwrap_or_else(|error| panic!("{error}"));
        let records = format!("{:?}", simulation.take_records());
        (ending, simulation.now(), records, simulation.network().digest())
    };
    for name in ["connect-cm", "hotnets16-ring", "ping-pong"] {
        let plan = plan(&folder("../../scenarios").join(format!("{name}.toml")));
        let nodes: Vec<u32> = (0..).take(plan.topology.nodes.len()).collect();
        let halves: Vec<u32> = nodes.iter().map(|node| node % 2).collect();
        let whole = outcome(&plan, Partitioning::whole(&plan.topology));
        for parts in [nodes, halves] {
            assert!(outcome(&plan, Partitioning::by_parts(&parts)) == whole, "{name}");
        }
    }
}
