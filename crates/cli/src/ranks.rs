//! `rocelab-mpi`: `rocelab run` by several processes, with any kind of communication.
//!
//! All processes get the same arguments and read the same files. Only the first one prints messages
//! and writes results. If one fails, it informs the others, and all end.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use rocelab_results::{Checkpoints, ResultsDir, RunInfo};
use rocelab_sim::ranks::{Blame, Communicator, Ranks};
use rocelab_sim::{Plan, Planning, RunError, Scenario, store_scenario};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::resources;
use crate::run::{RunArguments, RunContext, ToRun, check_all, load_all, run_all};

/// RoCE Lab over the ranks of MPI: one run on several machines, with the same results.
///
/// Exit codes, of the first rank: 0 done; 1 done, and something was found; 2 bad input, nothing
/// written; 3 a defect of the program; 4 the machine failed; 130 interrupted, results marked
/// incomplete.
#[derive(Debug, Parser)]
#[command(name = "rocelab-mpi", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a scenario on all ranks and write a results directory.
    #[command(
        mut_arg("path", |arg| arg.help("A scenario file, or a folder of them")),
        mut_arg("threads", |arg| arg.hide(true)),
        mut_arg("checkpoint_every", |arg| arg.hide(true)),
        mut_arg("keep_checkpoints", |arg| arg.hide(true)),
        mut_arg("partitions", |arg| arg.help(
            "Parts that the network is cut into: fewer if it has fewer switches, and never more than 256, \
             whatever is asked for; results do not depend on it. [default: one for each rank]",
        )),
    )]
    Run(RunArguments),
}

/// The program `rocelab-mpi`, as one of the ranks that `communicator` reaches. Does what its
/// arguments say, and returns its exit code, which is success for all ranks but the first.
pub fn main(communicator: &mut dyn Communicator) -> ExitCode {
    let ranks = &mut Ranks::new(communicator);
    let Command::Run(arguments) = match Arguments::try_parse() {
        Ok(arguments) => arguments.command,
        Err(error) => {
            // The other ranks may have valid arguments and be waiting for this one.
            let message = error.to_string();
            ranks
                .fail(Blame::Input, message.strip_prefix("error: ").unwrap_or(&message).trim_end());
            if !ranks.is_first() {
                return ExitCode::SUCCESS;
            }
            drop(error.print());
            if error.kind() == clap::error::ErrorKind::InvalidSubcommand {
                stderr_line!(
                    "\nrocelab-mpi has `run` alone; use `rocelab` for all other commands, on the same results."
                );
            }
            return u8::try_from(error.exit_code()).unwrap_or(2).into();
        }
    };
    let executed = if ranks.is_first() {
        lead(&arguments, ranks)
    } else {
        follow(&arguments, ranks).map(|()| Exit::Done)
    };
    let Err(failure) = executed else { return executed.unwrap_or(Exit::Done).into() };
    ranks.fail(failure.blame(), &failure.to_string());
    if ranks.is_first() { failure.report().into() } else { ExitCode::SUCCESS }
}

/// Resources that a rank has used for a run: CPU time in microseconds, and memory in bytes.
type Cost = (u64, u64);

/// The work of the first rank: all that `rocelab run` does, and its own part of each run.
fn lead(arguments: &RunArguments, ranks: &mut Ranks<'_>) -> Result<Exit, Failure> {
    let interrupt = Interrupt::listen();
    let all = prepare(arguments)?;
    check_all(arguments, &all)?;
    agree(arguments, &all, ranks)?;
    run_all(arguments, &interrupt, all, |context, scenario, plan| {
        let exit = lead_one(arguments, context, scenario, plan, ranks)?;
        ranks.of_each(&(exit == Exit::Interrupted)).map_err(RunError::from)?;
        Ok(exit)
    })
}

