//! `rocelab trace`: traces of AI workloads.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use rocelab_trace::check::{Problem, check};
use rocelab_trace::summary::{Summary, lower_bound, summary};
use rocelab_trace::{
    Algorithm, Operation, Options, Source, Trace, TraceError, chakra, expand, goal, to_json,
};
use rocelab_units::{Bandwidth, Duration};

use crate::answer;
use crate::examples;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::new_file;

/// What to do with a trace.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Count what a trace has, and say how long it takes at least.
    #[command(after_help = examples::TRACE_INFO)]
    Info(InfoArguments),
    /// Find sends without receives, collective operations that differ, and other problems of the ranks together.
    #[command(after_help = examples::TRACE_CHECK)]
    Check(CheckArguments),
    /// Write a trace as GOAL, or as JSON.
    #[command(after_help = examples::TRACE_CONVERT)]
    Convert(ConvertArguments),
}

/// Which trace, and how it is read.
#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// Chakra traces of all ranks (PREFIX.RANK.et), or one file of GOAL (text or binary) or SimAI.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Communicator groups of Chakra traces: JSON such as {"1": [0, 1]}.
    #[arg(long, value_name = "FILE")]
    groups: Option<PathBuf>,
    /// The number of ranks, for a workload of SimAI that does not say it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    ranks: Option<u32>,
    /// Have nodes of one GPU stream of a Chakra trace wait for each other, as recorded.
    #[arg(long)]
    serialise_streams: bool,
    /// Follow control dependencies of Chakra traces too.
    #[arg(long)]
    control_dependencies: bool,
    /// Multiply durations of computation by this.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    compute_scale: f64,
}

/// Arguments of `rocelab trace info`.
#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    trace: TraceArguments,
    /// The rate of all ports of a rank together, such as 400Gbps: data takes time too in the lower bound.
    #[arg(long, value_name = "RATE")]
    rate: Option<Bandwidth>,
}

/// Arguments of `rocelab trace check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    trace: TraceArguments,
}

/// Arguments of `rocelab trace convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    #[command(flatten)]
    trace: TraceArguments,
    /// What to write.
    #[arg(long, value_name = "FORMAT")]
    to: Target,
    /// How collective operations become messages of GOAL. [default: ring]
    #[arg(long, value_name = "ALGORITHM")]
    algorithm: Option<Cut>,
    /// Write to this file; without it, to standard output.
    #[arg(short, long, value_name = "FILE", required_if_eq("to", "goal-binary"))]
    out: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// GOAL as text.
    Goal,
    /// GOAL as LogGOPSim reads it.
    GoalBinary,
    /// The graphs of all ranks as JSON.
    Json,
    /// What the files say, as JSON.
    Decoded,
}

/// How collective operations become messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Cut {
    /// Blocks go round a ring.
    Ring,
    /// Blocks go directly from rank to rank, all at once.
    Direct,
}

fn factor(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "is no factor; give a number such as 0.5".to_owned())
}

/// Counts, checks or converts.
pub(crate) fn execute(command: &TraceCommand) -> Result<Exit, Failure> {
    match command {
        TraceCommand::Info(arguments) => info(arguments),
        TraceCommand::Check(arguments) => execute_check(arguments),
        TraceCommand::Convert(arguments) => convert(arguments),
    }
}

fn wrong(error: TraceError) -> Failure {
    Failure::Input(error.to_string())
}

impl TraceArguments {
    fn source(&self) -> Result<Source, Failure> {
        let source = Source::read(&self.files).map_err(wrong)?;
        let refuse = |option: &str, kind: &str| {
            let format = source.format();
            Err(Failure::Input(format!(
                "{option} is for {kind}, and this is a {format}; leave it out"
            )))
        };
        let is_chakra = matches!(source, Source::Chakra(_));
        if self.groups.is_some() && !is_chakra {
            return refuse("--groups", "Chakra traces");
        }
        if self.serialise_streams && !is_chakra {
            return refuse("--serialise-streams", "Chakra traces");
        }
        if self.control_dependencies && !is_chakra {
            return refuse("--control-dependencies", "Chakra traces");
        }
        if self.ranks.is_some() && !matches!(source, Source::Workload(_)) {
            return refuse("--ranks", "workloads of SimAI");
        }
        Ok(source)
    }

    fn trace(&self, source: &Source) -> Result<Trace, Failure> {
        let groups = match &self.groups {
            Some(path) => chakra::read_groups(path).map_err(wrong)?,
            None => chakra::Groups::default(),
        };
        let options = Options {
            serialise_streams: self.serialise_streams,
            control_dependencies: self.control_dependencies,
            compute_scale: self.compute_scale,
        };
        source.to_trace(&groups, self.ranks, &options).map_err(wrong)
    }

    fn inputs(&self) -> Inputs<'_> {
        let files = self.files.iter().chain(&self.groups);
        files.fold(Inputs::default(), |inputs, file| {
            inputs.and(Inputs::file(file, "the trace itself"))
        })
    }
}

