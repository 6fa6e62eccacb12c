//! Pages in a browser: they are drawn without errors or network requests, can be used without a
//! mouse, and are fast. Skipped, with a note, if Chromium is not installed.

mod axes;
mod chromium;
mod comparisons;
mod exports;
mod figures;
mod paper;

use std::path::{Path, PathBuf};

use rocelab_report::{compare_html, report_html};
use rocelab_results::Results;
use serde_json::{Value, json};

use self::chromium::Chromium;
use crate::example::{self, trouble};

/// Longest time from opening a page to drawing it (ms), on a machine that does other work at the same time; an idle one
/// needs less than a third of it.
const QUICK: f64 = 3_000.0;
/// Largest page (bytes).
const LARGEST: u64 = 2_000_000;

fn report(folder: &Path, scale: u64) -> PathBuf {
    let results = Results::open(example::write(folder, example::NAME, scale)).unwrap();
    let page = folder.join("report.html");
    std::fs::write(&page, report_html(&results).unwrap()).unwrap();
    page
}

fn clean(browser: &mut Chromium, page: &Path) {
    assert_eq!(browser.complaints(), Vec::<Value>::new());
    assert_eq!(browser.requests(page), Vec::<String>::new());
}

/// Time from opening a page to drawing it (ms): the least of three, because other tests run beside.
fn ready_after(browser: &mut Chromium, page: &Path) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        browser.open(page);
        let ready = browser.evaluate("Number(document.documentElement.dataset.ready)");
        least = least.min(ready.as_f64().expect("a number"));
    }
    least
}

/// Scrolls through the page, so that every figure is drawn.
fn see_all(browser: &mut Chromium) {
    browser.evaluate(
        "(async () => {
            for (let y = 0; y < document.body.scrollHeight; y += 500) {
                scrollTo(0, y);
                await new Promise((next) => setTimeout(next, 40));
            }
            scrollTo(0, 0);
        })()",
    );
}

#[test]
fn a_page_of_320_servers_opens_quickly_and_asks_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path(), 20);
    let size = page.metadata().unwrap().len();
    assert!(size < LARGEST, "{size} bytes");
    let Some(mut browser) = Chromium::start() else { return };
    let ready = ready_after(&mut browser, &page);
    println!("{size} bytes, drawn after {ready} ms");
    assert!(ready < QUICK, "{ready} ms");
    see_all(&mut browser);
    clean(&mut browser, &page);
    // A name must be shown as text, whatever characters it has.
    assert_eq!(browser.evaluate("document.title"), json!(example::NAME));
    assert_eq!(browser.evaluate("document.querySelector('h1').textContent"), json!(example::NAME));
    assert_eq!(browser.evaluate("document.querySelectorAll('script').length"), json!(3));
}

/// Opens a page that the program made, if an environment variable names one: so the report of a
/// real run must satisfy the same conditions.
#[test]
fn a_page_that_the_environment_names_opens_quickly() {
    let Some(page) = std::env::var_os("ROCELAB_REPORT").map(PathBuf::from) else { return };
    let page = page.canonicalize().expect("ROCELAB_REPORT names a file");
    let size = page.metadata().unwrap().len();
    assert!(size < LARGEST, "{size} bytes");
    let Some(mut browser) = Chromium::start() else { return };
    let ready = ready_after(&mut browser, &page);
    println!("{size} bytes, drawn after {ready} ms");
    assert!(ready < QUICK, "{ready} ms");
    see_all(&mut browser);
    clean(&mut browser, &page);
}

#[test]
fn everything_can_be_done_by_keyboard() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path(), 1);
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&page);

    // Every press of Tab moves the focus to another element, and the focus is visible.
    let mut places = Vec::new();
    for _ in 0..30 {
        browser.press("Tab");
        let shown = browser.evaluate(
            "(() => {
                const active = document.activeElement;
                active.dataset.seen ??= Math.random();
                return [active.dataset.seen, getComputedStyle(active).outlineStyle];
            })()",
        );
        assert_ne!(shown[1], "none", "after {places:?}");
        places.push(shown[0].as_str().expect("a place").to_owned());
    }
    let mut different = places.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), places.len());

    slider(&mut browser);
    sorting(&mut browser);
    tree(&mut browser);
    zoom(&mut browser);
    clean(&mut browser, &page);
}

