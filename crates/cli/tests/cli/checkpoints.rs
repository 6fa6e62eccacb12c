//! Runs that are killed and continued, and what-if runs.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::program::{Ended, Sandbox};

/// All kinds of files that grow: captures, samples, records of flows, pauses and drops.
const FABRIC: &str = r#"
convergence = "100us"

[topology.leaf-spine]
leaves = 4
spines = 2
hosts_per_leaf = 4
host_link = { rate = "100Gbps", cable = "20m" }
fabric_link = { rate = "100Gbps", cable = "100m" }

[switch]
xoff = "60KB"
ecn = { kmin = "40KB", kmax = "160KB", pmax = 0.2 }

[congestion_control.dcqcn]

[[workload.poisson]]
load = 0.6
distribution_file = "sizes.csv"
duration = "3ms"

[[failure]]
kind = "link-down"
port = "leaf-1:4"
at = "0s"
lasts = "300us"

[[failure]]
kind = "link-down"
port = "leaf-0:4"
at = "1ms"
lasts = "500us"

[capture]
ports = ["host-0"]

[sample]
queues = { interval = "50us", ports = ["leaf-0", "leaf-1"] }
rates = { interval = "100us" }
"#;

/// Bytes of flows.
const SIZES: &str = "bytes,cumulative_percent\n1000,0\n20000,50\n400000,90\n2000000,100\n";

fn write_fabric(sandbox: &Sandbox) {
    sandbox.write("fabric.toml", FABRIC);
    sandbox.write("sizes.csv", SIZES);
}

fn start(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    let mut command = sandbox.program(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// The files of results, except the one with the run's duration.
fn results(sandbox: &Sandbox, folder: &str) -> Vec<(String, Vec<u8>)> {
    let names = sandbox.tree().into_iter().filter_map(|name| {
        let below = name.strip_prefix(folder)?.strip_prefix('/')?.to_owned();
        sandbox.path(&name).is_file().then_some(below)
    });
    let names = names.filter(|name| name != "run.json");
    let read = |name: String| {
        let bytes = std::fs::read(sandbox.path(folder).join(&name)).unwrap();
        (name, bytes)
    };
    names.map(read).collect()
}

#[track_caller]
fn assert_same(sandbox: &Sandbox, one: &str, other: &str) {
    let (one, other) = (results(sandbox, one), results(sandbox, other));
    let names =
        |all: &[(String, Vec<u8>)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other));
    for ((name, bytes), (_, others)) in one.iter().zip(&other) {
        assert!(bytes == others, "{name} differs");
    }
}

/// The results of a branch are those of the run, but for what they say of their origin.
fn assert_branch(sandbox: &Sandbox, whole: &str, branch: &str) {
    let mut summary = sandbox.json(&format!("{branch}/summary.json"));
    let origin = summary.as_object_mut().unwrap().remove("branch").expect("a branch says so");
    assert_eq!(origin["of"], whole);
    assert_eq!(summary, sandbox.json(&format!("{whole}/summary.json")));
    let others = |folder: &str| {
        let all = results(sandbox, folder).into_iter();
        all.filter(|(name, _)| name != "summary.json").collect::<Vec<_>>()
    };
    assert!(others(whole) == others(branch), "{branch} differs from {whole}");
}

/// Times between 10 and 200 ms, by a generator that always gives the same numbers.
fn moments() -> impl Iterator<Item = Duration> {
    let mut state = 7_u64;
    std::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_millis(10 + (state >> 33) % 190)
    })
}

