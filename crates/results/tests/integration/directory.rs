//! When the directory appears, and what it may replace.

use std::fs;
use std::path::Path;

use rocelab_results::{Checkpoints, ErrorKind, Overwrite, ResultsDir, ResultsError};

use crate::sample;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn refused(path: &Path, overwrite: Overwrite) -> ResultsError {
    let error = ResultsDir::create(path, overwrite).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::BadInput);
    assert!(error.to_string().contains("--out"), "{error}");
    error
}

#[test]
fn results_appear_only_when_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results/incast-1");
    let directory = ResultsDir::create(&path, Overwrite::Refuse).unwrap();
    sample::fill(&directory).unwrap();
    assert!(!path.exists());
    assert_eq!(directory.working_path().parent(), path.parent());
    let hidden = directory.working_path().file_name().unwrap().to_str().unwrap();
    assert!(hidden.starts_with(".incast-1.partial-"), "{hidden}");

    let end = directory.finish(&sample::summary(), &sample::run_info()).unwrap();
    assert_eq!(end, path);
    assert_eq!(names(path.parent().unwrap()), ["incast-1"]);
}

#[test]
fn an_interrupted_write_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let directory = ResultsDir::create(folder.path().join("a/b/c"), Overwrite::Refuse).unwrap();
    sample::fill(&directory).unwrap();
    assert_eq!(names(folder.path()), ["a"]);
    drop(directory);
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn parents_that_others_use_meanwhile_stay() {
    let folder = tempfile::tempdir().unwrap();
    let one = ResultsDir::create(folder.path().join("a/one"), Overwrite::Refuse).unwrap();
    let two = sample::write(&folder.path().join("a/two"), Overwrite::Refuse).unwrap();
    drop(one);
    assert!(two.join("run.json").exists());
}

#[test]
fn existing_results_are_refused_and_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample::write(&folder.path().join("r"), Overwrite::Refuse).unwrap();
    let error = refused(&path, Overwrite::Refuse);
    assert!(matches!(error, ResultsError::Exists { .. }));
    assert!(error.to_string().contains("--force"), "{error}");
    assert_eq!(names(folder.path()), ["r"]);
    assert!(path.join("flows.csv").exists());
}

#[test]
fn forced_results_replace_the_old_ones_when_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample::write(&folder.path().join("r"), Overwrite::Refuse).unwrap();
    fs::write(path.join("notes.txt"), "old").unwrap();

    let directory = ResultsDir::create(&path, Overwrite::Replace).unwrap();
    sample::fill(&directory).unwrap();
    assert!(path.join("notes.txt").exists(), "the old results stay until the end");
    directory.finish(&sample::summary(), &sample::run_info()).unwrap();
    assert!(!path.join("notes.txt").exists());
    assert!(path.join("flows.csv").exists());
    assert_eq!(names(folder.path()), ["r"]);
}

#[test]
fn a_failed_forced_run_keeps_the_old_results() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample::write(&folder.path().join("r"), Overwrite::Refuse).unwrap();
    let before = names(&path);
    let directory = ResultsDir::create(&path, Overwrite::Replace).unwrap();
    sample::fill(&directory).unwrap();
    drop(directory);
    assert_eq!(names(&path), before);
    assert_eq!(names(folder.path()), ["r"]);
}

#[test]
fn results_are_not_put_where_another_run_removes_them() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::create(&folder.path().join("r"), Overwrite::Refuse).unwrap();
    let within = folder.path().join("r.checkpoints/mine");
    let error = refused(&within, Overwrite::Refuse);
    assert!(matches!(&error, ResultsError::WithinRun { path, .. } if *path == within), "{error}");
    let deeper = Checkpoints::create(&within.join("deeper"), Overwrite::Replace).err();
    assert!(matches!(deeper, Some(ResultsError::WithinRun { .. })), "{deeper:?}");
    drop(checkpoints);
    assert!(matches!(refused(&within, Overwrite::Replace), ResultsError::WithinRun { .. }));
}

#[test]
fn force_removes_no_results_of_others_below() {
    let folder = tempfile::tempdir().unwrap();
    let above = sample::write(&folder.path().join("r"), Overwrite::Refuse).unwrap();
    let below = sample::write(&above.join("sweep/of/seeds"), Overwrite::Refuse).unwrap();
    let error = refused(&above, Overwrite::Replace);
    assert!(
        matches!(&error, ResultsError::HoldsOthers { others, .. } if *others == below),
        "{error}"
    );
    assert!(below.join("run.json").exists());
    fs::remove_dir_all(&below).unwrap();
    // Nor does it replace the unfinished results of a run.
    let checkpoints = Checkpoints::create(&below, Overwrite::Refuse).unwrap();
    let error = refused(&above, Overwrite::Replace);
    assert!(matches!(error, ResultsError::HoldsOthers { .. }), "{error}");
    drop(checkpoints);
    let growing = ResultsDir::create(&below, Overwrite::Refuse).unwrap();
    assert!(matches!(refused(&above, Overwrite::Replace), ResultsError::HoldsOthers { .. }));
    drop(growing);
    fs::remove_dir_all(above.join("sweep")).unwrap();
    sample::write(&above, Overwrite::Replace).unwrap();
}

#[test]
fn force_touches_only_what_has_a_run_json_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = folder.path().join("thesis");
    fs::create_dir(&foreign).unwrap();
    for content in [None, Some("{}"), Some("{\"program\": \"other\"}"), Some("not JSON")] {
        if let Some(content) = content {
            fs::write(foreign.join("run.json"), content).unwrap();
        }
        let error = refused(&foreign, Overwrite::Replace);
        assert!(matches!(error, ResultsError::NotResults { .. }), "{content:?}");
    }
    let file = folder.path().join("file");
    fs::write(&file, "precious").unwrap();
    assert!(matches!(refused(&file, Overwrite::Replace), ResultsError::NotResults { .. }));
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    assert_eq!(names(folder.path()), ["file", "thesis"]);
}

