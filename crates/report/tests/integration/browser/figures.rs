//! What can be done with figures and rows: choosing series, reading values at the cursor, and asking about a flow.

use rocelab_report::{ScenarioSetting, SettingDefault, report_html_with};
use serde_json::{Value, json};

use super::chromium::Chromium;
use super::{clean, report, see_all};
use crate::example::many;

fn text(browser: &mut Chromium, expression: &str) -> String {
    let text = browser.evaluate(expression);
    text.as_str().unwrap_or_else(|| panic!("{expression}: {text}")).to_owned()
}

/// Of all sampled queues 8 are shown; others are found by a part of their name.
#[test]
fn series_can_be_searched_and_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path(), 1);
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&page);
    browser.evaluate("document.getElementById('figure-time-queue').scrollIntoView()");
    browser.evaluate("new Promise((next) => setTimeout(next, 300))");
    let drawn = "document.querySelectorAll('#figure-time-queue .u-series:not(.u-off)').length - 1";
    let listed =
        "document.querySelectorAll('#figure-time-queue .choices label:not([hidden])').length";
    assert_eq!((browser.evaluate(drawn), browser.evaluate(listed)), (json!(8), json!(24)));
    let heading = "document.querySelector('#figure-time-queue summary').textContent";
    assert_eq!(text(&mut browser, heading), "Series: 8 of 24 shown");
    // The last one is hidden at first. Its name finds it, and a press shows it.
    let name = text(
        &mut browser,
        "[...document.querySelectorAll('#figure-time-queue .choices label')].at(-1).textContent",
    );
    browser.evaluate(&format!(
        "(() => {{
            document.querySelector('#figure-time-queue details').open = true;
            const search = document.querySelector('#figure-time-queue input[type=search]');
            search.value = '{}';
            search.dispatchEvent(new Event('input'));
            document.querySelector('#figure-time-queue .choices label:not([hidden]) input').click();
        }})()",
        name.to_uppercase()
    ));
    assert_eq!((browser.evaluate(drawn), browser.evaluate(listed)), (json!(9), json!(1)));
    assert_eq!(text(&mut browser, heading), "Series: 9 of 24 shown");
    clean(&mut browser, &page);
}

#[test]
fn values_stand_at_the_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path(), 1);
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&page);
    browser.evaluate("document.getElementById('figure-time-flows').scrollIntoView()");
    browser.evaluate("new Promise((next) => setTimeout(next, 300))");
    browser.evaluate("document.querySelector('#figure-time-flows .drawing > div').focus()");
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    browser.evaluate("new Promise((next) => setTimeout(next, 100))");
    let told = "document.querySelector('#figure-time-flows .told:not([hidden])').textContent";
    let told = text(&mut browser, told);
    assert!(told.contains(" ms") && told.contains("open flows: "), "{told}");
    clean(&mut browser, &page);
}

#[test]
fn queues_are_drawn_by_port_and_time() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path(), 1);
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&page);
    see_all(&mut browser);
    let map = "JSON.parse(document.getElementById('data').textContent).heat_map";
    let rows = browser.evaluate(&format!("{map}.rows.map((row) => row.label)"));
    assert_eq!(rows.as_array().unwrap().len(), 40);
    let drawn = browser.evaluate(
        "[...document.querySelectorAll('#figure-heat-map svg > text')].map((one) => one.textContent)",
    );
    let drawn: Vec<String> = serde_json::from_value(drawn).unwrap();
    for label in rows.as_array().unwrap() {
        assert!(drawn.contains(&label.as_str().unwrap().to_owned()), "{label} in {drawn:?}");
    }
    assert!(drawn.contains(&"Time (ms)".to_owned()), "{drawn:?}");
    let cells = "document.querySelectorAll('#figure-heat-map svg > path[fill]').length > 100";
    assert_eq!(browser.evaluate(cells), json!(true));
    clean(&mut browser, &page);
}

