//! `rocelab explain`.

use serde_json::Value;

use crate::program::{Sandbox, repository_argument};
use crate::report::sandbox_with_results;

fn explained(sandbox: &Sandbox, flow: &str) -> Value {
    let text = sandbox.succeeds(&["explain", "results", "--flow", flow, "--json"]);
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn parts_add_up_to_the_completion_time_in_flows_csv() {
    let sandbox = sandbox_with_results();
    let table = sandbox.text("results/flows.csv");
    let mut rows = table.lines();
    let columns: Vec<_> = rows.next().expect("a heading").split(',').collect();
    let place = |name: &str| columns.iter().position(|column| *column == name).expect(name);
    let mut flows = 0;
    for row in rows {
        let cells: Vec<_> = row.split(',').collect();
        let answer = explained(&sandbox, cells[place("flow")]);
        let flow = &answer["flows"][0];
        let parts = flow["parts"].as_array().expect("parts");
        let sum: u64 = parts.iter().map(|part| part["ps"].as_u64().expect("ps")).sum();
        assert_eq!(sum.to_string(), cells[place("fct_ps")], "{answer:#}");
        assert_eq!(flow["status"], "completed");
        flows += 1;
    }
    assert_eq!(flows, 3);
}

#[test]
fn the_table_says_what_the_flow_waited_for() {
    let sandbox = sandbox_with_results();
    let text = sandbox.succeeds(&["explain", "results", "--flow", "1"]);
    assert!(text.starts_with("flow 1: write of 100000 bytes between host-"), "{text}");
    for expected in ["\nsender ", "queueing behind others", "flow 0 ", "\nsum ", "100.0 %"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(text.lines().last().expect("a verdict").starts_with("Where most of its time went: "));
}

#[test]
fn results_of_another_run_are_told_from_these() {
    let sandbox = sandbox_with_results();
    let summary = sandbox.text("results/summary.json");
    let digest = summary.split("\"digest\": \"").nth(1).expect("a digest")[..16].to_owned();
    sandbox.write("results/summary.json", summary.replace(&digest, "0123456789abcdef"));
    let ended = sandbox.rocelab(&["explain", "results", "--flow", "0"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let expected =
        format!("warning: results: run again, the digest is {digest}, not 0123456789abcdef");
    assert!(ended.stderr.starts_with(&expected), "{ended:?}");
}

#[test]
fn what_cannot_be_explained_is_bad_input() {
    let sandbox = sandbox_with_results();
    let ended = sandbox.rocelab(&["explain", "results", "--flow", "3"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert_eq!(ended.stderr, "error: there is no flow 3: the run has 3, numbered from 0\n");
    let ended = sandbox.rocelab(&["explain", "absent", "--flow", "0"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
}

/// What explains them instead is told.
#[test]
fn runs_of_other_simulators_are_refused_with_what_is_there_instead() {
    let sandbox = Sandbox::new();
    for (config, whose) in [
        ("crates/sim/tests/golden/hpcc-ns3/incast16-hpcc/config.txt", "HPCC's ns-3 simulator"),
        ("crates/ns3-rdma/tests/cases/double/config.txt", "ns3-rdma"),
    ] {
        let config = repository_argument(config);
        sandbox.rocelab(&["run", &config, "--out", "reference", "--quiet", "--force"]);
        for options in [&[][..], &["--flow", "0"], &["--json"]] {
            let ended = sandbox.rocelab(&[&["explain", "reference"][..], options].concat());
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
            assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
            for part in [
                format!("runs by the rules of {whose} cannot be explained, because"),
                "`rocelab convert CONFIG --roce 2`".to_owned(),
            ] {
                assert!(ended.stderr.contains(&part), "no {part} in {ended:?}");
            }
        }
    }
}

#[test]
fn an_operation_is_asked_for_by_its_connection_and_number() {
    let sandbox = Sandbox::new();
    sandbox.write("ops.toml", OPERATIONS);
    sandbox.succeeds(&["run", "ops.toml", "--out", "results", "--quiet"]);
    let table = sandbox.text("results/operations.csv");
    let mut rows = table.lines();
    let columns: Vec<_> = rows.next().expect("a heading").split(',').collect();
    let place = |name: &str| columns.iter().position(|column| *column == name).expect(name);
    let last: Vec<_> = rows.next_back().expect("operations").split(',').collect();
    let [connection, operation] = ["connection", "operation"].map(|name| last[place(name)]);
    let ask = ["explain", "results", "--connection", connection, "--operation", operation];
    let text = sandbox.succeeds(&ask);
    let title = format!("operation {operation} of connection {connection}: ");
    assert!(text.starts_with(&title) && text.contains(" of ping between host-0 "), "{text}");
    let answer = sandbox.succeeds(&[&ask[..], &["--json"]].concat());
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let elapsed = &answer["operations"][0]["elapsed_ps"];
    assert_eq!(elapsed.to_string(), last[place("latency_ps")]);
    let ended = sandbox.rocelab(&["explain", "results", "--connection", "0", "--operation", "9"]);
    let expected = "error: operation 9 of connection 0 does not start in this run\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), expected));
}

#[test]
fn without_a_flow_all_pauses_are_told() {
    let sandbox = Sandbox::with_small();
    let arguments = ["run", "small.toml", "--set", "switch.buffer=300KB", "--out", "results"];
    sandbox.succeeds(&arguments);
    let text = sandbox.succeeds(&["explain", "results"]);
    for expected in
        ["pauses, ", "\nRoot causes", "\n  switch-0:", "\nLongest pauses", "\nNo victims"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let answer = sandbox.succeeds(&["explain", "results", "--json"]);
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let summary = sandbox.json("results/summary.json");
    assert_eq!(answer["pauses"], summary["pfc"]["pauses"]);
    assert_eq!(answer["paused_ps"], summary["pfc"]["paused_ps"]);
    assert_eq!(answer["digest"], summary["digest"]);
}

#[test]
fn a_run_in_which_nothing_moves_any_more_says_what_is_stuck() {
    let sandbox = Sandbox::with_small();
    let faults = "[roce]\nack_timeout = 0\n[[faults]]\naction = \"drop\"\nopcode = \"data\"\n\
                  nth = 1\n";
    sandbox.write(
        "lost.toml",
        faults.to_owned() + &sandbox.text("small.toml").replace("100KB", "1KB"),
    );
    let ended = sandbox.rocelab(&["run", "lost.toml", "--out", "results", "--quiet"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let stalled = &sandbox.json("results/summary.json")["stalled"];
    assert_eq!(stalled["stuck_queue_pairs"][0]["waits_for"], "answer", "{stalled:#}");
    for expected in [
        "warning: nothing moves any more, ",
        "\nstuck since ",
        ": all is sent, and not all is answered; nothing of it is in the network: ",
    ] {
        assert!(ended.stderr.contains(expected), "{expected}: {ended:?}");
    }
}

/// Three READs, one after the other.
const OPERATIONS: &str = "[topology.single-switch]\nhosts = 2\n\
    link = { rate = \"100Gbps\", cable = \"3m\" }\n[congestion_control.none]\n\
    [workload.ping-pong]\nname = \"ping\"\nclients = [\"host-0\"]\nservers = [\"host-1\"]\n\
    verb = \"read\"\nbytes = \"64B\"\niterations = 3\n";

/// Operations of programs cross several connections: the program says so, and explains the rest of the run.
#[test]
fn operations_of_programs_are_not_explained() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "ring.toml",
        "[topology.single-switch]\nhosts = 3\nlink = { rate = \"100Gbps\", cable = \"3m\" }\n\
         [congestion_control.none]\n[workload.all-reduce]\nname = \"ring\"\nhosts = [\"host-0..host-2\"]\n\
         bytes = \"30KB\"\niterations = 2\n",
    );
    let ran = sandbox.rocelab(&["run", "ring.toml", "--out", "results", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let one = sandbox.rocelab(&["explain", "results", "--connection", "0", "--operation", "0"]);
    assert_eq!(one.code, Some(2), "{one:?}");
    assert!(one.stderr.contains("connection 0 is of the program `ring`"), "{one:?}");
    let all = sandbox.rocelab(&["explain", "results"]);
    assert_eq!(all.code, Some(0), "{all:?}");
    assert_eq!(sandbox.json("results/summary.json")["operations"][0]["completed"], 6);
}
