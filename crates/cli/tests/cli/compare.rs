//! `rocelab compare`.

use serde_json::Value;

use crate::program::Sandbox;

/// A folder with two runs, of 100 KB and 200 KB.
fn sandbox() -> Sandbox {
    let sandbox = crate::report::sandbox_with_results();
    let more = ["run", "small.toml", "--out", "more", "--set", "workload.incast.bytes=200KB"];
    sandbox.succeeds(&more);
    sandbox
}

#[test]
fn figures_stand_side_by_side() {
    let sandbox = sandbox();
    let table = sandbox.succeeds(&["compare", "results", "more"]);
    let heads: Vec<_> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(heads, ["results", "more"]);
    let of = |name: &str| {
        let line = table.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of("Flows completed"), ["3", "3", "x1.00"]);
    // Twice the bytes through one port take about twice the time.
    let ratio: f64 = of("FCT max").last().unwrap()[1..].parse().unwrap();
    assert!((1.9..2.1).contains(&ratio), "{table}");

    let json: Value =
        serde_json::from_str(&sandbox.succeeds(&["compare", "results", "more", "--json"])).unwrap();
    assert_eq!(json["runs"], serde_json::json!(["results", "more"]));
    let figures = json["figures"].as_array().unwrap();
    let fct = figures.iter().find(|figure| figure["name"] == "FCT max").unwrap();
    let value = |run: usize| fct["values"][run].as_f64().unwrap();
    assert!((fct["ratios"][1].as_f64().unwrap() - value(1) / value(0)).abs() < 1e-6, "{fct}");
    assert!(!sandbox.path("compare.html").exists());
}

#[test]
fn what_congestion_control_is_compared_is_said_with_presets_and_parameters() {
    let sandbox = crate::report::sandbox_with_results();
    let run = |out: &str, algorithm: &str| {
        let set = format!("congestion_control.dcqcn={algorithm}");
        sandbox.succeeds(&["run", "small.toml", "--out", out, "--set", &set]);
    };
    run("one", "{}");
    run("other", "{ preset = \"hpcc\", g = \"1/64\" }");
    let table = sandbox.succeeds(&["compare", "one", "other", "-o", "page.html"]);
    let line = |name: &str| {
        let found = table.lines().find(|line| line.starts_with(name));
        found.unwrap_or_else(|| panic!("{name}: {table}")).to_owned()
    };
    let algorithm = line("congestion_control ");
    assert!(
        algorithm.contains("dcqcn (preset paper)") && algorithm.contains("dcqcn (preset hpcc)"),
        "{table}"
    );
    let preset = line("congestion_control.dcqcn.preset");
    assert!(preset.contains("paper") && preset.ends_with("hpcc"), "{table}");
    assert!(line("congestion_control.dcqcn.g ").ends_with("1/64"), "{table}");
    // Parameters with the same value are not shown.
    assert!(!table.contains("congestion_control.dcqcn.max_cut"), "{table}");
    assert!(sandbox.text("page.html").contains("dcqcn (preset hpcc)"));
    let json: Value =
        serde_json::from_str(&sandbox.succeeds(&["compare", "one", "other", "--json"])).unwrap();
    assert_eq!(json["settings"][0]["texts"][0], "dcqcn (preset paper)");
    let alike = sandbox.succeeds(&["compare", "one", "one"]);
    assert!(!alike.contains("congestion_control.dcqcn."), "{alike}");
}

