//! `rocelab new`.

use crate::program::Sandbox;

/// The names that `--list` prints.
fn templates(sandbox: &Sandbox) -> Vec<String> {
    let list = sandbox.succeeds(&["new", "--list"]);
    let names = list.lines().map(|line| line.split("  ").next().unwrap().to_owned());
    names.collect()
}

#[test]
fn every_template_is_checked_and_runs() {
    let sandbox = Sandbox::new();
    let names = templates(&sandbox);
    for name in [
        "incast",
        "websearch-leaf-spine",
        "fat-tree",
        "storage",
        "roce-v1",
        "pfc-deadlock",
        "tcp-beside-rdma",
        "sweep",
    ] {
        assert!(names.iter().any(|one| one == name), "no {name} in {names:?}");
    }
    for name in names {
        let answer = sandbox.succeeds(&["new", &name]);
        let file = format!("{name}.toml");
        assert!(answer.starts_with(&format!("scenario: {file}\n")), "{answer}");
        // Only the deadlock is one, and is proved and detected as one.
        let expected = i32::from(name == "pfc-deadlock");
        let checked = sandbox.rocelab(&["check", &file]);
        assert_eq!((checked.code, checked.stderr.as_str()), (Some(expected), ""), "{checked:?}");
        let ended = sandbox.rocelab(&["run", &file]);
        assert_eq!(ended.code, Some(expected), "{ended:?}");
        assert_eq!(ended.stderr.contains("deadlock at"), expected == 1, "{ended:?}");
        assert!(!ended.stderr.contains("note:"), "{ended:?}");
    }
}

#[test]
fn the_sweep_is_one_and_the_answer_says_so() {
    let sandbox = Sandbox::new();
    let answer = sandbox.succeeds(&["new", "sweep", "mine.toml"]);
    assert!(answer.contains("rocelab sweep mine.toml\n"), "{answer}");
    assert!(sandbox.text("mine.toml").contains("#   rocelab sweep mine.toml\n"));
    sandbox.succeeds(&["sweep", "mine.toml", "--quiet", "--out", "tail"]);
    assert!(sandbox.path("tail/runs.parquet").is_file(), "{:?}", sandbox.tree());
}

#[test]
fn a_file_that_exists_is_kept() {
    let sandbox = Sandbox::new();
    sandbox.write("incast.toml", "mine");
    let ended = sandbox.rocelab(&["new", "incast"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    assert_eq!(ended.stderr, "error: FILE = incast.toml: exists; name another file\n");
    assert_eq!(sandbox.text("incast.toml"), "mine");

    let ended = sandbox.rocelab(&["new", "incast", "no/folder.toml"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.starts_with("error: FILE = no/folder.toml: "), "{ended:?}");
}

#[test]
fn an_unknown_name_is_told_with_those_that_exist() {
    let sandbox = Sandbox::new();
    let ended = sandbox.rocelab(&["new", "incasts"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    for part in ["'incasts'", "a similar value exists: 'incast'", "pfc-deadlock", "storage"] {
        assert!(ended.stderr.contains(part), "no {part} in {ended:?}");
    }
    assert!(sandbox.tree().is_empty());
}

#[test]
fn a_scenario_goes_to_standard_output_too() {
    let sandbox = Sandbox::new();
    let scenario = sandbox.succeeds(&["new", "incast", "-"]);
    assert!(scenario.starts_with("#:schema ./rocelab.schema.json\n# Incast: "), "{scenario}");
    assert!(sandbox.tree().is_empty());
}
