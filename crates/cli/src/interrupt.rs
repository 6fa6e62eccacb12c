//! Ctrl-C, and the other signals that end a program (SIGTERM, SIGHUP).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user has requested the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Handles the signals from now on. The first Ctrl-C ends the run cleanly, the second one
    /// immediately.
    pub(crate) fn listen() -> Self {
        let interrupt = Self::default();
        let seen = interrupt.clone();
        let listening = ctrlc::set_handler(move || {
            if seen.0.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        if let Err(error) = listening {
            stderr_line!("note: Ctrl-C will lose results: {error}");
        }
        interrupt
    }

    /// The flag that Ctrl-C sets.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Whether Ctrl-C has been pressed.
    pub(crate) fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
