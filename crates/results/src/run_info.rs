//! `run.json`: information that differs from run to run.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The value of `program` that identifies a `run.json` of this program.
const PROGRAM: &str = "rocelab";

/// The content of `run.json`: everything that may differ when the same scenario runs again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunInfo {
    /// Always `rocelab`. It identifies a results directory before it is replaced.
    pub program: String,
    /// The program's version.
    pub version: String,
    /// When the run started, as RFC 3339 text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// Wall-clock time, in seconds.
    pub wall_s: f64,
    /// CPU time of the whole process, user and system, in seconds.
    pub cpu_s: f64,
    /// The largest resident memory of the process, in bytes.
    pub peak_memory_bytes: u64,
    /// Events handled.
    pub events: u64,
    /// Events per CPU second.
    pub events_per_cpu_s: f64,
    /// Link traversals per CPU second.
    pub traversals_per_cpu_s: f64,
    /// Worker threads.
    pub threads: u32,
    /// Partitions of the network.
    pub partitions: u32,
    /// Number of MPI ranks, if the run used MPI. Then `cpu_s` is the sum over all ranks, and
    /// `peak_memory_bytes` that of the rank with the most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// The machine on which it ran.
    pub machine: Machine,
    /// The name of that machine, for a point of a sweep, whose points may run on many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Congestion controls that the user wrote.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub congestion_controls: Vec<UserControl>,
}

/// A congestion control that a user wrote, as it was loaded for a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct UserControl {
    /// Its name, as `flows.csv` has it, such as `wasm:aimd`.
    pub name: String,
    /// The version that it gives itself, if it gives one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The SHA-256 of the module, or of the text of the class, if that is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sha256: String,
}

/// A machine, without its name, which might be private.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Operating system, such as `linux`.
    pub os: String,
    /// Instruction set, such as `x86_64`.
    pub arch: String,
    /// Cores that the process may use.
    pub cores: u32,
}

impl Default for RunInfo {
    /// No measurements.
    fn default() -> Self {
        Self {
            program: PROGRAM.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started: None,
            wall_s: 0.0,
            cpu_s: 0.0,
            peak_memory_bytes: 0,
            events: 0,
            events_per_cpu_s: 0.0,
            traversals_per_cpu_s: 0.0,
            threads: 1,
            partitions: 1,
            ranks: None,
            machine: Machine::default(),
            host: None,
            congestion_controls: Vec::new(),
        }
    }
}

impl RunInfo {
    /// Computes both rates from this process's numbers of events and link traversals, and from
    /// `cpu_s`, which must be set before.
    pub fn set_rates(&mut self, events: u64, traversals: u64) {
        let per_second =
            |count: u64| if self.cpu_s > 0.0 { count as f64 / self.cpu_s } else { 0.0 };
        (self.events_per_cpu_s, self.traversals_per_cpu_s) =
            (per_second(events), per_second(traversals));
    }
}

impl Machine {
    /// The machine on which this program runs.
    pub fn current() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
            cores: u32::try_from(cores).unwrap_or(u32::MAX),
        }
    }
}

/// Whether the file at `path` is a `run.json` that any version of this program wrote.
pub(crate) fn is_ours(path: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(path) else { return false };
    let Ok(run) = serde_json::from_str::<serde_json::Value>(&text) else { return false };
    run.get("program").and_then(serde_json::Value::as_str) == Some(PROGRAM)
}
