//! No result takes the place of what a command reads.

use std::fs;

use crate::program::{Desk, SMALL};

/// A flow, as a CSV file has it.
const FLOWS: &str = "source,destination,start_ps,bytes\nhost-0,host-1,0,1000\n";

/// Every name that results give to something of theirs.
const NAMES: [&str; 21] = [
    "capture-host-0.pcap",
    "capture.pcapng",
    "drops.csv",
    "fct.txt",
    "flows.csv",
    "flows.parquet",
    "links.csv",
    "operations.csv",
    "pauses.json",
    "pfc.csv",
    "pfc.txt",
    "queues.csv",
    "report.html",
    "run.json",
    "samples",
    "samples/marks.csv",
    "scenario.resolved.toml",
    "storms.csv",
    "summary.json",
    "topology.json",
    "Run.JSON",
];

/// A scenario that reads the flows in `file`.
fn reading(file: &str) -> String {
    let topology = SMALL.split("[workload").next().expect("a topology");
    format!(
        "{topology}[workload.flows]\ncsv = \"{file}\"\n[capture]\nports = [\"host-0\"]\n\
         [sample]\nqueues = {{ interval = \"1us\", ports = [\"switch-0\"] }}\n"
    )
}

/// Runs, has to be refused with a message that says all of `parts`, and changes nothing.
#[track_caller]
fn refused(desk: &Desk, arguments: &[&str], parts: &[&str]) {
    let before = contents(desk);
    let ended = desk.rocelab(arguments);
    assert_eq!(ended.code, Some(2), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
    for part in parts {
        assert!(ended.stderr.contains(part), "{arguments:?}: no {part:?} in {}", ended.stderr);
    }
    assert_eq!(contents(desk), before, "{arguments:?}");
}

/// All that is there.
fn contents(desk: &Desk) -> Vec<(String, Option<Vec<u8>>)> {
    let read = |file: String| {
        let bytes = fs::read(desk.path(&file)).ok();
        (file, bytes)
    };
    desk.tree().into_iter().map(read).collect()
}

/// Its copy in the results was written over, and the scenario there read the results of the run.
#[test]
fn a_file_may_be_called_like_one_of_the_results() {
    for name in NAMES {
        let desk = Desk::new();
        desk.write(name, FLOWS);
        desk.write("own.toml", reading(name));
        desk.succeeds(&["run", "own.toml", "--out", "results"]);
        assert_eq!(desk.text(name), FLOWS);
        // The scenario in the results still reads the flows.
        desk.succeeds(&["run", "results/scenario.resolved.toml", "--out", "again"]);
        let digest =
            |results: &str| desk.json(&format!("{results}/summary.json"))["digest"].clone();
        assert_eq!(digest("results"), digest("again"), "{name}");
        assert_eq!(desk.text(name), FLOWS);
    }
}

#[test]
fn files_of_other_names_are_copied() {
    let desk = Desk::new();
    desk.write("mine/run.json", FLOWS);
    desk.write("own.toml", reading("mine/run.json"));
    desk.succeeds(&["run", "own.toml", "--out", "results"]);
    assert_eq!(desk.text("results/mine/run.json"), FLOWS);
}

/// The old results, with what the run read, were removed.
#[test]
fn results_that_hold_an_input_are_not_replaced() {
    let desk = Desk::with_small();
    desk.succeeds(&["run", "small.toml", "--out", "old"]);
    desk.write("old/mine.csv", FLOWS);
    desk.write("own.toml", reading("old/mine.csv"));
    let force = ["--force", "--out"];
    let run = |scenario: &'static str, out: &'static str| {
        [&["run", scenario], &force[..], &[out]].concat()
    };
    let says = ["own.toml:", "workload.flows", "csv", "old/mine.csv", "--out"];
    refused(&desk, &run("own.toml", "old"), &says);
    refused(&desk, &run("own.toml", "./old/../old"), &says);
    // The scenario itself.
    refused(&desk, &run("old/scenario.resolved.toml", "old"), &["scenario.resolved.toml", "--out"]);
    // Checkpoints of what is replaced go too.
    desk.write("new.checkpoints/results/mine.csv", FLOWS);
    desk.write("own.toml", reading("new.checkpoints/results/mine.csv"));
    refused(&desk, &run("own.toml", "new"), &["new.checkpoints", "--out"]);
    // One scenario of a folder, in the results of another.
    desk.write("folder/a.toml", SMALL);
    desk.succeeds(&["run", "folder", "--out", "out"]);
    desk.write("out/a/mine.csv", FLOWS);
    desk.write("folder/b.toml", reading("../out/a/mine.csv"));
    refused(&desk, &["run", "folder", "--out", "out", "--force"], &["folder/b.toml", "out/a"]);
    // Nothing is in the way of others.
    desk.succeeds(&run("own.toml", "elsewhere"));
}

#[cfg(unix)]
#[test]
fn links_do_not_hide_an_input() {
    use std::os::unix::fs::symlink;
    let desk = Desk::with_small();
    desk.succeeds(&["run", "small.toml", "--out", "old"]);
    desk.write("old/mine.csv", FLOWS);
    desk.write("elsewhere.csv", FLOWS);
    symlink(desk.path("old"), desk.path("way")).unwrap();
    symlink(desk.path("old/mine.csv"), desk.path("link.csv")).unwrap();
    symlink(desk.path("elsewhere.csv"), desk.path("old/outward.csv")).unwrap();
    for (file, out) in [
        ("link.csv", "old"),
        ("old/mine.csv", "way"),
        ("way/mine.csv", "old"),
        ("old/outward.csv", "old"),
    ] {
        desk.write("own.toml", reading(file));
        refused(&desk, &["run", "own.toml", "--out", out, "--force"], &["csv", "old", "--out"]);
    }
}

#[cfg(unix)]
#[test]
fn a_resumed_run_removes_no_input() {
    let desk = Desk::with_small();
    desk.write("elsewhere/mine.csv", FLOWS.replace("1000", "100000000000000"));
    desk.write("own.toml", reading(desk.path("elsewhere/mine.csv").to_str().unwrap()));
    let every = ["--checkpoint-every", "10us", "--force", "--quiet"];
    let mut run = desk.program(&[&["run", "own.toml", "--out", "new"][..], &every].concat());
    let mut child = run.spawn().expect("it starts");
    let is_begun = || desk.tree().iter().any(|path| path.ends_with(".checkpoint"));
    let mut looks = 0;
    while !is_begun() && looks < 600 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        looks += 1;
    }
    child.kill().expect("it lasts");
    child.wait().expect("it ends");
    // A checkpoint that was being written is removed as soon as the run is gone on with.
    for path in desk.tree().iter().filter(|path| path.ends_with(".partial")) {
        fs::remove_file(desk.path(path)).unwrap();
    }
    // What it reads has come to stand in what it replaces.
    desk.succeeds(&["run", "small.toml", "--out", "other"]);
    fs::rename(desk.path("other"), desk.path("new")).unwrap();
    fs::rename(desk.path("elsewhere"), desk.path("new/elsewhere")).unwrap();
    std::os::unix::fs::symlink(desk.path("new/elsewhere"), desk.path("elsewhere")).unwrap();
    refused(&desk, &["resume", "new"], &["mine.csv", "new", "move it out of there"]);
}

