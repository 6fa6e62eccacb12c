//! `rocelab serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use rocelab_serve::Folder;

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::report::settings_of;

/// Arguments of `rocelab serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// A folder with results below it: of runs, of sweeps, and of runs that are not complete.
    #[arg(value_name = "RESULTS_FOLDER")]
    path: PathBuf,
    /// The port at 127.0.0.1; 0 takes any free one.
    #[arg(long, value_name = "PORT", default_value_t = 8790)]
    port: u16,
}

/// Serves until Ctrl-C.
pub(crate) fn execute(arguments: &ServeArguments) -> Result<Exit, Failure> {
    let shown = arguments.path.display();
    let folder = Folder::open(&arguments.path).map_err(|error| {
        Failure::Input(format!("{shown}: {error}: name a folder with results below it"))
    })?;
    let folder = folder.with_settings(settings_of);
    let interrupt = Interrupt::listen();
    let ready = |address: SocketAddr| {
        let text = format!("{shown}: http://{address}/\nCtrl-C ends it\n");
        answer::print(&text).map_err(|_| std::io::ErrorKind::BrokenPipe.into())
    };
    let title = shown.to_string();
    rocelab_serve::serve(folder, title, arguments.port, interrupt.flag(), ready).map_err(
        |error| {
            Failure::Input(format!(
                "--port {}: 127.0.0.1 cannot be used: {error}; --port 0 takes any free port",
                arguments.port
            ))
        },
    )?;
    Ok(Exit::Done)
}
