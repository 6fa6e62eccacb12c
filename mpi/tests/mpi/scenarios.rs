//! Every native scenario of the repository gives the same bytes on 1, 2 and 4 ranks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::programs::{Ended, files_of, has_mpirun, on_ranks, repository, rocelab};

/// The file with the digests of all scenarios.
const FINGERPRINTS: &str = "crates/sim/tests/golden/fingerprints.csv";

/// Scenarios that take long when ranks share cores, and the time at which they are stopped here.
const STOPPED: [(&str, &str); 19] = [
    ("dcqcn-incast", "2ms"),
    ("dcqcn-stability", "10ms"),
    ("dcqcn-two-flows", "10ms"),
    ("dcqcn-unfairness", "2ms"),
    ("dcqcn-victim-flow", "2ms"),
    ("fat320-websearch", "100us"),
    ("parking-lot", "500us"),
    ("permutation-leaf-spine", "300us"),
    ("pfc-threshold", "1ms"),
    ("qcn-long-flows", "10ms"),
    ("sigcomm16-alpha", "1ms"),
    ("sigcomm16-livelock", "5ms"),
    ("sigcomm16-livelock-read", "5ms"),
    ("sigcomm16-nic-storm", "3ms"),
    ("sigcomm16-slow-receiver", "2ms"),
    ("sigcomm16-tcp-rdma", "2ms"),
    ("timely-no-fixed-point", "15ms"),
    ("timely-patched", "15ms"),
    ("websearch-leaf-spine", "1ms"),
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

/// Puts all of them into a folder, with the files that they name, and those that take long with another end. Gives their names.
fn collected(into: &Path) -> Vec<String> {
    for entry in std::fs::read_dir(repository("scenarios")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && path.extension().is_none_or(|extension| extension != "toml") {
            std::fs::copy(&path, into.join(path.file_name().unwrap())).unwrap();
        }
    }
    let mut names = Vec::new();
    for (name, path) in scenarios() {
        let text = std::fs::read_to_string(&path).unwrap();
        let text = match STOPPED.iter().find(|(stopped, _)| *stopped == name) {
            Some((_, stop)) => {
                let rest = text.lines().filter(|line| !line.starts_with("stop = "));
                format!("stop = \"{stop}\"\n{}\n", rest.collect::<Vec<_>>().join("\n"))
            }
            None => text,
        };
        std::fs::write(into.join(format!("{name}.toml")), text).unwrap();
        names.push(name);
    }
    names
}

/// The files of each scenario of a run of all, by its name.
fn by_scenario(folder: &Path, names: &[String]) -> BTreeMap<String, BTreeMap<String, Vec<u8>>> {
    names.iter().map(|name| (name.clone(), files_of(&folder.join(name)))).collect()
}

/// One call of `mpirun` for all scenarios: to start ranks takes longer than most of them.
#[test]
fn every_scenario_gives_the_same_bytes_on_1_2_and_4_ranks() {
    if !has_mpirun() {
        return;
    }
    let fingerprints = std::fs::read_to_string(repository(FINGERPRINTS)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("all")).unwrap();
    let names = collected(&path("all"));
    assert!(names.len() >= 25, "{names:?}");
    let all = path("all").to_string_lossy().into_owned();
    let into = |name: &str| path(name).to_string_lossy().into_owned();
    let alone = rocelab(&["run", &all, "--quiet", "--out", &into("alone")]);
    let expected = by_scenario(&path("alone"), &names);
    for ranks in [1, 2, 4] {
        let out = into(&ranks.to_string());
        let ended = on_ranks(ranks, &["run", &all, "--quiet", "--out", &out]);
        assert_same_end(&alone, &ended, &format!("{ranks} ranks"));
        for (name, mut files) in by_scenario(Path::new(&out), &names) {
            let (expected, what) = (&expected[&name], format!("{name} on {ranks} ranks"));
            let run: serde_json::Value = serde_json::from_slice(&files["run.json"]).unwrap();
            assert_eq!(run["ranks"], ranks, "{what}");
            files.insert("run.json".to_owned(), expected["run.json"].clone());
            assert!(files.keys().eq(expected.keys()), "{what}: {:?}", files.keys());
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