/// A flow's number opens what is known of it, with the command that tells more.
#[test]
fn a_flow_has_the_command_that_explains_it() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path(), 1);
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&page);
    browser.evaluate("document.querySelector('#table-flows .row-button').click()");
    let flow = text(&mut browser, "document.querySelector('#table-flows .row-button').textContent");
    let number = flow.replace(',', "");
    let command = text(&mut browser, "document.querySelector('#table-flows code').textContent");
    let folder = page.parent().unwrap().display();
    assert_eq!(command, format!("rocelab explain {folder} --flow {number}"));
    let said = text(&mut browser, "document.querySelector('#table-flows .details').textContent");
    assert!(said.contains("Path: not known."), "{said}");
    clean(&mut browser, &page);
}

/// A run of storage has operations in place of flows, and the scenario says what it was.
#[test]
fn storage_has_its_figures_and_the_scenario_its_tables() {
    let folder = tempfile::tempdir().unwrap();
    let results = many::storage(folder.path(), 16);
    let setting = |key: &str, value: &str, default| ScenarioSetting {
        key: key.to_owned(),
        value: value.to_owned(),
        default,
    };
    let settings = [
        setting("workload.storage.queue_depth", "16", SettingDefault::Other("1".to_owned())),
        setting("seed", "1", SettingDefault::Same),
    ];
    let page = folder.path().join("report.html");
    std::fs::write(&page, report_html_with(&results, &settings).unwrap()).unwrap();
    let Some(mut browser) = Chromium::start() else { return };
    browser.resize(420, 900);
    browser.open(&page);
    see_all(&mut browser);
    let figures = browser
        .evaluate("[...document.querySelectorAll('#operations figure')].map((one) => one.id)");
    let expected = json!([
        "figure-operation-latency",
        "figure-time-operations",
        "figure-time-open-operations"
    ]);
    assert_eq!(figures, expected);
    let legend = text(
        &mut browser,
        "document.querySelector('#figure-operation-latency .u-legend').textContent",
    );
    assert!(
        legend.contains("disk, read (2,000)") && legend.contains("disk, write (1,000)"),
        "{legend}"
    );
    // Without flows there is nothing to say about their completion.
    assert_eq!(browser.evaluate("document.getElementById('completion')"), Value::Null);
    let own = text(&mut browser, "document.querySelector('#table-settings tbody').textContent");
    assert_eq!(own, "workload.storage.queue_depth161");
    let same = text(&mut browser, "document.querySelector('#table-defaults tbody').textContent");
    assert_eq!(same, "seed1");
    let beyond =
        "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.documentElement)";
    assert_eq!(browser.evaluate(beyond), json!(0));
    clean(&mut browser, &page);
}

/// A verdict has a word, a sign and its rule, so that none of them depends on colour.
#[test]
fn verdicts_have_words_and_rules() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path(), 1);
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&page);
    let verdicts = browser.evaluate(
        "[...document.querySelectorAll('.verdicts li')].map((one) => [one.querySelector('b').textContent,
            getComputedStyle(one.querySelector('b'), '::before').content, one.querySelector('.rule').textContent, one.textContent])",
    );
    let verdicts: Vec<[String; 4]> = serde_json::from_value(verdicts).unwrap();
    for [word, sign, rule, _] in &verdicts {
        assert!(["problem", "note", "good", "not judged"].contains(&word.as_str()), "{word}");
        assert!(sign.len() > 2 && rule.ends_with('.'), "{sign} {rule}");
    }
    let about = |what: &str| verdicts.iter().find(|one| one[3].contains(what)).unwrap();
    // The slowest flows of the example take 21 times as long as in an empty network.
    assert_eq!(about("Tail latency: slowdown")[0], "note");
    assert_eq!(about("Fairness: Jain's index")[0], "note");
    assert_eq!(about("Utilisation: the busiest link")[0], "note");
    clean(&mut browser, &page);
}
