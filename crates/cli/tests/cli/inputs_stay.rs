//! Results never replace a file that a command reads.

use std::fs;

use crate::program::{SMALL, Sandbox};

/// A flow, as a CSV file has it.
const FLOWS: &str = "source,destination,start_ps,bytes\nhost-0,host-1,0,1000\n";

/// Every file name that results use themselves.
const NAMES: [&str; 24] = [
    "capture-host-0.pcap",
    "capture.pcapng",
    "drops.csv",
    "fct.txt",
    "flows.csv",
    "flows.parquet",
    "links.csv",
    "operations.csv",
    "operations.parquet",
    "pauses.json",
    "pfc.csv",
    "pfc.txt",
    "qlen.txt",
    "progress.json",
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

/// Runs; it must fail with a message that contains all of `parts`, and change nothing.
#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], parts: &[&str]) {
    let before = contents(sandbox);
    let ended = sandbox.rocelab(arguments);
    assert_eq!(ended.code, Some(2), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
    for part in parts {
        assert!(ended.stderr.contains(part), "{arguments:?}: no {part:?} in {}", ended.stderr);
    }
    assert_eq!(contents(sandbox), before, "{arguments:?}");
}

/// All files and their contents.
fn contents(sandbox: &Sandbox) -> Vec<(String, Option<Vec<u8>>)> {
    let read = |file: String| {
        let bytes = fs::read(sandbox.path(&file)).ok();
        (file, bytes)
    };
    sandbox.tree().into_iter().map(read).collect()
}

/// Earlier, the copy in the results was overwritten, and the scenario there read the results of the
/// run.
#[test]
fn a_file_may_be_called_like_one_of_the_results() {
    for name in NAMES {
        let sandbox = Sandbox::new();
        sandbox.write(name, FLOWS);
        sandbox.write("own.toml", reading(name));
        sandbox.succeeds(&["run", "own.toml", "--out", "results"]);
        assert_eq!(sandbox.text(name), FLOWS);
        // The scenario in the results still reads the flows.
        sandbox.succeeds(&["run", "results/scenario.resolved.toml", "--out", "again"]);
        let digest =
            |results: &str| sandbox.json(&format!("{results}/summary.json"))["digest"].clone();
        assert_eq!(digest("results"), digest("again"), "{name}");
        assert_eq!(sandbox.text(name), FLOWS);
    }
}

#[test]
fn files_of_other_names_are_copied() {
    let sandbox = Sandbox::new();
    sandbox.write("mine/run.json", FLOWS);
    sandbox.write("own.toml", reading("mine/run.json"));
    sandbox.succeeds(&["run", "own.toml", "--out", "results"]);
    assert_eq!(sandbox.text("results/mine/run.json"), FLOWS);
}

/// Earlier, the old results were removed together with a file that the run read.
#[test]
fn results_that_hold_an_input_are_not_replaced() {
    let sandbox = Sandbox::with_small();
    sandbox.succeeds(&["run", "small.toml", "--out", "old"]);
    sandbox.write("old/mine.csv", FLOWS);
    sandbox.write("own.toml", reading("old/mine.csv"));
    let force = ["--force", "--out"];
    let run = |scenario: &'static str, out: &'static str| {
        [&["run", scenario], &force[..], &[out]].concat()
    };
    let says = ["own.toml:", "workload.flows", "csv", "old/mine.csv", "--out"];
    refused(&sandbox, &run("own.toml", "old"), &says);
    refused(&sandbox, &run("own.toml", "./old/../old"), &says);
    // The scenario itself.
    refused(
        &sandbox,
        &run("old/scenario.resolved.toml", "old"),
        &["scenario.resolved.toml", "--out"],
    );
    // Checkpoints of replaced results are removed too.
    sandbox.write("new.checkpoints/results/mine.csv", FLOWS);
    sandbox.write("own.toml", reading("new.checkpoints/results/mine.csv"));
    refused(&sandbox, &run("own.toml", "new"), &["new.checkpoints", "--out"]);
    // One scenario of a folder is in the results of another.
    sandbox.write("folder/a.toml", SMALL);
    sandbox.succeeds(&["run", "folder", "--out", "out"]);
    sandbox.write("out/a/mine.csv", FLOWS);
    sandbox.write("folder/b.toml", reading("../out/a/mine.csv"));
    refused(&sandbox, &["run", "folder", "--out", "out", "--force"], &["folder/b.toml", "out/a"]);
    // Other scenarios are not affected.
    sandbox.succeeds(&run("own.toml", "elsewhere"));
}

#[cfg(unix)]
#[test]
fn links_do_not_hide_an_input() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::with_small();
    sandbox.succeeds(&["run", "small.toml", "--out", "old"]);
    sandbox.write("old/mine.csv", FLOWS);
    sandbox.write("elsewhere.csv", FLOWS);
    symlink(sandbox.path("old"), sandbox.path("way")).unwrap();
    symlink(sandbox.path("old/mine.csv"), sandbox.path("link.csv")).unwrap();
    symlink(sandbox.path("elsewhere.csv"), sandbox.path("old/outward.csv")).unwrap();
    for (file, out) in [
        ("link.csv", "old"),
        ("old/mine.csv", "way"),
        ("way/mine.csv", "old"),
        ("old/outward.csv", "old"),
    ] {
        sandbox.write("own.toml", reading(file));
        refused(&sandbox, &["run", "own.toml", "--out", out, "--force"], &["csv", "old", "--out"]);
    }
}

