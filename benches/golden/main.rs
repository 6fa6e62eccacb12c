//! Runs golden cases of HPCC's ns-3 simulator and compares: results, time and memory.
//!
//! ```console
//! $ cargo run --release -p rocelab-benches --bin golden
//! $ cargo run --release -p rocelab-benches --bin golden -- --write
//! ```
//!
//! The answer is Markdown; `--write` puts it into `docs/validation.md`. Every run is a process of
//! its own, of this same program, so that the resources it used can be measured separately.

mod agreement;
mod case;
mod completion;
mod distance;
mod hold;
mod measurement;
mod reference_run;
mod single_run;
mod table;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rocelab_benches::machine::Machine;
use rocelab_benches::{page, repository};

use self::case::Case;
use self::measurement::Measurement;

/// Any error of this program; it ends the program with a message.
type Failure = Box<dyn Error>;

/// Runs golden cases of HPCC's ns-3 simulator and prints how its numbers and ours compare.
#[derive(Debug, Parser)]
#[command(name = "golden")]
struct Arguments {
    /// A folder of cases, each a folder with config.txt and its inputs, fct.txt, pfc.txt, and
    /// perhaps meta.json. [default: ../shared/golden/hpcc-ns3/public beside the repository, else
    /// the cases in crates/sim/tests/golden/hpcc-ns3]
    folder: Option<PathBuf>,
    /// Put the tables into docs/validation.md.
    #[arg(long)]
    write: bool,
    /// How often each case runs; the median counts.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Only cases whose names begin so.
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,
    /// Leave the event queue out.
    #[arg(long)]
    no_queue: bool,
    /// Run one scenario into a new directory, and say what it took.
    #[arg(long, hide = true, num_args = 2, value_names = ["SCENARIO", "RESULTS"])]
    single: Option<Vec<PathBuf>>,
}

fn main() -> ExitCode {
    match execute(&Arguments::parse()) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}

/// Exit code 0: all cases agree; 1: some do not.
fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some([scenario, results]) = arguments.single.as_deref() {
        println!("{}", single_run::execute(scenario, results)?);
        return Ok(ExitCode::SUCCESS);
    }
    let cases = Case::all_in(&folder(arguments), &arguments.prefix)?;
    let mut machine = Machine::look();
    let scratch = tempfile::tempdir()?;
    let mut measurements = Vec::new();
    for case in &cases {
        eprintln!("{} ...", case.name);
        measurements.push(Measurement::of(case, scratch.path(), arguments.runs)?);
    }
    // The queue is measured after the runs, because otherwise their processes would count this
    // one's memory as their own.
    let queue = if arguments.no_queue { Vec::new() } else { hold::all() };
    machine.look_again();
    let text = table::markdown(&measurements, &queue, &machine, arguments.runs);
    std::io::stdout().write_all(text.as_bytes())?;
    if arguments.write {
        page::write(&repository().join("docs/validation.md"), "golden", &text)?;
    }
    let agree = measurements.iter().all(|one| one.agreement.is_exact() && one.converts);
    Ok(if agree { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn folder(arguments: &Arguments) -> PathBuf {
    let public = repository().join("../shared/golden/hpcc-ns3/public");
    match &arguments.folder {
        Some(folder) => folder.clone(),
        None if public.is_dir() => public,
        None => repository().join("crates/sim/tests/golden/hpcc-ns3"),
    }
}
