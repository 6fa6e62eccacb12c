//! What is saved of a figure looks like the figure, and has its numbers.

use serde_json::{Value, json};

use rocelab_report::compare_html;
use rocelab_results::Results;

use super::chromium::Chromium;
use super::{clean, report};
use crate::example;

/// Keeps what would be saved as texts, and presses a button of a figure.
const SAVED: &str = "
    const saved = async (figure, kind) => {
        const blobs = [];
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { blobs.push(blob); return make.call(URL, blob); };
        HTMLAnchorElement.prototype.click = () => {};
        document.querySelector(`#figure-${figure} [aria-label^='Save ${kind}']`).click();
        URL.createObjectURL = make;
        return blobs[0].text();
    };";

fn saved(browser: &mut Chromium, figure: &str, kind: &str) -> String {
    let text = browser
        .evaluate(&format!("(async () => {{ {SAVED} return saved('{figure}', '{kind}'); }})()"));
    text.as_str().expect("a text").to_owned()
}

#[test]
fn a_saved_figure_has_its_marks_and_its_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path(), 1);
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&page);
    let drawing = saved(&mut browser, "slowdown-by-size", "as SVG");
    let buckets = browser
        .evaluate("JSON.parse(document.getElementById('data').textContent).completion.buckets");
    let known = |share: usize| {
        let list = buckets.as_array().unwrap().iter();
        list.filter(|bucket| !bucket["slowdown"][share].is_null()).count()
    };
    let marks: usize = (0..4).map(known).sum();
    // Besides, each of the four entries of the legend has one.
    assert_eq!(drawing.matches("<circle").count(), marks + 4, "{drawing}");
    for name in ["p50", "p95", "p99", "max", "Slowdown by size", "Flow size (log)"] {
        assert!(drawing.contains(&format!(">{name}<")), "{name}: {drawing}");
    }
    // The curve without marks has none.
    assert!(!saved(&mut browser, "time-flows", "as SVG").contains("<circle"));

    let numbers = saved(&mut browser, "slowdown-by-size", "the numbers");
    let mut lines = numbers.lines();
    let heads = "Flow size [bytes],Slowdown: p50,Slowdown: p95,Slowdown: p99,Slowdown: max";
    assert_eq!(lines.next(), Some(heads));
    let first: Vec<f64> =
        lines.next().unwrap().split(',').map(|one| one.parse().unwrap()).collect();
    let of = |share: usize| buckets[0]["slowdown"][share].as_f64().unwrap() / 1e6;
    assert_eq!(first[1..], [of(0), of(1), of(2), of(3)]);
    clean(&mut browser, &page);
}

/// Of several runs one percentile is drawn: the picture says which.
#[test]
fn a_saved_comparison_names_its_percentile() {
    let folder = tempfile::tempdir().unwrap();
    let runs =
        [1, 2].map(|scale| Results::open(example::write(folder.path(), "same", scale)).unwrap());
    let page = folder.path().join("compare.html");
    std::fs::write(&page, compare_html(&runs).unwrap()).unwrap();
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&page);
    let drawing = saved(&mut browser, "slowdown-by-size", "as SVG");
    assert!(drawing.contains(">Slowdown, p99 by size<"), "{drawing}");
    let numbers = saved(&mut browser, "slowdown-by-size", "the numbers");
    assert!(numbers.contains(",\"Slowdown, p99: results-1\","), "{numbers}");
    assert_eq!(browser.complaints(), Vec::<Value>::new());
    assert_eq!(
        browser.evaluate("document.querySelectorAll('.told:not([hidden])').length"),
        json!(0)
    );
}