#[test]
fn the_page_is_drawn_where_asked() {
    let sandbox = sandbox();
    let answer = sandbox.succeeds(&["compare", "results", "more", "results", "-o", "page.html"]);
    assert!(answer.ends_with("\nreport: page.html\n"), "{answer}");
    assert!(sandbox.text("page.html").starts_with("<!DOCTYPE html>"));
    let ended = sandbox.rocelab(&["compare", "results", "more", "-o", "page.html"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
}

#[test]
fn one_run_is_nothing_to_compare() {
    let sandbox = sandbox();
    for arguments in [&["compare", "results"][..], &["compare", "results", "absent"]] {
        let ended = sandbox.rocelab(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    }
}

/// There is no ratio for a lower bound, nor for goodputs by different rules.
#[test]
fn what_cannot_be_compared_has_no_ratio() {
    let sandbox = sandbox();
    let mut summary = sandbox.json("more/summary.json");
    summary["goodput"]["rule"] = "between-starts".into();
    summary["fct_ps"]["at_least"] = serde_json::json!(["mean", "max"]);
    sandbox.write("more/summary.json", serde_json::to_string_pretty(&summary).unwrap());
    let json: Value =
        serde_json::from_str(&sandbox.succeeds(&["compare", "results", "more", "--json"])).unwrap();
    let figure = |name: &str| {
        let figures = json["figures"].as_array().unwrap();
        figures.iter().find(|figure| figure["name"] == name).unwrap().clone()
    };
    for name in ["Goodput", "Goodput over", "FCT mean", "FCT max"] {
        assert_eq!(figure(name)["ratios"][1], Value::Null, "{name}: {json:#}");
        assert!(figure(name)["values"][1].is_u64(), "{name}: {json:#}");
    }
    assert!(figure("FCT p50")["ratios"][1].is_number(), "{json:#}");
    let rules = serde_json::json!(["until-95-percent", "between-starts"]);
    assert_eq!(figure("Goodput")["rules"], rules);
    assert_eq!(figure("FCT max")["lower_bounds"], serde_json::json!([false, true]));
    assert_eq!(figure("FCT max").get("rules"), None);
}

/// Impossible numbers do not cause a panic.
#[test]
fn damaged_counts_are_told_as_they_are() {
    let sandbox = sandbox();
    let mut summary = sandbox.json("results/summary.json");
    summary["flows"]["failed"] = u64::MAX.into();
    summary["flows"]["unfinished"] = u64::MAX.into();
    summary["failures"] = serde_json::json!({ "link-down": u64::MAX, "host-down": 1 });
    for values in [0, u64::MAX] {
        summary["fct_ps"]["values"] = values.into();
        summary["fct_ps"]["missing"] = u64::MAX.into();
        sandbox.write("results/summary.json", serde_json::to_string(&summary).unwrap());
        sandbox.succeeds(&["compare", "results", "more"]);
        sandbox.succeeds(&["report", "results", "-o", "page.html", "--force"]);
    }
}

/// Results of a build without rules of goodput and without numbers of values.
#[test]
fn results_of_older_builds_stand_beside_new_ones() {
    let sandbox = sandbox();
    let mut summary = sandbox.json("results/summary.json");
    let all = summary.as_object_mut().unwrap();
    all.remove("goodput");
    all["goodput_bps"] = 12_340_000_000_u64.into();
    for key in ["fct_ps", "slowdown"] {
        let of = all[key].as_object_mut().unwrap();
        let max = of["max"].clone();
        of.retain(|key, _| !["values", "missing"].contains(&key.as_str()));
        of.extend(["p95", "p99", "p999"].map(|key| (key.to_owned(), max.clone())));
    }
    sandbox.write("results/summary.json", serde_json::to_string_pretty(&summary).unwrap());
    let table = sandbox.succeeds(&["compare", "results", "more"]);
    let of = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(of("Goodput ").contains("12.34 Gbit/s from first start to last end"), "{table}");
    assert!(of("Goodput ").contains(" Gbit/s until 95 % arrived"), "{table}");
    assert!(of("FCT of").contains("3 of 3 "), "{table}");
    assert!(of("Goodput ").ends_with("  -"), "rules differ: {table}");
    let p99: Vec<_> = of("FCT p99").split_whitespace().skip(2).map(str::to_owned).collect();
    assert_eq!(p99[0], "-", "of three values: {table}");
    sandbox.succeeds(&["report", "results", "-o", "old.html"]);
}

/// Two clients read and write blocks on a server.
const STORAGE: &str = r#"
[topology.single-switch]
hosts = 3
link = { rate = "100Gbps", cable = "3m" }

[workload.storage]
name = "disk"
clients = ["host-0", "host-1"]
servers = ["host-2"]
pairs = "all"
block = "4KiB"
read_fraction = 0.7
queue_depth = 4
access_time = "10us"
until = "1ms"
"#;

/// The texts of a line, from which the name was taken away.
fn line(table: &str, name: &str) -> Vec<String> {
    let found = table.lines().find(|line| line.starts_with(&format!("{name}  ")));
    let found = found.unwrap_or_else(|| panic!("{name}: {table}"));
    found[name.len()..].split_whitespace().map(str::to_owned).collect()
}

/// Runs of applications alone have no flows: their figures are those of operations.
#[test]
fn runs_of_storage_are_compared_by_their_operations() {
    let sandbox = Sandbox::new();
    sandbox.write("disk.toml", STORAGE);
    sandbox.succeeds(&["run", "disk.toml", "--out", "few", "--quiet"]);
    let deep = ["--set", "workload.storage.queue_depth=32"];
    sandbox.succeeds(&[&["run", "disk.toml", "--out", "many", "--quiet"][..], &deep].concat());
    let table = sandbox.succeeds(&["compare", "few", "many", "-o", "page.html"]);
    assert_eq!(line(&table, "workload.storage.queue_depth"), ["4", "32"]);
    let ratio = |name: &str| -> f64 {
        line(&table, name).last().unwrap()[1..].parse().unwrap_or_else(|_| panic!("{table}"))
    };
    // More operations are open, so there are more, and each takes longer.
    for name in ["disk: completed", "disk: IOPS", "disk: bytes", "disk: open on average"] {
        assert!(ratio(name) > 1.5, "{name}: {table}");
    }
    for kind in ["", " read", " write"] {
        for figure in ["mean", "p50", "p95"] {
            assert!(ratio(&format!("disk{kind}: latency {figure}")) > 1.1, "{kind}: {table}");
        }
    }
    // A thousand values support the 99.9th percentile, and fewer none.
    let json: Value =
        serde_json::from_str(&sandbox.succeeds(&["compare", "few", "many", "--json"])).unwrap();
    let figures = json["figures"].as_array().unwrap();
    let values = |name: &str| {
        let figure = figures.iter().find(|figure| figure["name"] == name);
        figure.unwrap_or_else(|| panic!("{name}"))["values"].clone()
    };
    let (completed, p999) = (values("disk: completed"), values("disk: latency p99.9"));
    for run in 0..2 {
        let has_enough = completed[run].as_u64().unwrap() >= 1_000;
        assert_eq!(p999[run].is_u64(), has_enough, "{completed} {p999}");
    }
    // What a run without flows cannot have is not 0, and takes no line.
    assert!(figures.iter().all(|figure| !figure["name"].as_str().unwrap().contains("FCT")));
    assert!(!table.contains("Flows"), "{table}");
    assert!(sandbox.text("page.html").contains("disk read: latency p99"));
    // Beside a run with flows, they are unknown.
    sandbox.write("small.toml", crate::program::SMALL);
    sandbox.succeeds(&["run", "small.toml", "--out", "flows", "--quiet"]);
    let table = sandbox.succeeds(&["compare", "few", "flows"]);
    assert_eq!(line(&table, "Flows completed"), ["-", "3", "-"]);
    assert_eq!(line(&table, "disk: failed"), ["0", "-", "-"]);
    let parquet = std::fs::read(sandbox.path("few/operations.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1"));
    // The summary of one run has percentiles of each kind.
    let told = sandbox.succeeds(&["run", "disk.toml", "--out", "told"]);
    for name in ["disk [us]", "latency", "  read", "  write"] {
        assert_eq!(line(&told, name).len(), 7, "{told}");
    }
    assert!(told.contains(" open on average\n"), "{told}");
}

/// RDMA and TCP have figures of their own.
#[test]
fn each_transport_has_its_figures() {
    let sandbox = Sandbox::new();
    let tcp = "[[workload.incast]]\nsenders = 2\nbytes = \"50KB\"\ntransport = \"tcp\"\n";
    let rdma = crate::program::SMALL.replace("[workload.incast]", "[[workload.incast]]");
    sandbox.write("both.toml", format!("{rdma}\n{tcp}"));
    sandbox.succeeds(&["run", "both.toml", "--out", "both", "--quiet"]);
    let table = sandbox.succeeds(&["compare", "both", "both"]);
    assert_eq!(line(&table, "RDMA Flows completed"), ["3", "3", "x1.00"]);
    assert_eq!(line(&table, "TCP Flows completed"), ["2", "2", "x1.00"]);
    assert!(line(&table, "TCP FCT max").len() >= 4, "{table}");
}

/// A sweep's folder stands for its points, and seeds are a band.
#[test]
fn many_runs_are_compared_by_group() {
    let sandbox = Sandbox::new();
    let grid = "[sweep]\nseeds = 3\n[sweep.grid]\ncongestion_control = [\"dcqcn\", \"none\"]\n\
                \"workload.poisson.load\" = [0.2, 0.4]\n";
    let scenario = "[topology.single-switch]\nhosts = 4\n\
                    link = { rate = \"100Gbps\", cable = \"3m\" }\n\
                    [congestion_control.dcqcn]\n[workload.poisson]\nload = 0.2\n\
                    distribution = \"websearch\"\nduration = \"1ms\"\n";
    sandbox.write("grid.toml", format!("{scenario}{grid}"));
    sandbox.succeeds(&["sweep", "grid.toml", "--out", "swept", "--quiet"]);
    let json: Value =
        serde_json::from_str(&sandbox.succeeds(&["compare", "swept", "--json"])).unwrap();
    let groups = json["groups"].as_array().unwrap();
    let names: Vec<_> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!(names[0], "dcqcn, load 0.2");
    assert_eq!(names[3], "none, load 0.4");
    assert_eq!(groups[1]["runs"], serde_json::json!([3, 4, 5]));
    assert_eq!(json["seeds"][4], 2);
    // The band is that of the runs of the group.
    for figure in json["figures"].as_array().unwrap() {
        for (group, band) in groups.iter().zip(figure["bands"].as_array().unwrap()) {
            let runs = group["runs"].as_array().unwrap().iter().map(|run| run.as_u64().unwrap());
            let values: Vec<u64> = runs
                .filter_map(|run| figure["values"][usize::try_from(run).unwrap()].as_u64())
                .collect();
            assert_eq!(band["known"], values.len());
            if band["mean"].is_null() {
                continue;
            }
            let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
            assert!((band["mean"].as_f64().unwrap() / mean - 1.0).abs() < 1e-12 || mean == 0.0);
            assert_eq!(band["min"].as_u64(), values.iter().min().copied());
            assert_eq!(band["max"].as_u64(), values.iter().max().copied());
        }
    }
    let table = sandbox.succeeds(&["compare", "swept", "-o", "page.html"]);
    assert!(table.starts_with("12 runs in 4 groups; mean (least..greatest)"), "{table}");
    assert!(table.lines().filter(|line| line.starts_with("none, load 0.4 x3 ")).count() >= 2);
    let widest = table.lines().take_while(|line| !line.starts_with("The same")).map(str::len).max();
    assert!(widest.unwrap() <= 110, "{table}");
    assert!(table.contains("\nThe same in all runs: "), "{table}");
    assert!(sandbox.text("page.html").contains("<h1>12 runs in 4 groups</h1>"));
    // A run beside the sweep is one group more, also if it is the same as a point.
    sandbox.write("one.toml", scenario);
    sandbox.succeeds(&["run", "one.toml", "--out", "one", "--quiet"]);
    let json: Value =
        serde_json::from_str(&sandbox.succeeds(&["compare", "one", "swept", "--json"])).unwrap();
    let groups = json["groups"].as_array().unwrap();
    let told: Vec<_> = groups
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["runs"].as_array().unwrap().len()))
        .collect();
    assert_eq!(told[..2], [("dcqcn, load 0.2 (one)", 1), ("dcqcn, load 0.2 (0)", 3)]);
    assert_eq!(told[2..].iter().map(|one| one.1).collect::<Vec<_>>(), [3, 3, 3], "{told:?}");
    // A point without results is told, and left out.
    std::fs::remove_dir_all(sandbox.path("swept/points/7")).unwrap();
    let ended = sandbox.rocelab(&["compare", "swept"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.stderr, "warning: swept: 1 of 12 points have no results: they are left out\n");
    assert!(ended.stdout.starts_with("11 runs in 4 groups"), "{ended:?}");
}

/// Results of `rocelab branch` say so, and of what.
#[test]
fn branches_are_told_as_such() {
    let sandbox = Sandbox::with_small();
    let checkpoints = ["--checkpoint-every", "10us", "--keep-checkpoints"];
    sandbox.succeeds(
        &[&["run", "small.toml", "--out", "whole", "--quiet"][..], &checkpoints].concat(),
    );
    let branch = ["branch", "whole", "--at", "10us", "--out", "branch", "--set"];
    let ended = sandbox.rocelab(&[&branch[..], &["switch.ecn.kmin=50KB"]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let origin = "branch of whole at 10.00 us: switch.ecn.kmin=50KB";
    assert!(ended.stdout.contains(&format!(" simulated\n{origin}\n\n")), "{ended:?}");
    let expected =
        serde_json::json!({ "of": "whole", "at_ps": 10_000_000, "set": ["switch.ecn.kmin=50KB"] });
    assert_eq!(sandbox.json("branch/summary.json")["branch"], expected);
    assert_eq!(sandbox.json("whole/summary.json").get("branch"), None);
    let table = sandbox.succeeds(&["compare", "whole", "branch"]);
    sandbox.succeeds(&["report", "branch"]);
    assert!(sandbox.text("branch/report.html").contains("This is a branch of whole at 10.00 us: "));
    let told = table.lines().find(|line| line.starts_with("Branch ")).unwrap();
    assert!(told.ends_with(origin), "{table}");
}
