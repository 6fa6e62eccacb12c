//! Runs the same flows by the rules of HPCC's ns-3 simulator and by the native model, and in steps
//! from one to the other.
//!
//! ```console
//! $ cargo run --release -p rocelab-benches --bin field-comparison
//! $ cargo run --release -p rocelab-benches --bin field-comparison -- --write
//! ```
//!
//! The answer is Markdown; `--write` puts it into `docs/field-comparison.md`.

mod figures;
mod steps;
mod table;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use rocelab_benches::{page, repository};

/// Any error of this program; it ends the program with a message.
type Failure = Box<dyn Error>;

/// Compares the native model with the rules of HPCC's ns-3 simulator, step by step.
#[derive(Debug, Parser)]
#[command(name = "field-comparison")]
struct Arguments {
    /// Put the tables into docs/field-comparison.md.
    #[arg(long)]
    write: bool,
    /// Only cases whose names begin so; with it, nothing is written.
    #[arg(long, value_name = "TEXT", default_value = "", conflicts_with = "write")]
    prefix: String,
}

fn main() -> ExitCode {
    match execute(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}

fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let scratch = tempfile::tempdir()?;
    let mut text = String::new();
    for case in steps::CASES.iter().filter(|case| case.name.starts_with(&arguments.prefix)) {
        text += &table::markdown(case, &figures::of(case, scratch.path())?);
    }
    std::io::stdout().write_all(text.as_bytes())?;
    if arguments.write {
        page::write(&repository().join("docs/field-comparison.md"), "field comparison", &text)?;
    }
    Ok(())
}
