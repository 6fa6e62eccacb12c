//! `rocelab compare`.

use serde_json::Value;

use crate::program::Desk;

/// A desk with two runs, of 100 KB and 200 KB.
fn desk() -> Desk {
    let desk = crate::report::desk_with_results();
    let more = ["run", "small.toml", "--out", "more", "--set", "workload.incast.bytes=200KB"];
    desk.succeeds(&more);
    desk
}

#[test]
fn figures_stand_side_by_side() {
    let desk = desk();
    let table = desk.succeeds(&["compare", "results", "more"]);
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
        serde_json::from_str(&desk.succeeds(&["compare", "results", "more", "--json"])).unwrap();
    assert_eq!(json["runs"], serde_json::json!(["results", "more"]));
    let figures = json["figures"].as_array().unwrap();
    let fct = figures.iter().find(|figure| figure["name"] == "FCT max").unwrap();
    let value = |run: usize| fct["values"][run].as_f64().unwrap();
    assert!((fct["ratios"][1].as_f64().unwrap() - value(1) / value(0)).abs() < 1e-6, "{fct}");
    assert!(!desk.path("compare.html").exists());
}

#[test]
fn the_page_is_drawn_where_asked() {
    let desk = desk();
    let answer = desk.succeeds(&["compare", "results", "more", "results", "-o", "page.html"]);
    assert!(answer.ends_with("\nreport: page.html\n"), "{answer}");
    assert!(desk.text("page.html").starts_with("<!DOCTYPE html>"));
    let ended = desk.rocelab(&["compare", "results", "more", "-o", "page.html"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
}

#[test]
fn one_run_is_nothing_to_compare() {
    let desk = desk();
    for arguments in [&["compare", "results"][..], &["compare", "results", "absent"]] {
        let ended = desk.rocelab(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    }
}
