//! Scenarios carried out in several ways, and all that each way comes to.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_fabric::topology::Partitioning;
use rocelab_results::{CheckpointSettings, Checkpoints, Overwrite, ResultsDir, RunInfo, Summary};
use rocelab_sim::{Cut, Execution, Plan, Planning, Progress, RunError, Scenario};
use rocelab_units::Duration;

use crate::ranks;

/// Numbers of ranks, and of parts.
const RANKS: [(u32, u32); 4] = [(1, 2), (2, 2), (3, 4), (4, 4)];

/// What a run comes to.
pub(crate) struct Results {
    /// Every file of its directory, by name.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) summary: Summary,
}

/// The results of a run in one part.
pub(crate) fn whole(plan: &Arc<Plan>) -> Results {
    results(|directory| {
        let plan = Arc::clone(plan);
        let execution = Execution::SEQUENTIAL;
        let observe = &mut |_: &_| ControlFlow::Continue(());
        Ok(rocelab_sim::run(plan, directory.into(), execution, observe)?.summary)
    })
}

/// The results of a run that is cut like this, with so many workers whether that is worth it or not.
pub(crate) fn in_parts(plan: &Arc<Plan>, partitioning: Partitioning, workers: usize) -> Results {
    let cut = Cut::new(plan, partitioning);
    results(|directory| {
        Ok(rocelab_sim::run_in_parts(Arc::clone(plan), directory.into(), &cut, workers)?.summary)
    })
}

/// The results of a run that is cut like this, whose units are these, on one thread.
pub(crate) fn in_units(
    plan: &Arc<Plan>,
    partitioning: Partitioning,
    units: Partitioning,
) -> Results {
    let cut = Cut::with_units(plan, partitioning, units);
    results(|directory| {
        Ok(rocelab_sim::run_in_parts(Arc::clone(plan), directory.into(), &cut, 1)?.summary)
    })
}

/// Every node by itself.
pub(crate) fn node_by_node(plan: &Plan) -> Partitioning {
    let nodes: Vec<u32> = (0..).take(plan.topology.nodes.len()).collect();
    Partitioning::by_parts(&nodes)
}

/// The results of a run on so many ranks, in so many parts.
pub(crate) fn on_ranks(plan: &Arc<Plan>, ranks: u32, partitions: u32) -> Results {
    results(|directory| Ok(ranks::run(plan, directory, ranks, partitions)?.summary))
}

/// The results of a run that is broken off time and again, each time a while behind the checkpoint that
/// it goes on from, and is carried out in other parts each time. How often that was, too.
pub(crate) fn broken_off(plan: &Arc<Plan>, every: Duration) -> (Results, u32) {
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join("results");
    let checkpoints = Checkpoints::create(&path, Overwrite::Refuse).unwrap();
    let directory = ResultsDir::with_checkpoints(&checkpoints, Overwrite::Refuse).unwrap();
    let settings = CheckpointSettings {
        scenario: plan.name.clone(),
        every,
        keep: true,
        replaces: false,
        inputs: Vec::new(),
    };
    let plan = || Arc::clone(plan);
    let execution = Execution::SEQUENTIAL;
    let kept = (&checkpoints, settings);
    let begun =
        rocelab_sim::run_with_checkpoints(plan(), &directory, execution, kept, &mut broken_by(2));
    let (mut outcome, mut directory, mut times) = (begun, directory, 0);
    while let Err(RunError::BrokenOff { .. }) = outcome {
        times += 1;
        assert!(times < 100, "it does not come to its end");
        let all = checkpoints.times().unwrap();
        // The first time from its beginning, then from the last checkpoint but one.
        let place = if times == 1 { 0 } else { all.len().saturating_sub(2) };
        let from = checkpoints.load(all[place]).unwrap();
        directory = ResultsDir::going_on(&checkpoints, Overwrite::Refuse, &from.files).unwrap();
        let execution = Execution { partitions: 1 + times * 2 % 5, threads: 1 + times % 2 };
        outcome = rocelab_sim::resume(
            plan(),
            &directory,
            execution,
            (&checkpoints, from),
            &mut broken_by(2),
        );
    }
    let summary = outcome.unwrap_or_else(|error| panic!("{error}")).summary;
    (read(directory, summary), times)
}

