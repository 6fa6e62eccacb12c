//! The resources that a process has used.

use std::fmt;
use std::str::FromStr;

/// CPU time and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// User and system time in seconds.
    pub cpu_s: f64,
    /// Largest resident memory, in units of 2^20 bytes.
    pub peak_mib: f64,
}

impl Usage {
    /// The usage of this process so far; zeros if the operating system does not provide it.
    pub fn so_far() -> Self {
        #[cfg(unix)]
        {
            use nix::sys::resource::{UsageWho, getrusage};
            use nix::sys::time::TimeValLike;

            let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Self::default() };
            let us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
            let largest = usage.max_rss() as f64 / 1024.0;
            Self { cpu_s: us as f64 * 1e-6, peak_mib: own_peak_mib().unwrap_or(largest) }
        }
        #[cfg(not(unix))]
        Self::default()
    }
}

/// Peak memory since this program was loaded, on Linux. The value of `getrusage` is not used,
/// because it includes the program that was loaded in this process before.
#[cfg(unix)]
fn own_peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}

impl fmt::Display for Usage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.6} {:.3}", self.cpu_s, self.peak_mib)
    }
}

impl FromStr for Usage {
    type Err = Box<dyn std::error::Error>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (cpu_s, peak_mib) = text.trim().split_once(' ').ok_or("a run did not say its use")?;
        Ok(Self { cpu_s: cpu_s.parse()?, peak_mib: peak_mib.parse()? })
    }
}
