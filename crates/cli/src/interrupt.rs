//! Ctrl-C, and the other signals that ask a program to end (SIGTERM, SIGHUP).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user has asked to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on. The first Ctrl-C ends the run in good order, the second at once.
    pub(crate) fn listen() -> Self {
        let interrupt = Self::default();
        let seen = interrupt.clone();
        let listening = ctrlc::set_handler(move || {
            if seen.0.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        if let Err(error) = listening {
            tell!("note: Ctrl-C will lose results: {error}");
        }
        interrupt
    }

    /// Whether Ctrl-C has been pressed.
    pub(crate) fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
