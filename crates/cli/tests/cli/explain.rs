//! `rocelab explain`.

use serde_json::Value;

use crate::program::Desk;
use crate::report::desk_with_results;

fn explained(desk: &Desk, flow: &str) -> Value {
    let text = desk.succeeds(&["explain", "results", "--flow", flow, "--json"]);
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn parts_add_up_to_the_completion_time_in_flows_csv() {
    let desk = desk_with_results();
    let table = desk.text("results/flows.csv");
    let mut rows = table.lines();
    let columns: Vec<_> = rows.next().expect("a heading").split(',').collect();
    let place = |name: &str| columns.iter().position(|column| *column == name).expect(name);
    let mut flows = 0;
    for row in rows {
        let cells: Vec<_> = row.split(',').collect();
        let answer = explained(&desk, cells[place("flow")]);
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
    let desk = desk_with_results();
    let text = desk.succeeds(&["explain", "results", "--flow", "1"]);
    assert!(text.starts_with("flow 1: write of 100000 bytes between host-"), "{text}");
    for expected in ["\nsender ", "queueing behind others", "flow 0 ", "\nsum ", "100.0 %"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(text.lines().last().expect("a verdict").starts_with("Where most of its time went: "));
}

#[test]
fn results_of_another_run_are_told_from_these() {
    let desk = desk_with_results();
    let summary = desk.text("results/summary.json");
    let digest = summary.split("\"digest\": \"").nth(1).expect("a digest")[..16].to_owned();
    desk.write("results/summary.json", summary.replace(&digest, "0123456789abcdef"));
    let ended = desk.rocelab(&["explain", "results", "--flow", "0"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let expected =
        format!("warning: results: run again, the digest is {digest}, not 0123456789abcdef");
    assert!(ended.stderr.starts_with(&expected), "{ended:?}");
}

#[test]
fn what_cannot_be_explained_is_bad_input() {
    let desk = desk_with_results();
    let ended = desk.rocelab(&["explain", "results", "--flow", "3"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert_eq!(ended.stderr, "error: there is no flow 3: the run has 3, numbered from 0\n");
    let ended = desk.rocelab(&["explain", "absent", "--flow", "0"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
}
