//! Runs in integrity mode.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rocelab_sim::network::{FlowEnd, IntegrityReport, RecordKind};
use rocelab_sim::{Ending, Planning, Scenario, ScenarioError, Simulation};
use rocelab_transport::Counters;

/// A run that is over.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) simulation: Simulation,
    pub(crate) ending: Ending,
    pub(crate) ends: Vec<FlowEnd>,
}

pub(crate) fn try_plan(text: &str) -> Result<rocelab_sim::Plan, ScenarioError> {
    Scenario::parse(text, Path::new("integrity.toml"), &[])?.plan()
}

/// Runs a scenario to its end and audits it.
pub(crate) fn run(text: &str) -> Run {
    let plan = try_plan(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut simulation: Simulation =
        Simulation::new(Arc::new(plan)).expect("a plan becomes a network");
    let ending = simulation.run_to_end();
    simulation.network().audit().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let records = simulation.take_records().into_iter();
    let ends = records
        .filter_map(|record| match record.kind {
            RecordKind::FlowEnd(end) => Some(end),
            _ => None,
        })
        .collect();
    Run { simulation, ending, ends }
}

/// Runs a scenario to its end, audits it, and leaves its capture in a folder of this name.
pub(crate) fn captured(folder: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).expect("the folder takes folders");
    let plan = try_plan(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut simulation: Simulation =
        Simulation::new(Arc::new(plan)).expect("a plan becomes a network");
    simulation.start_capture(&folder).expect("the folder takes files");
    simulation.run_to_end();
    simulation.finish_capture().expect("the folder takes files");
    simulation.network().audit().unwrap_or_else(|error| panic!("{error}\n{text}"));
    folder.join("capture.pcapng")
}

impl Run {
    pub(crate) fn report(&self) -> IntegrityReport {
        self.simulation.network().integrity().expect("integrity mode is on")
    }

    pub(crate) fn counters(&self) -> Counters {
        self.simulation.network().nic_counters()
    }
}