fn info(arguments: &InfoArguments) -> Result<Exit, Failure> {
    let source = arguments.trace.source()?;
    let mut text = format!("format: {}\n", source.format());
    match &source {
        Source::Topology(topology) => {
            let servers = topology.gpus / topology.gpus_per_server;
            let _ = writeln!(
                text,
                "GPUs: {} {}, in {servers} servers",
                topology.gpus, topology.gpu_type
            );
            let _ = writeln!(text, "NVSwitches: {}", topology.nvswitches.len());
            let _ = writeln!(text, "switches: {}", topology.switches.len());
            let _ = writeln!(text, "links: {}", topology.links.len());
            answer::print(&text)?;
            return Ok(Exit::Done);
        }
        Source::Table(_, table) => {
            let _ = writeln!(text, "{}: {} sizes", table.title, table.rows.len());
            let _ = writeln!(text, "mean bus bandwidth: {} GB/s", table.average_busbw);
            answer::print(&text)?;
            return Ok(Exit::Done);
        }
        Source::Chakra(_) | Source::Goal(_) | Source::Workload(_) => {}
    }
    let trace = arguments.trace.trace(&source)?;
    let _ = writeln!(text, "ranks: {}", trace.ranks().len());
    counts(&mut text, &summary(&trace));
    let problems = check(&trace);
    match lower_bound(&trace, arguments.rate) {
        Ok(bound) => {
            let of = match arguments.rate {
                Some(rate) => format!("computation, dependencies, and data at {rate}"),
                None => "computation and dependencies alone; --rate adds data".to_owned(),
            };
            let _ = writeln!(text, "least time: {} ({of})", Duration::from_ps(bound));
        }
        Err(stall) => {
            let _ = writeln!(text, "least time: none, it never ends: {stall}");
        }
    }
    let _ = match problems.len() {
        0 => writeln!(text, "problems: none"),
        some => writeln!(text, "problems: {some}; `rocelab trace check` names them"),
    };
    answer::print(&text)?;
    Ok(if problems.is_empty() { Exit::Done } else { Exit::Found })
}

fn counts(text: &mut String, summary: &Summary) {
    let nodes: u64 = summary.nodes.values().sum();
    let kinds: Vec<_> =
        summary.nodes.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let _ = writeln!(text, "nodes: {nodes} ({})", kinds.join(", "));
    for ((kind, group), (count, bytes)) in &summary.collectives {
        let _ = writeln!(text, "{kind} of group {group}: {count}, {bytes} bytes");
    }
    if summary.sent > 0 {
        let _ = writeln!(text, "sent by nodes: {} bytes", summary.sent);
    }
    let compute = Duration::from_ps(summary.compute_ps);
    let _ = writeln!(text, "computation of the busiest rank: {compute}");
    if summary.dangling > 0 {
        let _ = writeln!(
            text,
            "control dependencies on nodes that are not there: {}, ignored",
            summary.dangling
        );
    }
}

fn execute_check(arguments: &CheckArguments) -> Result<Exit, Failure> {
    let source = arguments.trace.source()?;
    let problems = check(&arguments.trace.trace(&source)?);
    let mut text = String::new();
    for Problem(words) in &problems {
        let _ = writeln!(text, "{words}");
    }
    let _ = match problems.len() {
        0 => writeln!(text, "no problems"),
        1 => writeln!(text, "1 problem"),
        some => writeln!(text, "{some} problems"),
    };
    answer::print(&text)?;
    Ok(if problems.is_empty() { Exit::Done } else { Exit::Found })
}

fn convert(arguments: &ConvertArguments) -> Result<Exit, Failure> {
    let source = arguments.trace.source()?;
    let is_goal = matches!(arguments.to, Target::Goal | Target::GoalBinary);
    if arguments.algorithm.is_some() && !is_goal {
        let message = "--algorithm is for --to goal and goal-binary; leave it out";
        return Err(Failure::Input(message.to_owned()));
    }
    let json = |json: serde_json::Value| format!("{json:#}\n").into_bytes();
    let bytes = match arguments.to {
        Target::Decoded => json(source.to_json().map_err(wrong)?),
        Target::Json => json(to_json(&arguments.trace.trace(&source)?)),
        Target::Goal => arguments.goal(&source)?.to_text().into_bytes(),
        Target::GoalBinary => arguments.goal(&source)?.to_binary().map_err(wrong)?,
    };
    let Some(path) = &arguments.out else {
        // All but binary files are text, and those need a file.
        answer::print(&String::from_utf8_lossy(&bytes))?;
        return Ok(Exit::Done);
    };
    let inputs = arguments.trace.inputs();
    let mut file = new_file::create("--out", path, arguments.force, &inputs)?;
    let written = file.write_all(&bytes);
    written.map_err(|error| Failure::Machine { path: path.clone(), error })?;
    Ok(Exit::Done)
}

impl ConvertArguments {
    /// The work as GOAL. What is GOAL already stays as it is, but for computation that is scaled.
    fn goal(&self, source: &Source) -> Result<goal::Goal, Failure> {
        if let Source::Goal(goal) = source
            && self.trace.compute_scale == 1.0
        {
            return Ok(goal.clone());
        }
        let trace = self.trace.trace(source)?;
        let has_collectives = trace
            .ranks()
            .iter()
            .flat_map(|graph| graph.nodes())
            .any(|node| matches!(node.operation, Operation::Collective { .. }));
        let path = &self.trace.files[0];
        if !has_collectives {
            return goal::from_trace(&trace, path).map_err(wrong);
        }
        let problems = check(&trace);
        if let Some(problem) = problems.first() {
            let count = problems.len();
            return Err(Failure::Input(format!(
                "the ranks do not fit together ({count} problems): {problem}; mend the trace, or see `rocelab trace check`"
            )));
        }
        let algorithm = match self.algorithm.unwrap_or(Cut::Ring) {
            Cut::Ring => Algorithm::Ring,
            Cut::Direct => Algorithm::Direct,
        };
        goal::from_trace(&expand(&trace, algorithm).map_err(wrong)?, path).map_err(wrong)
    }
}