/// The slider moves through the run, if there is data over time.
fn slider(browser: &mut Chromium) {
    assert_eq!(browser.evaluate("document.getElementById('moment').disabled"), json!(true));
    browser.evaluate("document.querySelector('#figure-map select').focus()");
    browser.press("ArrowDown");
    let measure = "document.querySelector('#figure-map select').value";
    assert_eq!(browser.evaluate(measure), json!("Time paused"));
    let colours = "[...document.querySelectorAll('#figure-map path')].map((path) => path.getAttribute('stroke')).join()";
    let whole = browser.evaluate(colours);
    browser.evaluate("document.getElementById('moment').focus()");
    browser.press("ArrowRight");
    assert_eq!(browser.evaluate("document.getElementById('moment').value"), json!("1"));
    let told = browser.evaluate("document.querySelector('.moment').textContent");
    assert_eq!(told, json!("0.000 ms to 0.100 ms"));
    assert_ne!(browser.evaluate(colours), whole);
    // Nodes can be selected with the arrow keys too.
    browser.evaluate("document.querySelector('#figure-map svg').focus()");
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    browser.press("ArrowUp");
    let details = browser.evaluate("document.querySelector('#figure-map .details b').textContent");
    assert_eq!(details, json!("tor-0"));
}

/// A press on a column's name sorts by it, and another press reverses the order.
fn sorting(browser: &mut Chromium) {
    let first = "document.querySelector('#table-flows tbody tr td').textContent";
    let order = "document.querySelectorAll('#table-flows th')[0].getAttribute('aria-sort')";
    assert_eq!(browser.evaluate(order), Value::Null);
    browser.evaluate("document.querySelectorAll('#table-flows th button')[0].focus()");
    browser.press("Enter");
    assert_eq!(browser.evaluate(order), json!("descending"));
    let greatest = number(&browser.evaluate(first));
    browser.press("Enter");
    assert_eq!(browser.evaluate(order), json!("ascending"));
    let least = number(&browser.evaluate(first));
    let cells = "[...document.querySelectorAll('#table-flows tbody tr')].map((row) => row.cells[0].textContent)";
    let shown: Vec<u64> =
        browser.evaluate(cells).as_array().expect("cells").iter().map(number).collect();
    assert!(least < greatest && shown.is_sorted() && shown.len() == 20, "{shown:?}");
    // The next page continues where this one ended.
    browser.evaluate("document.querySelector('#table-flows [aria-label^=\"Next\"]').focus()");
    browser.press("Enter");
    assert!(number(&browser.evaluate(first)) > shown[19]);
}

fn number(cell: &Value) -> u64 {
    cell.as_str().expect("text").replace(',', "").parse().expect("a number")
}

/// Branches open and close, and keep the focus.
fn tree(browser: &mut Chromium) {
    let rows = "document.querySelectorAll('#figure-tree [role=treeitem]').length";
    let focus = "document.querySelector('#figure-tree [role=treeitem]').focus()";
    browser.evaluate(focus);
    let before = browser.evaluate(rows).as_u64().expect("a number");
    let expanded = "document.activeElement.getAttribute('aria-expanded')";
    let (open, key) = match browser.evaluate(expanded).as_str().expect("a branch") {
        "true" => (true, "ArrowLeft"),
        _ => (false, "ArrowRight"),
    };
    browser.press(key);
    let after = browser.evaluate(rows).as_u64().expect("a number");
    assert!(if open { after < before } else { after > before }, "{before} {after}");
    browser.press("ArrowDown");
    assert_ne!(browser.evaluate("document.activeElement.dataset.branch"), json!("0"));
}

/// Plus zooms into all time lines, and 0 shows everything again.
fn zoom(browser: &mut Chromium) {
    browser.evaluate("document.getElementById('time').scrollIntoView()");
    browser.evaluate("new Promise((next) => setTimeout(next, 300))");
    browser.evaluate("document.querySelector('#figure-time-flows .drawing > div').focus()");
    let legend = "document.querySelector('#figure-time-flows .u-legend').textContent";
    let idle = browser.evaluate(legend);
    browser.press("ArrowRight");
    browser.evaluate("new Promise((next) => setTimeout(next, 100))");
    assert_ne!(browser.evaluate(legend), idle, "the cursor reads the curve");
    let pixels = "document.querySelector('#figure-time-paused canvas').toDataURL()";
    let all = browser.evaluate(pixels);
    browser.press("+");
    browser.evaluate("new Promise((next) => setTimeout(next, 100))");
    assert_ne!(browser.evaluate(pixels), all, "the other figure is zoomed too");
    browser.press("0");
    browser.evaluate("new Promise((next) => setTimeout(next, 100))");
    assert_eq!(browser.evaluate(pixels), all);
}

