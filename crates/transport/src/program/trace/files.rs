//! The files of a trace.

use std::path::{Path, PathBuf};

use rocelab_trace::{Options, Trace, TraceError, chakra, goal, simai};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Parameters;
use crate::congestion_control::InvalidParameter;

/// What the files of a trace are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TraceFormat")]
pub enum Format {
    /// Chakra execution traces, as PyTorch and ASTRA-sim have them: `PREFIX.RANK.et` for each rank from 0.
    #[serde(rename = "chakra")]
    Chakra,
    /// One file of GOAL, text or binary, as LogGOPSim has it.
    #[serde(rename = "goal")]
    Goal,
    /// One workload file of SimAI or AICB.
    #[serde(rename = "simai")]
    Simai,
}

/// The file of a rank of a Chakra trace.
fn of_rank(prefix: &Path, rank: u32) -> PathBuf {
    let mut name = prefix.as_os_str().to_owned();
    name.push(format!(".{rank}.et"));
    name.into()
}

/// The files of the ranks of a Chakra trace that there are, from rank 0 to the first that is missing.
fn of_ranks(folder: &Path, prefix: &Path) -> Vec<PathBuf> {
    let files = (0..u32::MAX).map(|rank| of_rank(prefix, rank));
    files.take_while(|file| folder.join(file).is_file()).collect()
}

impl Parameters {
    /// The files that it reads, as the scenario names them; those of ranks only as far as they are there.
    pub(super) fn input_files(&self, folder: &Path) -> Vec<(&'static str, PathBuf)> {
        let paths = match self.format {
            Format::Chakra => of_ranks(folder, &self.path),
            Format::Goal | Format::Simai => vec![self.path.clone()],
        };
        let groups = self.groups.iter().map(|file| ("groups", file.clone()));
        paths.into_iter().map(|path| ("path", path)).chain(groups).collect()
    }

    /// Reads the files for so many hosts.
    pub(super) fn read_files(&self, folder: &Path, hosts: u32) -> Result<Trace, InvalidParameter> {
        let options = Options {
            serialise_streams: self.serialise_streams,
            control_dependencies: false,
            compute_scale: self.compute_scale,
        };
        let path = folder.join(&self.path);
        let wrong = |error: TraceError| self.wrong(&error);
        let trace = match self.format {
            Format::Chakra => return self.read_chakra(folder, hosts, &options),
            Format::Goal => goal::to_trace(&goal::read(&path).map_err(wrong)?, &options),
            Format::Simai => {
                let workload = simai::read(&path).map_err(wrong)?;
                let ranks = workload.parallelism.is_none().then_some(hosts);
                simai::convert(&workload, ranks, &options)
            }
        };
        trace.map_err(wrong)
    }

    fn read_chakra(
        &self,
        folder: &Path,
        hosts: u32,
        options: &Options,
    ) -> Result<Trace, InvalidParameter> {
        let there = of_ranks(folder, &self.path);
        if there.is_empty() {
            let first = folder.join(of_rank(&self.path, 0));
            return Err(InvalidParameter {
                key: "path",
                value: self.path.display().to_string(),
                problem: format!("is no prefix of a trace: there is no `{}`", first.display())
                    .into(),
                fix: "give the path without the ending .RANK.et, relative to the scenario's folder"
                    .into(),
            });
        }
        self.check_ranks(there.len(), hosts)?;
        let wrong = |error: TraceError| self.wrong(&error);
        let read = |file: &PathBuf| chakra::read(&folder.join(file));
        let files = there.iter().map(read).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        let groups = match &self.groups {
            Some(file) => chakra::read_groups(&folder.join(file)).map_err(|error| {
                let value = file.display().to_string();
                InvalidParameter { key: "groups", value, ..self.wrong(&error) }
            })?,
            None => chakra::Groups::default(),
        };
        chakra::convert(&files, &groups, options).map_err(wrong)
    }

    /// Refuses a trace that has not as many ranks as there are hosts.
    pub(super) fn check_ranks(&self, ranks: usize, hosts: u32) -> Result<(), InvalidParameter> {
        if ranks == hosts as usize {
            return Ok(());
        }
        Err(InvalidParameter {
            key: "hosts",
            value: hosts.to_string(),
            problem: format!("are not as many as the trace has ranks, which are {ranks}").into(),
            fix: format!("name {ranks} hosts, that of rank 0 first").into(),
        })
    }

    /// What is wrong with a file.
    fn wrong(&self, error: &TraceError) -> InvalidParameter {
        let all = error.to_string();
        let problem = all.strip_suffix(&format!("; {}", error.help())).unwrap_or(&all);
        InvalidParameter {
            key: "path",
            value: self.path.display().to_string(),
            problem: format!("cannot be run: {problem}").into(),
            fix: error.help().to_owned().into(),
        }
    }
}
