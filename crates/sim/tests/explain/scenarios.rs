//! Every flow of every shipped scenario is explained, to the picosecond.
//!
//! Of scenarios with many flows some are taken, at even distances: `ROCELAB_EXPLAIN_FLOWS` says how
//! many (all of them: a large number).

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocelab_sim::explain::{Category, explain};
use rocelab_sim::network::RecordKind;
use rocelab_sim::{Plan, ProfilePlan, Scenario, Simulation};

/// A scenario with more flows is run only if it is said how many are taken.
const MANY_FLOWS: usize = 200;
/// Flows of a scenario that are taken where nothing else is said.
const FLOWS: usize = 6;

fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    files
}

fn flows_of(plan: &Plan) -> Vec<u32> {
    let wanted = std::env::var("ROCELAB_EXPLAIN_FLOWS");
    let wanted = wanted.map_or(FLOWS, |text| text.parse().expect("a number of flows"));
    let count = plan.flows.len();
    let step = count.div_ceil(wanted.max(1)).max(1);
    let flows = (0..count).step_by(step);
    flows.map(|flow| u32::try_from(flow).unwrap()).collect()
}

/// When flows ended in a run that nobody looks at, and its digest.
fn ends_of(plan: &Arc<Plan>) -> (BTreeMap<u32, u64>, String) {
    let mut simulation =
        Simulation::<rocelab_sim::profile::roce::Roce>::new(Arc::clone(plan)).unwrap();
    simulation.run_to_end();
    let ends =
        simulation.network_mut().take_records().into_iter().filter_map(|record| {
            match record.kind {
                RecordKind::FlowEnd(end) => Some((end.flow, end.finished.ps())),
                _ => None,
            }
        });
    (ends.collect(), format!("{:016x}", simulation.network().digest()))
}

#[test]
fn every_picosecond_of_the_shipped_scenarios_has_a_category() {
    let only = std::env::var("ROCELAB_EXPLAIN_ONLY").ok();
    let mut explained = 0;
    for file in scenarios() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let plan = Scenario::load(&file, &[]).and_then(|scenario| scenario.plan());
        let plan = Arc::new(plan.unwrap_or_else(|error| panic!("{error}")));
        if plan.flows.is_empty() || !matches!(plan.profile, ProfilePlan::Roce) {
            continue;
        }
        if plan.flows.len() > MANY_FLOWS && std::env::var("ROCELAB_EXPLAIN_FLOWS").is_err() {
            continue;
        }
        let flows = flows_of(&plan);
        let (ends, digest) = ends_of(&plan);
        let found = explain(Arc::clone(&plan), &flows, |_| ControlFlow::Continue(()));
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(found.digest, digest, "{name}: to be looked at changes nothing");
        for flow in &found.flows {
            assert_eq!(flow.sum_ps(), flow.elapsed_ps, "{name}: flow {}", flow.flow);
            if let Some(end) = ends.get(&flow.flow) {
                assert_eq!(flow.start_ps + flow.elapsed_ps, *end, "{name}: flow {}", flow.flow);
            }
            let idle: Vec<_> =
                flow.parts.iter().filter(|part| part.category == Category::Idle).collect();
            assert!(idle.is_empty(), "{name}: flow {}: {idle:?}", flow.flow);
            explained += 1;
        }
        if std::env::var("ROCELAB_EXPLAIN_SHOW").is_ok() {
            println!("{:#?}", found.flows.last());
        }
    }
    assert!(only.is_some() || explained > 50, "{explained} flows");
}