#[test]
fn what_appeared_meanwhile_is_not_overwritten_and_the_new_results_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let directory = ResultsDir::create(&path, Overwrite::Refuse).unwrap();
    let working = directory.working_path().to_owned();
    sample::fill(&directory).unwrap();
    fs::create_dir(&path).unwrap();
    let error = directory.finish(&sample::summary(), &sample::run_info()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Machine);
    assert!(error.to_string().contains(working.to_str().unwrap()), "{error}");
    assert_eq!(names(&path), [""; 0]);
    assert!(working.join("summary.json").exists());
    // The next run there does not take them for leftovers.
    let other = ResultsDir::create(folder.path().join("other"), Overwrite::Refuse).unwrap();
    other.remove_leftovers();
    assert!(working.join("flows.csv").exists() && working.join("run.json").exists());
    assert!(!names(&working).contains(&"lock".to_owned()));
}

#[test]
fn finished_results_hold_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    for overwrite in [Overwrite::Refuse, Overwrite::Replace] {
        let directory = ResultsDir::create(&path, overwrite).unwrap();
        assert!(names(directory.working_path()).contains(&"lock".to_owned()));
        sample::fill(&directory).unwrap();
        directory.finish(&sample::summary(), &sample::run_info()).unwrap();
        assert!(!names(&path).contains(&"lock".to_owned()));
        assert_eq!(names(folder.path()), ["r"]);
    }
}

/// If root runs this test, permissions do not keep the old results from being removed.
#[cfg(unix)]
#[test]
fn new_results_are_in_their_place_even_if_old_ones_cannot_be_removed() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = sample::write(&folder.path().join("r"), Overwrite::Refuse).unwrap();
    let held = path.join("held");
    fs::create_dir(&held).unwrap();
    fs::write(held.join("notes.txt"), "old").unwrap();
    fs::set_permissions(&held, fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(sample::write(&path, Overwrite::Replace).unwrap(), path);
    assert!(!names(&path).contains(&"lock".to_owned()) && !path.join("held").exists());
    for name in names(folder.path()).into_iter().filter(|name| name != "r") {
        let held = folder.path().join(name).join("removed/held");
        fs::set_permissions(&held, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let other = ResultsDir::create(folder.path().join("other"), Overwrite::Refuse).unwrap();
    other.remove_leftovers();
    drop(other);
    assert_eq!(names(folder.path()), ["r"]);
}

/// The names of a user's folders may look like ours.
#[test]
fn folders_beside_results_that_may_be_a_users_stay() {
    let folder = tempfile::tempdir().unwrap();
    let kept = ["r.checkpoints.old", "r.checkpoints.new", ".r.partial-1", ".thesis.partial-1"];
    for name in kept {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("scenario.resolved.toml"), "mine").unwrap();
    }
    let path = folder.path().join("r");
    let checkpoints = Checkpoints::create(&path, Overwrite::Refuse).unwrap();
    ResultsDir::with_checkpoints(&checkpoints, Overwrite::Refuse).unwrap().remove_leftovers();
    checkpoints.remove().unwrap();
    ResultsDir::create(&path, Overwrite::Refuse).unwrap().remove_leftovers();
    let mut expected = kept.to_vec();
    expected.sort_unstable();
    assert_eq!(names(folder.path()), expected);
    // A folder with exactly the name of ours is refused, and stays.
    let foreign = folder.path().join("r.checkpoints");
    fs::create_dir(&foreign).unwrap();
    for file in ["thesis.txt", "download.partial"] {
        fs::write(foreign.join(file), "mine").unwrap();
    }
    for overwrite in [Overwrite::Refuse, Overwrite::Replace] {
        let error = Checkpoints::clear_way(&path, overwrite).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadInput);
        assert!(error.to_string().contains("r.checkpoints was not written by rocelab"), "{error}");
        assert_eq!(names(&foreign), ["download.partial", "thesis.txt"]);
    }
}

#[test]
fn two_runs_may_write_the_same_results_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample::write(&folder.path().join("r"), Overwrite::Refuse).unwrap();
    let one = ResultsDir::create(&path, Overwrite::Replace).unwrap();
    let two = ResultsDir::create(&path, Overwrite::Replace).unwrap();
    assert_ne!(one.working_path(), two.working_path());
    one.finish(&sample::summary(), &sample::run_info()).unwrap();
    two.finish(&sample::summary(), &sample::run_info()).unwrap();
    assert_eq!(names(folder.path()), ["r"]);
}

#[cfg(unix)]
#[test]
fn a_link_to_results_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample::write(&folder.path().join("r"), Overwrite::Refuse).unwrap();
    let link = folder.path().join("latest");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(matches!(refused(&link, Overwrite::Refuse), ResultsError::Exists { .. }));
    sample::write(&link, Overwrite::Replace).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(names(folder.path()), ["latest", "r"]);
}

#[test]
fn places_where_nothing_can_be_made_are_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for below in ["r", "a/r"] {
        let error = refused(&file.join(below), Overwrite::Refuse);
        assert!(matches!(error, ResultsError::NotWritable { .. }), "{error}");
        assert!(error.to_string().contains("file"), "{error}");
    }
    for unnamed in ["/", ""] {
        let error = refused(Path::new(unnamed), Overwrite::Replace);
        assert!(
            matches!(error, ResultsError::Unnamed { .. } | ResultsError::NotResults { .. }),
            "{error}"
        );
    }
    assert_eq!(names(folder.path()), ["file"]);
}
