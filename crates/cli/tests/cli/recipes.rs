//! The worked examples of `CONTRIBUTING.md`: a copy of the repository with their files and lines
//! must compile, know the new names, and run them.
//!
//! The copy is built in the same way as `ci.sh` builds the tests of the repository: the same
//! packages (so that common dependencies have the same features), the same profile and the same
//! target directory. So only the crates of the copy are compiled.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{Sandbox, repository};

/// A part of `CONTRIBUTING.md` for a file of the repository. It is between a comment such as `<!--
/// file: crates/x/src/y.rs -->` or `<!-- line in: crates/x/src/mod.rs -->` and the end of the code
/// block that follows.
#[derive(Debug)]
enum Part {
    /// A new file.
    File { path: String, content: String },
    /// Lines for an existing file, after the line `after`.
    Lines { path: String, after: String, added: Vec<String> },
}

fn parts_of(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for section in text.split("<!-- ").skip(1) {
        let Some((comment, rest)) = section.split_once(" -->") else { continue };
        let Some((kind, path)) = comment.split_once(": ") else { continue };
        let block = rest.split("```").nth(1).expect("a code block after the comment");
        let (_, code) = block.split_once('\n').expect("lines of code");
        let path = path.to_owned();
        parts.push(match kind {
            "file" => Part::File { path, content: code.to_owned() },
            "line in" => lines(path, code),
            _ => panic!("a comment of another kind: {comment}"),
        });
    }
    parts
}

/// Reads a block of `diff` lines: an existing line, and the lines that are added after it.
fn lines(path: String, code: &str) -> Part {
    let (old, new): (Vec<_>, Vec<_>) = code.lines().partition(|line| line.starts_with(' '));
    let [after] = old.as_slice() else { panic!("one line to add after: {code}") };
    let added = new.iter().map(|line| line.strip_prefix('+').expect("an added line").to_owned());
    Part::Lines { path, after: after[1..].to_owned(), added: added.collect() }
}

fn apply(part: &Part, copy: &Path) {
    match part {
        Part::File { path, content } => {
            assert!(!copy.join(path).exists(), "{path} exists already");
            fs::write(copy.join(path), content).unwrap();
        }
        Part::Lines { path, after, added } => {
            let old = fs::read_to_string(copy.join(path)).unwrap();
            assert_eq!(old.matches(&format!("\n{after}\n")).count(), 1, "`{after}` in {path}");
            let new = [&[after.clone()][..], added].concat().join("\n");
            fs::write(copy.join(path), old.replacen(after, &new, 1)).unwrap();
        }
    }
}

/// Copies what cargo needs to build the workspace.
fn copy_repository(copy: &Path) {
    for file in ["Cargo.toml", "Cargo.lock"] {
        fs::copy(repository(file), copy.join(file)).unwrap();
    }
    for folder in [
        "src",
        "crates",
        "benches",
        "fuzz",
        "mpi",
        "python",
        "structure",
        "docs",
        "scenarios",
        "guests",
    ] {
        copy_folder(&repository(folder), &copy.join(folder));
    }
    // Compiling takes longer than running here, so nothing is optimised.
    let mut manifest = fs::read_to_string(copy.join("Cargo.toml")).unwrap();
    for entry in fs::read_dir(repository("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let section = format!("[profile.test.package.rocelab-{name}]\n");
        if !manifest.contains(&section) {
            manifest += &format!("\n{section}opt-level = 0\n");
        }
    }
    fs::write(copy.join("Cargo.toml"), manifest).unwrap();
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, target).unwrap();
        }
    }
}

/// The packages that `ci.sh` builds in this test's step, as options of cargo.
fn packages() -> Vec<String> {
    let asked = Command::new("bash").arg(repository("ci.sh")).arg("packages").output();
    let told = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let told = told.unwrap_or_default();
    let line = told.lines().find(|line| line.starts_with("--workspace"));
    let options = line.unwrap_or("--workspace --exclude rocelab-mpi");
    options.split_whitespace().map(str::to_owned).collect()
}

/// The target directory of this test.
fn target() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_rocelab")).ancestors().nth(2).expect("target").to_owned()
}

/// A test that runs in the copy: the names are known, the schema has them, and a run uses them.
const TEST: &str = r##"//! The examples of CONTRIBUTING.md, used.

use std::path::Path;
use std::sync::Arc;

use rocelab_fabric::TopologyConfig;
use rocelab_sim::{Ending, Planning, Scenario, Simulation};
use rocelab_transport::Algorithm;

