//! `rocelab pcap make`.

use std::fs;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use clap::Args;
use rocelab_capture::{Format, Recipe};

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::new_file;

/// Arguments of `rocelab pcap make`.
#[derive(Debug, Args)]
pub(crate) struct MakeArguments {
    /// A description: a .toml file.
    #[arg(value_name = "DESCRIPTION")]
    path: PathBuf,
    /// Write the capture to this file: classic pcap if it ends in .pcap, else pcapng; - is standard output.
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

/// Writes the frames of the description.
pub(super) fn execute(arguments: &MakeArguments) -> Result<Exit, Failure> {
    let MakeArguments { path, out, force } = arguments;
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::Input(format!("{shown}: {error}; name a description that you may read"))
    })?;
    let recipe = Recipe::parse(path, &text).map_err(|error| Failure::Input(error.to_string()))?;

    if out == Path::new("-") {
        let written = recipe.write(Format::PcapNg, BufWriter::new(io::stdout().lock()));
        return match written {
            // Whoever reads has enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
            Err(error) => Err(Failure::Machine { path: out.clone(), error }),
            Ok(_) => Ok(Exit::Done),
        };
    }
    let file =
        new_file::create("--out", out, *force, &Inputs::file(path, "the description itself"))?;
    recipe
        .write(Format::from_path(out), BufWriter::new(file))
        .map_err(|error| Failure::Machine { path: out.clone(), error })?;
    answer::print(&format!("{} frames: {}\n", recipe.frames().len(), out.display()))?;
    Ok(Exit::Done)
}
