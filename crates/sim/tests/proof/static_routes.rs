//! Static routes beside the spanning tree that follows a failure.

use std::path::Path;
use std::sync::Arc;

use rocelab_sim::proof::Proof;
use rocelab_sim::{Planning, Scenario, Simulation};

/// Four switches in a ring, RoCE v1, and a static route along the tree as it is at first. `failing` is
/// a link between switches, by one of its ports.
fn ring(route: &str, failing: &str) -> Scenario {
    let text = format!(
        "stop = \"5ms\"\n[roce]\nversion = 1\npath_mtu = 1024\n\
         [topology.file]\npath = \"hotnets16-ring.topology.txt\"\n\
         [switch]\nbuffer = \"12MB\"\nxoff = \"40KB\"\n[congestion_control.none]\n{route}\
         [[workload.flows]]\nlist = [\n\
         {{ from = \"host-4\", to = \"host-1\", bytes = \"1GB\" }},\n\
         {{ from = \"host-3\", to = \"host-1\", bytes = \"1GB\" }},\n\
         {{ from = \"host-0\", to = \"host-1\", bytes = \"1GB\" }},\n]\n\
         [[failure]]\nkind = \"link-down\"\nport = \"{failing}\"\nat = \"1ms\"\n"
    );
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/t.toml");
    Scenario::parse(&text, &scenarios, &[]).expect("the scenario is good")
}

#[test]
fn a_static_route_that_points_away_from_the_next_tree_is_found_before_the_run_waits_in_it() {
    let route = "[[route]]\nswitch = \"switch-7\"\ndestinations = [\"host-1\"]\n\
                 next_hop = \"switch-6\"\n";
    let plan = ring(route, "switch-6:2").plan().expect("it is a network");
    let proof = Proof::of(&plan);
    let finding = proof.buffer_dependency.as_ref().expect("it was looked into");
    assert_eq!(finding.cycle, None, "the route follows the first tree");
    let failures = finding.failures.as_ref().expect("there was no cycle before");
    assert!(!failures.spanning_tree && failures.first.is_some(), "{failures:?}");
    assert_eq!(proof.faults(), 1, "{proof}");
    let after = &failures.first.as_ref().expect("a cycle").cycle;
    let mut simulation: Simulation = Simulation::new(Arc::new(plan)).expect("it is a network");
    simulation.run_to_end();
    let [deadlock] = simulation.network().deadlocks() else { panic!("a deadlock") };
    assert_eq!(deadlock.cycle.len(), 2, "between the two switches: {deadlock:?}");
    assert_eq!(after.split(" -> ").count(), 3, "{after}");
}

#[test]
fn without_static_routes_the_next_tree_is_enough() {
    let plan = ring("", "switch-6:2").plan().expect("it is a network");
    let proof = Proof::of(&plan);
    let finding = proof.buffer_dependency.as_ref().expect("it was looked into");
    assert!(finding.failures.as_ref().is_some_and(|failures| failures.spanning_tree));
    assert_eq!(proof.faults(), 0, "{proof}");
    let mut simulation: Simulation = Simulation::new(Arc::new(plan)).expect("it is a network");
    simulation.run_to_end();
    assert!(simulation.network().deadlocks().is_empty());
}
