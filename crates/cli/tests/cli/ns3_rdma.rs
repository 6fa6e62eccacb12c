//! Configurations of Microsoft's simulator ns3-rdma.

use std::fs;

use crate::program::{Sandbox, repository};

const FILES: [&str; 5] = ["config.txt", "topology.txt", "flow.txt", "flow_tcp_0.txt", "trace.txt"];

/// A folder with cases of the crate's own: `cases/NAME/config.txt` and its files.
fn sandbox_with(names: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for name in names {
        for file in FILES {
            sandbox.write(&format!("cases/{name}/{file}"), case(name, file));
        }
    }
    sandbox
}

fn case(name: &str, file: &str) -> String {
    let path = repository(&format!("crates/ns3-rdma/tests/cases/{name}/{file}"));
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_configuration_leaves_its_trace_and_counts() {
    let sandbox = sandbox_with(&["lossy"]);
    let arguments = ["run", "cases/lossy/config.txt", "--seed", "7", "--reference-log"];
    let ended = sandbox.rocelab(&arguments);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.starts_with("lossy: ns3-rdma, branch master, time linux, seed 7"));
    assert!(ended.stdout.contains("none: this simulator has no completions"), "{ended:?}");
    for file in ["mix.tr", "exact.txt"] {
        assert_eq!(sandbox.text(&format!("results/lossy-7/{file}")), case("lossy", file));
    }
    let summary = sandbox.json("results/lossy-7/summary.json");
    assert_eq!(summary["ns3_rdma"]["packets"], 120);
    let lost = case("lossy", "exact.txt").lines().filter(|line| line.starts_with('E')).count();
    assert_eq!(summary["drops"]["loss"], lost);
    assert_eq!(sandbox.json("results/lossy-7/run.json")["program"], "rocelab");
    // Results exist.
    assert_eq!(sandbox.rocelab(&arguments).code, Some(2));
    sandbox.succeeds(&["run", "cases/lossy/config.txt", "--seed", "7", "--force"]);
    assert!(!sandbox.path("results/lossy-7/exact.txt").exists());
}

#[test]
fn time_and_branch_are_set() {
    let sandbox = sandbox_with(&["double", "timely"]);
    let time = "profile.ns3-rdma.time=double";
    sandbox.succeeds(&["run", "cases/double/config.txt", "--set", time, "--out", "d"]);
    assert_eq!(sandbox.text("d/mix.tr"), case("double", "mix.tr"));
    let branch = "profile.ns3-rdma.branch=timely";
    sandbox.succeeds(&["run", "cases/timely/config.txt", "--set", branch, "--out", "t"]);
    assert_eq!(sandbox.text("t/stdout.txt"), case("timely", "stdout.txt"));
    assert!(!sandbox.path("t/mix.tr").exists());
}

#[test]
fn a_folder_of_configurations_runs() {
    let sandbox = sandbox_with(&["lossy", "packet-ecmp"]);
    sandbox.succeeds(&["run", "cases", "--out", "all", "--quiet"]);
    assert_eq!(sandbox.text("all/packet-ecmp/mix.tr"), case("packet-ecmp", "mix.tr"));
}

#[test]
fn what_cannot_be_is_said() {
    let sandbox = sandbox_with(&["lossy"]);
    let config = "cases/lossy/config.txt";
    for (arguments, says) in [
        (&["run", config, "--set", "profile.ns3-rdma.time=sun"][..], "write `linux` or `double`"),
        (&["run", config, "--set", "switch.alpha=1/16"], "switch.alpha = 1/16: is not known"),
        (&["run", config, "--seed", "0"], "seed = 0: is no seed"),
        (&["run", config, "--seed", "5000000000"], "--seed = 5000000000: is no second"),
        (&["check", config], "is a configuration of ns3-rdma"),
        (&["convert", config], "is a configuration of ns3-rdma"),
    ] {
        let ended = sandbox.rocelab(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains(says), "{arguments:?}: {ended:?}");
        assert!(!sandbox.path("results").exists(), "{arguments:?}");
    }
    let text = case("lossy", "config.txt");
    sandbox.write("cases/lossy/config.txt", format!("{text}\nTRACE_OUTPUT_FILE run.json\n"));
    let ended = sandbox.rocelab(&["run", config]);
    assert!(ended.stderr.contains("TRACE_OUTPUT_FILE = "), "{ended:?}");
    sandbox
        .write("cases/lossy/config.txt", format!("{text}\nL2_CHUNK_SIZE 0\nL2_ACK_INTERVAL 9\n"));
    let ended = sandbox.rocelab(&["run", config]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let says =
        "L2_CHUNK_SIZE = 0: at 2000002406 ns the simulator divides by zero; write at least 1";
    assert!(ended.stderr.contains(says), "{ended:?}");
    assert!(!sandbox.path("results/lossy-1").exists());
    sandbox.write("a.toml", "");
    let ended = sandbox.rocelab(&["run", "a.toml", "--reference-log"]);
    assert!(ended.stderr.contains("--reference-log: only runs of ns3-rdma"), "{ended:?}");
}
