//! What is read back is what was written; errors of reading are clear.

use std::fs;

use rocelab_results::{ErrorKind, Overwrite, Results, ResultsError};

use crate::sample;

#[test]
fn every_record_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample::write(&folder.path().join("r"), Overwrite::Refuse).unwrap();
    let results = Results::open(&path).unwrap();
    assert_eq!(results.summary(), &sample::summary());
    assert_eq!(results.run(), &sample::run_info());
    assert_eq!(results.path(), path);

    fn all<T>(records: impl Iterator<Item = Result<T, ResultsError>>) -> Vec<T> {
        records.map(Result::unwrap).collect()
    }
    assert_eq!(all(results.flows().unwrap()), sample::flows());
    assert_eq!(all(results.pauses().unwrap()), sample::pauses());
    assert_eq!(all(results.queues().unwrap()), sample::queues());
    assert_eq!(all(results.operations().unwrap()), sample::operations());
    assert_eq!(all(results.drops().unwrap()), sample::drops());
    assert_eq!(all(results.links().unwrap()), sample::links());
}

#[test]
fn a_run_json_of_another_version_is_still_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample::write(&folder.path().join("r"), Overwrite::Refuse).unwrap();
    fs::write(path.join("run.json"), "{\"program\": \"rocelab\", \"wall_s\": 3, \"new\": 1}")
        .unwrap();
    assert_eq!(Results::open(&path).unwrap().run().wall_s, 3.0);
}

#[test]
fn errors_name_the_file_and_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Results::open(folder.path().join("nowhere")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::BadInput);
    assert!(missing.to_string().contains("nowhere"), "{missing}");

    let path = sample::write(&folder.path().join("r"), Overwrite::Refuse).unwrap();
    let results = Results::open(&path).unwrap();
    let flows = fs::read_to_string(path.join("flows.csv")).unwrap();
    fs::write(path.join("flows.csv"), flows.replace("5000000000", "5 GB")).unwrap();
    let rows: Vec<_> = results.flows().unwrap().collect();
    let error = rows[1].as_ref().unwrap_err();
    assert!(rows[0].is_ok() && rows[2].is_ok());
    assert!(matches!(error, ResultsError::Malformed { .. }));
    let text = error.to_string();
    assert!(text.contains("flows.csv") && text.contains("line: 3"), "{text}");

    fs::remove_file(path.join("queues.csv")).unwrap();
    assert!(matches!(results.queues(), Err(ResultsError::Read { .. })));

    fs::write(path.join("summary.json"), "{\"scenario\": 1}").unwrap();
    let error = Results::open(&path).unwrap_err();
    assert!(error.to_string().contains("summary.json"), "{error}");
    assert!(error.to_string().contains("line 1"), "{error}");
}
