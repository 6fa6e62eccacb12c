//! Shows a folder of results in a browser on the same machine.
//!
//! [`serve`] answers at 127.0.0.1: with a list of all runs below a [`Folder`], with the page of each run
//! that `rocelab report` makes, and with comparisons of chosen runs and of sweeps. Pages are made in memory, and nothing
//! is written. Names in requests are compared with the names of the runs that were found, so that no path
//! leads out of the folder; requests by another name than the server's own are refused.

mod folder;
mod list;
mod server;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use self::folder::{Folder, SettingsOf};
use self::server::Server;

/// How often the server looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// Serves `folder` under this title until `end` is set; pages that are being made then are given up. `port` 0 takes any free port. `ready` is told the
/// address as soon as browsers may use it.
///
/// # Errors The operating system's: mostly that the port is taken.
pub fn serve(
    folder: Folder,
    title: String,
    port: u16,
    end: Arc<AtomicBool>,
    ready: impl FnOnce(SocketAddr) -> io::Result<()>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(PAGES_AT_ONCE)
        .build()?;
    let served = runtime.block_on(async {
        let server = Server::bind(folder, title, port).await?;
        ready(server.address()?)?;
        server.run(is_set(end)).await
    });
    // A page that is being made does not hold the end up.
    runtime.shutdown_background();
    served
}

/// Pages that are made at once: each holds a whole run in memory.
const PAGES_AT_ONCE: usize = 4;

async fn is_set(end: Arc<AtomicBool>) {
    while !end.load(Ordering::Relaxed) {
        tokio::time::sleep(LOOK).await;
    }
}
