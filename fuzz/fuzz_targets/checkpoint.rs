//! Any bytes are a checkpoint or an error, never a panic, and take no more memory than they are worth.
//!
//! The first byte says what the others are: a file as it stands; one behind a right mark, version and
//! checksum; the state of the run; or changes of a state that fits, which get furthest. Its upper half loads
//! them into two parts.

#![no_main]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use rocelab_results::{Checkpoint, CheckpointSettings, Checkpoints, Overwrite, ResultsDir};
use rocelab_sim::{Execution, Plan, Planning, RunError, Scenario};
use rocelab_units::Duration;

/// Small, with much that has state: learning, marks, pauses, failures, faults, TCP, an application, samples.
const SCENARIO: &str = r#"
stop = "1ms"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 2
host_link = { rate = "100Gbps", cable = "3m" }
fabric_link = { rate = "100Gbps", cable = "30m" }
[layer2]
learning = { mac_ageing = "20us", arp_timeout = "90us" }
[roce]
ack_timeout = 5
connect = "cm"
[switch]
buffer = "400KB"
[[workload.incast]]
senders = 3
bytes = "200KB"
[[workload.permutation]]
bytes = "50KB"
transport = "tcp"
[[workload.ping-pong]]
clients = ["host-0"]
servers = ["host-3"]
verb = "fetch-add"
iterations = 50
[[failure]]
kind = "link-down"
port = "leaf-0:2"
at = "20us"
lasts = "30us"
[[faults]]
action = "reorder"
behind = 3
probability = 0.01
[[slow_receiver]]
hosts = ["host-1"]
rate = "50Gbps"
[watchdog.switch]
detect = "20us"
[sample.queues]
interval = "10us"
ports = ["leaf-0"]
[sample.rates]
interval = "10us"
"#;

struct Ground {
    plan: Arc<Plan>,
    folder: tempfile::TempDir,
    /// A checkpoint in the middle of the run.
    right: Checkpoint,
    /// The file that it is in.
    file: Vec<u8>,
}

static GROUND: LazyLock<Ground> = LazyLock::new(|| {
    let scenario = Scenario::parse(SCENARIO, Path::new("fuzz.toml"), &[]).expect("it is right");
    let plan = Arc::new(scenario.plan().expect("it is right"));
    let folder = tempfile::tempdir().expect("a folder");
    let checkpoints =
        Checkpoints::create(&folder.path().join("run"), Overwrite::Refuse).expect("it is new");
    let directory =
        ResultsDir::with_checkpoints(&checkpoints, Overwrite::Refuse).expect("it is new");
    let settings = CheckpointSettings {
        scenario: plan.name.clone(),
        every: Duration::from_us(30),
        keep: false,
        replaces: false,
        inputs: Vec::new(),
    };
    let mut looks = 0;
    let ended = rocelab_sim::run_with_checkpoints(
        Arc::clone(&plan),
        &directory,
        Execution::SEQUENTIAL,
        (&checkpoints, settings),
        &mut |_| {
            looks += 1;
            if looks == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    assert!(matches!(ended, Err(RunError::BrokenOff { .. })), "it is longer");
    let last = checkpoints.times().expect("there is one").pop().expect("there is one");
    let right = checkpoints.load(last).expect("it is right");
    let file = right.to_bytes().expect("it was one");
    Ground { plan, folder, right, file }
});

fuzz_target!(|data: &[u8]| {
    let Some((&kind, rest)) = data.split_first() else { return };
    let ground = &*GROUND;
    let checkpoint = match kind % 4 {
        0 => Checkpoint::from_bytes(rest),
        1 => Checkpoint::from_bytes(&with_checksum(rest)),
        2 => Ok(Checkpoint { state: rest.to_vec(), ..ground.right.clone() }),
        _ => Checkpoint::from_bytes(&changed(&ground.file, rest)),
    };
    let Ok(checkpoint) = checkpoint else { return };
    let path = ground.folder.path().join("results");
    let directory = ResultsDir::create(path, Overwrite::Refuse).expect("nothing is there");
    let execution = Execution { partitions: 1 + u32::from(kind / 128), threads: 1 };
    let _ = rocelab_sim::fits(Arc::clone(&ground.plan), &directory, execution, &checkpoint);
});

/// What a file begins with, up to the checksum: of the mark, and of the version with its length.
fn head() -> usize {
    let version = GROUND.file[8..12].try_into().map_or(0, u32::from_le_bytes);
    12 + version as usize
}

/// Content as a file with a right mark, version and checksum.
fn with_checksum(content: &[u8]) -> Vec<u8> {
    let mut file = GROUND.file[..head()].to_vec();
    file.extend(Checkpoint::checksum(content).to_le_bytes());
    file.extend(content);
    file
}

/// A file with some bytes changed, each by four: three for its place, one for what it becomes.
fn changed(file: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut content = file[head() + 4..].to_vec();
    for change in changes.chunks_exact(4) {
        let place = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize;
        let length = content.len();
        content[place % length] = change[3];
    }
    with_checksum(&content)
}
