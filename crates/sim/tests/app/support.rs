//! Small runs with applications.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rocelab_sim::network::{FlowEnd, OperationEnd, RecordKind};
use rocelab_sim::{Ending, Plan, Planning, Scenario, Simulation};
use rocelab_transport::CompletionStatus;
use rocelab_units::SimTime;

/// Hosts around a switch, without congestion control.
pub(crate) fn around_a_switch(hosts: u32, rest: &str) -> String {
    format!(
        "[topology.single-switch]\nhosts = {hosts}\n\
         link = {{ rate = \"100Gbps\", delay = \"100ns\" }}\n[congestion_control.none]\n{rest}"
    )
}

/// A run that is over.
pub(crate) struct Run {
    pub(crate) plan: Arc<Plan>,
    pub(crate) simulation: Simulation,
    pub(crate) ending: Ending,
    /// The ends of operations, and when they were.
    pub(crate) ends: Vec<(SimTime, OperationEnd)>,
    /// Those of flows.
    pub(crate) flow_ends: Vec<FlowEnd>,
}

pub(crate) fn plan(text: &str) -> Plan {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("app.toml");
    let scenario = Scenario::parse(text, &path, &[]);
    let plan = scenario.and_then(|scenario| scenario.plan());
    plan.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs a scenario to its end and audits it.
pub(crate) fn run(text: &str) -> Run {
    let plan = Arc::new(plan(text));
    let mut simulation = Simulation::new(Arc::clone(&plan)).expect("a plan becomes a network");
    let (mut ends, mut flow_ends) = (Vec::new(), Vec::new());
    let ending = loop {
        let ending = simulation.advance(10_000);
        for record in simulation.take_records() {
            match record.kind {
                RecordKind::OperationEnd(end) => ends.push((record.key.time, end)),
                RecordKind::FlowEnd(end) => flow_ends.push(end),
                _ => {}
            }
        }
        simulation.network().audit().unwrap_or_else(|error| panic!("{error}\n{text}"));
        if let Some(ending) = ending {
            break ending;
        }
    };
    Run { plan, simulation, ending, ends, flow_ends }
}

impl Run {
    /// Every one of `count` operations completed, and nothing is left.
    #[track_caller]
    pub(crate) fn assert_complete(&self, count: usize) {
        assert_eq!(self.ending, Ending::Finished);
        assert_eq!(self.ends.len(), count);
        for (_, end) in &self.ends {
            assert_eq!(end.status, CompletionStatus::Success, "{end:?}");
        }
        assert!(self.simulation.network().open_operations().is_empty());
        assert!(self.simulation.network().is_drained());
    }

    /// From start to end of each operation, in the order of ends (ps).
    pub(crate) fn latencies(&self) -> Vec<u64> {
        self.ends.iter().map(|(time, end)| time.since(end.start).ps()).collect()
    }

    /// Frames that hosts sent, by opcode.
    pub(crate) fn opcodes(&self) -> BTreeMap<&'static str, u64> {
        self.simulation.network().totals(self.simulation.now()).opcodes
    }
}
