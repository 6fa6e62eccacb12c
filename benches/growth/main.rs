//! How the cost of a run grows with its network: the same load on fat trees of 32 to 8,192 hosts.
//!
//! ```console
//! $ cargo run --release -p rocelab-benches --bin growth
//! $ cargo run --release -p rocelab-benches --bin growth -- --write
//! ```
//!
//! The answer is Markdown; `--write` puts it into `docs/performance.md`, and the curve beside it.

mod case;
mod curve;
mod instructions;

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser;
use rocelab_benches::machine::Machine;
use rocelab_benches::{page, repository};

use self::case::{CASES, Case, Measured};

/// Any error of this program; it ends the program with a message.
type Failure = Box<dyn Error>;

/// Measures runs of fat trees of 32 to 8,192 hosts, each of which sends to another at half its rate.
#[derive(Debug, Parser)]
#[command(name = "growth")]
struct Arguments {
    /// Put the table into docs/performance.md, and the curve beside it.
    #[arg(long)]
    write: bool,
    /// Runs of each size, of which the median counts.
    #[arg(long, default_value_t = 3)]
    runs: u32,
    /// Only networks of at most so many hosts; with it, nothing is written.
    #[arg(long, value_name = "HOSTS", conflicts_with = "write")]
    most: Option<u32>,
    /// Run one case in this process, to so many microseconds and so often, and say what it took.
    #[arg(long, hide = true, num_args = 3, value_names = ["HOSTS", "MICROSECONDS", "TIMES"])]
    single: Option<Vec<u32>>,
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
    if let Some([hosts, end_us, times]) = arguments.single.as_deref() {
        let case = CASES.iter().find(|case| case.hosts == *hosts).ok_or("no such case")?;
        println!("{}", case.run(*end_us, *times)?);
        return Ok(());
    }
    let mut machine = Machine::look();
    let most = arguments.most.unwrap_or(u32::MAX);
    let cases: Vec<&Case> = CASES.iter().filter(|case| case.hosts <= most).collect();
    let measured = cases.iter().map(|case| case.measure(arguments.runs));
    let measured = measured.collect::<Result<Vec<_>, _>>()?;
    machine.look_again();
    let text = table(&measured, &machine)?;
    std::io::stdout().write_all(text.as_bytes())?;
    if arguments.write {
        let docs = repository().join("docs");
        page::write(&docs.join("performance.md"), "growth", &text)?;
        std::fs::write(docs.join("images/growth.svg"), curve::svg(&measured))?;
    }
    Ok(())
}

fn table(measured: &[Measured], machine: &Machine) -> Result<String, Failure> {
    let mut text = String::new();
    writeln!(
        text,
        "| hosts | traversals | million a CPU second | cost of one, to that of 32 hosts | instructions of one \
         | memory of a host, bytes |\n|---:|---:|---:|---:|---:|---:|"
    )?;
    let least = measured.first().map_or(0.0, Measured::cost_ns);
    for one in measured {
        let instructions = one.instructions.map_or("-".to_owned(), |count| format!("{count:.0}"));
        writeln!(
            text,
            "| {} | {:.1} M | {:.2} | {:.2} | {instructions} | {:.0} |",
            one.hosts,
            one.traversals as f64 * 1e-6,
            1e3 / one.cost_ns(),
            one.cost_ns() / least,
            one.bytes_per_host(),
        )?;
    }
    writeln!(text, "\n![Cost of a traversal by size](images/growth.svg)\n\n{machine}.")?;
    Ok(text)
}
