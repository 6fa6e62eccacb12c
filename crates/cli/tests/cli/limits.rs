//! Values at the ends of their ranges run or are refused: no panic, no excessive memory, no endless
//! run.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::program::{Ended, Sandbox};

/// Memory limit of a run (KiB).
const MEMORY: u64 = 3 << 20;
/// Number of times that a run is polled, 5 ms apart, before it counts as endless: the machine may
/// be busy.
const LOOKS: u32 = 24_000;

/// A scenario that uses a little of everything.
const ALL: &str = r#"
seed = 3
stop = "60us"
[switch.ecn]
kmin = "40KB"
kmax = "160KB"
pmax = 0.2
[workload.app]
clients = ["host-0"]
servers = ["host-1"]
operations = 10
steps = [
    { by = "client", verb = "send", bytes = "100B" },
    { by = "server", verb = "send", bytes = "10B" },
    { by = "client", verb = "fetch-add" },
]
[workload.storage]
clients = ["host-1"]
servers = ["host-2"]
block = "4KB"
operations = 10
[workload.ping-pong]
clients = ["host-2"]
servers = ["host-0"]
iterations = 5
bytes = "64B"
[workload.flows]
list = [{ from = "host-0", to = "host-1", bytes = "100KB" }]
[workload.incast]
senders = 2
bytes = "50KB"
repeat = 2
interval = "10us"
[workload.poisson]
load = 0.5
distribution = "websearch"
count = 10
[workload.permutation]
bytes = "10KB"
[[failure]]
kind = "link-down"
port = "host-0"
at = "5us"
lasts = "10us"
[[faults]]
from = "host-1"
action = "drop"
nth = 3
[[slow_receiver]]
hosts = ["host-2"]
rate = "50Gbps"
buffer = "200KB"
[sample]
queues = { interval = "10us", ports = ["host-1"] }
rates = { interval = "7us" }
utilisation = { interval = "3us", ports = ["host-0"] }
marks = { interval = "5us", ports = ["host-1"] }
[capture]
ports = ["host-0"]
snap_length = 100
"#;

const LINK: &str = r#"{ rate = "100Gbps", cable = "3m" }"#;

/// Topologies with the names of their links and small numbers.
const TOPOLOGIES: [(&str, &[&str], &str); 5] = [
    ("single-switch", &["link"], "hosts = 4\n"),
    ("dumbbell", &["host_link", "bottleneck"], "left = 2\nright = 2\n"),
    ("leaf-spine", &["host_link", "fabric_link"], "leaves = 2\nspines = 2\nhosts_per_leaf = 2\n"),
    ("fat-tree", &["host_link", "fabric_link"], "k = 4\n"),
    (
        "clos",
        &["host_link", "fabric_link", "core_link"],
        "pods = 2\nracks_per_pod = 2\naggregations_per_pod = 2\nhosts_per_rack = 2\ncores = 2\n",
    ),
];

fn write_scenarios(sandbox: &Sandbox) {
    for (name, links, numbers) in TOPOLOGIES {
        let links: String = links.iter().map(|link| format!("{link} = {LINK}\n")).collect();
        let text = format!("{ALL}[topology.{name}]\n{numbers}{links}");
        sandbox.write(&format!("{name}.toml"), text);
    }
}

/// The kind of values of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Integer,
    Time,
    Size,
    Rate,
    Length,
}

impl Kind {
    /// The ends of the range, and values near the limits of integers.
    fn values(self) -> &'static [&'static str] {
        match self {
            Self::Integer => &["0", "65535", "4294967295", "9223372036854775807"],
            Self::Time => &["\"0s\"", "\"1ps\"", "\"4611686s\"", "\"18446744s\""],
            Self::Size => &["\"0B\"", "\"4294967295B\"", "\"18446744073709551615B\""],
            Self::Rate => &["\"0bps\"", "\"1bps\"", "\"18446744073709551615bps\""],
            Self::Length => &["\"0m\"", "\"18446744073709551615mm\""],
        }
    }
}

