//! An error at one rank ends all of them, with one message.

use crate::programs::{Ended, has_mpirun, mpirun, on_ranks, repository};

/// The lines that begin like messages of the program.
fn errors(ended: &Ended) -> Vec<&str> {
    ended.stderr.lines().filter(|line| line.starts_with("error: ")).collect()
}

fn scenario() -> String {
    repository("scenarios/incast-v2.toml").to_string_lossy().into_owned()
}

#[test]
fn a_bad_scenario_is_told_once() {
    if !has_mpirun() {
        return;
    }
    let ended = on_ranks(3, &["run", &scenario(), "--set", "switch.alfa=1/8"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(matches!(errors(&ended)[..], [error] if error.contains("alfa")), "{ended:?}");
}

#[test]
fn bad_arguments_are_told_once() {
    if !has_mpirun() {
        return;
    }
    let ended = on_ranks(2, &["run", &scenario(), "--no-such-thing"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(errors(&ended).len(), 1, "{ended:?}");
}

#[test]
fn other_commands_are_those_of_rocelab() {
    if !has_mpirun() {
        return;
    }
    let ended = on_ranks(2, &["resume", "results/incast-v2-1"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(errors(&ended).len(), 1, "{ended:?}");
    assert!(ended.stderr.contains("use `rocelab` for all other commands"), "{ended:?}");
}

#[test]
fn what_only_one_process_can_do_is_refused() {
    if !has_mpirun() {
        return;
    }
    for (more, fix) in [
        (["--threads", "2"], "as many ranks as there are cores"),
        (["--checkpoint-every", "1ms"], "by `rocelab run`"),
    ] {
        let ended = on_ranks(2, &["run", &scenario(), more[0], more[1]]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let told = errors(&ended);
        assert!(
            matches!(told[..], [error] if error.contains(more[0]) && error.contains(fix)),
            "{ended:?}"
        );
    }
    let config = repository("crates/sim/tests/golden/hpcc-ns3/incast16-hpcc/config.txt");
    let ended = on_ranks(2, &["run", config.to_str().unwrap()]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        matches!(errors(&ended)[..], [error] if error.contains("cannot be spread over ranks")),
        "{ended:?}"
    );
}

#[test]
fn results_that_are_there_are_kept() {
    if !has_mpirun() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("results");
    let arguments = |more: &[&'static str]| {
        let out = out.to_string_lossy().into_owned();
        let mut all = vec!["run".to_owned(), scenario(), "--quiet".into(), "--out".into(), out];
        all.extend(more.iter().map(|&one| one.to_owned()));
        all
    };
    let run = |more: &[&'static str]| {
        let arguments = arguments(more);
        on_ranks(2, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(run(&[]).code, Some(0));
    let again = run(&[]);
    assert_eq!(again.code, Some(2), "{again:?}");
    assert_eq!(errors(&again).len(), 1, "{again:?}");
    assert_eq!(run(&["--force"]).code, Some(0));
}

/// Only the first rank has an invalid argument.
#[test]
fn a_first_rank_with_other_arguments_ends_the_others() {
    if !has_mpirun() {
        return;
    }
    let (program, own) = (env!("CARGO_BIN_EXE_rocelab-mpi"), scenario());
    let first = ["-n", "1", program, "run", &own, "--no-such-thing", ":", "-n", "1", program];
    let ended = mpirun(&first, &["run", &own]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(errors(&ended).len(), 1, "{ended:?}");
}

/// The second rank is, for example, on another machine, where the file is missing or different.
#[test]
fn ranks_that_read_other_files_end_together() {
    if !has_mpirun() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("results").to_string_lossy().into_owned();
    let program = env!("CARGO_BIN_EXE_rocelab-mpi");
    let own = scenario();
    let first = ["-n", "1", program, "run", &own, "--out", &out, ":", "-n", "1", program];
    let missing = mpirun(&first, &["run", "/no/such/scenario.toml"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    assert!(
        matches!(errors(&missing)[..], [error] if error.contains("rank 1: ") && error.contains("/no/such/scenario.toml")),
        "{missing:?}"
    );
    let unknown = mpirun(&first, &["run", &own, "--no-such-thing"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(
        matches!(errors(&unknown)[..], [error] if error.contains("rank 1: unexpected argument")),
        "{unknown:?}"
    );
    let other = mpirun(&first, &["run", &own, "--seed", "7"]);
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(
        matches!(errors(&other)[..], [error] if error.contains("rank 1 has another scenario")),
        "{other:?}"
    );
    assert!(!folder.path().join("results").exists());
}
