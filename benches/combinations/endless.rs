//! Runs that do not end, which no law could be asked of.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long one scenario may take, with all that is done to it; a busy machine is slow.
const LONGEST: Duration = Duration::from_secs(300);

/// What is running: when it began, and its text.
type Running = Arc<Mutex<BTreeMap<String, (Instant, String)>>>;

/// Ends the program when a scenario does not end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Endless {
    running: Running,
}

impl Endless {
    /// Watches from now on; what does not end goes into the folder.
    pub(crate) fn watch(folder: Option<PathBuf>) -> Self {
        let own = Self::default();
        let running = Arc::clone(&own.running);
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_secs(1));
                let running = running.lock().unwrap_or_else(PoisonError::into_inner);
                let late = running.iter().find(|(_, (begun, _))| begun.elapsed() > LONGEST);
                let Some((name, (_, text))) = late else { continue };
                println!("{name}: endless: it has not ended after {} s", LONGEST.as_secs());
                if let Some(folder) = &folder {
                    let text = format!("# endless\n{text}");
                    _ = std::fs::write(folder.join(format!("endless-{name}.toml")), text);
                }
                std::process::exit(1);
            }
        });
        own
    }

    /// A scenario runs until what is returned is dropped.
    pub(crate) fn begin(&self, name: &str, text: String) -> Begun {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.insert(name.to_owned(), (Instant::now(), text));
        Begun { running: Arc::clone(&self.running), name: name.to_owned() }
    }
}

/// A scenario that runs.
#[derive(Debug)]
pub(crate) struct Begun {
    running: Running,
    name: String,
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}