/// Every number of a scenario by its key, as `--set` takes it.
fn keys() -> BTreeMap<String, Kind> {
    let schema = Sandbox::new().succeeds(&["schema"]);
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let mut keys = BTreeMap::new();
    walk(&schema, &schema, "", &mut Vec::new(), &mut keys);
    keys.retain(|key, _| is_looked_at(key));
    keys
}

/// Selects one of several similar keys: of eight priorities, of algorithms of classes and
/// workloads, and of overrides of single switches.
fn is_looked_at(key: &str) -> bool {
    let parts: Vec<&str> = key.split('.').collect();
    let is_priority = |part: &&str| matches!(*part, "1" | "2" | "3" | "4" | "5" | "6" | "7");
    let is_list = parts[0] == "workload" && parts[1].ends_with(']');
    let is_of_part =
        ["class", "workload"].contains(&parts[0]) && key.contains("congestion_control");
    !is_list && !is_of_part && !parts.iter().any(is_priority) && !key.contains("override")
}

fn walk(
    root: &Value,
    node: &Value,
    key: &str,
    within: &mut Vec<String>,
    keys: &mut BTreeMap<String, Kind>,
) {
    if let Some(name) = node["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        let kind = match name {
            "Duration" | "SimTime" => Some(Kind::Time),
            "Bytes" => Some(Kind::Size),
            "Bandwidth" => Some(Kind::Rate),
            "Length" => Some(Kind::Length),
            _ => None,
        };
        match kind {
            Some(kind) => drop(keys.insert(key.to_owned(), kind)),
            None if within.iter().any(|other| other == name) => {}
            None => {
                within.push(name.to_owned());
                walk(root, &root["$defs"][name], key, within, keys);
                within.pop();
            }
        }
    }
    let is_integer = |kind: &Value| kind == "integer";
    let kinds = &node["type"];
    if is_integer(kinds) || kinds.as_array().is_some_and(|kinds| kinds.iter().any(is_integer)) {
        keys.insert(key.to_owned(), Kind::Integer);
    }
    let dot = if key.is_empty() { "" } else { "." };
    for (name, below) in node["properties"].as_object().into_iter().flatten() {
        walk(root, below, &format!("{key}{dot}{name}"), within, keys);
    }
    if node["items"].is_object() {
        walk(root, &node["items"], &format!("{key}[0]"), within, keys);
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        for below in node[choice].as_array().into_iter().flatten() {
            walk(root, below, key, within, keys);
        }
    }
}

/// The program with a limit of memory.
fn limited(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let program = sandbox.program(arguments);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")]);
    command.arg(program.get_program()).args(program.get_args());
    command.current_dir(program.get_current_dir().expect("the sandbox"));
    command
}

