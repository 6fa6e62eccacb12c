//! What is proved before a run, against the run.

use std::path::Path;
use std::sync::Arc;

use rocelab_sim::network::Totals;
use rocelab_sim::{Plan, Planning, Scenario, Simulation};

mod flooding;
mod headroom;
mod lossless;
mod ring;
mod starvation;
mod static_routes;
mod ways;

fn plan(text: &str) -> Plan {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("headroom.toml");
    let plan = Scenario::parse(text, &path, &[]).and_then(|scenario| scenario.plan());
    plan.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs to the end, or to where the scenario stops.
fn totals(plan: Plan) -> Totals {
    let mut simulation: Simulation = Simulation::new(Arc::new(plan)).expect("it is a network");
    simulation.run_to_end();
    simulation.network().audit().expect("nothing is lost without a reason");
    simulation.network().totals(simulation.now())
}
