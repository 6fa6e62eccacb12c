//! Scenarios from text, run to their end and audited.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rocelab_engine::RngStream;
use rocelab_sim::network::{FlowEnd, PauseChange, PauseEvent, Record, RecordKind, Totals};
use rocelab_sim::scenario::Sampling;
use rocelab_sim::{Ending, Plan, Planning, Scenario, ScenarioError, Simulation};
use rocelab_transport::CompletionStatus;
use rocelab_units::SimTime;

/// A run that is over, or has come to where it was asked to.
pub(crate) struct Run {
    pub(crate) plan: Arc<Plan>,
    pub(crate) simulation: Simulation,
    pub(crate) records: Vec<Record>,
    pub(crate) ending: Option<Ending>,
}

/// A folder for the files that scenarios name.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).into()
}

/// Puts a file there that scenarios name. Tests run side by side and may write the same one, so it
/// appears under its name at once and whole.
pub(crate) fn write_file(name: &str, text: &str) {
    static WRITTEN: AtomicU32 = AtomicU32::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let draft = folder().join(format!("{}-{number}.draft", std::process::id()));
    std::fs::write(&draft, text).expect("the folder takes files");
    std::fs::rename(&draft, folder().join(name)).expect("the folder takes files");
}

/// The scenario without samples that it does not ask for, so that each event is one of a frame or a timer.
fn unsampled(mut scenario: Scenario) -> Scenario {
    if scenario.sample.is_default() {
        scenario.sample = Sampling::Off;
    }
    scenario
}

/// The plan of a scenario, or why there is none.
pub(crate) fn try_plan(text: &str) -> Result<Plan, ScenarioError> {
    unsampled(Scenario::parse(text, &folder().join("validation.toml"), &[])?).plan()
}

/// What a scenario says to no effect: keys and messages.
pub(crate) fn notes(text: &str) -> Vec<(String, String)> {
    let scenario = Scenario::parse(text, Path::new("notes.toml"), &[]).expect("it is read");
    let plan = scenario.plan().expect("it runs");
    let notes = scenario.without_effect(&plan);
    notes.iter().map(|note| (note.key().to_owned(), note.message().to_owned())).collect()
}

/// The plan of a scenario that is right.
pub(crate) fn plan(text: &str) -> Plan {
    try_plan(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The plan of one of the project's own scenarios, after `overrides`.
pub(crate) fn shipped(name: &str, overrides: &[(&str, &str)]) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let plan = Scenario::load(&path, &overrides).and_then(|scenario| unsampled(scenario).plan());
    plan.unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a scenario to its end and audits it.
pub(crate) fn run(text: &str) -> Run {
    let mut run = Run::new(plan(text));
    run.finish();
    run
}

impl Run {
    /// The network at time zero.
    pub(crate) fn new(plan: Plan) -> Self {
        let plan = Arc::new(plan);
        let simulation = Simulation::new(Arc::clone(&plan)).expect("a plan becomes a network");
        Self { plan, simulation, records: Vec::new(), ending: None }
    }

    /// Runs to the end.
    pub(crate) fn finish(&mut self) {
        while self.step(1 << 20) {}
    }

    /// Runs a while and audits; false at the end.
    pub(crate) fn step(&mut self, budget: u64) -> bool {
        self.ending = self.simulation.advance(budget);
        self.records.extend(self.simulation.take_records());
        self.simulation.network().audit().unwrap_or_else(|error| panic!("{error}"));
        self.ending.is_none()
    }

    /// Runs until `time` at the least; the run must last longer.
    pub(crate) fn run_until(&mut self, time: SimTime) {
        while self.simulation.progress().now < time {
            assert!(self.step(1), "the run ended before {time}");
        }
    }

    pub(crate) fn totals(&self) -> Totals {
        self.simulation.network().totals(self.simulation.now())
    }

    /// The ends of flows, in order of events.
    pub(crate) fn flow_ends(&self) -> Vec<FlowEnd> {
        let end = |record: &Record| match record.kind {
            RecordKind::FlowEnd(end) => Some(end),
            _ => None,
        };
        self.records.iter().filter_map(end).collect()
    }

    /// Time and change of every pause, refresh, resumption and expiry.
    pub(crate) fn pauses(&self) -> Vec<(SimTime, PauseChange)> {
        let pause = |record: &Record| match record.kind {
            RecordKind::Pause(change) => Some((record.key.time, change)),
            _ => None,
        };
        self.records.iter().filter_map(pause).collect()
    }

    /// How many changes of a kind there were.
    pub(crate) fn count_pauses(&self, is_meant: impl Fn(&PauseEvent) -> bool) -> usize {
        self.pauses().iter().filter(|(_, change)| is_meant(&change.event)).count()
    }

    /// Completion time of each flow from its start, by the flow's number [ps].
    pub(crate) fn completion_times(&self) -> Vec<u64> {
        let mut times = vec![0; self.plan.flows.len()];
        for end in self.flow_ends() {
            assert_eq!(end.status, CompletionStatus::Success);
            let flow = end.flow as usize;
            times[flow] = end.finished.since(self.plan.flows[flow].start).ps();
        }
        times
    }

    /// Every flow completed, each once, and nothing is left in the network.
    pub(crate) fn assert_complete(&self, context: &str) {
        assert_eq!(self.ending, Some(Ending::Finished), "{context}");
        let mut ended = vec![0; self.plan.flows.len()];
        for end in self.flow_ends() {
            assert_eq!(end.status, CompletionStatus::Success, "{context}");
            ended[end.flow as usize] += 1;
        }
        assert!(ended.iter().all(|&times| times == 1), "{context}: {ended:?}");
        let network = self.simulation.network();
        assert_eq!(network.frames_in_network(), 0, "{context}");
        let queued: u64 = network
            .ports()
            .map(|view| (0..8).map(|p| u64::from(view.port.queued(p))).sum::<u64>())
            .sum();
        assert_eq!(queued, 0, "{context}");
        let asked: u64 = self.plan.flows.iter().map(|flow| flow.bytes).sum();
        assert_eq!(network.nic_counters().payload_delivered, asked, "{context}");
        let totals = self.totals();
        assert_eq!(
            totals.frames_created,
            totals.frames_delivered + totals.frames_dropped,
            "{context}"
        );
    }

    /// Bytes that `node` has sent by its port `number`, FCS included.
    pub(crate) fn sent(&self, node: &str, number: u16) -> u64 {
        self.port(node, number).0
    }

    /// Bytes and frames that a port has sent.
    pub(crate) fn port(&self, node: &str, number: u16) -> (u64, u64) {
        let id = self.plan.topology.node_by_name(node).expect("the node exists");
        let view = self
            .simulation
            .network()
            .ports()
            .find(|view| view.node == id && view.number == number)
            .expect("the port exists");
        (view.counters.bytes, view.counters.frames)
    }
}

/// Random choices for random scenarios.
pub(crate) struct Dice(RngStream);

impl Dice {
    pub(crate) fn new(name: &str, number: u64) -> Self {
        Self(RngStream::new(number, name))
    }

    /// Uniform, both ends included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    /// One of them.
    pub(crate) fn one<T: Copy>(&mut self, choices: &[T]) -> T {
        let index = self.0.below(choices.len() as u64);
        choices[usize::try_from(index).expect("an index")]
    }
}