/// How it ended; `None` if it did not end in time.
fn end(mut command: Command) -> Option<Ended> {
    let mut looks = 0;
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("it starts");
    while child.try_wait().expect("a child").is_none() {
        looks += 1;
        if looks > LOOKS {
            child.kill().expect("it runs");
            child.wait().expect("it ends");
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(Ended::of(child.wait_with_output().expect("output")))
}

/// Runs with a value: the run must succeed, find a problem, or be refused.
fn check(sandbox: &Sandbox, scenario: &str, sets: &[&str]) -> Result<(), String> {
    let mut arguments =
        vec!["run", scenario, "--out", "out", "--force", "--quiet", "--threads", "1"];
    sets.iter().for_each(|set| arguments.extend(["--set", set]));
    match end(limited(sandbox, &arguments)) {
        Some(ended) if matches!(ended.code, Some(0..=2)) => Ok(()),
        Some(ended) => Err(format!("{sets:?}: {:?} {}", ended.code, ended.stderr)),
        None => Err(format!("{sets:?}: it does not end")),
    }
}

#[test]
fn every_number_at_its_ends_runs_or_is_refused() {
    let sandbox = Sandbox::new();
    write_scenarios(&sandbox);
    for (topology, ..) in TOPOLOGIES {
        check(&sandbox, &format!("{topology}.toml"), &[]).expect("it runs as it is");
    }
    let keys = keys();
    assert!(keys.len() > 200, "the schema is read: {}", keys.len());
    assert_eq!(keys.get("workload.app.receive_depth"), Some(&Kind::Integer));
    assert_eq!(keys.get("failure[0].lasts"), Some(&Kind::Time));
    let mut wrong = Vec::new();
    for (key, kind) in &keys {
        let topology = key.strip_prefix("topology.").and_then(|rest| rest.split('.').next());
        let topology = topology.unwrap_or("single-switch");
        if !TOPOLOGIES.iter().any(|(name, ..)| *name == topology) {
            continue;
        }
        for value in kind.values() {
            let set = format!("{key}={value}");
            let more: &[&str] = match key.split('.').next() {
                Some("tcp") => &["workload.flows.transport=tcp"],
                _ => &[],
            };
            let sets = [&[set.as_str()], more].concat();
            wrong.extend(check(&sandbox, &format!("{topology}.toml"), &sets).err());
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Attack E: receive requests that nothing uses must cost nothing.
#[test]
fn receive_requests_that_nothing_takes_cost_nothing() {
    let sandbox = Sandbox::new();
    write_scenarios(&sandbox);
    let run = |depth: &str| {
        check(&sandbox, "single-switch.toml", &[&format!("workload.app.receive_depth={depth}")])
            .unwrap();
        sandbox.json("out/summary.json")["digest"].clone()
    };
    assert_eq!(run("4294967295"), run("100"));
}

/// A long run whose samples would fill the disk.
#[test]
fn samples_without_end_are_refused() {
    let sandbox = Sandbox::new();
    write_scenarios(&sandbox);
    sandbox.write("none.toml", sandbox.text("single-switch.toml").replace("stop = \"60us\"", ""));
    let start = "workload.incast.start=\"999999s\"";
    let ended = sandbox.rocelab(&["run", "none.toml", "--quiet", "--set", start]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("sample.queues.interval"), "{}", ended.stderr);
    assert!(ended.stderr.contains("99999900001 samples"), "{}", ended.stderr);
}

/// Attack D, and similar ones: sums of times.
#[test]
fn times_that_do_not_end_are_refused_or_never_come() {
    let sandbox = Sandbox::with_small();
    let failure = |rest: &str| {
        format!(
            "{}[[failure]]\nkind = \"link-down\"\nport = \"host-0\"\n{rest}",
            crate::program::SMALL
        )
    };
    let run = |text: String| {
        sandbox.write("late.toml", text);
        sandbox.rocelab(&[
            "run",
            "late.toml",
            "--out",
            "late",
            "--force",
            "--quiet",
            "--set",
            "stop=1ms",
        ])
    };
    let refused = run(failure("at = \"0.1us\"\nlasts = \"18446744.0737s\"\n"));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for part in ["late.toml:", "failure", "lasts", "18446744.0737s", "4611686"] {
        assert!(refused.stderr.contains(part), "no {part:?} in {}", refused.stderr);
    }
    let often = "at = \"0s\"\nlasts = \"1s\"\ninterval = \"4611686s\"\nrepeat = 100000\n";
    let refused = run(failure(often));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("failure[0].repeat"), "{}", refused.stderr);
    // It begins and does not end: the flows of host-0 do not complete.
    let lasts = run(failure("at = \"0.1us\"\nlasts = \"4611686s\"\n"));
    assert!(lasts.code.is_some_and(|code| code <= 1), "{lasts:?}");
    let (_, flows) = sandbox.csv("late/flows.csv");
    assert!(flows.iter().any(|flow| flow.last().is_some_and(|status| status != "completed")));
    // A failure that comes last has no effect before.
    let never = run(failure("at = \"4611686s\"\nlasts = \"4611686s\"\n"));
    assert_eq!(never.code, Some(0), "{never:?}");
}
