//! The `rocelab` command line: a thin layer above the library crates, without logic of its own.
//!
//! Answers go to standard output, errors and progress to standard error. The exit codes are a part
//! of the interface that scripts rely on; they are in `exit.rs`.

/// Writes a line to standard error. Errors of writing are ignored, for example if it is closed or
/// its disk is full: they must not change the outcome and the exit code, and must not panic as
/// `eprintln!` does.
macro_rules! stderr_line {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

mod answer;
mod cc;
mod check;
mod checkpoint;
mod compare;
mod completions;
mod convert;
mod examples;
mod exit;
mod explain;
mod failure;
mod headroom;
mod inputs;
mod interrupt;
mod man;
mod new;
mod new_file;
mod ns3_rdma;
mod pcap;
mod progress;
pub mod ranks;
mod report;
mod resources;
mod run;
mod schema;
mod serve;
mod sm;
mod sweep;
mod sweep_findings;
mod topo;
mod trace;
mod verdict;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::exit::Exit;
use crate::failure::Failure;

/// A packet-level simulator of RDMA over Converged Ethernet (RoCE v1 and v2).
///
/// Exit codes: 0 done; 1 done, and something was found; 2 bad input, nothing written; 3 a defect
/// of the program; 4 the machine failed; 130 interrupted, results marked incomplete.
#[derive(Debug, Parser)]
#[command(name = "rocelab", version, arg_required_else_help = true, after_help = examples::PROGRAM)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a scenario with comments, to begin with.
    #[command(after_help = examples::NEW)]
    New(new::NewArguments),
    /// Run a scenario and write a results directory.
    #[command(after_help = examples::RUN)]
    Run(run::RunArguments),
    /// Run a scenario with many values, on all cores.
    #[command(after_help = examples::SWEEP)]
    Sweep(sweep::SweepArguments),
    /// Go on with a run that was broken off, from its last checkpoint.
    #[command(after_help = examples::RESUME)]
    Resume(checkpoint::ResumeArguments),
    /// Go on from a checkpoint with other settings: what if?
    #[command(after_help = examples::BRANCH)]
    Branch(checkpoint::BranchArguments),
    /// Validate a scenario without running it, and prove what can be proved of it.
    #[command(after_help = examples::CHECK)]
    Check(check::CheckArguments),
    /// Draw a run as one HTML file.
    #[command(after_help = examples::REPORT)]
    Report(report::ReportArguments),
    /// Put runs side by side.
    #[command(after_help = examples::COMPARE)]
    Compare(compare::CompareArguments),
    /// Show a folder of results in a browser on this machine, until Ctrl-C.
    #[command(after_help = examples::SERVE)]
    Serve(serve::ServeArguments),
    /// Tell where a flow's time went.
    #[command(after_help = examples::EXPLAIN)]
    Explain(explain::ExplainArguments),
    /// Calculate the headroom of lossless classes.
    #[command(after_help = examples::HEADROOM)]
    Headroom(headroom::HeadroomArguments),
    /// Make a scenario of a configuration of HPCC's ns-3 simulator.
    #[command(after_help = examples::CONVERT)]
    Convert(convert::ConvertArguments),
    /// Route an InfiniBand subnet as OpenSM does: LIDs, forwarding tables, service levels.
    #[command(after_help = examples::SM)]
    Sm(sm::SmArguments),
    /// Write, check and replay congestion controls of your own.
    #[command(subcommand, after_help = examples::CC)]
    Cc(cc::CcCommand),
    /// Look at a scenario's topology.
    #[command(subcommand, after_help = examples::TOPO)]
    Topo(topo::TopoCommand),
    /// Look at traces of AI workloads: Chakra, GOAL, SimAI.
    #[command(subcommand, after_help = examples::TRACE)]
    Trace(trace::TraceCommand),
    /// Decode, verify, count, mend or make packet captures.
    #[command(subcommand, after_help = examples::PCAP)]
    Pcap(pcap::PcapCommand),
    /// Print the JSON Schema of scenario files.
    #[command(after_help = examples::SCHEMA)]
    Schema,
    /// Print a script by which a shell completes commands and options.
    #[command(after_help = examples::COMPLETIONS)]
    Completions(completions::CompletionsArguments),
    /// Write manual pages.
    #[command(after_help = examples::MAN)]
    Man(man::ManArguments),
}

/// The program `rocelab`: does what its arguments say.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let executed = std::panic::catch_unwind(|| execute(arguments.command));
    let exit = match executed {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => failure.report(),
        Err(_) => {
            stderr_line!("error: this is a defect of rocelab; please report it with the scenario");
            Exit::Defect
        }
    };
    exit.into()
}

fn execute(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::New(arguments) => new::execute(&arguments),
        Command::Run(arguments) => run::execute(&arguments),
        Command::Sweep(arguments) => sweep::execute(&arguments),
        Command::Resume(arguments) => checkpoint::resume(&arguments),
        Command::Branch(arguments) => checkpoint::branch(&arguments),
        Command::Check(arguments) => check::execute(&arguments),
        Command::Report(arguments) => report::execute(&arguments),
        Command::Compare(arguments) => compare::execute(&arguments),
        Command::Serve(arguments) => serve::execute(&arguments),
        Command::Explain(arguments) => explain::execute(&arguments),
        Command::Headroom(arguments) => headroom::execute(&arguments),
        Command::Convert(arguments) => convert::execute(&arguments),
        Command::Sm(arguments) => sm::execute(&arguments),
        Command::Cc(command) => cc::execute(&command),
        Command::Topo(command) => topo::execute(&command),
        Command::Trace(command) => trace::execute(&command),
        Command::Pcap(command) => pcap::execute(&command),
        Command::Schema => schema::execute(),
        Command::Completions(arguments) => completions::execute(&arguments, Arguments::command()),
        Command::Man(arguments) => man::execute(&arguments, Arguments::command()),
    }
}
