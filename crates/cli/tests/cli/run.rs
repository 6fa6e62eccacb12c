//! `rocelab run`: arguments, exit codes, and what is refused.

use std::fs;

use crate::program::{SMALL, Sandbox, repository, repository_argument};

#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], message: &str) {
    let before = sandbox.tree();
    let ended = sandbox.rocelab(arguments);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert!(ended.stderr.starts_with("error: "), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    assert!(ended.stderr.contains(message), "no `{message}` in {ended:?}");
    assert_eq!(sandbox.tree(), before, "something was left");
}

#[test]
fn the_summary_goes_to_standard_output_and_results_to_their_default_place() {
    let sandbox = Sandbox::with_small();
    let answer = sandbox.succeeds(&["run", "small.toml"]);
    let digest =
        sandbox.json("results/small-1/summary.json")["digest"].as_str().unwrap().to_owned();
    assert!(answer.starts_with("small: RoCE v2, seed 1, "), "{answer}");
    for part in ["3 of 3 completed", "Slowdown", "Drops", "results/small-1", &digest] {
        assert!(answer.contains(part), "no {part} in:\n{answer}");
    }
    assert_eq!(digest.len(), 16);
    assert!(!answer.contains('\x1b') && !answer.contains('\r'));
}

/// Values that differ from machine to machine are left out.
#[test]
fn the_readme_shows_this_run() {
    let same = |text: &str| {
        let varies = |line: &&str| line.starts_with("Speed ") || line.starts_with("Cost ");
        text.lines().filter(|line| !varies(line)).map(str::to_owned).collect::<Vec<_>>()
    };
    let readme = fs::read_to_string(repository("README.md")).unwrap();
    let shown = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let answer =
        Sandbox::new().succeeds(&["run", &repository_argument("scenarios/dcqcn-incast.toml")]);
    assert_eq!(same(shown.expect("a terminal's output")), same(&answer), "run it and copy it");
}

#[test]
fn the_first_example_shows_what_congestion_control_is_for() {
    let sandbox = Sandbox::new();
    let scenario = repository_argument("scenarios/dcqcn-incast.toml");
    let run = |out: &str, algorithm: &str| {
        let set = format!("congestion_control.{algorithm}={{}}");
        sandbox.succeeds(&["run", &scenario, "--out", out, "--set", &set]);
        let summary = sandbox.json(&format!("{out}/summary.json"));
        let flows = sandbox.text(&format!("{out}/flows.csv"));
        let column = flows.lines().next().unwrap().split(',').position(|name| name == "slowdown");
        let bystander = flows.lines().find(|line| line.contains(",host-16,host-1,"));
        let slowdown = bystander.unwrap().split(',').nth(column.unwrap()).unwrap();
        (summary["pfc"]["pauses"].as_u64().unwrap(), slowdown.parse::<f64>().unwrap())
    };
    let (with, without) = (run("with", "dcqcn"), run("without", "none"));
    assert!(with.0 * 20 < without.0, "pauses: {} and {}", with.0, without.0);
    assert!(with.1 < 1.2 && without.1 > 5.0, "slowdown: {} and {}", with.1, without.1);
}

#[test]
fn out_seed_and_set_change_what_they_say() {
    let sandbox = Sandbox::with_small();
    let set = "workload.incast.senders=2";
    sandbox.succeeds(&[
        "run",
        "small.toml",
        "--out",
        "deep/down/here",
        "--seed",
        "7",
        "--set",
        set,
    ]);
    let summary = sandbox.json("deep/down/here/summary.json");
    assert_eq!((&summary["seed"], &summary["flows"]["total"]), (&7.into(), &2.into()));
    let resolved = sandbox.text("deep/down/here/scenario.resolved.toml");
    assert!(resolved.contains("seed = 7\n") && resolved.contains("senders = 2\n"), "{resolved}");

    sandbox.succeeds(&["run", "small.toml", "--seed", "7"]);
    assert!(sandbox.path("results/small-7/summary.json").exists());
}