/// SIGKILL, which a program cannot handle: at 50 times, each with one thread and with two. A run
/// that is killed before its first checkpoint starts again.
#[cfg(unix)]
#[test]
fn a_run_that_is_killed_ends_in_the_same_bytes() {
    let sandbox = Sandbox::new();
    write_fabric(&sandbox);
    sandbox.succeeds(&["run", "fabric.toml", "--out", "whole", "--quiet"]);
    assert!(results(&sandbox, "whole").iter().any(|(name, _)| name == "capture.pcapng"));
    let (mut kills, mut resumed, mut completed) = (0, 0, 0);
    let mut moments = moments();
    while kills < 50 || completed < 2 {
        let threads = if (kills + completed) % 2 == 0 { "1" } else { "2" };
        let begins = sandbox.tree().iter().all(|name| !name.ends_with(".checkpoint"));
        let child = if begins {
            let every = ["--checkpoint-every", "200us", "--threads", threads, "--quiet", "--force"];
            start(&sandbox, &[&["run", "fabric.toml", "--out", "killed"][..], &every].concat())
        } else {
            resumed += 1;
            start(&sandbox, &["resume", "killed", "--threads", threads, "--quiet"])
        };
        let mut child = child;
        let moment = moments.next().unwrap_or_default();
        let last = kills >= 50;
        if !last {
            sleep(moment);
            if child.try_wait().expect("it is ours").is_none() {
                kills += 1;
                child.kill().expect("it is ours");
            }
        }
        let ended = Ended::of(child.wait_with_output().expect("it is ours"));
        if ended.code == Some(0) {
            completed += 1;
            assert_same(&sandbox, "whole", "killed");
            assert!(!sandbox.path("killed.checkpoints").exists(), "{:?}", sandbox.tree());
            std::fs::remove_dir_all(sandbox.path("killed")).unwrap();
        } else {
            assert_eq!(ended.code, None, "{ended:?}");
        }
    }
    assert!(resumed > 20, "{resumed} of {kills} were gone on with");
}

