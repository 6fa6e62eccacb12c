//! `rocelab convert`.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::new_file;

/// Arguments of `rocelab convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    /// A configuration of HPCC's ns-3 simulator: a .txt file.
    #[arg(value_name = "CONFIG")]
    path: PathBuf,
    /// Write the scenario to this file; without it, to standard output, with paths that hold in
    /// the folder that the program runs in.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

/// Prints the configuration as a scenario, and what it says to no effect to standard error.
pub(crate) fn execute(arguments: &ConvertArguments) -> Result<Exit, Failure> {
    let path = &arguments.path;
    if !rocelab_sim::reference::is_config(path) {
        let path = path.display();
        return Err(Failure::Input(format!("{path}: is no .txt file: name a configuration")));
    }
    let loaded = rocelab_sim::reference::load(path, &[])?;
    let folder = arguments.out.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let moved = loaded.scenario.relocated(folder).map_err(|error| {
        let path = path.display();
        Failure::Input(format!("{path}: a folder that is named is not there: {error}"))
    })?;
    let text = moved
        .to_toml()
        .map_err(|error| Failure::Input(format!("the scenario cannot be written out: {error}")))?;
    match &arguments.out {
        Some(out) => new_file::write("--out", out, &text, arguments.force)?,
        None => answer::print(&text)?,
    }
    answer::tell_notes(path, &loaded.notes);
    Ok(Exit::Done)
}
