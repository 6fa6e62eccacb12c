//! The resources of the reference simulator's run, measured when the case was made.

use std::path::Path;

use rocelab_benches::text;
use serde_json::Value;

use crate::Failure;

/// The figures of a `meta.json`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReferenceRun {
    /// As in [`crate::case::Case`].
    pub(crate) packet_hops: u64,
    /// User and system time in seconds.
    pub(crate) cpu_s: f64,
    /// Largest resident memory, in units of 2^20 bytes.
    pub(crate) peak_mib: f64,
}

impl ReferenceRun {
    /// Reads the file at `path`; `None` if there is no such file.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, Failure> {
        if !path.is_file() {
            return Ok(None);
        }
        let facts: Value = serde_json::from_str(&text(path)?)?;
        let number = |key: &str| {
            facts[key].as_f64().ok_or_else(|| format!("{}: no `{key}`", path.display()))
        };
        Ok(Some(Self {
            packet_hops: facts["packet_hops"]
                .as_u64()
                .ok_or_else(|| format!("{}: no `packet_hops`", path.display()))?,
            cpu_s: number("user_s")? + number("sys_s")?,
            peak_mib: number("peak_rss_mb")?,
        }))
    }
}
