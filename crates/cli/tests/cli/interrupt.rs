//! Ctrl-C.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::program::{Ended, Sandbox};

/// A run of several hours, which ends only because it is interrupted.
fn endless(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    let set = ["--out", "results", "--set", "workload.incast.bytes=100TB"];
    let mut command = sandbox.program(&[&["run"][..], arguments, &set].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// Waits until the run has started, which its temporary directory shows, and sends SIGINT.
fn interrupt(sandbox: &Sandbox, mut child: Child) -> Ended {
    for _ in 0..600 {
        if sandbox.tree().iter().any(|path| path.contains(".partial-") && path.ends_with("pfc.csv"))
        {
            sleep(Duration::from_millis(300));
            let process = Pid::from_raw(child.id().try_into().unwrap());
            kill(process, Signal::SIGINT).expect("the program runs");
            return Ended::of(child.wait_with_output().unwrap());
        }
        sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    panic!("no run started: {:?}", Ended::of(child.wait_with_output().unwrap()));
}

#[test]
fn results_are_kept_and_marked_incomplete() {
    let sandbox = Sandbox::with_small();
    let ended = interrupt(&sandbox, endless(&sandbox, &["small.toml"]));
    assert_eq!(ended.code, Some(130), "{ended:?}");

    let summary = sandbox.json("results/summary.json");
    assert_eq!(summary["incomplete"], true);
    assert_eq!(summary["flows"]["unfinished"], 3);
    assert!(summary["link_traversals"]["data"].as_u64() > Some(0), "{summary:#}");
    let (columns, rows) = sandbox.csv("results/flows.csv");
    let status = columns.iter().position(|column| column == "status").expect("a status");
    assert!(rows.iter().all(|row| row[status] == "unfinished"));
    assert_eq!(rows.len(), 3);
    for file in ["flows.parquet", "links.csv", "pfc.csv", "run.json", "scenario.resolved.toml"] {
        assert!(sandbox.path("results").join(file).exists(), "no {file}");
    }
    assert!(ended.stdout.contains("INTERRUPTED"), "{}", ended.stdout);
    assert!(sandbox.tree().iter().all(|path| !path.contains(".partial-")), "{:?}", sandbox.tree());
}

#[test]
fn an_incomplete_run_is_explained_to_its_end_and_no_further() {
    let sandbox = Sandbox::with_small();
    let ended = interrupt(&sandbox, endless(&sandbox, &["small.toml", "--set", "stop=500ms"]));
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let summary = sandbox.json("results/summary.json");
    let text = sandbox.succeeds(&["explain", "results", "--flow", "0", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(answer["digest"], summary["digest"]);
    let flow = &answer["flows"][0];
    let [start, elapsed] = ["start_ps", "elapsed_ps"].map(|key| flow[key].as_u64().expect("ps"));
    assert_eq!(Some(start + elapsed), summary["simulated_ps"].as_u64());
}

#[test]
fn the_scenarios_that_follow_do_not_run() {
    let sandbox = Sandbox::new();
    sandbox.write("folder/a.toml", crate::program::SMALL);
    sandbox.write("folder/b.toml", crate::program::SMALL);
    let ended = interrupt(&sandbox, endless(&sandbox, &["folder"]));
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(sandbox.path("results/a/summary.json").exists());
    assert!(!sandbox.path("results/b").exists());
}
