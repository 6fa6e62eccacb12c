//! The files of a results directory.

use crate::program::{Sandbox, repository, repository_argument};

/// A run with content for every file.
fn full_run() -> Sandbox {
    let sandbox = Sandbox::new();
    let arguments = [
        "run",
        &repository_argument("scenarios/incast-v2.toml"),
        "--set",
        "workload.incast.bytes=500KB",
        "--set",
        "sample.rates.interval=10us",
        "--set",
        "sample.flows.interval=10us",
        "--set",
        "sample.ingress={ interval = \"10us\", ports = [\"all\"] }",
        "--set",
        "sample.marks={ interval = \"10us\", ports = [\"leaf-0:0\"] }",
        "--set",
        "sample.utilisation={ interval = \"10us\", ports = [\"leaf-0:0\"] }",
        "--out",
        "results",
    ];
    sandbox.succeeds(&arguments);
    sandbox
}

/// The names in the first column of a table of `docs/results.md`, below a heading.
fn documented(heading: &str) -> Vec<String> {
    let text = std::fs::read_to_string(repository("docs/results.md")).expect("docs/results.md");
    let section = text.split("\n## ").find(|section| section.starts_with(heading)).expect(heading);
    let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let cells = rows.take_while(|line| line.starts_with('|')).map(|row| row.split('|').nth(1));
    cells
        .flat_map(|cell| cell.expect("a cell").split(','))
        .map(|name| name.trim().trim_matches('`').to_owned())
        .collect()
}

#[test]
fn every_file_is_there_with_its_documented_columns() {
    let sandbox = full_run();
    let files: Vec<_> = sandbox.files("results").into_keys().collect();
    let expected = [
        "capture.pcapng",
        "drops.csv",
        "flow_counters.csv",
        "flows.csv",
        "flows.parquet",
        "links.csv",
        "pauses.json",
        "pfc.csv",
        "queues.csv",
        "queues.parquet",
        "run.json",
        "samples/flows.csv",
        "samples/flows.parquet",
        "samples/ingress.csv",
        "samples/ingress.parquet",
        "samples/marks.csv",
        "samples/marks.parquet",
        "samples/memory.csv",
        "samples/memory.parquet",
        "samples/rates.csv",
        "samples/rates.parquet",
        "samples/utilisation.csv",
        "samples/utilisation.parquet",
        "scenario.resolved.toml",
        "summary.json",
        "switches.csv",
        "topology.json",
    ];
    assert_eq!(files, expected);
    for (file, heading) in [
        ("flows.csv", "flows.csv and flows.parquet"),
        ("pfc.csv", "pfc.csv"),
        ("drops.csv", "drops.csv"),
        ("links.csv", "links.csv"),
        ("queues.csv", "queues.csv"),
        ("flow_counters.csv", "flow_counters.csv"),
        ("samples/flows.csv", "samples/flows.csv"),
        ("samples/ingress.csv", "samples/ingress.csv"),
        ("samples/marks.csv", "samples/marks.csv"),
        ("samples/memory.csv", "samples/memory.csv"),
        ("samples/rates.csv", "samples/rates.csv"),
        ("samples/utilisation.csv", "samples/utilisation.csv"),
        ("switches.csv", "switches.csv"),
    ] {
        let (columns, rows) = sandbox.csv(&format!("results/{file}"));
        assert_eq!(columns, documented(heading), "{file}");
        assert!(rows.iter().all(|row| row.len() == columns.len()), "{file}");
        assert_eq!(rows.is_empty(), file == "drops.csv", "{file}");
    }
    assert!(sandbox.files("results")["flows.parquet"].starts_with(b"PAR1"));
}

