//! `rocelab check`.

use crate::program::{Desk, repository_argument};

#[test]
fn a_good_scenario_is_said_to_be_good_and_nothing_is_written() {
    let desk = Desk::with_small();
    let before = desk.tree();
    let answer = desk.succeeds(&["check", "small.toml"]);
    assert_eq!(answer, "small.toml: 4 hosts, 4 links, 3 flows: ok\n");
    assert_eq!(desk.tree(), before);
}

#[test]
fn overrides_are_checked_too() {
    let desk = Desk::with_small();
    let answer = desk.succeeds(&["check", "small.toml", "--set", "workload.incast.senders=2"]);
    assert!(answer.contains("2 flows"), "{answer}");
    let ended = desk.rocelab(&["check", "small.toml", "--set", "workload.incast.senders=9"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(ended.stdout, "");
}

#[test]
fn every_scenario_of_the_repository_is_good() {
    let desk = Desk::new();
    let answer = desk.succeeds(&["check", &repository_argument("scenarios")]);
    let names = ["incast-v1.toml", "incast-v2.toml", "single-switch-write.toml"];
    for name in names {
        assert!(answer.lines().any(|line| line.contains(name) && line.ends_with(": ok")));
    }
    assert!(desk.tree().is_empty());
}

#[test]
fn a_folder_is_checked_in_order_of_names_and_every_error_told() {
    let desk = Desk::with_small();
    desk.write("a.toml", "seed = 1\n");
    desk.write("z/config.txt", "CC_MODEE 1\n");
    let ended = desk.rocelab(&["check", "."]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(ended.stdout, "./small.toml: 4 hosts, 4 links, 3 flows: ok\n");
    let errors: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(errors.len(), 2, "{ended:?}");
    assert!(errors[0].starts_with("error: ./a.toml:1:"), "{ended:?}");
    assert!(errors[1].starts_with("error: ./z/config.txt:1:1: CC_MODEE: "), "{ended:?}");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_looked_into_is_not_passed_over() {
    let desk = Desk::with_small();
    // A link to itself: it refuses everybody, also those whom permissions do not stop.
    std::os::unix::fs::symlink("locked", desk.path("locked")).unwrap();
    let ended = desk.rocelab(&["check", "."]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(4), ""), "{ended:?}");
    assert!(ended.stderr.starts_with("error: ./locked: "), "{ended:?}");
}
