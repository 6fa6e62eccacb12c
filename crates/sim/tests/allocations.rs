//! No allocation per event: once a network is warm, it runs on with the memory it has.

use std::path::Path;
use std::sync::Arc;

use rocelab_sim::{Planning, Scenario, Simulation};

/// Events until all stores have the size that they need.
const WARM_UP: u64 = 3_000_000;
/// How often, of all stores, one may double yet, when more wait in it than ever before.
const DOUBLINGS: u64 = 4;
/// Events that are watched.
const WATCHED: u64 = 1_000_000;

/// Every host of a fat tree sends to another, for longer than anybody looks.
fn simulation(control: &str, settings: &str) -> Simulation {
    let text = format!(
        "sample = \"off\"\n[topology.fat-tree]\nk = 4\nhost_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n\
         [congestion_control.{control}]\n{settings}\n[workload.permutation]\nbytes = \"1GB\"\n"
    );
    let scenario = Scenario::parse(&text, Path::new("allocations.toml"), &[]).expect("it is right");
    Simulation::new(Arc::new(scenario.plan().expect("it is right"))).expect("it fits")
}

/// Runs so many events or some more; nothing that is recorded is kept.
fn advance(simulation: &mut Simulation, events: u64) {
    let end = simulation.progress().events + events;
    while simulation.progress().events < end {
        assert_eq!(simulation.advance(10_000), None, "the run is not over");
        drop(simulation.take_records());
    }
}

/// Allocations while so many events are watched.
fn allocations(control: &str, settings: &str) -> u64 {
    let mut simulation = simulation(control, settings);
    advance(&mut simulation, WARM_UP);
    let before = simulation.progress();
    let counted = allocation_counter::measure(|| advance(&mut simulation, WATCHED));
    let after = simulation.progress();
    let (events, traversals) = (after.events - before.events, after.traversals - before.traversals);
    println!("{control}: {events} events, {traversals} traversals, {counted:?}");
    assert!(events >= WATCHED && traversals >= WATCHED / 2, "{events} and {traversals}");
    counted.count_total
}

#[test]
fn a_warm_network_allocates_nothing() {
    for control in ["dcqcn", "hpcc", "timely", "dctcp"] {
        assert!(allocations(control, "") <= DOUBLINGS, "{control}");
    }
    assert!(allocations("none", "rate = \"20Gbps\"") <= DOUBLINGS, "none");
}

/// What pauses leave behind for the results is kept until it is taken.
#[test]
fn pauses_allocate_for_what_is_recorded() {
    let allocations = allocations("none", "");
    assert!((DOUBLINGS..WATCHED / 1_000).contains(&allocations), "{allocations}");
}
