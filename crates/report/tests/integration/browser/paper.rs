//! The page on paper: every title, axis and table is there, on white, also where the screen is dark.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::chromium::Chromium;
use super::{clean, report};

/// The text of a document; `None`, and a note, if there is no pdftotext.
fn text_of(pdf: &Path) -> Option<String> {
    let Ok(output) = Command::new("pdftotext").arg("-raw").arg(pdf).arg("-").output() else {
        println!("skipped: pdftotext (poppler-utils) is not installed");
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// Without spaces and ends of lines, because a document breaks lines where it likes.
fn squeezed(text: &str) -> String {
    text.chars().filter(|one| !one.is_whitespace()).collect()
}

/// The texts of all elements that are found.
fn texts(browser: &mut Chromium, selector: &str) -> Vec<String> {
    let found = browser.evaluate(&format!(
        "[...document.querySelectorAll('{selector}')].map((one) => one.textContent)"
    ));
    serde_json::from_value::<Vec<String>>(found).unwrap()
}

#[test]
fn a_printed_page_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path(), 1);
    let Some(mut browser) = Chromium::start() else { return };
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.call("Emulation.setEmulatedMedia", dark);
    browser.open(&page);
    // Nobody has scrolled: most figures are not drawn on the screen.
    let pdf = browser.print();
    // After printing the screen is as before.
    let background = "getComputedStyle(document.body).backgroundColor";
    assert_eq!(browser.evaluate(background), json!("rgb(20, 23, 27)"));
    assert_eq!(browser.evaluate("document.querySelector('.paper svg')"), Value::Null);

    let path = folder.path().join("report.pdf");
    std::fs::write(&path, pdf).unwrap();
    let Some(text) = text_of(&path) else { return };
    let text = squeezed(&text);
    let mut wanted = texts(&mut browser, "figure h3, section h2, section h3, th button");
    assert!(wanted.len() > 60, "{wanted:?}");
    // Axes of charts and of the other figures.
    browser.evaluate("dispatchEvent(new Event('beforeprint'))");
    let axes = texts(&mut browser, ".paper svg text");
    assert!(axes.iter().any(|one| one == "Time (ms)") && axes.len() > 100, "{axes:?}");
    assert_eq!(browser.evaluate(background), json!("rgb(255, 255, 255)"));
    browser.evaluate("dispatchEvent(new Event('afterprint'))");
    wanted.extend(axes);
    let missing: Vec<_> = wanted.iter().filter(|one| !text.contains(&squeezed(one))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    clean(&mut browser, &page);
}

/// What is drawn for paper is drawn for white paper.
#[test]
fn paper_is_white() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(folder.path(), 1);
    let Some(mut browser) = Chromium::start() else { return };
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.call("Emulation.setEmulatedMedia", dark);
    browser.open(&page);
    browser.evaluate("dispatchEvent(new Event('beforeprint'))");
    let inks = "[...new Set([...document.querySelectorAll('.paper svg > text')].map((one) => one.getAttribute('fill')))].sort()";
    assert_eq!(browser.evaluate(inks), json!(["#16191d", "#596270"]));
    // The map and the other drawings, too.
    let name = "document.querySelector('#figure-map text').getAttribute('fill')";
    assert_eq!(browser.evaluate(name), json!("#16191d"));
    browser.evaluate("dispatchEvent(new Event('afterprint'))");
    assert_eq!(browser.evaluate(name), json!("#e8ebef"));
    clean(&mut browser, &page);
}