/// Breaks a run off when it is looked at for the `last` time.
fn broken_by(last: u32) -> impl FnMut(&Progress) -> ControlFlow<()> {
    let mut looks = 0;
    move |_| {
        looks += 1;
        if looks == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn results(run: impl FnOnce(&ResultsDir) -> Result<Summary, RunError>) -> Results {
    let place = tempfile::tempdir().expect("a folder");
    let directory = ResultsDir::create(place.path().join("results"), Overwrite::Refuse).unwrap();
    let summary = run(&directory).unwrap_or_else(|error| panic!("{error}"));
    read(directory, summary)
}

fn read(directory: ResultsDir, summary: Summary) -> Results {
    let path = directory.finish(&summary, &RunInfo::default()).unwrap();
    let mut files = BTreeMap::new();
    read_all(&path, &path, &mut files);
    Results { files, summary }
}

/// Every file below a folder, by its name from `root` on.
fn read_all(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

/// Two runs have the same files with the same bytes.
#[track_caller]
pub(crate) fn assert_same(one: &Results, other: &Results, what: &str) {
    let [names, others] = [one, other].map(|results| results.files.keys().collect::<Vec<_>>());
    assert_eq!(names, others, "{what}");
    for (file, bytes) in &one.files {
        let also = &other.files[file];
        assert!(bytes == also, "{what}: {file}: {}", difference(bytes, also));
    }
}

/// The first line in which two files differ.
fn difference(a: &[u8], b: &[u8]) -> String {
    let (a, b) = (String::from_utf8_lossy(a), String::from_utf8_lossy(b));
    let lines = (1..).zip(a.lines().zip(b.lines())).find(|(_, (a, b))| a != b);
    lines.map_or_else(
        || "one is longer".to_owned(),
        |(line, (a, b))| format!("line {line}:\n{a:.400}\n{b:.400}"),
    )
}

/// The plan of a scenario whose files are in a folder.
pub(crate) fn plan_in(text: &str, folder: &Path) -> Arc<Plan> {
    let scenario = Scenario::parse(text, &folder.join("parts.toml"), &[]);
    let plan = scenario.and_then(|scenario| scenario.plan());
    Arc::new(plan.unwrap_or_else(|error| panic!("{error}\n{text}")))
}

/// A scenario comes to the same in one part, with every node in a part of its own, on two threads, and with
/// every node in a cluster of its own.
/// What the summary says at `evidence` (JSON pointers) is not nothing: else this would say nothing.
#[track_caller]
pub(crate) fn assert_cuts_change_nothing(text: &str, evidence: &[&str]) -> Results {
    assert_plan_can_be_cut(&plan_in(text, Path::new("")), evidence)
}

/// The same of a plan.
#[track_caller]
pub(crate) fn assert_plan_can_be_cut(plan: &Arc<Plan>, evidence: &[&str]) -> Results {
    let whole = whole(plan);
    let summary = serde_json::to_value(&whole.summary).unwrap();
    for pointer in evidence {
        let value = summary.pointer(pointer);
        let value = value.unwrap_or_else(|| panic!("no {pointer} in {summary:#}"));
        let is_nothing = value.as_u64() == Some(0) || value.as_array().is_some_and(Vec::is_empty);
        assert!(!is_nothing, "{pointer} is nothing in {summary:#}");
    }
    assert_same(&whole, &in_parts(plan, node_by_node(plan), 2), "a part for each node");
    let one = Partitioning::whole(&plan.topology);
    let divided = in_units(plan, one, node_by_node(plan));
    assert_same(&whole, &divided, "a unit for each node");
    let halves = Partitioning::balanced(&plan.topology, 2);
    let divided = in_units(plan, halves, node_by_node(plan));
    assert_same(&whole, &divided, "a unit for each node, in two parts");
    for (ranks, partitions) in RANKS {
        let what = format!("{partitions} parts on {ranks} ranks");
        assert_same(&whole, &on_ranks(plan, ranks, partitions), &what);
    }
    let mut broken = broken_off(plan, Duration::from_ps(whole.summary.simulated_ps / 6));
    if broken.1 == 0 {
        // It stands still most of its time: what comes before that can be broken off.
        broken = broken_off(plan, Duration::from_us(10));
    }
    let (resumed, times) = broken;
    assert!(times > 0, "it was not broken off");
    assert_same(&whole, &resumed, &format!("broken off {times} times"));
    whole
}

/// Two leaves with two hosts each, and two spines; cables so long that a window has many events. `more`
/// are tables.
pub(crate) fn clos(top: &str, more: &str) -> String {
    format!(
        "convergence = \"20us\"\n{top}\n[topology.leaf-spine]\nleaves = 2\nspines = 2\n\
         hosts_per_leaf = 2\nhost_link = {{ rate = \"100Gbps\", cable = \"200m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"400m\" }}\n{more}\n"
    )
}

/// Four hosts behind one switch, two behind another.
pub(crate) fn dumbbell(top: &str, more: &str) -> String {
    format!(
        "{top}\n[topology.dumbbell]\nleft = 4\nright = 2\n\
         host_link = {{ rate = \"100Gbps\", cable = \"200m\" }}\n\
         bottleneck = {{ rate = \"100Gbps\", cable = \"400m\" }}\n{more}\n"
    )
}

/// A workload of flows, each of so many bytes between two hosts, as numbers.
pub(crate) fn flows(bytes: &str, pairs: &[(u32, u32)]) -> String {
    let flow = |(from, to): &(u32, u32)| {
        format!("{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"{bytes}\" }},\n")
    };
    let list: String = pairs.iter().map(flow).collect();
    format!("[[workload.flows]]\nlist = [\n{list}]\n")
}
