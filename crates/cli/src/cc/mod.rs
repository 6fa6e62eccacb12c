//! `rocelab cc`: congestion controls that users write.

#[cfg(feature = "wasm")]
mod check;
mod new;
#[cfg(feature = "wasm")]
mod replay;

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub(crate) use self::new::NewArguments;
use crate::examples;
use crate::exit::Exit;
use crate::failure::Failure;

/// What to do with a module.
#[derive(Debug, Subcommand)]
pub(crate) enum CcCommand {
    /// Write a congestion control to begin with, and how to build it.
    #[command(after_help = examples::CC_NEW)]
    New(NewArguments),
    /// Tell what a module is, and all that is wrong with it.
    #[command(after_help = examples::CC_CHECK)]
    Check(GuestArguments),
    /// Tell a module the events of one queue pair again, and print its answers.
    #[command(after_help = examples::CC_REPLAY)]
    Replay(ReplayArguments),
}

/// A module and its parameters.
#[derive(Debug, Args)]
pub(crate) struct GuestArguments {
    /// A WebAssembly module, .wasm or .wat.
    #[arg(value_name = "GUEST")]
    pub(crate) path: PathBuf,
    /// Gives a parameter another value than the module's default, such as target=13us. Repeatable.
    #[arg(long = "parameter", value_name = "KEY=VALUE")]
    pub(crate) parameters: Vec<String>,
    /// Instructions that a call may take at the most.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) fuel: u64,
}

/// Arguments of `rocelab cc replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    #[command(flatten)]
    pub(crate) guest: GuestArguments,
    /// The events: a JSON object a line, the first one `open`.
    #[arg(value_name = "EVENTS")]
    pub(crate) events: PathBuf,
}

/// Does what the arguments say.
pub(crate) fn execute(command: &CcCommand) -> Result<Exit, Failure> {
    match command {
        CcCommand::New(arguments) => new::execute(arguments),
        #[cfg(feature = "wasm")]
        CcCommand::Check(arguments) => check::execute(arguments),
        #[cfg(feature = "wasm")]
        CcCommand::Replay(arguments) => replay::execute(arguments),
        #[cfg(not(feature = "wasm"))]
        CcCommand::Check(arguments)
        | CcCommand::Replay(ReplayArguments { guest: arguments, .. }) => {
            Err(Failure::Input(format!(
                "{}: this program was built without WebAssembly, and cannot load modules; build it with `cargo build \
                 --release --features wasm`",
                arguments.path.display()
            )))
        }
    }
}

#[cfg(feature = "wasm")]
impl GuestArguments {
    /// The module, and the values of its parameters.
    fn load(&self) -> Result<(rocelab_wasm::GuestModule, Vec<i64>), Failure> {
        let shown = self.path.display();
        let bytes = rocelab_wasm::read(&self.path).map_err(|error| {
            Failure::Input(format!("{shown}: {error}; name a module, .wasm or .wat"))
        })?;
        let module = rocelab_wasm::GuestModule::new(&bytes)
            .map_err(|error| Failure::Input(format!("{shown}: {error}; {}", error.help())))?;
        let mut given = std::collections::BTreeMap::new();
        for text in &self.parameters {
            let (key, value) = parameter(text)?;
            if given.insert(key, value).is_some() {
                return Err(Failure::Input(format!(
                    "--parameter {text}: it is given twice; give each parameter once"
                )));
            }
        }
        let values = rocelab_wasm::values(module.metadata(), &given)
            .map_err(|error| Failure::Input(format!("--parameter {error}")))?;
        Ok((module, values))
    }
}

/// A parameter of the command line: a whole number, or a text with a unit.
#[cfg(feature = "wasm")]
fn parameter(
    text: &str,
) -> Result<(String, rocelab_transport::congestion_control::wasm::Value), Failure> {
    use rocelab_transport::congestion_control::wasm::Value;

    let Some((key, value)) = text.split_once('=') else {
        return Err(Failure::Input(format!(
            "--parameter {text}: give KEY=VALUE, such as target=13us"
        )));
    };
    let value = value.parse().map_or_else(|_| Value::Text(value.to_owned()), Value::Number);
    Ok((key.to_owned(), value))
}
