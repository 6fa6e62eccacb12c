//! Compares the files with golden files that people can read.

use std::fs;
use std::path::{Path, PathBuf};

use rocelab_results::{Overwrite, ResultsDir};

use crate::sample;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/golden").join(name)
}

/// Set `UPDATE_GOLDEN` to write the files anew, and check the difference before you commit it.
fn check(directory: &Path, name: &str) {
    let written = fs::read_to_string(directory.join(name)).unwrap();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(golden(name), &written).unwrap();
    }
    let expected = fs::read_to_string(golden(name)).unwrap();
    assert_eq!(written, expected, "{name}");
}

#[test]
fn every_file_is_as_documented() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample::write(&folder.path().join("incast-v2-1"), Overwrite::Refuse).unwrap();
    for name in [
        "flows.csv",
        "pfc.csv",
        "queues.csv",
        "operations.csv",
        "drops.csv",
        "links.csv",
        "summary.json",
        "run.json",
        "scenario.resolved.toml",
    ] {
        check(&path, name);
    }
}

#[test]
fn a_file_without_records_has_its_header() {
    let folder = tempfile::tempdir().unwrap();
    let directory = ResultsDir::create(folder.path().join("empty"), Overwrite::Refuse).unwrap();
    directory.flows().unwrap().finish().unwrap();
    directory.pauses().unwrap().finish().unwrap();
    let path = directory.finish(&sample::summary(), &sample::run_info()).unwrap();
    for name in ["flows.csv", "pfc.csv"] {
        let written = fs::read_to_string(path.join(name)).unwrap();
        let expected = fs::read_to_string(golden(name)).unwrap();
        assert_eq!(written.lines().collect::<Vec<_>>(), [expected.lines().next().unwrap()]);
    }
}

#[test]
fn equal_records_give_equal_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let one = sample::write(&folder.path().join("one"), Overwrite::Refuse).unwrap();
    let two = sample::write(&folder.path().join("two"), Overwrite::Refuse).unwrap();
    let mut names: Vec<_> =
        fs::read_dir(&one).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let parquet = usize::from(cfg!(feature = "parquet"));
    assert_eq!(names.len(), 9 + 3 * parquet);
    for name in names {
        let bytes = |path: &Path| fs::read(path.join(&name)).unwrap();
        assert_eq!(bytes(&one), bytes(&two), "{name:?}");
    }
}