#[test]
fn several_sets_apply_in_order() {
    let sandbox = Sandbox::with_small();
    let [first, second] = ["stop=1us", "stop=2us"];
    sandbox.succeeds(&["run", "small.toml", "--out", "x", "--set", first, "--set", second]);
    assert_eq!(sandbox.json("x/summary.json")["simulated_ps"], 2_000_000);
}

#[test]
fn quiet_says_nothing() {
    let sandbox = Sandbox::with_small();
    assert_eq!(sandbox.succeeds(&["run", "small.toml", "--quiet"]), "");
    assert!(sandbox.path("results/small-1/summary.json").exists());
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let sandbox = Sandbox::with_small();
    sandbox.succeeds(&["run", "small.toml", "--out", "one", "--threads", "1"]);
    sandbox.succeeds(&["run", "small.toml", "--out", "four", "--threads", "4"]);
    assert_eq!(sandbox.text("one/summary.json"), sandbox.text("four/summary.json"));
    let ended = sandbox.rocelab(&["run", "small.toml", "--out", "none", "--threads", "0"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("--threads"), "{ended:?}");
    assert!(!sandbox.path("none").exists());
}

/// Two switches can be cut apart; more parts than switches do no harm.
#[test]
fn results_do_not_depend_on_the_number_of_parts() {
    let sandbox = Sandbox::new();
    let links = "host_link = { rate = \"100Gbps\", cable = \"3m\" }\n\
                 bottleneck = { rate = \"100Gbps\", cable = \"300m\" }\n";
    let topology = format!("[topology.dumbbell]\nleft = 3\nright = 1\n{links}");
    let workload = "[workload.incast]\nsenders = 3\nbytes = \"500KB\"\nreceiver = \"host-3\"\n";
    sandbox.write("two.toml", format!("{topology}[switch]\nxoff = \"30KB\"\n{workload}"));
    sandbox.succeeds(&["run", "two.toml", "--out", "whole", "--partitions", "1"]);
    assert_eq!(sandbox.json("whole/run.json")["partitions"], 1);
    for parts in ["2", "4000000000"] {
        let arguments = ["--partitions", parts, "--threads", "2", "--force"];
        sandbox.succeeds(&[&["run", "two.toml", "--out", "cut"], &arguments[..]].concat());
        let run = sandbox.json("cut/run.json");
        assert_eq!((&run["partitions"], &run["threads"]), (&2.into(), &2.into()), "{parts}");
        for file in ["summary.json", "flows.csv", "links.csv", "pfc.csv", "pauses.json"] {
            assert_eq!(
                sandbox.text(&format!("whole/{file}")),
                sandbox.text(&format!("cut/{file}"))
            );
        }
    }
}

#[test]
fn a_folder_is_run_into_a_directory_for_each_scenario() {
    let sandbox = Sandbox::with_small();
    let twice = sandbox.text("small.toml").replace("senders = 3", "senders = 2");
    sandbox.write("folder/b.toml", &twice);
    sandbox.write("folder/a.toml", sandbox.text("small.toml"));
    sandbox.write("folder/notes.txt", "no scenario");

    let answer = sandbox.succeeds(&["run", "folder", "--out", "all"]);
    let [a, b] = ["a: RoCE v2", "b: RoCE v2"].map(|title| answer.find(title).expect(title));
    assert!(a < b, "in order of their names");
    assert_eq!(sandbox.json("all/a/summary.json")["flows"]["total"], 3);
    assert_eq!(sandbox.json("all/b/summary.json")["flows"]["total"], 2);
    sandbox.succeeds(&["run", "folder"]);
    assert!(sandbox.path("results/a-1").exists() && sandbox.path("results/b-1").exists());
}

#[test]
fn a_folder_with_one_bad_scenario_runs_none() {
    let sandbox = Sandbox::new();
    sandbox.write("folder/a.toml", SMALL);
    sandbox.write("folder/z.toml", "[topology]\n");
    refused(&sandbox, &["run", "folder"], "folder/z.toml:1:");
}

/// The last directory exists: the program must notice before it runs the first scenario.
#[test]
fn a_folder_runs_nothing_if_the_last_directory_is_in_the_way() {
    let sandbox = Sandbox::new();
    sandbox.write("folder/a.toml", SMALL);
    sandbox.write("folder/b.toml", SMALL);
    sandbox.write("out/b/mine.txt", "mine");
    refused(&sandbox, &["run", "folder", "--out", "out"], "exists");
    refused(&sandbox, &["run", "folder", "--out", "out", "--force"], "not written by rocelab");
    sandbox.write("folder/c.toml", SMALL);
    fs::remove_dir_all(sandbox.path("out")).unwrap();
    sandbox.write("out/c", "a file");
    refused(&sandbox, &["run", "folder", "--out", "out"], "exists");
}

#[test]
fn existing_results_are_replaced_only_when_asked() {
    let sandbox = Sandbox::with_small();
    sandbox.succeeds(&["run", "small.toml"]);
    let kept = sandbox.text("results/small-1/run.json");
    refused(&sandbox, &["run", "small.toml"], "replace it with --force");
    assert_eq!(sandbox.text("results/small-1/run.json"), kept);

    sandbox.write("results/small-1/old-capture.pcapng", "of the last run");
    sandbox.succeeds(&["run", "small.toml", "--force"]);
    assert!(!sandbox.path("results/small-1/old-capture.pcapng").exists());
    assert!(sandbox.tree().iter().all(|path| !path.contains("/.")), "{:?}", sandbox.tree());
}

#[test]
fn force_replaces_nothing_that_is_not_ours() {
    let sandbox = Sandbox::with_small();
    sandbox.write("thesis/chapter-1.txt", "years of work");
    refused(&sandbox, &["run", "small.toml", "--out", "thesis"], "exists");
    refused(
        &sandbox,
        &["run", "small.toml", "--out", "thesis", "--force"],
        "not written by rocelab",
    );
    sandbox.write("thesis/run.json", r#"{ "program": "another" }"#);
    refused(
        &sandbox,
        &["run", "small.toml", "--out", "thesis", "--force"],
        "not written by rocelab",
    );
    refused(&sandbox, &["run", "small.toml", "--out", "small.toml", "--force"], "not written by");
    assert_eq!(sandbox.text("thesis/chapter-1.txt"), "years of work");
}

/// Permissions do not stop root, who may run the tests. A file in the place of a folder, and a file
/// system without room for folders, stop everyone.
#[test]
fn a_place_that_cannot_be_written_is_refused_before_the_run() {
    let sandbox = Sandbox::with_small();
    sandbox.write("file", "no folder");
    let help = "name a directory that you may write with --out";
    refused(&sandbox, &["run", "small.toml", "--out", "file/results"], help);
    refused(&sandbox, &["run", "small.toml", "--out", "file/deep/results"], help);
    if cfg!(target_os = "linux") {
        refused(&sandbox, &["run", "small.toml", "--out", "/proc/results"], help);
        refused(&sandbox, &["run", "small.toml", "--out", "/proc/deep/results"], help);
    }
    refused(&sandbox, &["run", "small.toml", "--out", "/"], "does not name a directory to create");
}

#[test]
fn unfinished_flows_are_found_unless_a_stop_was_given() {
    let sandbox = Sandbox::new();
    // Two of three frames are lost, and there are no retransmissions.
    sandbox.write("lossy.topology.txt", "3 1 2\n2\n0 2 100Gbps 15ns 0.6\n1 2 100Gbps 15ns 0.6\n");
    let scenario = sandbox.write(
        "lossy.toml",
        "[roce]\nretry_count = 0\nack_timeout = 1\n\
         [topology.file]\npath = \"lossy.topology.txt\"\n\
         [workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"100KB\" }]\n",
    );
    let ended = sandbox.rocelab(&["run", scenario.to_str().unwrap()]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("1 of 1 flows failed"), "{ended:?}");
    let (columns, rows) = sandbox.csv("results/lossy-1/flows.csv");
    let status = columns.iter().position(|column| column == "status").expect("a status");
    assert_eq!(rows[0][status], "retry-exceeded");

    let sandbox = Sandbox::with_small();
    sandbox.succeeds(&["run", "small.toml", "--set", "stop=1us"]);
    let summary = sandbox.json("results/small-1-stop=1us/summary.json");
    assert_eq!(summary["flows"]["unfinished"], 3);
    assert_eq!(summary["incomplete"], false);
}

#[test]
fn connections_that_time_out_before_the_answer_is_back_are_told() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "far.toml",
        "[roce]\nconnect = \"cm\"\n\
         cm = { response_timeout = 1, packet_lifetime = 0, retries = 0 }\n\
         [topology.single-switch]\nhosts = 2\nlink = { rate = \"100Gbps\", cable = \"1km\" }\n\
         [workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }]\n",
    );
    for command in ["check", "run"] {
        let ended = sandbox.rocelab(&[command, "far.toml"]);
        assert!(ended.stderr.contains("far.toml:3:"), "{ended:?}");
        assert!(ended.stderr.contains("no connection is made by a REQ"), "{ended:?}");
        let late = "1 connection timed out before an answer came: the times of `roce.cm` are shorter than the \
                    round-trip time, queues included, or messages were lost";
        assert_eq!(ended.stderr.contains(late), command == "run", "{ended:?}");
    }
    assert_eq!(sandbox.json("results/far-1/summary.json")["late_connections"], 1);
}

