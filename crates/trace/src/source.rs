//! Files of any of the formats, recognised by their content.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::chakra::{self, Groups};
use crate::goal::{self, Goal};
use crate::nccl_tests::{self, Table};
use crate::simai::{self, Workload, topology};
use crate::{Options, Trace, TraceError};

/// What files have, as they say it.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Chakra execution traces, a file for each rank.
    Chakra(Vec<chakra::File>),
    /// GOAL, text or binary.
    Goal(Goal),
    /// A workload of SimAI or AICB.
    Workload(Workload),
    /// A topology of SimAI.
    Topology(topology::Topology),
    /// A table of nccl-tests, and its file.
    Table(PathBuf, Table),
}

impl Source {
    /// Reads files: Chakra's, whose names end with `.et`, or one file of another format.
    ///
    /// # Errors If there is no file, a file cannot be read, or it is wrong.
    pub fn read(files: &[PathBuf]) -> Result<Self, TraceError> {
        let is_chakra = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "et");
        if files.iter().any(is_chakra) {
            let all = files.iter().map(|file| chakra::read(file)).collect::<Result<_, _>>()?;
            return Ok(Self::Chakra(all));
        }
        let [path] = files else {
            let path = files.get(1).map_or(Path::new(""), PathBuf::as_path);
            let help = "give one file, or the .et files of all ranks";
            return Err(TraceError::new(path, "is more than one file", help));
        };
        let bytes = fs::read(path).map_err(|error| {
            TraceError::new(path, error.to_string(), "give a file that you may read")
        })?;
        Self::parse(&bytes, path)
    }

    /// Reads the bytes of one file that is not Chakra's; errors name `path`.
    ///
    /// # Errors If they are wrong, or of no known format.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, TraceError> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return goal::parse(bytes, path).map(Self::Goal);
        };
        let start = text.trim_start();
        let is_goal = ["num_ranks", "//", "/*"].iter().any(|word| start.starts_with(word));
        if is_goal || goal::is_binary(bytes) {
            goal::parse(bytes, path).map(Self::Goal)
        } else if start.starts_with('#') {
            let table = nccl_tests::parse(text, path)?;
            Ok(Self::Table(path.to_owned(), table))
        } else if start.starts_with(|letter: char| letter.is_ascii_digit()) {
            topology::parse(text, path).map(Self::Topology)
        } else {
            simai::parse(text, path).map(Self::Workload)
        }
    }

    /// The name of the format.
    pub fn format(&self) -> &'static str {
        match self {
            Self::Chakra(_) => "Chakra execution trace",
            Self::Goal(_) => "GOAL",
            Self::Workload(_) => "SimAI workload",
            Self::Topology(_) => "SimAI topology",
            Self::Table(..) => "table of nccl-tests",
        }
    }

    /// The files as JSON, as they say it; of GOAL, which is text itself, the graphs.
    ///
    /// # Errors If GOAL cannot become graphs.
    pub fn to_json(&self) -> Result<Json, TraceError> {
        Ok(match self {
            Self::Chakra(files) => files.iter().map(chakra::File::to_json).collect(),
            Self::Goal(goal) => crate::to_json(&goal::to_trace(goal, &Options::default())?),
            Self::Workload(workload) => workload.to_json(),
            Self::Topology(topology) => topology.to_json(),
            Self::Table(_, table) => nccl_tests::to_json(table),
        })
    }

    /// The work as graphs. `groups` are communicator groups of Chakra traces; `ranks` is for workloads that do not say it.
    ///
    /// # Errors If there is no work in the files, or it cannot become graphs.
    pub fn to_trace(
        &self,
        groups: &Groups,
        ranks: Option<u32>,
        options: &Options,
    ) -> Result<Trace, TraceError> {
        let no_work = |path: &Path| {
            let message = format!("a {} is no trace", self.format());
            TraceError::new(path, message, "give a trace of Chakra, GOAL or SimAI")
        };
        match self {
            Self::Chakra(files) => chakra::convert(files, groups, options),
            Self::Goal(goal) => goal::to_trace(goal, options),
            Self::Workload(workload) => simai::convert(workload, ranks, options),
            Self::Topology(topology) => Err(no_work(topology.path())),
            Self::Table(path, _) => Err(no_work(path)),
        }
    }
}