#[test]
fn a_branch_removes_no_input() {
    let desk = Desk::with_small();
    let every = ["--checkpoint-every", "10us", "--keep-checkpoints"];
    desk.succeeds(&["run", "small.toml", "--out", "old"]);
    desk.succeeds(&[&["run", "small.toml", "--out", "old/nested"][..], &every].concat());
    let set = ["--set", "switch.xoff=60KB", "--force", "--out"];
    refused(
        &desk,
        &[&["branch", "old/nested"], &set[..], &["old"]].concat(),
        &["old/nested", "--out"],
    );
}

/// What `--force` replaces is never what the command reads.
#[test]
fn files_that_are_named_are_not_inputs() {
    let desk = Desk::with_small();
    desk.write("mine.csv", FLOWS);
    desk.write("own.toml", reading("mine.csv"));
    desk.succeeds(&["run", "own.toml", "--out", "results"]);
    fs::hard_link(desk.path("own.toml"), desk.path("hard.toml")).unwrap();
    for (arguments, target) in [
        (&["topo", "show", "own.toml", "--svg"][..], "own.toml"),
        (&["topo", "show", "own.toml", "--svg"], "./mine.csv"),
        (&["topo", "show", "own.toml", "--svg"], "hard.toml"),
        (&["report", "results", "--out"], "results/flows.csv"),
        (&["report", "results", "--out"], "results/mine.csv"),
        (&["compare", "results", "results", "--out"], "results/summary.json"),
    ] {
        let arguments = [arguments, &[target, "--force"]].concat();
        let name = target.trim_start_matches("./");
        refused(&desk, &arguments, &[name, "name another file"]);
    }
    desk.succeeds(&["report", "results"]);
    desk.succeeds(&["report", "results", "--force"]);
}

#[test]
fn a_capture_does_not_replace_its_description() {
    let desk = Desk::new();
    desk.write("make.toml", "[[message]]\nverb = \"pfc\"\n");
    let ended = desk.rocelab(&["pcap", "make", "make.toml", "--out", "make.toml", "--force"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert_eq!(desk.text("make.toml"), "[[message]]\nverb = \"pfc\"\n");
}
