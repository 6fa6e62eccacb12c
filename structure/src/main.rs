//! The structure of the simulator as a table: rooms (crates and modules), the rooms that they use,
//! cycles, and large types.
//!
//! ```console
//! $ cargo run -p rocelab-structure
//! $ cargo run -p rocelab-structure -- --write
//! ```
//!
//! It reads the sources as text: `use` declarations and paths, types, and what is implemented for them. Tests are
//! left out. The answer is Markdown; `--write` puts it into `ARCHITECTURE.md`.

mod cycles;
mod limits;
mod names;
mod report;
mod rooms;
mod source;
mod types;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use self::names::Names;
use self::source::Source;

/// Any error of this program; it ends the program with a message.
type Failure = Box<dyn std::error::Error>;

/// Describes the structure of the simulator: rooms, cycles, and large types.
#[derive(Debug, Parser)]
#[command(name = "structure")]
struct Arguments {
    /// Put the tables into ARCHITECTURE.md.
    #[arg(long)]
    write: bool,
    /// Fail if something is beyond its limit; a test makes the same check.
    #[arg(long)]
    check: bool,
    /// Show every arrow between two rooms that runs up, file by file.
    #[arg(long)]
    arrows: bool,
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
    let sources = source::read(&repository().join("crates"))?;
    let names = Names::of(&sources);
    let arrows = names.arrows(&sources);
    let text = report::tables(&sources, &names, &arrows);
    if arguments.arrows {
        print!("{}", report::arrows_up(&sources, &arrows));
    }
    print!("{text}");
    if arguments.write {
        write(&repository().join("ARCHITECTURE.md"), &text)?;
    }
    let exceeded = limits::exceeded(&sources, &names, &arrows);
    if arguments.check && !exceeded.is_empty() {
        return Err(exceeded.join("\n").into());
    }
    Ok(())
}

/// The root of the repository.
fn repository() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}

/// Writes the tables into the page between the two lines that mark their place.
fn write(page: &Path, tables: &str) -> Result<(), Failure> {
    let [begin, end] = ["begin", "end"].map(|mark| format!("<!-- structure: {mark} -->\n"));
    let text = std::fs::read_to_string(page)?;
    let place = text.split_once(&begin).zip(text.split_once(&end));
    let ((before, _), (_, after)) =
        place.ok_or_else(|| format!("{}: no place for the tables", page.display()))?;
    std::fs::write(page, format!("{before}{begin}{}\n{end}{after}", tables.trim_end()))?;
    Ok(())
}

/// For each file, the files whose names it uses: pairs of indices into the sources.
type Arrows = Vec<(usize, usize)>;

/// The path of a file, shortened for people.
fn shown(source: &Source) -> String {
    source.path.display().to_string()
}
