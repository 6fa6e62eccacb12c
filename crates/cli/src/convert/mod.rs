//! `rocelab convert`.

mod from_ns3_rdma;
mod hpcc;
mod native;

use std::path::{Path, PathBuf};

use clap::Args;
use rocelab_ns3_rdma::{Branch, Input, Options};
use rocelab_sim::scenario::RoceVersion;

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inputs::{Inputs, is_same_file};
use crate::new_file;

/// Arguments of `rocelab convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArguments {
    /// A configuration of HPCC's ns-3 simulator, or with `--roce` of ns3-rdma: a .txt file.
    #[arg(value_name = "CONFIG")]
    path: PathBuf,
    /// Make a scenario of this version of RoCE, 1 or 2, in place of the simulator's own rules; notes tell what is not
    /// as it was.
    #[arg(long, value_name = "VERSION", value_parser = version)]
    roce: Option<RoceVersion>,
    /// Write the scenario to this file; without it, to standard output, with paths that hold in
    /// the folder that the program runs in.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

/// Prints the configuration as a scenario, and to standard error what in it has no effect.
pub(crate) fn execute(arguments: &ConvertArguments) -> Result<Exit, Failure> {
    let path = &arguments.path;
    if !rocelab_sim::reference::is_config(path) {
        let path = path.display();
        return Err(Failure::Input(format!("{path}: is no .txt file: name a configuration")));
    }
    if let Some(version) = arguments.roce {
        return execute_native(arguments, version);
    }
    crate::ns3_rdma::refuse(path)?;
    let loaded = rocelab_sim::reference::load(path, &[])?;
    if let Some(out) = &arguments.out {
        check_folder(out)?;
        check_keeps(out, path, &loaded.files)?;
    }
    let folder = arguments.out.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let moved = loaded.scenario.relocated(folder).map_err(|error| {
        let path = path.display();
        Failure::Input(format!("{path}: a folder that is named is not there: {error}"))
    })?;
    let text = moved
        .to_toml()
        .map_err(|error| Failure::Input(format!("the scenario cannot be written out: {error}")))?;
    match &arguments.out {
        Some(out) => {
            let inputs = Inputs::of_scenario(&loaded.scenario);
            new_file::write("--out", out, &text, arguments.force, &inputs)?;
        }
        None => answer::print(&text)?,
    }
    answer::print_notes(path, &loaded.notes);
    Ok(Exit::Done)
}

/// Prints the configuration as a scenario of RoCE, and to standard error what is not as it was.
fn execute_native(arguments: &ConvertArguments, version: RoceVersion) -> Result<Exit, Failure> {
    let path = &arguments.path;
    let out = arguments.out.as_deref();
    if let Some(out) = out {
        check_folder(out)?;
    }
    let (native, files) = if crate::ns3_rdma::is_ours(path) {
        let input = read_ns3_rdma(path)?;
        let files = &input.config.files;
        let files =
            [&files.topology, &files.flows, &files.tcp_flows, &files.traced].map(Clone::clone);
        (from_ns3_rdma::convert(&input, version)?, files.to_vec())
    } else {
        let loaded = rocelab_sim::reference::load(path, &[])?;
        (hpcc::convert(&loaded, version)?, loaded.files)
    };
    if let Some(out) = out {
        check_keeps(out, path, &files)?;
    }
    let notes = native.notes.clone();
    let folder = out.and_then(Path::parent).unwrap_or(Path::new(""));
    let (scenario, text) = native.into_text(path, folder)?;
    match out {
        Some(out) => {
            let inputs = Inputs::of_scenario(&scenario);
            new_file::write("--out", out, &text, arguments.force, &inputs)?;
        }
        None => answer::print(&text)?,
    }
    answer::print_notes(path, &notes);
    Ok(Exit::Done)
}

/// A configuration of ns3-rdma: of its master branch, or else of its branch `timely`, whose flows have one column more.
fn read_ns3_rdma(path: &Path) -> Result<Input, Failure> {
    let read = |branch| crate::ns3_rdma::read(path, Options { branch, ..Options::default() });
    read(Branch::Master).or_else(|error| read(Branch::Timely).map_err(|_| error))
}

/// A version of RoCE on the command line.
fn version(text: &str) -> Result<RoceVersion, String> {
    let number = text.parse::<u8>().map_err(|_| "write 1 or 2".to_owned())?;
    RoceVersion::try_from(number)
}

/// Checks that `out` can be a file: its folder exists, and it is not a folder itself.
fn check_folder(out: &Path) -> Result<(), Failure> {
    let shown = out.display();
    if out.is_dir() {
        let file = out.join("scenario.toml");
        let file = file.display();
        let message = format!("--out = {shown}: is a folder; name a file, such as {file}");
        return Err(Failure::Input(message));
    }
    match out.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            let folder = folder.display();
            let fix = "make it first, or name a file in a folder that exists";
            Err(Failure::Input(format!("--out = {shown}: there is no folder {folder}; {fix}")))
        }
        _ => Ok(()),
    }
}

/// Refuses to overwrite the configuration, or a file that it names: `--force` is only for
/// scenarios, which can be made again.
fn check_keeps(out: &Path, config: &Path, files: &[PathBuf]) -> Result<(), Failure> {
    let is_target = |file: &Path| is_same_file(file, out);
    let what = if is_target(config) {
        "is the configuration itself".to_owned()
    } else if files.iter().any(|file| is_target(file)) {
        format!("is a file that {} names", config.display())
    } else {
        return Ok(());
    };
    Err(Failure::Input(format!("--out = {}: {what}; name another file", out.display())))
}