const SCENARIO: &str = r#"
[topology.ring]
switches = 6
hosts_per_switch = 2
host_link = { rate = "100Gbps", cable = "3m" }
ring_link = { rate = "100Gbps", cable = "10m" }

[congestion_control.aimd]
increase = "2KB"

[switch]
load_balancing = "flowlets"
flow_control = "stop-and-go"
xoff = "20KB"

[[host.stack.probe]]
from = "host-10"
to = "host-11"
interval = "1us"
stop = "50us"

[[ingress.periodic_loss]]
ports = ["switch-0"]
every = 50

[workload.fan-out]
clients = ["host-0", "host-5"]
servers = ["host-1..host-4"]
answer = "4KB"
service_time = "2us"
rounds = 3

[[workload.incast]]
senders = 9
bytes = "100KB"

[[workload.incast]]
senders = 3
bytes = "100KB"
congestion_control = { swift = { delay = "longest-wait" } }
"#;

/// Three switches of RoCE v1 in a ring, of which the spanning tree blocks one link.
const BRIDGED: &str = r#"
[roce]
version = 1

[topology.ring]
switches = 3
hosts_per_switch = 2
host_link = { rate = "100Gbps", cable = "3m" }
ring_link = { rate = "100Gbps", cable = "10m" }

[congestion_control.none]

[switch]
forwarding_plane = "repeater"

[workload.flows]
list = [{ from = "host-0", to = "host-5", bytes = "100B" }]
"#;

#[test]
fn a_repeater_sends_every_frame_to_every_host() {
    let scenario = Scenario::parse(BRIDGED, Path::new("bridged.toml"), &[]).unwrap();
    let plan = scenario.plan().unwrap();
    let mut simulation: Simulation = Simulation::new(Arc::new(plan)).unwrap();
    assert!(simulation.run_to_end() == Ending::Finished);
    assert_eq!(simulation.progress().flows_ended, 1);
    // The message and its acknowledgement reach four other hosts each.
    let totals = simulation.network().totals(simulation.now());
    assert_eq!(totals.drops["foreign_destination"], 8);
}

#[test]
fn the_examples_work() {
    assert!(Algorithm::NAMES.contains(&"aimd"));
    assert!(TopologyConfig::NAMES.contains(&"ring"));
    let schema = Scenario::json_schema().to_string();
    for key in ["aimd", "increase", "ring", "hosts_per_switch", "flowlets", "periodic_loss", "longest-wait", "probe", "repeater", "fan-out", "stop-and-go"] {
        assert!(schema.contains(&format!("\"{key}\"")), "no {key}");
    }
    let scenario = Scenario::parse(SCENARIO, Path::new("ring.toml"), &[]).unwrap();
    let plan = scenario.plan().unwrap();
    assert_eq!((plan.topology.host_count(), plan.topology.links.len()), (12, 18));
    let mut simulation: Simulation = Simulation::new(Arc::new(plan)).unwrap();
    assert!(simulation.run_to_end() == Ending::Finished);
    let progress = simulation.progress();
    assert_eq!((progress.flows_ended, progress.operations_ended), (12, 6));
    assert!(simulation.network().totals(simulation.now()).drops["periodic_loss"] > 0);
    let paused = simulation.network().totals(simulation.now());
    assert!(paused.pauses > 0 && paused.pauses % 8 == 0, "all priorities of a link at once");
    let probes = simulation.network().stream_counts()[0];
    // Both ends send, and both receive.
    assert_eq!((probes.sent_packets, probes.delivered_packets), (100, 100));
}
"##;

#[test]
fn the_worked_examples_of_contributing_compile_and_run() {
    let text = fs::read_to_string(repository("CONTRIBUTING.md")).unwrap();
    let parts = parts_of(&text);
    let files = parts.iter().filter(|part| matches!(part, Part::File { .. })).count();
    assert_eq!((files, parts.len()), (9, 18), "one file and one line each, for nine examples");

    let sandbox = Sandbox::new();
    let copy = sandbox.path("");
    copy_repository(&copy);
    parts.iter().for_each(|part| apply(part, &copy));
    sandbox.write("crates/sim/tests/worked_examples.rs", TEST);
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--test", "worked_examples"])
        .args(packages())
        .arg("--target-dir")
        .arg(target())
        .current_dir(&copy)
        .output()
        .expect("cargo starts");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|all| String::from_utf8(all).unwrap());
    assert!(output.status.success(), "{stderr}\n{stdout}");
    assert!(stdout.contains("2 passed"), "{stdout}");
    assert!(!stderr.contains("warning: "), "{stderr}");
}
