//! Detects runs that do not end; the laws can only be checked after the end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Longest time of a scenario with all its checks, on a busy machine.
const LONGEST: Duration = Duration::from_secs(300);

/// The running scenarios: their start and text, by name.
type Running = Arc<Mutex<BTreeMap<String, (Instant, String)>>>;

/// Ends the program if a scenario does not end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Endless {
    running: Running,
}

impl Endless {
    /// Starts to watch; scenarios that do not end are saved in `folder`.
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

    /// Marks a scenario as running until the returned value is dropped.
    pub(crate) fn begin(&self, name: &str, text: String) -> Begun {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.insert(name.to_owned(), (Instant::now(), text));
        Begun { running: Arc::clone(&self.running), name: name.to_owned() }
    }
}

/// A running scenario.
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
