//! Pages that compare runs.

use std::path::Path;

use rocelab_report::compare_html;
use rocelab_results::Results;
use serde_json::{Value, json};

use super::chromium::Chromium;
use super::{clean, see_all};
use crate::example::many;

fn open(browser: &mut Chromium, folder: &Path, results: &[Results], width: u32) {
    let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
    browser.call("Emulation.setDeviceMetricsOverride", metrics);
    let page = folder.join("compare.html");
    std::fs::write(&page, compare_html(results).unwrap()).unwrap();
    browser.open(&page);
    see_all(browser);
    clean(browser, &page);
}

/// Texts that lie over each other in the drawings of panels, and elements that are wider than the page
/// and do not scroll by themselves.
const DISORDER: &str = "(() => {
    const found = [];
    for (const text of document.querySelectorAll('.facts dt, .facts dd')) {
        if (text.scrollWidth > text.clientWidth + 1) found.push(`${text.textContent} does not fit`);
    }
    const isWide = (one) => !one.closest('.wide > table, svg, .told, .u-over, .u-under') && one.getBoundingClientRect().right > innerWidth + 1;
    if (document.documentElement.scrollWidth > innerWidth) found.push(...[...document.querySelectorAll('main *')].filter(isWide).slice(0, 9).map((one) => `${one.tagName} ${one.className}: ${one.textContent.slice(0, 60)}`));
    if (document.documentElement.scrollWidth > innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
    for (const drawing of document.querySelectorAll('.multiples svg')) {
        const texts = [...drawing.querySelectorAll('text')].map((node) => [node.firstChild.textContent, node.getBoundingClientRect()]);
        texts.forEach(([one, a], index) => {
            const edge = drawing.getBoundingClientRect();
            if (a.left < edge.left - 1 || a.right > edge.right + 1) found.push(`${one} is cut off`);
            for (const [other, b] of texts.slice(index + 1)) {
                const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (across > 1 && down > 3) found.push(`${one} over ${other}`);
            }
        });
    }
    return found;
})()";

/// 45 runs are nine groups with bands over five seeds, legible on a desk and on a telephone.
#[test]
fn many_runs_are_groups_with_bands() {
    let folder = tempfile::tempdir().unwrap();
    let results = many::sweep(folder.path());
    let Some(mut browser) = Chromium::start() else { return };
    for width in [1_400, 420] {
        open(&mut browser, folder.path(), &results, width);
        assert_eq!(browser.evaluate("document.title"), json!("45 runs in 9 groups"));
        assert_eq!(browser.evaluate(DISORDER), json!([]), "{width}");
        let rows = browser.evaluate("document.querySelectorAll('#table-groups tbody tr').length");
        assert_eq!(rows, json!(9));
        let name = "document.querySelector('#table-groups tbody td').textContent";
        assert_eq!(browser.evaluate(name), json!("dcqcn, load 0.3"));
        // Each panel has a bar and a dot for each group.
        let panel = "[...document.querySelectorAll('.multiples figure')].find((one) => one.querySelector('h3').textContent === 'Slowdown p95')";
        let dots = format!("{panel}.querySelectorAll('svg circle').length");
        assert_eq!(browser.evaluate(&dots), json!(9));
        let told = format!("{panel}.querySelector('svg g title').textContent");
        let told = browser.evaluate(&told);
        assert!(told.as_str().unwrap().ends_with("; 5 of 5 runs)"), "{told}");
        // A figure of distributions for each load.
        let titles =
            "[...document.querySelectorAll('#completion h3')].map((one) => one.textContent)";
        let titles = browser.evaluate(titles);
        let has = |wanted: &str| titles.as_array().unwrap().iter().any(|one| one == wanted);
        assert!(has("Slowdown p95 by size, workload.poisson.load 0.5"), "{titles}");
    }
}

/// The table of all runs is sorted by a click, and searched.
#[test]
fn all_runs_can_be_sorted_and_searched() {
    let folder = tempfile::tempdir().unwrap();
    let results = many::sweep(folder.path());
    let Some(mut browser) = Chromium::start() else { return };
    open(&mut browser, folder.path(), &results, 1_400);
    let column = "[...document.querySelectorAll('#table-runs thead th')].findIndex((head) => head.textContent === 'ECN marks')";
    browser.evaluate(&format!(
        "document.querySelectorAll('#table-runs thead th')[{column}].querySelector('button').click()"
    ));
    let cells = format!(
        "[...document.querySelectorAll('#table-runs tbody tr')].map((row) => row.cells[{column}].textContent)"
    );
    let shown = browser.evaluate(&cells);
    assert_eq!(shown[0], json!("33,005"), "{shown}");
    assert_eq!(shown[19], json!("23,001"), "{shown}");
    browser.evaluate(
        "(() => {
            const search = document.querySelector('#table-runs input[type=search]');
            search.value = 'hpcc, load 0.7';
            search.dispatchEvent(new Event('input'));
        })()",
    );
    let rows = browser.evaluate("document.querySelectorAll('#table-runs tbody tr').length");
    assert_eq!(rows, json!(5));
}

