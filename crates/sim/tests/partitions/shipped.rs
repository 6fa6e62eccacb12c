//! The repository's scenarios, as they are.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocelab_fabric::topology::Partitioning;
use rocelab_sim::{Cut, Execution, Plan, Planning, Scenario, Simulation};
use rocelab_units::Duration;

use crate::support::{
    assert_same, broken_off, in_parts, in_units, node_by_node, on_ranks, plan_in, whole,
};

/// Parts and workers.
const EXECUTIONS: [(u32, usize); 3] = [(2, 2), (3, 1), (8, 2)];

/// Scenarios with one switch, which no program cuts.
const UNCUT: [&str; 20] = [
    "completion-events",
    "connect-cm",
    "dcqcn-presets",
    "dcqcn-stability",
    "dcqcn-two-flows",
    "dscp",
    "host-congestion",
    "hpcc-incast",
    "mixed-algorithms",
    "neighbours",
    "nic-priorities",
    "partitions",
    "qcn-long-flows",
    "sigcomm16-livelock-read",
    "sigcomm16-livelock",
    "single-switch-write",
    "storage",
    "timely-no-fixed-point",
    "timely-patched",
    "trace-pipeline",
];

/// Where the digests of all scenarios are kept.
const FINGERPRINTS: &str = "tests/golden/fingerprints.csv";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn plan(path: &Path) -> Arc<Plan> {
    let scenario = Scenario::load(path, &[]).unwrap_or_else(|error| panic!("{error}"));
    Arc::new(scenario.plan().unwrap_or_else(|error| panic!("{error}")))
}

/// The native scenarios of the repository, but for the run of 320 servers, which takes too long.
fn scenarios() -> Vec<(String, Arc<Plan>)> {
    let entries = std::fs::read_dir(folder("../../scenarios")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let name = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    let all = files.iter().filter(|path| name(path) != "fat320-websearch");
    let all = all.map(|path| (name(path), plan(path)));
    all.filter(|(_, plan)| plan.profile.hpcc_ns3().is_none()).collect()
}

#[test]
fn every_execution_of_every_scenario_gives_the_same_bytes() {
    let mut fingerprints = "scenario,digest\n".to_owned();
    let mut uncut = Vec::new();
    for (name, plan) in scenarios() {
        let in_one = whole(&plan);
        _ = writeln!(fingerprints, "{name},{}", in_one.summary.digest);
        let mut cuts: Vec<Partitioning> = Vec::new();
        for (parts, workers) in EXECUTIONS {
            let cut = Partitioning::balanced(&plan.topology, parts);
            if cut.parts() > 1 && !cuts.contains(&cut) {
                let what = format!("{name} in {} parts on {workers} threads", cut.parts());
                assert_same(&in_one, &in_parts(&plan, cut.clone(), workers), &what);
                cuts.push(cut);
            }
        }
        let one = Partitioning::whole(&plan.topology);
        let divided = in_units(&plan, one, node_by_node(&plan));
        assert_same(&in_one, &divided, &format!("{name} with a unit for each node"));
        assert_same(&in_one, &on_ranks(&plan, 2, 2), &format!("{name} on 2 ranks"));
        if cuts.is_empty() {
            uncut.push(name);
        }
    }
    assert_eq!(uncut, UNCUT);
    let golden = folder(FINGERPRINTS);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &fingerprints).unwrap();
    }
    assert_eq!(fingerprints, std::fs::read_to_string(golden).unwrap());
}

/// As a program runs it, which uses threads where that is worth it.
#[test]
fn more_parts_than_there_are_switches() {
    let plan = plan(&folder("../../scenarios/permutation-leaf-spine.toml"));
    let switches =
        plan.topology.nodes.iter().filter(|node| node.kind != rocelab_fabric::NodeKind::Host);
    let execution = Execution { partitions: 4_000_000_000, threads: 4_000_000_000 };
    let mut simulation: Simulation =
        Simulation::with_execution(Arc::clone(&plan), execution).expect("a plan becomes a network");
    let used = simulation.execution();
    assert!(used.partitions > 1 && used.partitions as usize <= switches.count(), "{used:?}");
    assert_eq!(used.threads, used.partitions);
    simulation.run_to_end();
    assert_eq!(simulation.network().digest(), {
        let mut whole: Simulation = Simulation::new(plan).expect("a plan becomes a network");
        whole.run_to_end();
        whole.network().digest()
    });
}

/// No cut that a program would choose: every node is a part, or every other node is in the same one.
#[test]
fn cuts_through_everything_change_nothing() {
    let outcome = |plan: &Arc<Plan>, partitioning: Partitioning| {
        let cut = Cut::new(plan, partitioning);
        let mut simulation: Simulation =
            Simulation::in_parts(Arc::clone(plan), &cut, 2).expect("a plan becomes a network");
        let ending = simulation.run_to_end();
        simulation.finish_samples();
        simulation.network().audit().unwrap_or_else(|error| panic!("{error}"));
        let records = format!("{:?}", simulation.take_records());
        (ending, simulation.now(), records, simulation.network().digest())
    };
    for name in ["connect-cm", "hotnets16-ring", "ping-pong"] {
        let plan = plan(&folder("../../scenarios").join(format!("{name}.toml")));
        let nodes: Vec<u32> = (0..).take(plan.topology.nodes.len()).collect();
        let halves: Vec<u32> = nodes.iter().map(|node| node % 2).collect();
        let whole = outcome(&plan, Partitioning::whole(&plan.topology));
        for parts in [nodes, halves] {
            assert!(outcome(&plan, Partitioning::by_parts(&parts)) == whole, "{name}");
        }
    }
}

/// Units and one queue for all of a network, in whole and in parts, saved and gone on from too.
#[test]
fn a_large_network_comes_to_the_same_in_units() {
    let text = "stop = \"30us\"\n[topology.fat-tree]\nk = 10\n\
                host_link = { rate = \"100Gbps\", cable = \"3m\" }\n\
                fabric_link = { rate = \"100Gbps\", cable = \"50m\" }\n\
                [workload.permutation]\nbytes = \"200KB\"\n";
    let plan = plan_in(text, Path::new(""));
    let one = || Partitioning::whole(&plan.topology);
    let in_one = in_units(&plan, one(), one());
    assert_same(&in_one, &whole(&plan), "in units");
    assert_same(&in_one, &on_ranks(&plan, 2, 2), "in units on 2 ranks");
    let (resumed, times) = broken_off(&plan, Duration::from_us(5));
    assert!(times > 0, "it was not broken off");
    assert_same(&in_one, &resumed, "in units, broken off");
}