#[test]
fn every_figure_can_be_saved() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path(), 1);
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&page);
    see_all(&mut browser);
    // Nothing is downloaded: the test reads what would be saved.
    let saved = browser.evaluate(
        "(async () => {
            const blobs = [];
            const make = URL.createObjectURL;
            URL.createObjectURL = (blob) => { blobs.push(blob); return make.call(URL, blob); };
            HTMLAnchorElement.prototype.click = () => {};
            const press = async (word, type) => {
                const buttons = document.querySelectorAll(`[aria-label^='Save as ${word}']`);
                for (const button of buttons) button.click();
                const done = () => blobs.filter((blob) => blob.type === type).length >= buttons.length;
                for (let turn = 0; turn < 300 && !done(); turn++) await new Promise((next) => setTimeout(next, 100));
                return buttons.length;
            };
            const figures = [...document.querySelectorAll('figure')].filter((one) => one.querySelector('svg, canvas'));
            const svgs = await press('SVG', 'image/svg+xml');
            const texts = await Promise.all(blobs.map((blob) => blob.text()));
            const broken = texts.filter((text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror') || text.includes('NaN') || text.includes('undefined') || text.length < 800);
            blobs.length = 0;
            const pngs = await press('PNG', 'image/png');
            const pictures = blobs.filter((blob) => blob.type === 'image/png' && blob.size > 2000);
            return { figures: figures.length, svgs, broken, pngs, pictures: pictures.length };
        })()",
    );
    assert_eq!(saved["broken"], json!([]));
    assert!(saved["figures"].as_u64() >= Some(10), "{saved}");
    for kind in ["svgs", "pngs", "pictures"] {
        assert_eq!(saved[kind], saved["figures"], "{saved}");
    }
    clean(&mut browser, &page);
}

/// On a telephone nothing is wider than the screen but tables, which scroll by themselves.
#[test]
fn the_page_fits_a_narrow_screen() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path(), 1);
    let Some(mut browser) = Chromium::start() else { return };
    browser.resize(420, 800);
    browser.open(&page);
    see_all(&mut browser);
    let wide = browser.evaluate(
        "[...document.querySelectorAll('main *')]
            .filter((one) => !one.closest('.wide > table, svg, .told, .u-over, .u-under') && one.getBoundingClientRect().right > 421)
            .map((one) => `${one.tagName} ${one.className} ${one.id}`)",
    );
    assert_eq!(wide, json!([]));
    let beyond =
        "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.documentElement)";
    assert_eq!(browser.evaluate(beyond), json!(0));
    clean(&mut browser, &page);
}

#[test]
fn the_page_is_dark_where_the_system_is() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path(), 1);
    let Some(mut browser) = Chromium::start() else { return };
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.call("Emulation.setEmulatedMedia", dark);
    browser.open(&page);
    let background = "getComputedStyle(document.body).backgroundColor";
    assert_eq!(browser.evaluate(background), json!("rgb(20, 23, 27)"));
    // The button switches from the system's theme to the light one.
    browser.evaluate("document.getElementById('theme').focus()");
    browser.press("Enter");
    assert_eq!(browser.evaluate(background), json!("rgb(255, 255, 255)"));
    clean(&mut browser, &page);
}

