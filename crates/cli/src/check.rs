//! `rocelab check`.

use std::path::{Path, PathBuf};

use clap::Args;
use rocelab_report::HeadroomUse;
use rocelab_results::{Results, SCENARIO_TOML};
use rocelab_sim::Plan;
use rocelab_sim::proof::{Proof, ProofStage};
use serde::Serialize;

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Stages;
use crate::run::ScenarioArguments;

/// Arguments of `rocelab check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// A scenario file, a configuration of HPCC's ns-3 simulator (.txt), or a folder of them.
    #[arg(value_name = "FILE_OR_FOLDER")]
    path: PathBuf,
    /// Print one JSON object a scenario, on a line of its own.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    scenario: ScenarioArguments,
}

/// The object of `--json`.
#[derive(Serialize)]
struct Checked<'a> {
    scenario: String,
    hosts: usize,
    links: usize,
    flows: usize,
    applications: usize,
    /// Number of connections of applications.
    connections: usize,
    /// Number of errors.
    faults: usize,
    /// Number of warnings.
    warnings: usize,
    proof: &'a Proof,
    /// Of the scenario of a results directory: the headroom that the run used.
    #[serde(skip_serializing_if = "Option::is_none")]
    headroom_use: Option<&'a HeadroomUse>,
}

/// Validates every scenario at the path, and prints its errors and what can be proved about it.
pub(crate) fn execute(arguments: &CheckArguments) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    for path in crate::run::scenario_files(&arguments.path)? {
        let (loaded, plan) = match arguments.scenario.load(&path, false) {
            Ok(good) => good,
            Err(failure) => {
                exit = exit.and(failure.report());
                continue;
            }
        };
        answer::print_ineffective(&path, &loaded, &plan);
        let proof = prove(&plan);
        let used = used_in(&path)?;
        if proof.faults() > 0 || used.as_ref().is_some_and(|used| used.drops() > 0) {
            exit = exit.and(Exit::Found);
        }
        answer::print(&if arguments.json {
            json(&path, &plan, &proof, used.as_ref())
        } else {
            text(&path, &plan, &proof, used.as_ref())
        })?;
    }
    Ok(exit)
}

/// Makes the proofs, and shows the progress.
fn prove(plan: &Plan) -> Proof {
    let stages = Stages::new(false, ProofStage::ALL.len() as u64);
    Proof::watched(plan, &mut |stage| stages.begin(stage as u64, stage.name()))
}

/// The headroom that the run used whose results the scenario at `path` is part of; `None` if it is of none, or that was not
/// measured.
fn used_in(path: &Path) -> Result<Option<HeadroomUse>, Failure> {
    let folder = path.parent().filter(|_| path.ends_with(SCENARIO_TOML));
    let Some(folder) = folder.filter(|folder| folder.join("summary.json").is_file()) else {
        return Ok(None);
    };
    Ok(HeadroomUse::of(&Results::open(folder)?)?)
}

fn text(path: &Path, plan: &Plan, proof: &Proof, used: Option<&HeadroomUse>) -> String {
    let verdict = match proof.faults() {
        0 => "ok".into(),
        faults => counted(faults, "fault"),
    };
    let verdict = match proof.warnings() {
        0 => verdict,
        warnings => format!("{verdict}, {}", counted(warnings, "warning")),
    };
    let used = used.map_or(String::new(), |used| {
        let word = if used.drops() > 0 { "WRONG" } else { "ok   " };
        format!("  {word} {:<19}  {}\n", "headroom used", used.verdict())
    });
    format!("{}: {}: {verdict}\n{proof}{used}", path.display(), counts(plan))
}

/// The numbers of hosts, links, flows and applications, in words.
fn counts(plan: &Plan) -> String {
    let mut counts = vec![
        counted(plan.topology.host_count(), "host"),
        counted(plan.topology.links.len(), "link"),
    ];
    if !plan.flows.is_empty() || plan.apps.is_empty() {
        counts.push(counted(plan.flows.len(), "flow"));
    }
    if !plan.apps.is_empty() {
        counts.push(counted(plan.apps.len(), "application"));
        counts.push(counted(plan.connections.len(), "connection"));
    }
    counts.join(", ")
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn json(path: &Path, plan: &Plan, proof: &Proof, headroom_use: Option<&HeadroomUse>) -> String {
    let checked = Checked {
        scenario: path.display().to_string(),
        hosts: plan.topology.host_count(),
        links: plan.topology.links.len(),
        flows: plan.flows.len(),
        applications: plan.apps.len(),
        connections: plan.connections.len(),
        faults: proof.faults(),
        warnings: proof.warnings(),
        proof,
        headroom_use,
    };
    let mut line = serde_json::to_string(&checked).unwrap_or_default();
    line.push('\n');
    line
}
