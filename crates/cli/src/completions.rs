//! `rocelab completions`.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;

/// Arguments of `rocelab completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell that reads them.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints a script by which the shell completes the commands and options of `program`.
pub(crate) fn execute(
    arguments: &CompletionsArguments,
    mut program: Command,
) -> Result<Exit, Failure> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, name, &mut script);
    answer::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
