//! Runs a case and measures it.

use std::path::{Path, PathBuf};

use rocelab_sim::reference;

use crate::Failure;
use crate::agreement::Agreement;
use crate::case::Case;
use crate::single_run::in_own_process;
use rocelab_benches::usage::Usage;

/// The result of a case.
#[derive(Debug)]
pub(crate) struct Measurement<'a> {
    pub(crate) case: &'a Case,
    pub(crate) agreement: Agreement,
    /// Whether the converted configuration writes the same two files.
    pub(crate) converts: bool,
    /// The median of the runs by CPU time.
    pub(crate) usage: Usage,
}

impl<'a> Measurement<'a> {
    /// Runs a case `runs` times, and once converted, in folders below `scratch`.
    pub(crate) fn of(case: &'a Case, scratch: &Path, runs: u32) -> Result<Self, Failure> {
        let config = case.folder.join("config.txt");
        let place = |what: &str| scratch.join(format!("{}-{what}", case.name));
        let mut usages = Vec::new();
        for run in 0..runs {
            usages.push(in_own_process(&config, &place(&run.to_string()))?);
        }
        usages.sort_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s));
        let first = place("0");
        let converted = place("converted");
        in_own_process(&convert(&config, &place("scenario"))?, &converted)?;
        Ok(Self {
            case,
            agreement: Agreement::between(&case.folder, &first)?,
            converts: Agreement::between(&first, &converted)?.is_exact(),
            usage: usages[usages.len() / 2],
        })
    }

    /// Data packet-hops per second of CPU time.
    pub(crate) fn speed(&self) -> f64 {
        self.case.packet_hops as f64 / self.usage.cpu_s
    }
}

/// Writes the scenario of a configuration, as `rocelab convert` does.
fn convert(config: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    std::fs::create_dir(folder)?;
    let scenario = reference::load(config, &[])?.scenario.relocated(folder)?;
    let path = folder.join("scenario.toml");
    std::fs::write(&path, scenario.to_toml()?)?;
    Ok(path)
}