/// A what-if run is the same as the original until its checkpoint, and differs from then on.
#[test]
fn a_branch_goes_on_with_other_settings() {
    let sandbox = Sandbox::new();
    write_fabric(&sandbox);
    let kept = ["--checkpoint-every", "500us", "--keep-checkpoints", "--quiet"];
    sandbox.succeeds(&[&["run", "fabric.toml", "--out", "whole"][..], &kept].concat());
    let branch = |out: &str, set: &str| {
        let arguments = ["branch", "whole", "--at", "2ms", "--out", out, "--set", set];
        sandbox.succeeds(&[&arguments[..], &["--quiet"]].concat());
    };
    branch("same", "switch.xoff=60KB");
    assert_branch(&sandbox, "whole", "same");
    let beginning =
        ["branch", "whole", "--at", "0s", "--out", "again", "--set", "switch.xoff=60KB"];
    sandbox.succeeds(&[&beginning[..], &["--quiet"]].concat());
    assert_branch(&sandbox, "whole", "again");
    branch("marks", "switch.ecn.kmin=5KB");
    branch("fails", "failure[1].lasts=500us");
    assert_branch(&sandbox, "whole", "fails");
    let digest = |folder: &str| sandbox.json(&format!("{folder}/summary.json"))["digest"].clone();
    assert_ne!(digest("marks"), digest("whole"));
    let rows = |folder: &str| {
        let text = std::fs::read_to_string(sandbox.path(folder).join("queues.csv")).unwrap();
        let until = |line: &&str| {
            line.split(',')
                .next()
                .and_then(|time| time.parse().ok())
                .is_none_or(|time: u64| time <= 2_000_000_000)
        };
        text.lines().filter(until).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(rows("whole").len() > 10);
    assert_eq!(rows("marks"), rows("whole"));
}

/// A stream without a `stop` of its own goes on in a branch that stops later, as if the run had never meant to stop
/// earlier. The checkpoint is of a time at which nothing more was due before the first `stop`.
#[test]
fn a_branch_that_stops_later_has_streams_until_then() {
    let sandbox = Sandbox::new();
    let scenario = "[topology.single-switch]\nhosts = 4\nlink = { rate = \"100Gbps\", cable = \"3m\" }\n\
        [workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"200KB\" }]\n\
        [[host.stack.udp]]\nfrom = \"host-2\"\nto = \"host-3\"\nrate = \"2Mbps\"\ndatagram = \"1KB\"\n";
    sandbox.write("short.toml", format!("stop = \"10ms\"\n{scenario}"));
    sandbox.write("long.toml", format!("stop = \"30ms\"\n{scenario}"));
    let kept = ["--checkpoint-every", "1ms", "--keep-checkpoints", "--quiet"];
    sandbox.succeeds(&[&["run", "short.toml", "--out", "short"][..], &kept].concat());
    sandbox.succeeds(&["run", "long.toml", "--out", "long", "--quiet"]);
    let branch = ["branch", "short", "--at", "9ms", "--out", "branch", "--set", "stop=30ms"];
    sandbox.succeeds(&[&branch[..], &["--quiet"]].concat());
    let sent = |folder: &str| {
        let summary = sandbox.json(&format!("{folder}/summary.json"));
        summary["streams"][0]["sent_packets"].as_u64()
    };
    // One is due every 4 ms.
    assert_eq!((sent("short"), sent("branch"), sent("long")), (Some(3), Some(8), Some(8)));
}

/// A network in which a hash chooses paths, and a link that fails later.
const TWO_PATHS: &str = "sample = \"off\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
    host_link = { rate = \"100Gbps\", cable = \"3m\" }\nfabric_link = { rate = \"100Gbps\", cable = \"3m\" }\n\
    [[failure]]\nkind = \"link-down\"\nport = \"leaf-0:4\"\nat = \"900us\"\nlasts = \"10us\"\n[workload.flows]\nlist = [\
    { from = \"host-0\", to = \"host-4\", bytes = \"100KB\" },\
    { from = \"host-1\", to = \"host-5\", bytes = \"10MB\" },\
    { from = \"host-2\", to = \"host-6\", bytes = \"100KB\", start = \"600us\" }]\n";

/// A run with failures does not count which flows share links, because paths may change: its branch cannot count them
/// either, though nothing fails there any more.
#[test]
fn a_branch_without_the_failures_does_not_count_from_the_middle() {
    let sandbox = Sandbox::new();
    sandbox.write("two.toml", TWO_PATHS);
    let kept = ["--checkpoint-every", "100us", "--keep-checkpoints", "--quiet"];
    sandbox.succeeds(&[&["run", "two.toml", "--out", "whole"][..], &kept].concat());
    let branch = ["branch", "whole", "--at", "500us", "--out", "branch", "--set", "failure=[]"];
    sandbox.succeeds(&[&branch[..], &["--quiet"]].concat());
    let text = std::fs::read_to_string(sandbox.path("branch").join("flows.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let place = |name: &str| names.iter().position(|one| *one == name).unwrap();
    let (path, collisions) = (place("path"), place("collisions"));
    let rows: Vec<_> =
        lines.map(|row| (row[path].to_owned(), row[collisions].to_owned())).collect();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|(_, collisions)| collisions.is_empty()), "{rows:?}");
    assert!(rows[1..].iter().all(|(path, _)| path.contains("leaf-0>spine-")), "{rows:?}");
}

/// The intervals of samples by default follow from `stop`: those of the run go on in a branch that stops later.
#[test]
fn a_branch_samples_as_its_run_did() {
    let sandbox = Sandbox::new();
    let flows = TWO_PATHS.replace("sample = \"off\"", "stop = \"300us\"");
    sandbox.write("two.toml", flows);
    let kept = ["--checkpoint-every", "100us", "--keep-checkpoints", "--quiet"];
    sandbox.succeeds(&[&["run", "two.toml", "--out", "whole"][..], &kept].concat());
    let branch = ["branch", "whole", "--at", "200us", "--out", "branch", "--set", "stop=2ms"];
    sandbox.succeeds(&[&branch[..], &["--quiet"]].concat());
    let intervals =
        |of: &str| sandbox.json(&format!("{of}/summary.json"))["sample_intervals"].clone();
    assert!(intervals("whole")["utilisation"]["first_ps"].as_u64().is_some());
    assert_eq!(intervals("whole"), intervals("branch"));
}

/// What a measuring window has counted goes on after a checkpoint, and in several parts.
#[test]
fn a_measuring_window_goes_on_after_a_checkpoint() {
    let sandbox = Sandbox::new();
    let app = "[workload.storage]\nclients = [\"host-0\", \"host-3\"]\nservers = [\"host-7\"]\nread_fraction = 0.5\n\
               block = \"16KB\"\nqueue_depth = 2\nuntil = \"800us\"\n[switch]\nbuffer = \"300KB\"\n\
               [measure]\nfrom = \"150us\"\nto = \"620us\"\n";
    let scenario = TWO_PATHS.replace("900us", "310us") + app;
    sandbox.write("measured.toml", scenario);
    sandbox.succeeds(&["run", "measured.toml", "--out", "whole", "--quiet"]);
    let parts = ["run", "measured.toml", "--out", "parts", "--quiet", "--partitions", "3"];
    sandbox.succeeds(&parts);
    assert_same(&sandbox, "whole", "parts");
    let kept = ["--checkpoint-every", "100us", "--keep-checkpoints", "--quiet"];
    sandbox.succeeds(&[&["run", "measured.toml", "--out", "kept"][..], &kept].concat());
    for (number, at) in ["100us", "200us", "400us", "700us"].iter().enumerate() {
        let out = format!("branch-{number}");
        let same = "switch.buffer=300KB";
        let branch = ["branch", "kept", "--at", at, "--out", &out, "--set", same, "--quiet"];
        sandbox.succeeds(&branch);
        assert_branch(&sandbox, "kept", &out);
    }
    let summary = sandbox.json("whole/summary.json");
    assert_eq!(summary, sandbox.json("kept/summary.json"));
    let disk = &summary["operations"][0];
    assert_eq!(disk["goodput"]["duration_ps"], 470_000_000);
    assert!(disk["per_second"].as_u64().unwrap() > 10_000, "{disk}");
}

#[test]
fn wrong_input_is_told_and_loses_nothing() {
    let sandbox = Sandbox::new();
    write_fabric(&sandbox);
    let fails = |arguments: &[&str], words: &[&str]| {
        let ended = sandbox.rocelab(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {ended:?}");
        for word in words {
            assert!(ended.stderr.contains(word), "{arguments:?}: no {word:?} in {}", ended.stderr);
        }
    };
    fails(&["resume", "none"], &["no checkpoints", "--checkpoint-every"]);
    fails(&["run", "fabric.toml", "--keep-checkpoints"], &["--checkpoint-every"]);
    fails(&["run", "fabric.toml", "--checkpoint-every", "0s"], &["--checkpoint-every 5ms"]);
    assert_eq!(sandbox.tree(), ["fabric.toml", "sizes.csv"]);
    let kept = ["--checkpoint-every", "1ms", "--keep-checkpoints", "--quiet"];
    sandbox.succeeds(&[&["run", "fabric.toml", "--out", "whole"][..], &kept].concat());
    let before = sandbox.tree();
    fails(&["run", "fabric.toml", "--out", "whole"], &["exists"]);
    let branch = |rest: &[&str], words: &[&str]| {
        fails(&[&["branch", "whole", "--out", "b"][..], rest].concat(), words);
        assert_eq!(sandbox.tree(), before);
    };
    branch(&["--set", "roce.path_mtu=512"], &["cannot change roce", "switch"]);
    branch(&["--set", "failure[1].at=500us"], &["has happened"]);
    branch(&["--set", "switch.latency=3us"], &["latency", "may differ"]);
    branch(&["--set", "stop=1ms"], &["stop it later"]);
    branch(
        &["--set", "switch.xoff=60KB", "--at", "3ns", "--quiet", "--force", "--threads", "0"],
        &["0"],
    );
    branch(&["--set", "congestion_control.timely={}"], &["congestion control"]);
    branch(&["--set", "switch.kmin=5KB"], &["kmin"]);
    for (out, why) in [
        ("whole", "begins with"),
        ("./whole", "begins with"),
        ("whole/b", "begins with"),
        ("whole.checkpoints/b", "another run's"),
        ("whole.checkpoints/../whole", "begins with"),
    ] {
        let again = ["branch", "whole", "--out", out, "--force", "--set", "stop=9ms"];
        fails(&again, &[why, "another directory"]);
        assert_eq!(sandbox.tree(), before);
    }
    assert_eq!(sandbox.succeeds(&["resume", "whole"]), "whole is complete\n");
    std::fs::rename(sandbox.path("whole"), sandbox.path("elsewhere")).unwrap();
    fails(&["resume", "whole"], &["no results", "--force", "whole.checkpoints"]);
    fails(&["run", "fabric.toml", "--out", "whole"], &["no longer goes on", "--force", "--out"]);
    fails(&["explain", "whole"], &["no results"]);
    let elsewhere = ["branch", "whole", "--out", "b", "--set", "stop=9ms"];
    fails(&elsewhere, &["there are no results", "whole.checkpoints"]);
    std::fs::create_dir(sandbox.path("whole")).unwrap();
    fails(&["resume", "whole"], &["whole/summary.json"]);
    std::fs::remove_dir(sandbox.path("whole")).unwrap();
    std::fs::rename(sandbox.path("elsewhere"), sandbox.path("whole")).unwrap();
    let damaged = sandbox.tree().into_iter().rfind(|name| name.ends_with(".checkpoint")).unwrap();
    let mut bytes = std::fs::read(sandbox.path(&damaged)).unwrap();
    bytes[99] ^= 1;
    std::fs::write(sandbox.path(&damaged), bytes).unwrap();
    fails(&elsewhere, &[".checkpoint", "damaged", "can be read", "--at"]);
    // The state of a run that was killed before its end.
    std::fs::rename(sandbox.path("whole"), sandbox.path("whole.checkpoints/results")).unwrap();
    fails(&["resume", "whole"], &["damaged", "can be read", "remove what is later"]);
    fails(&["report", "whole"], &["not over", "rocelab resume whole"]);
    std::fs::remove_file(sandbox.path(&damaged)).unwrap();
    let checkpoints = sandbox.tree().into_iter().filter(|name| name.ends_with(".checkpoint"));
    let checkpoints: Vec<_> = checkpoints.map(|name| sandbox.path(&name)).collect();
    // The version follows a mark and its own length.
    let rewrite = |version: &[u8]| {
        for path in &checkpoints {
            let mut bytes = std::fs::read(path).unwrap();
            bytes[12..][..version.len()].copy_from_slice(version);
            std::fs::write(path, bytes).unwrap();
        }
    };
    rewrite(b"0.0.9");
    let ended = sandbox.rocelab(&["resume", "whole"]);
    assert!(ended.stderr.contains("written by rocelab 0.0.9"), "{ended:?}");
    assert!(!ended.stderr.contains("remove"), "{ended:?}");
    rewrite(env!("CARGO_PKG_VERSION").as_bytes());
    std::fs::create_dir(sandbox.path("whole")).unwrap();
    fails(&["resume", "whole"], &["whole has come into being", "move it away"]);
    std::fs::remove_dir(sandbox.path("whole")).unwrap();
    sandbox.succeeds(&["resume", "whole", "--quiet"]);
    std::fs::remove_dir_all(sandbox.path("whole.checkpoints")).unwrap();
    assert_eq!(sandbox.succeeds(&["resume", "whole"]), "whole is complete\n", "and keeps nothing");
}

/// The checkpoints do not belong to the scenario as it is now. Continuing would give the results of
/// neither version.
#[test]
fn a_run_whose_scenario_has_changed_since_does_not_go_on() {
    let sandbox = Sandbox::new();
    write_fabric(&sandbox);
    let mut run =
        start(&sandbox, &["run", "fabric.toml", "--out", "run", "--checkpoint-every", "1ms"]);
    let has_begun = || sandbox.tree().iter().any(|name| name.ends_with(".checkpoint"));
    while !has_begun() {
        sleep(Duration::from_millis(1));
    }
    run.kill().expect("it is ours");
    assert_eq!(Ended::of(run.wait_with_output().expect("it is ours")).code, None);
    let before = sandbox.tree();
    for (file, from, to) in [
        ("scenario.resolved.toml", "60KB", "61KB"),
        ("sizes.csv", "20000", "20001"),
        ("scenario.resolved.toml", "seed", "unknown"),
    ] {
        let path = sandbox.path("run.checkpoints/results").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
        let branch = ["branch", "run", "--out", "branch", "--set", "stop=9ms"];
        for arguments in [&["resume", "run"][..], &branch] {
            let ended = sandbox.rocelab(arguments);
            assert_eq!(ended.code, Some(2), "{arguments:?}: {ended:?}");
            assert!(ended.stderr.contains(&format!("{file}: it has changed since")), "{ended:?}");
        }
        std::fs::write(&path, text).unwrap();
        assert_eq!(sandbox.tree(), before);
    }
    sandbox.succeeds(&["resume", "run", "--quiet"]);
}

#[test]
fn a_branch_replaces_results_with_their_checkpoints() {
    let sandbox = Sandbox::new();
    write_fabric(&sandbox);
    let kept = ["--checkpoint-every", "1ms", "--keep-checkpoints", "--quiet"];
    for out in ["one", "other"] {
        sandbox.succeeds(&[&["run", "fabric.toml", "--out", out][..], &kept].concat());
    }
    let before = sandbox.tree();
    let branch = ["branch", "one", "--out", "other", "--quiet"];
    let refused = sandbox.rocelab(&[&branch[..], &["--set", "switch.xoff=60KB"]].concat());
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let wrong = [&branch[..], &["--force", "--set", "congestion_control.timely={}"]].concat();
    let refused = sandbox.rocelab(&wrong);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert_eq!(sandbox.tree(), before, "nothing is lost");
    sandbox.succeeds(&[&branch[..], &["--force", "--set", "switch.xoff=60KB"]].concat());
    assert!(!sandbox.path("other.checkpoints").exists());
    assert!(sandbox.path("one.checkpoints").exists());
}

/// Packets under way carry what the delay needs, or nothing; a branch cannot change that. Other parameters of the
/// algorithm it can.
#[test]
fn a_branch_cannot_follow_another_delay() {
    let sandbox = Sandbox::new();
    write_fabric(&sandbox);
    let kept = ["--checkpoint-every", "1ms", "--keep-checkpoints", "--quiet"];
    for (delay, other) in [("queueing", "round-trip"), ("round-trip", "queueing")] {
        let control = format!("[congestion_control.timely]\ndelay = \"{delay}\"");
        let file = format!("{delay}.toml");
        sandbox.write(&file, FABRIC.replace("[congestion_control.dcqcn]", &control));
        sandbox.succeeds(&[&["run", file.as_str(), "--out", delay][..], &kept].concat());
        let before = sandbox.tree();
        let other = format!("congestion_control.timely.delay={other}");
        let branch = ["branch", delay, "--at", "1ms", "--out", "branch", "--quiet", "--force"];
        let refused = sandbox.rocelab(&[&branch[..], &["--set", &other]].concat());
        assert_eq!(refused.code, Some(2), "{refused:?}");
        let set = format!("--set {other}: ");
        for words in [set.as_str(), "another delay", "docs/checkpoints.md"] {
            assert!(refused.stderr.contains(words), "no {words:?} in {}", refused.stderr);
        }
        assert_eq!(sandbox.tree(), before, "nothing is left behind");
        let same = ["--set", "congestion_control.timely.beta=0.5"];
        sandbox.succeeds(&[&branch[..], &same].concat());
    }
}

/// Frames of priority 3 wait behind a pause as the branch gives that priority another queue. They wait in that one from then on:
/// the flows of priority 4 at the same port pass them, and none of them leaves.
#[test]
fn frames_behind_a_pause_wait_in_the_queues_of_a_branch() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "run.toml",
        "stop = \"200us\"\n[topology.single-switch]\nhosts = 4\n\
         link = { rate = \"40Gbps\", cable = \"3m\" }\n[congestion_control.none]\n[switch]\nlossless = [3, 4]\n\
         xoff = \"20KB\"\n[[workload.flows]]\npriority = 3\nlist = [\n\
         { from = \"host-1\", to = \"host-0\", bytes = \"400KB\" },\n\
         { from = \"host-2\", to = \"host-0\", bytes = \"400KB\" },\n]\n[[workload.flows]]\npriority = 4\nlist = [\n\
         { from = \"host-3\", to = \"host-0\", bytes = \"2MB\" },\n]\n[[failure]]\nkind = \"pause-storm\"\n\
         host = \"host-0\"\npriorities = [3]\nat = \"20us\"\n",
    );
    sandbox.rocelab(&[
        "run",
        "run.toml",
        "--out",
        "run",
        "--checkpoint-every",
        "20us",
        "--keep-checkpoints",
    ]);
    for map in ["{3=3}", "{3=5}", "{4=3, 3=4}"] {
        let set = format!("switch.queue_of={map}");
        let ended = sandbox.rocelab(&[
            "branch", "run", "--at", "60us", "--out", "branch", "--force", "--set", &set,
        ]);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let summary = sandbox.json("branch/summary.json");
        // Nothing of theirs has left since the storm began.
        let since = summary["frozen"]["since_ps"].as_u64().expect("flows are frozen");
        assert!((20_000_000..20_100_000).contains(&since), "{map}: {since}");
        assert_eq!(summary["frozen"]["flows"], 2, "{map}");
    }
}