/// What only some runs have, and lower bounds, are told as what they are.
#[test]
fn what_is_not_known_is_not_drawn_as_zero() {
    let folder = tempfile::tempdir().unwrap();
    let mut results = many::sweep(folder.path());
    for run in results.iter_mut().take(5) {
        *run = many::changed(run, |summary| {
            summary["slowdown"]["unsupported"] = json!(["p99"]);
            summary["slowdown"]["at_least"] = json!(["p50", "p95"]);
        });
    }
    let Some(mut browser) = Chromium::start() else { return };
    open(&mut browser, folder.path(), &results, 1_400);
    let row = "[...document.querySelectorAll('#table-groups tbody td')].slice(0, 1).map((cell) => cell.parentNode.textContent)[0]";
    let row = browser.evaluate(row);
    assert!(row.as_str().unwrap().contains('\u{2013}'), "{row}");
    let panel = |name: &str| {
        format!(
            "[...document.querySelectorAll('.multiples figure')].find((one) => one.querySelector('h3').textContent === '{name}').querySelector('svg')"
        )
    };
    let text = browser.evaluate(&format!("{}.textContent", panel("Slowdown p99")));
    assert!(text.as_str().unwrap().contains("no value"), "{text}");
    let label = format!("{}.querySelector('g title').textContent", panel("Slowdown p95"));
    let label = browser.evaluate(&label);
    assert!(label.as_str().unwrap().contains("dcqcn, load 0.3: at least "), "{label}");
    assert!(label.as_str().unwrap().contains(" to at least "), "{label}");
    // Each cell says so itself: of five runs in the table of runs, and of their group.
    let cells = |table: &str, column: &str| {
        format!(
            "(() => {{
                const heads = [...document.querySelectorAll('#table-{table} thead th')];
                const at = heads.findIndex((head) => head.textContent === '{column}');
                return [...document.querySelectorAll('#table-{table} tbody tr')].map((row) => row.cells[at].textContent).map((text) => text.startsWith('\u{2265}'));
            }})()"
        )
    };
    let expected =
        |bounds: usize, all: usize| json!((0..all).map(|row| row < bounds).collect::<Vec<_>>());
    assert_eq!(browser.evaluate(&cells("runs", "Slowdown p95")), expected(5, 20));
    assert_eq!(browser.evaluate(&cells("groups", "Slowdown p50")), expected(1, 9));
}

/// Where no group has a mean, or all have the same, nothing is drawn at a place that is none.
#[test]
fn panels_without_a_mean_have_no_marks() {
    let folder = tempfile::tempdir().unwrap();
    let results: Vec<Results> = many::sweep(folder.path())
        .iter()
        .enumerate()
        .map(|(number, run)| {
            many::changed(run, |summary| {
                let rule = ["between-starts", "whole-run"][number % 2];
                summary["goodput"] = json!({ "rule": rule, "bytes": 1, "duration_ps": 1000 });
                summary["goodput_bps"] = json!(5_000_000_000_u64 + number as u64);
                summary["incomplete"] = json!(number == 3);
            })
        })
        .collect();
    let Some(mut browser) = Chromium::start() else { return };
    open(&mut browser, folder.path(), &results, 1_400);
    let drawn = "document.querySelector('#panels').innerHTML";
    let drawn = browser.evaluate(drawn);
    let drawn = drawn.as_str().unwrap();
    assert!(!drawn.contains("NaN") && !drawn.contains("Infinity") && !drawn.contains("null"));
    let panel = |name: &str| {
        format!(
            "[...document.querySelectorAll('.multiples figure')].find((one) => one.querySelector('h3').textContent === '{name}')"
        )
    };
    let goodput =
        browser.evaluate(&format!("{}.querySelector('svg').textContent", panel("Goodput")));
    assert_eq!(goodput.as_str().unwrap().matches("goodputs by different rules").count(), 9);
    let marks = format!("{}.querySelectorAll('svg circle, svg path').length", panel("Goodput"));
    assert_eq!(browser.evaluate(&marks), json!(0));
    // All runs were simulated for as long, but one was interrupted: that is not the same.
    let note = browser.evaluate(&format!("{}.textContent", panel("Simulated")));
    assert!(note.as_str().unwrap().contains("dcqcn, load 0.3: INTERRUPTED"), "{note}");
    assert_eq!(browser.evaluate(DISORDER), json!([]));
}

/// Names of groups with two swept keys are read in full, on a desk and on a telephone.
#[test]
fn long_names_have_room() {
    let folder = tempfile::tempdir().unwrap();
    let results = many::long_names(folder.path());
    let Some(mut browser) = Chromium::start() else { return };
    for width in [1_400, 420] {
        open(&mut browser, folder.path(), &results, width);
        assert_eq!(browser.evaluate(DISORDER), json!([]), "{width}");
        // Of all lines of a label together, nothing is lost but what is cut with a sign.
        let labels = "[...document.querySelector('.multiples svg').querySelectorAll('text[text-anchor=end]')].filter((node) => node.querySelector('title')).map((node) => [node.firstChild.textContent, node.querySelector('title').textContent])";
        let labels = browser.evaluate(labels);
        let labels = labels.as_array().unwrap();
        assert!(labels.len() > 18, "several lines for each group: {labels:?}");
        assert!(labels.iter().any(|label| label[0].as_str().unwrap().contains("1.048576MB")));
        assert!(
            labels[0][1]
                .as_str()
                .unwrap()
                .ends_with("one-to-one, bytes_of_each_message 1.048576MB"),
            "{labels:?}"
        );
    }
}

