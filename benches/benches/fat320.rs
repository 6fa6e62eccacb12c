//! A whole run: 320 servers, flows of web search sizes, DCQCN. Its throughput is in link
//! traversals: a frame, data or not, over one link.

use std::path::Path;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rocelab_sim::{Plan, Planning, Scenario, Simulation};

/// Number of flows, unless an environment variable gives it.
const FLOWS: usize = 1_000;

fn plan() -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/fat320-websearch.toml");
    let mut plan = Scenario::load(&path, &[])
        .and_then(|scenario| scenario.plan())
        .unwrap_or_else(|error| panic!("{error}"));
    let wanted = std::env::var("ROCELAB_BENCH_FLOWS").ok();
    plan.flows.truncate(wanted.map_or(FLOWS, |flows| flows.parse().expect("a number of flows")));
    plan
}

fn new_simulation(plan: &Arc<Plan>) -> Simulation {
    Simulation::new(Arc::clone(plan)).expect("the plan is a network")
}

fn fat320(criterion: &mut Criterion) {
    let plan = Arc::new(plan());
    let mut once = new_simulation(&plan);
    once.run_to_end();
    assert_eq!(once.progress().flows_ended as usize, plan.flows.len());

    let mut group = criterion.benchmark_group("fat320");
    group.throughput(Throughput::Elements(once.progress().traversals)).sample_size(10);
    group.bench_function(format!("{}_flows", plan.flows.len()), |bencher| {
        let run = |mut simulation: Simulation| {
            simulation.run_to_end();
            simulation
        };
        bencher.iter_batched(|| new_simulation(&plan), run, BatchSize::PerIteration);
    });
    group.finish();
}

criterion_group!(benches, fat320);
criterion_main!(benches);