/// The keys of the first version, which scripts read.
#[test]
fn the_summary_has_the_keys_that_scripts_read() {
    let sandbox = full_run();
    let summary = sandbox.json("results/summary.json");
    for pointer in [
        "/digest",
        "/simulated_ps",
        "/link_traversals/total",
        "/flows/total",
        "/flows/completed",
        "/goodput_bps",
        "/fct_ps/p50",
        "/slowdown/p50",
        "/drops/total",
        "/pfc/pauses",
        "/pfc/paused_ps",
        "/ecn/marks",
        "/cnps",
        "/retransmissions",
    ] {
        let value = summary.pointer(pointer);
        assert!(value.is_some_and(|value| !value.is_null()), "no {pointer} in {summary:#}");
    }
    // There are sixteen flows: these are the exact ranks, with the note that there are too few
    // values.
    for pointer in ["/fct_ps/p99", "/slowdown/p99", "/slowdown/p999"] {
        assert!(summary.pointer(pointer).is_some_and(serde_json::Value::is_number), "{pointer}");
    }
    let unsupported = serde_json::json!(["p95", "p99", "p999"]);
    assert_eq!(summary["fct_ps"]["unsupported"], unsupported);
    let run = sandbox.json("results/run.json");
    assert_eq!(run["program"], "rocelab");
    assert_eq!(run["version"], env!("CARGO_PKG_VERSION"));
    for key in ["wall_s", "cpu_s", "peak_memory_bytes", "events", "threads", "partitions"] {
        assert!(run[key].as_f64().is_some_and(|value| value > 0.0), "{key} in {run:#}");
    }
}

#[test]
fn flows_are_in_order_of_completion_and_the_summary_counts_them() {
    let sandbox = full_run();
    let (columns, rows) = sandbox.csv("results/flows.csv");
    let column = |name: &str| columns.iter().position(|column| column == name).expect(name);
    let number = |row: &Vec<String>, name| row[column(name)].parse::<u64>().unwrap();
    let ends: Vec<_> =
        rows.iter().map(|row| number(row, "start_ps") + number(row, "fct_ps")).collect();
    assert!(ends.is_sorted(), "{ends:?}");
    assert_eq!(rows.len(), 16);

    let summary = sandbox.json("results/summary.json");
    assert_eq!(summary["flows"]["completed"], 16);
    let longest = rows.iter().map(|row| number(row, "fct_ps")).max().unwrap();
    assert_eq!(summary["fct_ps"]["max"], longest);
    let pauses = sandbox.csv("results/pfc.csv").1;
    let paused = pauses.iter().filter(|row| row[4] == "pause").count();
    assert_eq!(summary["pfc"]["pauses"], paused);
    assert!(paused > 0, "an incast without a pause shows nothing");
}

#[test]
fn the_resolved_scenario_runs_to_the_same_results() {
    let sandbox = full_run();
    let resolved =
        sandbox.write("again/incast-v2.toml", sandbox.text("results/scenario.resolved.toml"));
    sandbox.succeeds(&["run", resolved.to_str().unwrap(), "--out", "again/results"]);
    let [mut first, mut second] = [sandbox.files("results"), sandbox.files("again/results")];
    assert!(first.remove("run.json").is_some() && second.remove("run.json").is_some());
    assert_eq!(first.keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>());
    for (name, bytes) in &first {
        assert!(*bytes == second[name], "{name} differs");
    }
}

/// Files above the scenario's folder are not copied; the scenario in the results still finds them.
#[test]
fn results_of_a_scenario_that_names_a_file_above_it_run_again() {
    let sandbox = Sandbox::new();
    sandbox.write("up.txt", "3 1 2\n2\n0 2 100Gbps 15ns 0\n1 2 100Gbps 15ns 0\n");
    sandbox.write(
        "below/s.toml",
        "[topology.file]\npath = \"../up.txt\"\n[workload.flows]\n\
         list = [{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }]\n",
    );
    sandbox.succeeds(&["run", "below/s.toml", "--out", "deep/er/results"]);
    sandbox.succeeds(&["explain", "deep/er/results", "--flow", "0"]);
    sandbox.succeeds(&["run", "deep/er/results/scenario.resolved.toml", "--out", "again"]);
    let digest = |results: &str| sandbox.json(&format!("{results}/summary.json"))["digest"].clone();
    assert_eq!(digest("again"), digest("deep/er/results"));
    sandbox.succeeds(&["run", "below/s.toml", "--out", "other"]);
    let resolved = |results: &str| sandbox.text(&format!("{results}/scenario.resolved.toml"));
    assert_eq!(resolved("other"), resolved("deep/er/results"), "wherever results are");
}
