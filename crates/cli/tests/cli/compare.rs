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
    assert!(!table.contains("congestion_control.dcqcn.cnp_interval"), "{table}");
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
