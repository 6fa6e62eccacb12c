//! Every native scenario of the repository gives the same bytes on 1, 2 and 4 ranks.

use std::path::PathBuf;

use crate::programs::{Ended, files_of, has_mpirun, on_ranks, repository, rocelab};

/// The file with the digests of all scenarios.
const FINGERPRINTS: &str = "crates/sim/tests/golden/fingerprints.csv";

/// Scenarios that take long when ranks share cores, and the time at which they are stopped here.
const STOPPED: [(&str, &str); 5] = [
    ("fat320-websearch", "stop=100us"),
    ("permutation-leaf-spine", "stop=300us"),
    ("sigcomm16-alpha", "stop=1ms"),
    ("sigcomm16-tcp-rdma", "stop=2ms"),
    ("websearch-leaf-spine", "stop=1ms"),
];

/// The native scenarios, by name.
fn scenarios() -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(repository("scenarios")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let is_native = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        !text.contains("[profile.hpcc-ns3")
    };
    let name = |path: PathBuf| (path.file_stem().unwrap().to_string_lossy().into_owned(), path);
    files.into_iter().filter(is_native).map(name).collect()
}

/// The arguments of a run of a scenario with results in a folder.
fn arguments<'a>(name: &str, scenario: &'a str, out: &'a str) -> Vec<&'a str> {
    let mut arguments = vec!["run", scenario, "--out", out, "--quiet"];
    if let Some((_, stop)) = STOPPED.iter().find(|(stopped, _)| *stopped == name) {
        arguments.extend(["--set", stop]);
    }
    arguments
}

#[test]
fn every_scenario_gives_the_same_bytes_on_1_2_and_4_ranks() {
    if !has_mpirun() {
        return;
    }
    let fingerprints = std::fs::read_to_string(repository(FINGERPRINTS)).unwrap();
    let all = scenarios();
    assert!(all.len() >= 25, "{all:?}");
    for (name, path) in all {
        let folder = tempfile::tempdir().unwrap();
        let scenario = path.to_str().unwrap();
        let out = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let alone = rocelab(&arguments(&name, scenario, &out("alone")));
        let expected = files_of(&folder.path().join("alone"));
        for ranks in [1, 2, 4] {
            let spread = out(&ranks.to_string());
            let ended = on_ranks(ranks, &arguments(&name, scenario, &spread));
            let what = format!("{name} on {ranks} ranks");
            assert_same_end(&alone, &ended, &what);
            let mut files = files_of(spread.as_ref());
            let run: serde_json::Value = serde_json::from_slice(&files["run.json"]).unwrap();
            assert_eq!(run["ranks"], ranks, "{what}");
            files.insert("run.json".to_owned(), expected["run.json"].clone());
            let names = |files: &std::collections::BTreeMap<String, Vec<u8>>| {
                files.keys().cloned().collect::<Vec<_>>()
            };
            assert_eq!(names(&files), names(&expected), "{what}");
            for (file, bytes) in &files {
                assert!(*bytes == expected[file], "{what}: {file}");
            }
            if !STOPPED.iter().any(|(stopped, _)| *stopped == name) {
                let summary: serde_json::Value =
                    serde_json::from_slice(&files["summary.json"]).unwrap();
                let line = format!("{name},{}\n", summary["digest"].as_str().unwrap());
                assert!(fingerprints.contains(&line), "{what}: {line}");
            }
        }
    }
}

#[test]
fn a_folder_of_scenarios_is_run_one_after_the_other() {
    if !has_mpirun() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("all")).unwrap();
    for name in ["incast-v1.toml", "incast-v2.toml"] {
        let from = repository("scenarios").join(name);
        std::fs::copy(from, path("all").join(name)).unwrap();
    }
    let (all, alone, spread) = (path("all"), path("alone"), path("spread"));
    let [all, of_one, of_two] = [&all, &alone, &spread].map(|path| path.to_str().unwrap());
    let alone_ended = rocelab(&["run", all, "--quiet", "--out", of_one]);
    assert_eq!(alone_ended.code, Some(0), "{alone_ended:?}");
    let ended = on_ranks(2, &["run", all, "--quiet", "--out", of_two]);
    assert_same_end(&alone_ended, &ended, "a folder");
    let without_run_info = |folder: &PathBuf| {
        let mut files = files_of(folder);
        files.retain(|name, _| !name.ends_with("run.json"));
        files
    };
    assert!(without_run_info(&alone) == without_run_info(&spread));
    assert!(without_run_info(&spread).len() > 10);
}

/// Asserts that one process and several ended alike, and printed the same, once.
fn assert_same_end(alone: &Ended, ended: &Ended, what: &str) {
    assert_eq!(ended.code, alone.code, "{what}: {ended:?}");
    for line in alone.stderr.lines() {
        assert_eq!(ended.times(line), alone.times(line), "{what}: {line}: {}", ended.stderr);
    }
}
