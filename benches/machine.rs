//! The machine on which figures were measured.

use std::fmt;
use std::thread::available_parallelism;

/// A machine, and its load. What the operating system does not provide is left out.
#[derive(Debug)]
pub struct Machine {
    processor: Option<String>,
    cores: usize,
    /// One-minute load averages before and after.
    loads: [Option<String>; 2],
}

impl Machine {
    /// Reads it before the measurements.
    pub fn look() -> Self {
        let facts = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = facts.lines().find(|line| line.starts_with("model name"));
        let model = model.and_then(|line| line.split_once(':'));
        Self {
            processor: model.map(|(_, name)| name.trim().to_owned()),
            cores: available_parallelism().map_or(1, usize::from),
            loads: [load(), None],
        }
    }

    /// Reads the load again at the end.
    pub fn look_again(&mut self) {
        self.loads[1] = load();
    }
}

fn load() -> Option<String> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next().map(str::to_owned)
}

impl fmt::Display for Machine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let processor = self.processor.as_deref().unwrap_or("unknown processor");
        write!(formatter, "{processor}, {} cores", self.cores)?;
        if let [Some(before), Some(after)] = &self.loads {
            write!(formatter, ", load average {before} before and {after} at the end")?;
        }
        Ok(())
    }
}