/// A reader sees from its title that an axis is logarithmic.
#[test]
fn logarithmic_axes_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let results = many::sweep(folder.path());
    let Some(mut browser) = Chromium::start() else { return };
    open(&mut browser, folder.path(), &results, 1_400);
    // Pauses go from 11 to 165: a factor of 15; with one of a thousand the axis is logarithmic.
    let panel = "[...document.querySelectorAll('.multiples figure')].find((one) => one.querySelector('h3').textContent === 'Pauses').querySelector('svg').textContent";
    assert!(!browser.evaluate(panel).as_str().unwrap().contains("log"));
    let changed: Vec<Results> = results
        .iter()
        .enumerate()
        .map(|(number, run)| {
            many::changed(run, |summary| {
                summary["pfc"]["pauses"] =
                    json!(10_u64.pow(1 + u32::try_from(number).unwrap() % 5));
            })
        })
        .collect();
    open(&mut browser, folder.path(), &changed, 1_400);
    assert!(browser.evaluate(panel).as_str().unwrap().ends_with("log"));
}

/// Storage runs are compared by their operations.
#[test]
fn storage_is_compared_by_operations() {
    let folder = tempfile::tempdir().unwrap();
    let results = [4, 16].map(|depth| many::storage(folder.path(), depth));
    let Some(mut browser) = Chromium::start() else { return };
    for width in [1_400, 420] {
        open(&mut browser, folder.path(), &results, width);
        assert_eq!(browser.evaluate(DISORDER), json!([]), "{width}");
        let rows = "Object.fromEntries([...document.querySelectorAll('#table-figures tbody tr')].map((row) => [row.cells[0].textContent, [...row.cells].slice(1).map((cell) => cell.textContent)]))";
        let rows = browser.evaluate(rows);
        assert_eq!(rows["disk: completed"], json!(["3,000", "3,000", "\u{d7}1.00"]), "{rows}");
        for figure in ["IOPS", "latency p50", "latency p99.9", "open on average"] {
            let ratio = rows[format!("disk: {figure}")][2].as_str().unwrap();
            let ratio: f64 = ratio.trim_start_matches('\u{d7}').parse().unwrap();
            assert!(ratio > 1.2, "{figure}: {rows}");
        }
        assert!(rows["disk read: latency p99"].is_array(), "{rows}");
        assert!(rows.get("FCT p50").is_none() && rows.get("Flows completed").is_none());
        // Each kind has a distribution of latencies, with a curve for each run.
        let titles = "[...document.querySelectorAll('#latency h3')].map((one) => one.textContent)";
        let expected = ["disk read: latency, distribution", "disk write: latency, distribution"];
        assert_eq!(browser.evaluate(titles), json!(expected));
        let curves = "document.querySelectorAll('#figure-latency-0 .u-series').length";
        assert_eq!(browser.evaluate(curves), json!(3));
        assert_eq!(browser.evaluate("document.getElementById('completion')"), Value::Null);
        let settings = "document.querySelector('#table-settings tbody').textContent";
        assert_eq!(browser.evaluate(settings), json!("workload.storage.queue_depth416"));
    }
}

/// A run that only reads has a line for its reads beside one that writes, too.
#[test]
fn a_run_with_one_kind_stands_beside_one_with_two() {
    let folder = tempfile::tempdir().unwrap();
    let both = many::storage(folder.path(), 4);
    let reads = many::storage_of(folder.path(), 16, "read");
    assert!(reads.summary().operations[0].kinds.is_empty());
    let Some(mut browser) = Chromium::start() else { return };
    open(&mut browser, folder.path(), &[both, reads], 1_400);
    let rows = "Object.fromEntries([...document.querySelectorAll('#table-figures tbody tr')].map((row) => [row.cells[0].textContent, [...row.cells].slice(1).map((cell) => cell.textContent)]))";
    let rows = browser.evaluate(rows);
    assert_eq!(rows["disk read: completed"], json!(["2,000", "3,000", "\u{d7}1.50"]), "{rows}");
    assert_eq!(rows["disk write: completed"], json!(["1,000", "-", "\u{2013}"]), "{rows}");
    let curves = "[...document.querySelectorAll('#latency figure')].map((one) => [one.querySelector('h3').textContent, one.querySelectorAll('.u-series').length])";
    let expected =
        json!([["disk read: latency, distribution", 3], ["disk write: latency, distribution", 2],]);
    assert_eq!(browser.evaluate(curves), expected);
}
