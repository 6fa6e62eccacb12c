//! Every flow and every operation of every shipped scenario is explained, to the picosecond.
//!
//! [`CUT_SHORT`] are the scenarios of which only the beginning is looked at, because all of it takes
//! minutes: `ROCELAB_EXPLAIN_ALL=1` looks at all of it. `ROCELAB_EXPLAIN_ONLY=NAME` takes only the
//! scenarios whose names contain that.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocelab_sim::explain::{Category, Explained, Explanation, Selection, Subject, explain};
use rocelab_sim::network::RecordKind;
use rocelab_sim::{Plan, Planning, ProfilePlan, Scenario, Simulation};

/// Scenarios that take more than a few seconds, and when they are cut off.
const CUT_SHORT: [(&str, &str); 1] = [("fat320-websearch", "250us")];

fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    files
}

fn plan_of(file: &Path, name: &str) -> Arc<Plan> {
    let cut = CUT_SHORT.iter().filter(|(cut, _)| *cut == name);
    let overrides: Vec<_> = match std::env::var_os("ROCELAB_EXPLAIN_ALL") {
        Some(_) => Vec::new(),
        None => cut.map(|(_, stop)| ("stop".to_owned(), (*stop).to_owned())).collect(),
    };
    let plan = Scenario::load(file, &overrides).and_then(|scenario| scenario.plan());
    Arc::new(plan.unwrap_or_else(|error| panic!("{error}")))
}

/// What a run that nobody looks at says.
struct Ran {
    digest: String,
    /// When it was over (ps).
    end: u64,
    /// By flow: when it ended (ps).
    flows: BTreeMap<u32, u64>,
    /// By connection and operation: when it started and ended (ps).
    operations: BTreeMap<(u32, u64), (u64, u64)>,
}

fn run(plan: &Arc<Plan>) -> Ran {
    let mut simulation =
        Simulation::<rocelab_sim::profile::roce::Roce>::new(Arc::clone(plan)).unwrap();
    simulation.run_to_end();
    let end = simulation.now().ps();
    let mut ran = Ran {
        digest: format!("{:016x}", simulation.network().digest()),
        end,
        flows: BTreeMap::new(),
        operations: BTreeMap::new(),
    };
    for open in simulation.network().open_operations() {
        ran.operations.insert((open.connection, open.operation), (open.start.ps(), end));
    }
    for record in simulation.take_records() {
        match record.kind {
            RecordKind::FlowEnd(end) => {
                ran.flows.insert(end.flow, end.finished.ps());
            }
            RecordKind::OperationEnd(end) => {
                let times = (end.start.ps(), record.key.time.ps());
                ran.operations.insert((end.connection, end.operation), times);
            }
            _ => {}
        }
    }
    ran
}

/// Every flow that has started, and every operation, with its own times, none of which is left over.
fn check(name: &str, plan: &Plan, ran: &Ran, found: &Explained) {
    assert_eq!(found.digest, ran.digest, "{name}: to be looked at changes nothing");
    let mut flows = 0;
    for one in &found.flows {
        let Subject::Flow { flow, .. } = one.what else { panic!("{name}: {one}") };
        assert_eq!(one.start_ps, plan.flows[flow as usize].start.ps(), "{name}: {one}");
        let end = ran.flows.get(&flow).copied().unwrap_or(ran.end.max(one.start_ps));
        assert_eq!(one.start_ps + one.elapsed_ps, end, "{name}: {one}");
        adds_up(name, one);
        flows += 1;
    }
    // Of those to members of a multicast group the first one stands for all.
    let stands = |&(number, _): &(u32, _)| plan.posted_flow(number) == number;
    let all = (0u32..).zip(&plan.flows).filter(stands);
    let started = all.filter(|(_, flow)| flow.start.ps() <= ran.end);
    assert_eq!(flows, started.count(), "{name}: flows");
    for one in &found.operations {
        let Subject::Operation { connection, operation, .. } = one.what else {
            panic!("{name}: {one}")
        };
        let times = (one.start_ps, one.start_ps + one.elapsed_ps);
        assert_eq!(ran.operations.get(&(connection, operation)), Some(&times), "{name}: {one}");
        adds_up(name, one);
    }
    // Those of programs cross several connections, and are not explained.
    let of_steps = |(connection, _): &&(u32, u64)| plan.app_of(*connection).program.is_none();
    let explained = ran.operations.keys().filter(of_steps).count();
    assert_eq!(found.operations.len(), explained, "{name}: operations");
}

fn adds_up(name: &str, one: &Explanation) {
    assert_eq!(one.sum_ps(), one.elapsed_ps, "{name}: {one}");
    let idle = one.parts.iter().filter(|part| part.category == Category::Idle);
    assert_eq!(idle.count(), 0, "{name}: {one}");
}

#[test]
fn every_picosecond_of_the_shipped_scenarios_has_a_category() {
    let only = std::env::var("ROCELAB_EXPLAIN_ONLY").ok();
    let (mut flows, mut operations) = (0, 0);
    for file in scenarios() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let plan = plan_of(&file, &name);
        if !matches!(plan.profile, ProfilePlan::Roce) {
            continue;
        }
        let ran = run(&plan);
        let found =
            explain(Arc::clone(&plan), &Selection::Everything, &mut |_| ControlFlow::Continue(()));
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        check(&name, &plan, &ran, &found);
        flows += found.flows.len();
        operations += found.operations.len();
        if std::env::var_os("ROCELAB_EXPLAIN_SHOW").is_some() {
            let last = found.flows.last().into_iter().chain(found.operations.last());
            last.for_each(|one| println!("{one}"));
        }
    }
    println!("{flows} flows, {operations} operations");
    assert!(only.is_some() || flows > 10_000 && operations > 40_000, "{flows}, {operations}");
}
