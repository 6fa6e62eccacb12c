//! `rocelab trace`.

use serde_json::Value;

use crate::program::{Sandbox, repository};

/// Small Chakra traces that are kept beside the crate's own tests.
fn copy(sandbox: &Sandbox, files: &[&str]) {
    for file in files {
        let path = repository("crates/trace/tests/trace/files").join(file);
        sandbox.write(file, std::fs::read(path).expect("a trace"));
    }
}

const GOAL: &str = "\
num_ranks 2

rank 0 {
l1: calc 5000
l2: send 1000b to 1 tag 3
l2 requires l1
}

rank 1 {
l1: recv 1000b from 0 tag 3
l2: calc 7000 cpu 1
l2 requires l1
}
";

const WORKLOAD: &str = "\
HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4
1
layer -1 1000 ALLREDUCE 8192 2000 NONE 0 500 REDUCESCATTER 65536 10
";

#[test]
fn a_chakra_trace_is_counted() {
    let sandbox = Sandbox::new();
    copy(&sandbox, &["pp2.0.et", "pp2.1.et"]);
    let answer = sandbox.succeeds(&["trace", "info", "pp2.0.et", "pp2.1.et"]);
    let expected = "\
format: Chakra execution trace
ranks: 2
nodes: 16 (8 compute, 4 receive, 4 send)
sent by nodes: 16777216 bytes
computation of the busiest rank: 600us
least time: 900us (computation and dependencies alone; --rate adds data)
problems: none
";
    assert_eq!(answer, expected);
    let timed = sandbox.succeeds(&["trace", "info", "pp2.1.et", "pp2.0.et", "--rate", "400Gbps"]);
    // Behind the first microbatch are two messages of 4 MiB, each of 83.88608 us.
    assert!(
        timed.contains("least time: 1067772.16ns (computation, dependencies, and data at 400Gbps)"),
        "{timed}"
    );
}

#[test]
fn groups_are_named() {
    let sandbox = Sandbox::new();
    let files = ["groups4.0.et", "groups4.1.et", "groups4.2.et", "groups4.3.et"];
    copy(&sandbox, &files);
    copy(&sandbox, &["groups4.comm_group.json"]);
    let mut arguments = vec!["trace", "info"];
    arguments.extend(files);
    let ended = sandbox.rocelab(&arguments);
    let words = "error: groups4.0.et: byte 34: node 1 `tp_all_gather`: pg_name = \"1\" is no group that is described; \
                 give the file of communicator groups\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), words));
    arguments.extend(["--groups", "groups4.comm_group.json"]);
    let answer = sandbox.succeeds(&arguments);
    for line in [
        "all-reduce of group 3: 1, 8388608 bytes",
        "all-gather of group 1: 1, 4194304 bytes",
        "reduce-scatter of group 2: 1, 4194304 bytes",
    ] {
        assert!(answer.contains(line), "{answer}");
    }
}

#[test]
fn problems_are_found() {
    let sandbox = Sandbox::new();
    copy(&sandbox, &["bad_unmatched.0.et", "bad_unmatched.1.et", "bad_cycle.0.et"]);
    let ended = sandbox.rocelab(&["trace", "check", "bad_unmatched.0.et", "bad_unmatched.1.et"]);
    let expected = "\
bad_unmatched.1.et: rank 1: node 0 `r`: receives 1024 bytes from rank 0 with tag 2, and no send matches it
bad_unmatched.0.et: rank 0: node 0 `s`: sends 1024 bytes to rank 1 with tag 1, and no receive matches it
2 problems
";
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), expected));
    let ended = sandbox.rocelab(&["trace", "info", "bad_unmatched.0.et", "bad_unmatched.1.et"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stdout.contains("least time: none, it never ends"), "{}", ended.stdout);
    let ended = sandbox.rocelab(&["trace", "check", "bad_cycle.0.et"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("node 0 `a` waits for node 1 `b` waits for node 0 `a`"),
        "{}",
        ended.stderr
    );
    sandbox.write("good.goal", GOAL);
    assert_eq!(sandbox.succeeds(&["trace", "check", "good.goal"]), "no problems\n");
}

#[test]
fn goal_is_converted_there_and_back() {
    let sandbox = Sandbox::new();
    sandbox.write("a.goal", GOAL);
    sandbox.succeeds(&["trace", "convert", "a.goal", "--to", "goal-binary", "--out", "a.bin"]);
    assert_eq!(sandbox.succeeds(&["trace", "convert", "a.bin", "--to", "goal"]), GOAL);
    // Nothing is replaced without being told to, and never the input.
    let again = ["trace", "convert", "a.goal", "--to", "goal-binary", "--out", "a.bin"];
    let ended = sandbox.rocelab(&again);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("exists; replace it with --force"), "{}", ended.stderr);
    let ended = sandbox
        .rocelab(&["trace", "convert", "a.goal", "--to", "goal", "--out", "a.goal", "--force"]);
    assert!(ended.stderr.contains("is the trace itself"), "{}", ended.stderr);
    assert_eq!(sandbox.text("a.goal"), GOAL);
    let slow =
        sandbox.succeeds(&["trace", "convert", "a.bin", "--to", "goal", "--compute-scale", "2"]);
    assert_eq!(slow, GOAL.replace("5000", "10000").replace("7000", "14000"));
}

