//! A run removes what killed runs have left, and does not touch the folders of running ones.

use std::fs;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::program::Sandbox;

/// Starts a run that takes hours, and waits until it writes results.
fn lasting(sandbox: &Sandbox, arguments: &[&str], wanted: &str) -> Child {
    let set = ["--quiet", "--set", "workload.incast.bytes=100TB"];
    let mut command = sandbox.program(&[&["run", "small.toml"], arguments, &set].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    for _ in 0..1_200 {
        if sandbox.tree().iter().any(|path| path.contains(wanted) && path.ends_with("pfc.csv")) {
            return child;
        }
        sleep(Duration::from_millis(50));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    panic!("no run: {:?}", sandbox.tree());
}

/// Sends SIGKILL.
fn kill(mut child: Child) {
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

/// The hidden folders, and the folders of checkpoints.
fn leftovers(sandbox: &Sandbox) -> Vec<String> {
    let is_one = |path: &String| path.starts_with('.') || path.contains(".checkpoints");
    sandbox.tree().into_iter().filter(|path| !path.contains('/') && is_one(path)).collect()
}

#[test]
fn the_next_run_removes_what_killed_ones_have_left() {
    let sandbox = Sandbox::with_small();
    // Both are started before either is killed: the second one would remove the leftover of the
    // first.
    let of = |out: &str| lasting(&sandbox, &["--out", out], &format!(".{out}.partial-"));
    let both = [of("one"), of("other")];
    both.into_iter().for_each(kill);
    assert_eq!(leftovers(&sandbox).len(), 2, "{:?}", sandbox.tree());
    sandbox.succeeds(&["run", "small.toml", "--out", "one"]);
    assert_eq!(leftovers(&sandbox), [""; 0]);
    assert!(sandbox.path("one/summary.json").exists());
}

#[test]
fn a_run_that_lasts_keeps_its_folder() {
    let sandbox = Sandbox::with_small();
    let child = lasting(&sandbox, &["--out", "one"], ".one.partial-");
    let held = leftovers(&sandbox);
    assert_eq!(held.len(), 1);
    sandbox.succeeds(&["run", "small.toml", "--out", "one"]);
    sandbox.succeeds(&["run", "small.toml", "--out", "other"]);
    assert_eq!(leftovers(&sandbox), held);
    kill(child);
    sandbox.succeeds(&["run", "small.toml", "--out", "third"]);
    assert_eq!(leftovers(&sandbox), [""; 0]);
}

/// A process was killed while it removed old results, or checkpoints.
#[test]
fn what_is_half_removed_goes_too() {
    let sandbox = Sandbox::with_small();
    let every = ["--checkpoint-every", "10us", "--keep-checkpoints"];
    sandbox.succeeds(&[&["run", "small.toml", "--out", "one"][..], &every].concat());
    // The state that a killed run leaves.
    kill(lasting(&sandbox, &["--out", "killed"], ".killed.partial-"));
    let killed = leftovers(&sandbox).remove(0);
    let lock = sandbox.text(&format!("{killed}/lock"));
    assert!(lock.starts_with("rocelab ") && lock.contains(" on "), "{lock}");
    let rename = |from: &str, aside: &str, to: &str| {
        sandbox.write(&format!("{aside}/lock"), &lock);
        fs::rename(sandbox.path(from), sandbox.path(aside).join(to)).unwrap();
    };
    rename("one.checkpoints", ".one.checkpoints.replaced-4711", "removed");
    fs::create_dir(sandbox.path(".one.checkpoints.replaced-4712")).unwrap();
    sandbox.succeeds(&["run", "small.toml", "--out", "other"]);
    assert_eq!(leftovers(&sandbox), [""; 0]);
    rename("other", ".one.replaced-4711", "results");
    sandbox.succeeds(&["run", "small.toml", "--out", "one", "--force"]);
    assert_eq!(leftovers(&sandbox), [""; 0]);
    // If nothing has replaced these results, this is the only copy.
    let before = sandbox.text("one/summary.json");
    rename("one", ".one.replaced-4711-2", "results");
    sandbox.succeeds(&["run", "small.toml", "--out", "third"]);
    assert_eq!(sandbox.text("one/summary.json"), before);
    assert_eq!(leftovers(&sandbox), [""; 0]);
}

/// A run that is refused removes nothing.
#[test]
fn a_run_that_is_refused_removes_nothing() {
    let sandbox = Sandbox::with_small();
    sandbox.succeeds(&["run", "small.toml", "--out", "one"]);
    kill(lasting(&sandbox, &["--out", "other"], ".other.partial-"));
    let left = leftovers(&sandbox);
    assert_eq!(left.len(), 1);
    let refused = sandbox.rocelab(&["run", "small.toml", "--out", "one"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert_eq!(leftovers(&sandbox), left);
}

/// A process was killed when the results were in place and their checkpoints half removed.
#[test]
fn going_on_with_what_is_complete_removes_the_rest_of_its_checkpoints() {
    let sandbox = Sandbox::with_small();
    let every = ["--checkpoint-every", "10us", "--keep-checkpoints"];
    sandbox.succeeds(&[&["run", "small.toml", "--out", "one"][..], &every].concat());
    // The state that a killed run leaves.
    kill(lasting(&sandbox, &["--out", "killed"], ".killed.partial-"));
    let lock = sandbox.text(&format!("{}/lock", leftovers(&sandbox).remove(0)));
    let aside = ".one.checkpoints.replaced-4711";
    sandbox.write(&format!("{aside}/lock"), &lock);
    fs::rename(sandbox.path("one.checkpoints"), sandbox.path(aside).join("removed")).unwrap();
    assert_eq!(sandbox.succeeds(&["resume", "one"]), "one is complete\n");
    assert_eq!(leftovers(&sandbox), [""; 0]);
}

#[test]
fn a_run_with_checkpoints_that_was_killed_goes_on_all_the_same() {
    let sandbox = Sandbox::with_small();
    let every = ["--out", "one", "--checkpoint-every", "100us"];
    kill(lasting(&sandbox, &every, "one.checkpoints/results/"));
    sandbox.succeeds(&["run", "small.toml", "--out", "other"]);
    assert_eq!(leftovers(&sandbox), ["one.checkpoints"], "it can go on");
    sandbox.write("one.checkpoints/00000000000000000007.partial", "half of one");
    let child = sandbox.program(&["resume", "one", "--quiet"]).spawn().expect("it starts");
    let is_there = || sandbox.path("one.checkpoints/00000000000000000007.partial").exists();
    let mut looks = 0;
    while is_there() && looks < 600 {
        sleep(Duration::from_millis(50));
        looks += 1;
    }
    kill(child);
    assert!(!is_there());
}

/// Folders that are not of this program, or not certainly, stay.
#[test]
fn the_folders_of_others_stay() {
    let sandbox = Sandbox::with_small();
    let kept = [
        ".mine.partial-1/chapter.txt",
        ".one.partial-1/scenario.resolved.toml",
        ".one.partial-x/flows.csv",
        "one.partial-1/flows.csv",
        "one.checkpoints.old/thesis.txt",
        "one.checkpoints.new/thesis.txt",
    ];
    for file in kept {
        sandbox.write(file, "years of work");
    }
    sandbox.succeeds(&["run", "small.toml", "--out", "one"]);
    for file in kept {
        assert_eq!(sandbox.text(file), "years of work", "{file}");
    }
    let called_as_ours = ["one.checkpoints/thesis.txt", "one.checkpoints/download.partial"];
    for file in called_as_ours {
        sandbox.write(file, "years of work");
    }
    let run = ["run", "small.toml", "--out", "one"];
    let every = ["--checkpoint-every", "10us"];
    let before = sandbox.tree();
    for more in [vec![], vec!["--force"], every.to_vec(), [&every[..], &["--force"]].concat()] {
        let refused = sandbox.rocelab(&[&run[..], &more].concat());
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    }
    let refused = sandbox.rocelab(&[&run[..], &["--force"]].concat());
    for part in ["one.checkpoints", "not written by rocelab", "--out"] {
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
    assert_eq!(sandbox.succeeds(&["resume", "one"]), "one is complete\n");
    assert_eq!(sandbox.tree(), before);
    for file in called_as_ours {
        assert_eq!(sandbox.text(file), "years of work", "{file}");
    }
}