#[cfg(unix)]
#[test]
fn a_resumed_run_removes_no_input() {
    let sandbox = Sandbox::with_small();
    sandbox.write("elsewhere/mine.csv", FLOWS.replace("1000", "100000000000000"));
    sandbox.write("own.toml", reading(sandbox.path("elsewhere/mine.csv").to_str().unwrap()));
    let every = ["--checkpoint-every", "10us", "--force", "--quiet"];
    let mut run = sandbox.program(&[&["run", "own.toml", "--out", "new"][..], &every].concat());
    let mut child = run.spawn().expect("it starts");
    let is_begun = || sandbox.tree().iter().any(|path| path.ends_with(".checkpoint"));
    let mut looks = 0;
    while !is_begun() && looks < 600 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        looks += 1;
    }
    child.kill().expect("it lasts");
    child.wait().expect("it ends");
    // An unfinished checkpoint is removed as soon as the run is continued.
    for path in sandbox.tree().iter().filter(|path| path.ends_with(".partial")) {
        fs::remove_file(sandbox.path(path)).unwrap();
    }
    // A file that it reads is now inside results that it replaces.
    sandbox.succeeds(&["run", "small.toml", "--out", "other"]);
    fs::rename(sandbox.path("other"), sandbox.path("new")).unwrap();
    fs::rename(sandbox.path("elsewhere"), sandbox.path("new/elsewhere")).unwrap();
    std::os::unix::fs::symlink(sandbox.path("new/elsewhere"), sandbox.path("elsewhere")).unwrap();
    refused(&sandbox, &["resume", "new"], &["mine.csv", "new", "move it out of there"]);
}

#[test]
fn a_branch_removes_no_input() {
    let sandbox = Sandbox::with_small();
    let every = ["--checkpoint-every", "10us", "--keep-checkpoints"];
    sandbox.succeeds(&["run", "small.toml", "--out", "old"]);
    sandbox.succeeds(&[&["run", "small.toml", "--out", "old/nested"][..], &every].concat());
    let set = ["--set", "switch.xoff=60KB", "--force", "--out"];
    refused(
        &sandbox,
        &[&["branch", "old/nested"], &set[..], &["old"]].concat(),
        &["old/nested", "--out"],
    );
}

/// `--force` never replaces a file that the command reads.
#[test]
fn files_that_are_named_are_not_inputs() {
    let sandbox = Sandbox::with_small();
    sandbox.write("mine.csv", FLOWS);
    sandbox.write("own.toml", reading("mine.csv"));
    sandbox.succeeds(&["run", "own.toml", "--out", "results"]);
    fs::hard_link(sandbox.path("own.toml"), sandbox.path("hard.toml")).unwrap();
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
        refused(&sandbox, &arguments, &[name, "name another file"]);
    }
    sandbox.succeeds(&["report", "results"]);
    sandbox.succeeds(&["report", "results", "--force"]);
}

#[test]
fn a_capture_does_not_replace_its_description() {
    let sandbox = Sandbox::new();
    sandbox.write("make.toml", "[[message]]\nverb = \"pfc\"\n");
    let ended = sandbox.rocelab(&["pcap", "make", "make.toml", "--out", "make.toml", "--force"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert_eq!(sandbox.text("make.toml"), "[[message]]\nverb = \"pfc\"\n");
}