#[test]
fn a_workload_becomes_goal_and_json() {
    let sandbox = Sandbox::new();
    sandbox.write("w.txt", WORKLOAD);
    let goal = sandbox.succeeds(&["trace", "convert", "w.txt", "--to", "goal"]);
    assert!(goal.starts_with("num_ranks 4\n"), "{goal}");
    sandbox.write("w.goal", &goal);
    assert_eq!(sandbox.succeeds(&["trace", "check", "w.goal"]), "no problems\n");
    let direct =
        sandbox.succeeds(&["trace", "convert", "w.txt", "--to", "goal", "--algorithm", "direct"]);
    // Of two ranks each step is the same; what waits for what is not.
    assert_ne!(goal, direct);
    let json: Value =
        serde_json::from_str(&sandbox.succeeds(&["trace", "convert", "w.txt", "--to", "json"]))
            .unwrap();
    let nodes = json["ranks"][3]["nodes"].as_array().unwrap();
    let names: Vec<_> = nodes.iter().map(|node| node["name"].as_str().unwrap()).collect();
    let expected = [
        "layer forward",
        "layer forward",
        "layer input gradient",
        "layer weight gradient",
        "layer weight gradient",
        "layer update",
    ];
    assert_eq!(names, expected);
    assert_eq!(nodes[1]["kind"], "all-reduce");
    assert_eq!(nodes[1]["waits_for_end_of"], serde_json::json!([0]));
    let decoded = sandbox.succeeds(&["trace", "convert", "w.txt", "--to", "decoded"]);
    let decoded: Value = serde_json::from_str(&decoded).unwrap();
    assert_eq!((&decoded["tp"], &decoded["dp"]), (&2.into(), &2.into()));
    let info = sandbox.succeeds(&["trace", "info", "w.txt", "--rate", "100Gbps"]);
    assert!(info.contains("reduce-scatter of group dp-1: 1, 65536 bytes"), "{info}");
}

#[test]
fn topologies_and_tables_are_described() {
    let sandbox = Sandbox::new();
    sandbox
        .write("t.topology", "3 2 0 1 2 H100\n2\n0 2 400Gbps 0.0005ms 0\n1 2 400Gbps 0.0005ms 0\n");
    let answer = sandbox.succeeds(&["trace", "info", "t.topology"]);
    let expected = "format: SimAI topology\nGPUs: 2 H100, in 1 servers\nNVSwitches: 0\nswitches: 1\nlinks: 2\n";
    assert_eq!(answer, expected);
    let json = sandbox.succeeds(&["trace", "convert", "t.topology", "--to", "decoded"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["links"][1]["delay_ps"], 500_000);
    let ended = sandbox.rocelab(&["trace", "check", "t.topology"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("a SimAI topology is no trace"), "{}", ended.stderr);
}

#[test]
fn options_without_effect_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("a.goal", GOAL);
    sandbox.write("g.json", "{}");
    for (options, words) in [
        (vec!["--groups", "g.json"], "--groups is for Chakra traces"),
        (vec!["--serialise-streams"], "--serialise-streams is for Chakra traces"),
        (vec!["--control-dependencies"], "--control-dependencies is for Chakra traces"),
        (vec!["--ranks", "4"], "--ranks is for workloads of SimAI"),
        (vec!["--compute-scale=-1"], "is no factor"),
    ] {
        let mut arguments = vec!["trace", "info", "a.goal"];
        arguments.extend(options);
        let ended = sandbox.rocelab(&arguments);
        assert_eq!(ended.code, Some(2), "{words}");
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
    let ended =
        sandbox.rocelab(&["trace", "convert", "a.goal", "--to", "json", "--algorithm", "ring"]);
    assert!(ended.stderr.contains("--algorithm is for --to goal"), "{}", ended.stderr);
    let ended = sandbox.rocelab(&["trace", "convert", "a.goal", "--to", "goal-binary"]);
    assert_eq!(ended.code, Some(2));
}
