//! The same scenario and seed give the same bytes in every file except `run.json`.

use crate::program::{Sandbox, repository_argument};

/// Runs a scenario of the repository ten times, and once with another seed.
#[track_caller]
fn check(scenario: &str, sets: &[&str]) {
    let sandbox = Sandbox::new();
    let scenario = repository_argument(scenario);
    let run = |out: &str, seed: &str| {
        let mut arguments = vec!["run", &scenario, "--out", out, "--seed", seed];
        for set in sets {
            arguments.extend(["--set", set]);
        }
        sandbox.succeeds(&arguments);
        let mut files = sandbox.files(out);
        assert!(files.remove("run.json").is_some());
        files
    };
    let first = run("0", "1");
    for number in 1..10_u32 {
        let again = run(&number.to_string(), "1");
        assert_eq!(first.keys().collect::<Vec<_>>(), again.keys().collect::<Vec<_>>());
        for (name, bytes) in &first {
            assert!(*bytes == again[name], "{name} of run {number} differs");
        }
    }
    let other = run("other", "2");
    assert!(first["summary.json"] != other["summary.json"], "the seed changes nothing");
}

#[test]
fn an_incast_over_v2() {
    let ports = r#"capture.ports=["host-0", "leaf-0", "spine-0"]"#;
    check("scenarios/incast-v2.toml", &["workload.incast.bytes=50KB", ports]);
}

#[test]
fn an_incast_over_v1() {
    check("scenarios/incast-v1.toml", &["workload.incast.bytes=50KB", "capture.fcs=true"]);
}

#[test]
fn random_arrivals() {
    check("scenarios/websearch-leaf-spine.toml", &["stop=100us"]);
}

#[test]
fn results_hold_the_files_that_the_scenario_names_and_run_again_from_there() {
    let sandbox = Sandbox::new();
    let scenario = repository_argument("scenarios/parking-lot.toml");
    sandbox.succeeds(&["run", &scenario, "--set", "stop=200us", "--out", "first", "--quiet"]);
    sandbox.succeeds(&["run", "first/scenario.resolved.toml", "--out", "again", "--quiet"]);
    assert_eq!(
        sandbox.json("first/summary.json")["digest"],
        sandbox.json("again/summary.json")["digest"]
    );
    let ended = sandbox.rocelab(&[
        "run",
        &repository_argument("scenarios/incast-v2.toml"),
        "--set",
        "switch.headroom=1KB",
        "--out",
        "drops",
    ]);
    assert!(ended.stderr.contains("frames of lossless priorities were dropped"), "{ended:?}");
}