#[test]
fn a_flow_of_five_gigabytes_is_no_error() {
    let sandbox = Sandbox::with_small();
    let set = ["--set", "workload.incast.bytes=5GB", "--set", "stop=20us"];
    sandbox.succeeds(&[&["run", "small.toml", "--out", "large"][..], &set].concat());
    let (columns, rows) = sandbox.csv("large/flows.csv");
    let bytes = columns.iter().position(|column| column == "bytes").unwrap();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row[bytes] == "5000000000"), "{rows:?}");
    assert!(sandbox.json("large/summary.json")["link_traversals"]["data"].as_u64() > Some(0));
}

#[test]
fn results_of_other_settings_have_directories_of_their_own() {
    let sandbox = Sandbox::new();
    sandbox.write("a.toml", SMALL);
    sandbox.succeeds(&["run", "a.toml", "--quiet"]);
    sandbox.succeeds(&["run", "a.toml", "--quiet", "--set", "workload.incast.bytes=20KB"]);
    sandbox.succeeds(&["run", "a.toml", "--quiet", "--set", "switch.alpha=1/4"]);
    sandbox.succeeds(&["run", "a.toml", "--quiet", "--set", "seed=5"]);
    let expected = [
        "results/a-1/summary.json",
        "results/a-1-workload.incast.bytes=20KB/summary.json",
        "results/a-5/summary.json",
    ];
    let tree = sandbox.tree();
    assert!(expected.iter().all(|path| tree.iter().any(|found| found == path)), "{tree:?}");
    let slash = |path: &String| path.starts_with("results/a-1-switch.alpha=1_4-");
    assert!(tree.iter().any(slash), "{tree:?}");
}

/// A run is over before its measuring window begins.
#[test]
fn a_window_that_measures_nothing_is_a_finding() {
    let sandbox = Sandbox::new();
    sandbox.write("a.toml", SMALL);
    let told = sandbox.rocelab(&["run", "a.toml", "--set", "measure.from=5s"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    let text = told.stderr;
    assert!(text.contains("nothing was measured"), "{text}");
    assert!(text.contains("no flow starts in the measuring window"), "{text}");
}