/// Samples are drawn and move the map; stuck queues are described, listed and drawn.
#[test]
fn samples_and_deadlocks_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = example::write(folder.path(), "trouble", 1);
    trouble::add(&path);
    let page = folder.path().join("trouble.html");
    std::fs::write(&page, report_html(&Results::open(path).unwrap()).unwrap()).unwrap();
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&page);
    see_all(&mut browser);
    clean(&mut browser, &page);

    let first = browser.evaluate("document.querySelector('.verdicts li').textContent");
    let first = first.as_str().unwrap();
    assert!(
        first.starts_with("problem Deadlock since 1.25 ms, found at 2.00 ms: 9 queues"),
        "{first}"
    );
    let told = browser.evaluate("document.querySelector('.verdicts').textContent");
    let told = told.as_str().unwrap();
    assert!(told.contains("ttl_expired 40") && told.contains("1 time a watchdog"), "{told}");
    let facts = browser.evaluate("document.querySelector('.facts').textContent");
    assert!(facts.as_str().unwrap().contains("CNMs (QCN)"), "{facts}");

    // Each legend has the time before the curves; of 12 flows, 8 are drawn.
    for (figure, curves) in [("rate", 8), ("flow-goodput", 8), ("marks", 1), ("utilisation", 1)] {
        let legend = format!(
            "document.querySelectorAll('#figure-time-{figure} .u-series:not(.u-off)').length"
        );
        assert_eq!(browser.evaluate(&legend), json!(curves + 1), "{figure}");
    }
    let label = "document.querySelectorAll('#figure-time-rate .u-label')[1].textContent";
    assert_eq!(browser.evaluate(label), json!("flow 10 of host-10"));

    // The map now has utilisation in single frames, and the four queues of the deadlock.
    assert_eq!(browser.evaluate("document.getElementById('moment').disabled"), json!(false));
    let dashed = "document.querySelectorAll('#figure-map .deadlock').length";
    assert_eq!(browser.evaluate(dashed), json!(4));
    let cycle = browser.evaluate("document.querySelector('#figure-map .cycle').textContent");
    assert!(cycle.as_str().unwrap().contains("tor-1:17 p3"), "{cycle}");

    let row = "[...document.querySelectorAll('#table-deadlocks tbody tr')].at(-1).textContent";
    let last = browser.evaluate(row);
    assert!(last.as_str().unwrap().starts_with("0tor-0:163spine-0spine-0:1"), "{last}");
    // Stuck queue pairs, of which the summary names one of 40, and the flows whose host was paused.
    assert!(told.contains("Stuck since 1.26 ms: 40 queue pairs, 2 queues with frames."), "{told}");
    let row =
        |table: &str| format!("document.querySelector('#table-{table} tbody tr').textContent");
    let stuck = browser.evaluate(&row("stuck-queue-pairs"));
    assert!(stuck.as_str().unwrap().starts_with("host-30x11host-997"), "{stuck}");
    let stuck = browser.evaluate(&row("stuck-queues"));
    assert!(stuck.as_str().unwrap().starts_with("tor-2:163500.00 KB"), "{stuck}");
    let victim = browser.evaluate(&row("victims"));
    let victim = victim.as_str().unwrap();
    assert!(victim.contains("host-16") && victim.ends_with("deadlock 0"), "{victim}");
    let root = "document.querySelector('#figure-tree [role=treeitem]')";
    let label = browser.evaluate(&format!("{root}.getAttribute('aria-label')"));
    assert!(label.as_str().unwrap().starts_with("deadlock 0: 2 times"), "{label}");
    let drawn = browser.evaluate(&format!("{root}.textContent"));
    assert!(drawn.as_str().unwrap().contains("deadlock 0"), "{drawn}");
    let legend = "document.querySelectorAll('#figure-time-held-back .u-series').length";
    assert_eq!(browser.evaluate(legend), json!(2));
    let storm = browser.evaluate("document.querySelector('#table-storms tbody').textContent");
    assert!(storm.as_str().unwrap().contains("queue restored2.00 ns"), "{storm}");
}

#[test]
fn runs_are_drawn_over_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = [(1, "before"), (2, "after <b>")]
        .map(|(scale, name)| Results::open(example::write(folder.path(), name, scale)).unwrap());
    let page = folder.path().join("compare.html");
    std::fs::write(&page, compare_html(&[a, b]).unwrap()).unwrap();
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&page);
    see_all(&mut browser);
    clean(&mut browser, &page);
    let heads =
        "[...document.querySelectorAll('#table-figures thead th')].map((head) => head.textContent)";
    assert_eq!(browser.evaluate(heads), json!(["before", "after <b>", "ratio"]));
    let curves = "document.querySelectorAll('#figure-slowdown-cdf .u-series').length";
    assert_eq!(browser.evaluate(curves), json!(3));
}

/// The other tests could not fail if the browser did not report errors.
#[test]
fn the_browser_tells_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("wrong.html");
    let wrong = "<!DOCTYPE html><script>document.documentElement.dataset.ready = 1</script>\
                 <img src='http://127.0.0.1:9/picture.png'><script>missing()</script>";
    std::fs::write(&page, wrong).unwrap();
    let Some(mut browser) = Chromium::start() else { return };
    browser.open(&page);
    browser.evaluate("new Promise((next) => setTimeout(next, 300))");
    assert_eq!(browser.requests(&page), ["http://127.0.0.1:9/picture.png"]);
    let told = serde_json::to_string(&browser.complaints()).unwrap();
    assert!(told.contains("missing is not defined"), "{told}");
}
