//! The documentation describes every column exactly as its declaration does.

use std::fs;
use std::path::Path;

use rocelab_results::{Column, KindRecord, RECORD_TYPES, Record as _, RunRecord};

/// A sentence in the form of a table cell: without its full stop, and beginning with a small letter
/// unless it begins with an abbreviation.
fn cell(sentence: &str) -> String {
    let text = sentence.strip_suffix('.').unwrap_or(sentence);
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), second) if !second.is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

/// The table of a record type's columns.
fn table(columns: &[Column]) -> String {
    let mut text = "| column | unit | meaning |\n|---|---|---|\n".to_owned();
    for Column { name, unit, meaning, .. } in columns {
        let unit = if unit.is_empty() { String::new() } else { format!("{unit} ") };
        text += &format!("| `{name}` | {unit}| {} |\n", cell(meaning));
    }
    text
}

/// The table below the heading that contains the file's name first.
fn documented(page: &str, file: &str) -> String {
    let is_of_file = |section: &&str| section.split_whitespace().next() == Some(file);
    let section = page.split("\n## ").find(is_of_file).unwrap_or_else(|| panic!("{file}"));
    let rows = section.lines().skip_while(|line| !line.starts_with('|'));
    rows.take_while(|line| line.starts_with('|')).map(|row| format!("{row}\n")).collect()
}

fn page(name: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    fs::read_to_string(page).unwrap()
}

#[test]
fn every_column_is_documented_as_it_is_declared() {
    let page = page("results.md");
    for records in RECORD_TYPES {
        let declared = table(records.columns);
        assert_eq!(
            documented(&page, records.file),
            declared,
            "{}, right: as declared",
            records.file
        );
    }
}

#[test]
fn so_are_those_of_the_runs_of_a_sweep() {
    assert_eq!(documented(&page("sweep.md"), "runs.parquet"), table(RunRecord::COLUMNS));
    assert_eq!(documented(&page("sweep.md"), "kinds.parquet"), table(KindRecord::COLUMNS));
}
