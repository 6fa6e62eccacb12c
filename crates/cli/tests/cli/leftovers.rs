//! What killed runs leave goes with the next run; a run that lasts is left alone.

use std::fs;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::program::Desk;

/// A run that takes hours, once it writes results.
fn lasting(desk: &Desk, arguments: &[&str], wanted: &str) -> Child {
    let set = ["--quiet", "--set", "workload.incast.bytes=100TB"];
    let mut command = desk.program(&[&["run", "small.toml"], arguments, &set].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    for _ in 0..1_200 {
        if desk.tree().iter().any(|path| path.contains(wanted) && path.ends_with("pfc.csv")) {
            return child;
        }
        sleep(Duration::from_millis(50));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    panic!("no run: {:?}", desk.tree());
}

/// SIGKILL.
fn kill(mut child: Child) {
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

/// The hidden folders, and those of checkpoints.
fn leftovers(desk: &Desk) -> Vec<String> {
    let is_one = |path: &String| path.starts_with('.') || path.contains(".checkpoints");
    desk.tree().into_iter().filter(|path| !path.contains('/') && is_one(path)).collect()
}

#[test]
fn the_next_run_removes_what_killed_ones_have_left() {
    let desk = Desk::with_small();
    // Both at once: the second one would remove what the first has left.
    let of = |out: &str| lasting(&desk, &["--out", out], &format!(".{out}.partial-"));
    let both = [of("one"), of("other")];
    both.into_iter().for_each(kill);
    assert_eq!(leftovers(&desk).len(), 2, "{:?}", desk.tree());
    desk.succeeds(&["run", "small.toml", "--out", "one"]);
    assert_eq!(leftovers(&desk), [""; 0]);
    assert!(desk.path("one/summary.json").exists());
}

#[test]
fn a_run_that_lasts_keeps_its_folder() {
    let desk = Desk::with_small();
    let child = lasting(&desk, &["--out", "one"], ".one.partial-");
    let held = leftovers(&desk);
    assert_eq!(held.len(), 1);
    desk.succeeds(&["run", "small.toml", "--out", "one"]);
    desk.succeeds(&["run", "small.toml", "--out", "other"]);
    assert_eq!(leftovers(&desk), held);
    kill(child);
    desk.succeeds(&["run", "small.toml", "--out", "third"]);
    assert_eq!(leftovers(&desk), [""; 0]);
}

/// A kill while old results, or checkpoints, are removed.
#[test]
fn what_is_half_removed_goes_too() {
    let desk = Desk::with_small();
    let every = ["--checkpoint-every", "10us", "--keep-checkpoints"];
    desk.succeeds(&[&["run", "small.toml", "--out", "one"][..], &every].concat());
    // As a run that was killed leaves it.
    kill(lasting(&desk, &["--out", "killed"], ".killed.partial-"));
    let killed = leftovers(&desk).remove(0);
    let lock = desk.text(&format!("{killed}/lock"));
    assert!(lock.starts_with("rocelab ") && lock.contains(" on "), "{lock}");
    let rename = |from: &str, aside: &str, to: &str| {
        desk.write(&format!("{aside}/lock"), &lock);
        fs::rename(desk.path(from), desk.path(aside).join(to)).unwrap();
    };
    rename("one.checkpoints", ".one.checkpoints.replaced-4711", "removed");
    fs::create_dir(desk.path(".one.checkpoints.replaced-4712")).unwrap();
    desk.succeeds(&["run", "small.toml", "--out", "other"]);
    assert_eq!(leftovers(&desk), [""; 0]);
    rename("other", ".one.replaced-4711", "results");
    desk.succeeds(&["run", "small.toml", "--out", "one", "--force"]);
    assert_eq!(leftovers(&desk), [""; 0]);
    // Of results that nothing has replaced, it is the only copy.
    let before = desk.text("one/summary.json");
    rename("one", ".one.replaced-4711-2", "results");
    desk.succeeds(&["run", "small.toml", "--out", "third"]);
    assert_eq!(desk.text("one/summary.json"), before);
    assert_eq!(leftovers(&desk), [""; 0]);
}

/// What is refused removes nothing.
#[test]
fn a_run_that_is_refused_removes_nothing() {
    let desk = Desk::with_small();
    desk.succeeds(&["run", "small.toml", "--out", "one"]);
    kill(lasting(&desk, &["--out", "other"], ".other.partial-"));
    let left = leftovers(&desk);
    assert_eq!(left.len(), 1);
    let refused = desk.rocelab(&["run", "small.toml", "--out", "one"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert_eq!(leftovers(&desk), left);
}

/// A kill when the results are in their place, and their checkpoints half removed.
#[test]
fn going_on_with_what_is_complete_removes_the_rest_of_its_checkpoints() {
    let desk = Desk::with_small();
    let every = ["--checkpoint-every", "10us", "--keep-checkpoints"];
    desk.succeeds(&[&["run", "small.toml", "--out", "one"][..], &every].concat());
    // As a run that was killed leaves it.
    kill(lasting(&desk, &["--out", "killed"], ".killed.partial-"));
    let lock = desk.text(&format!("{}/lock", leftovers(&desk).remove(0)));
    let aside = ".one.checkpoints.replaced-4711";
    desk.write(&format!("{aside}/lock"), &lock);
    fs::rename(desk.path("one.checkpoints"), desk.path(aside).join("removed")).unwrap();
    assert_eq!(desk.succeeds(&["resume", "one"]), "one is complete\n");
    assert_eq!(leftovers(&desk), [""; 0]);
}

#[test]
fn a_run_with_checkpoints_that_was_killed_goes_on_all_the_same() {
    let desk = Desk::with_small();
    let every = ["--out", "one", "--checkpoint-every", "100us"];
    kill(lasting(&desk, &every, "one.checkpoints/results/"));
    desk.succeeds(&["run", "small.toml", "--out", "other"]);
    assert_eq!(leftovers(&desk), ["one.checkpoints"], "it can go on");
    desk.write("one.checkpoints/00000000000000000007.partial", "half of one");
    let child = desk.program(&["resume", "one", "--quiet"]).spawn().expect("it starts");
    let is_there = || desk.path("one.checkpoints/00000000000000000007.partial").exists();
    let mut looks = 0;
    while is_there() && looks < 600 {
        sleep(Duration::from_millis(50));
        looks += 1;
    }
    kill(child);
    assert!(!is_there());
}

/// What is not ours, or not surely, stays.
#[test]
fn the_folders_of_others_stay() {
    let desk = Desk::with_small();
    let kept = [
        ".mine.partial-1/chapter.txt",
        ".one.partial-1/scenario.resolved.toml",
        ".one.partial-x/flows.csv",
        "one.partial-1/flows.csv",
        "one.checkpoints.old/thesis.txt",
        "one.checkpoints.new/thesis.txt",
    ];
    for file in kept {
        desk.write(file, "years of work");
    }
    desk.succeeds(&["run", "small.toml", "--out", "one"]);
    for file in kept {
        assert_eq!(desk.text(file), "years of work", "{file}");
    }
    let called_as_ours = ["one.checkpoints/thesis.txt", "one.checkpoints/download.partial"];
    for file in called_as_ours {
        desk.write(file, "years of work");
    }
    let run = ["run", "small.toml", "--out", "one"];
    let every = ["--checkpoint-every", "10us"];
    let before = desk.tree();
    for more in [vec![], vec!["--force"], every.to_vec(), [&every[..], &["--force"]].concat()] {
        let refused = desk.rocelab(&[&run[..], &more].concat());
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    }
    let refused = desk.rocelab(&[&run[..], &["--force"]].concat());
    for part in ["one.checkpoints", "not written by rocelab", "--out"] {
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
    assert_eq!(desk.succeeds(&["resume", "one"]), "one is complete\n");
    assert_eq!(desk.tree(), before);
    for file in called_as_ours {
        assert_eq!(desk.text(file), "years of work", "{file}");
    }
}
