//! The summary of the documentation, of which `./ci.sh site` makes a site.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::program::repository;

/// The pages below a folder, by their paths in `docs`.
fn pages(folder: &Path, all: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            let name = path.strip_prefix(repository("docs")).unwrap();
            all.insert(name.to_str().unwrap().to_owned());
        }
    }
}

#[test]
fn every_page_is_in_the_summary_once() {
    let summary = fs::read_to_string(repository("docs/SUMMARY.md")).unwrap();
    let links = summary.lines().filter_map(|line| line.split_once("](")?.1.strip_suffix(')'));
    let links: Vec<_> = links.collect();
    for link in &links {
        assert!(repository("docs").join(link).is_file(), "{link} is no page");
        assert_eq!(links.iter().filter(|other| *other == link).count(), 1, "{link}");
    }
    let mut all = BTreeSet::new();
    pages(&repository("docs"), &mut all);
    all.remove("SUMMARY.md");
    let named: BTreeSet<_> = links.iter().map(|link| (*link).to_owned()).collect();
    let left_out: Vec<_> = all.difference(&named).collect();
    assert!(left_out.is_empty(), "not in docs/SUMMARY.md: {left_out:?}");
}