fn lead_one(
    arguments: &RunArguments,
    context: &RunContext<'_>,
    scenario: &Scenario,
    plan: Plan,
    ranks: &mut Ranks<'_>,
) -> Result<Exit, Failure> {
    let path = arguments.directory_for(&plan);
    Checkpoints::clear_way(&path, arguments.overwrite())?;
    let directory = ResultsDir::create(path, arguments.overwrite())?;
    store_scenario(scenario, &directory)?;
    directory.remove_leftovers();
    let partitions = partitions(arguments, ranks);
    let before = cost();
    let (outcome, mut info, has_stop) =
        context.run(plan, &directory, |plan, directory, _, observe| {
            rocelab_sim::lead(plan, directory.into(), partitions, ranks, observe)
        })?;
    let costs = ranks.gather(&cost_since(before)).map_err(RunError::from)?;
    note_costs(&mut info, &costs, outcome.summary.link_traversals.total);
    context.finish(directory, &outcome, &info, has_stop)
}

/// The work of the other ranks.
fn follow(arguments: &RunArguments, ranks: &mut Ranks<'_>) -> Result<(), Failure> {
    let interrupt = Interrupt::listen();
    let all = prepare(arguments)?;
    agree(arguments, &all, ranks)?;
    for ToRun { plan, .. } in all {
        let partitions = partitions(arguments, ranks);
        let before = cost();
        rocelab_sim::follow(Arc::new(plan), partitions, ranks, &mut || {
            if interrupt.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        ranks.gather(&cost_since(before)).map_err(RunError::from)?;
        // The first rank writes results in the meantime.
        let is_broken_off = ranks.of_each(&false).map_err(RunError::from)?;
        if is_broken_off.contains(&true) {
            break;
        }
    }
    Ok(())
}

/// Reads all scenarios, and refuses options that need a run in one process.
fn prepare(arguments: &RunArguments) -> Result<Vec<ToRun>, Failure> {
    if let Some(option) = arguments.only_in_one_process() {
        let fix = match option {
            "--threads" => "each rank has one thread, so start as many ranks as there are cores",
            _ => "leave it out, or run the scenario in one process, by `rocelab run`",
        };
        return Err(Failure::Input(format!("{option}: there is none over ranks: {fix}")));
    }
    let all = load_all(arguments)?;
    if let Some(one) = all.iter().find(|one| one.plan.profile.hpcc_ns3().is_some()) {
        let path = one.path.display();
        return Err(Failure::Input(format!("{path}: {}", RunError::NotOnRanks)));
    }
    Ok(all)
}

/// Checks that all ranks run the same.
fn agree(arguments: &RunArguments, all: &[ToRun], ranks: &mut Ranks<'_>) -> Result<(), Failure> {
    let mut hasher = DefaultHasher::new();
    let program = std::env::current_exe().map_err(|error| (PathBuf::from("rocelab-mpi"), error));
    let program = program.and_then(|path| std::fs::read(&path).map_err(|error| (path, error)));
    let program = program.map_err(|(path, error)| Failure::Machine { path, error })?;
    (program, arguments.partitions()).hash(&mut hasher);
    for ToRun { loaded, .. } in all {
        let scenario = &loaded.scenario;
        let resolved = scenario.resolved().to_toml();
        let resolved = resolved.map_err(|error| Failure::Input(error.to_string()))?;
        resolved.hash(&mut hasher);
        for file in scenario.input_files() {
            let path = scenario.folder().join(file);
            let bytes = std::fs::read(&path);
            bytes.map_err(|error| Failure::Machine { path, error })?.hash(&mut hasher);
        }
    }
    Ok(ranks.have_same(&hasher.finish().to_le_bytes()).map_err(RunError::from)?)
}

/// The number of parts into which networks are cut.
fn partitions(arguments: &RunArguments, ranks: &Ranks<'_>) -> u32 {
    arguments.partitions().unwrap_or_else(|| ranks.size())
}

fn cost() -> Cost {
    let (cpu, memory) = resources::used();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
    ((cpu * 1e6) as u64, memory)
}

fn cost_since((cpu_before, _): Cost) -> Cost {
    let (cpu, memory) = cost();
    (cpu.saturating_sub(cpu_before), memory)
}

/// Puts the resources of all ranks together into the run's information.
fn note_costs(info: &mut RunInfo, costs: &[Cost], traversals: u64) {
    info.ranks = u32::try_from(costs.len()).ok();
    info.cpu_s = costs.iter().map(|(cpu, _)| *cpu as f64 * 1e-6).sum();
    info.peak_memory_bytes = costs.iter().map(|(_, memory)| *memory).max().unwrap_or(0);
    info.set_rates(info.events, traversals);
}
