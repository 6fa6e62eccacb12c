//! `rocelab explain`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use rocelab_results::{Results, SCENARIO_TOML, Summary};
use rocelab_sim::explain::{ExplainError, Explained, Selection, Survey, explain, survey};
use rocelab_sim::{Observer, Plan, Planning};

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::{Bar, Stages};

/// Arguments of `rocelab explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// A results directory.
    #[arg(value_name = "RESULTS")]
    path: PathBuf,
    /// A flow, by its number in flows.csv. Without it: the pauses of the run, and their victims.
    #[arg(long, value_name = "N")]
    flow: Option<u32>,
    /// The connection of an application, by its number in operations.csv.
    #[arg(long, value_name = "N", requires = "operation", conflicts_with = "flow")]
    connection: Option<u32>,
    /// Its operation, by its number in operations.csv.
    #[arg(long, value_name = "N", requires = "connection", conflicts_with = "flow")]
    operation: Option<u64>,
    /// Print a JSON object.
    #[arg(long)]
    json: bool,
}

impl ExplainArguments {
    /// The flow or operation to explain; `None` for all pauses.
    fn selection(&self) -> Option<Selection> {
        match (self.flow, self.connection, self.operation) {
            (Some(flow), _, _) => Some(Selection::Flows(vec![flow])),
            (None, Some(connection), Some(operation)) => {
                Some(Selection::Operation { connection, operation })
            }
            (None, _, _) => None,
        }
    }
}

/// The explanation.
enum Answer {
    Flow(Explained),
    Pauses(Survey),
}

/// Runs the scenario of the results again, and prints where the time of a flow or operation went,
/// or what was paused.
pub(crate) fn execute(arguments: &ExplainArguments) -> Result<Exit, Failure> {
    let results = crate::report::open(&arguments.path)?;
    let scenario = arguments.path.join(SCENARIO_TOML);
    refuse_ns3_rdma(&arguments.path)?;
    let stages = Stages::of_one(false, "planning");
    let loaded = rocelab_sim::reference::load(&scenario, &[])?;
    let mut plan = loaded.scenario.plan()?;
    drop(stages);
    let summary = results.summary();
    if summary.incomplete {
        plan.stop_at(summary.simulated_ps);
    }
    let interrupt = Interrupt::listen();
    let bar = Bar::new(false);
    let answer = answer_to(arguments, plan, &mut |progress| {
        bar.show(progress);
        if interrupt.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.clear();
    let answer = match answer {
        Err(ExplainError::Interrupted) => return Ok(Exit::Interrupted),
        other => other.map_err(Failure::Explain)?,
    };
    let text =
        if arguments.json { answer.json()? } else { answer.text() + &deadlocks(&answer, summary) };
    answer::print(&text)?;
    Ok(compare(&arguments.path, &results, answer.digest()))
}

/// The deadlocks of a run on InfiniBand, behind what a flow waited for: its credits do not say that they never come. The
/// survey has them itself, as the tree of pauses has on Ethernet.
fn deadlocks(answer: &Answer, summary: &Summary) -> String {
    let are_told = matches!(answer, Answer::Pauses(_)) || summary.infiniband.is_none();
    let all = summary.deadlocks.iter().filter(|_| !are_told);
    all.map(|deadlock| format!("\n{deadlock}\n")).collect()
}

/// Results by ns3-rdma's rules have no scenario that could run again.
fn refuse_ns3_rdma(results: &Path) -> Result<(), Failure> {
    let summary = std::fs::read_to_string(results.join("summary.json")).unwrap_or_default();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap_or_default();
    if summary.get("ns3_rdma").is_none() {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "{}: runs by the rules of ns3-rdma cannot be explained, because `explain` follows the packets of RoCE; their \
         trace (mix.tr) has what traced nodes received and lost, `run --reference-log` writes every event, and `rocelab \
         convert CONFIG --roce 2` makes a scenario of RoCE of the configuration, whose runs can be explained",
        results.display()
    )))
}

fn answer_to(
    arguments: &ExplainArguments,
    plan: Plan,
    observe: &mut Observer<'_>,
) -> Result<Answer, ExplainError> {
    match arguments.selection() {
        Some(selection) => explain(Arc::new(plan), &selection, observe).map(Answer::Flow),
        None => survey(Arc::new(plan), observe).map(Answer::Pauses),
    }
}

impl Answer {
    fn digest(&self) -> &str {
        match self {
            Self::Flow(explained) => &explained.digest,
            Self::Pauses(survey) => &survey.digest,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Flow(explained) => explained
                .flows
                .iter()
                .chain(&explained.operations)
                .map(ToString::to_string)
                .collect(),
            Self::Pauses(survey) => survey.to_string(),
        }
    }

    fn json(&self) -> Result<String, Failure> {
        let text = match self {
            Self::Flow(explained) => serde_json::to_string_pretty(explained),
            Self::Pauses(survey) => serde_json::to_string_pretty(survey),
        };
        let text =
            text.map_err(|error| Failure::Input(format!("the explanation is no JSON: {error}")))?;
        Ok(text + "\n")
    }
}

/// Checks that the repeated run had the same digest as the run that wrote the results.
fn compare(path: &Path, results: &Results, run_again: &str) -> Exit {
    let digest = &results.summary().digest;
    if digest == run_again {
        return Exit::Done;
    }
    stderr_line!(
        "warning: {}: run again, the digest is {run_again}, not {digest}: what is explained is another \
         run; the results are incomplete, or of a branch (rocelab branch), or of another version of \
         rocelab, or files have changed",
        path.display()
    );
    Exit::Found
}
