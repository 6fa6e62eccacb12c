//! Reading results back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::algorithms::AlgorithmChoice;
use crate::names::{PAUSES_JSON, POINT_TXT, RUN_JSON, SUMMARY_JSON, TOPOLOGY_JSON};
use crate::record_reader::RecordReader;
use crate::topology_map::NodesFile;
use crate::{
    CollectiveRecord, DropRecord, FlowCountersRecord, FlowRecord, HostRecord, KindCounts,
    LinkRecord, MapNode, MonitoringRecord, NvlinkRecord, OperationCounts, OperationRecord,
    PauseCauses, PauseRecord, QueueSample, Record, ResultsError, RunInfo, SampleInterval,
    SeriesFile, SeriesReader, StormRecord, Summary, SwitchRecord,
};

/// A results directory, opened for reading.
#[derive(Clone, Debug)]
pub struct Results {
    path: PathBuf,
    summary: Summary,
    run: RunInfo,
}

impl Results {
    /// Opens the directory at `path` and reads `summary.json` and `run.json`.
    ///
    /// # Errors
    /// [`ResultsError::Read`] or [`ResultsError::Malformed`], naming the file.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ResultsError> {
        let path = path.into();
        let summary = read_json::<Summary>(&path.join(SUMMARY_JSON))?.completed();
        let run = read_json(&path.join(RUN_JSON))?;
        Ok(Self { path, summary, run })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `summary.json`.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// `run.json`.
    pub fn run(&self) -> &RunInfo {
        &self.run
    }

    /// The flows, in order of completion.
    ///
    /// # Errors [`ResultsError::Read`] if the file is missing. Rows are read later, by the
    /// iterator, which returns their errors.
    pub fn flows(&self) -> Result<RecordReader<FlowRecord<'static>>, ResultsError> {
        self.records()
    }

    /// The operations of applications. The file is missing if there were none.
    ///
    /// # Errors As [`flows`](Self::flows).
    pub fn operations(&self) -> Result<RecordReader<OperationRecord<'static>>, ResultsError> {
        self.records()
    }

    /// The kinds of an application's operations, also where the summary leaves them out because there
    /// is only one: its name is that of the first operation in the file. Empty if no operation started.
    ///
    /// # Errors [`ResultsError::Read`], [`ResultsError::Malformed`].
    pub fn kinds(
        &self,
        app: &OperationCounts,
    ) -> Result<BTreeMap<String, KindCounts>, ResultsError> {
        if !app.kinds.is_empty() || !self.path.join(OperationRecord::FILE).exists() {
            return Ok(app.kinds.clone());
        }
        for operation in self.operations()? {
            let operation = operation?;
            if operation.app == app.app {
                return Ok(BTreeMap::from([(
                    operation.kind.into_owned(),
                    KindCounts::of_only(app),
                )]));
            }
        }
        Ok(BTreeMap::new())
    }

    /// What a sweep set for this run, such as `switch.alpha=1/16 seed=3`; `None` if it is no point of a
    /// sweep.
    pub fn point_settings(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.path.join(POINT_TXT)).ok()?;
        let point = text.lines().next()?.strip_prefix("# rocelab ")?;
        let (_, settings) = point.split_once(", point ")?.1.split_once(": ")?;
        Some(settings.to_owned())
    }

    /// The PFC events.
    ///
    /// # Errors
    /// As [`flows`](Self::flows).
    pub fn pauses(&self) -> Result<RecordReader<PauseRecord<'static>>, ResultsError> {
        self.records()
    }

    /// The sampled queues. The file is missing if queues were not sampled.
    ///
    /// # Errors As [`flows`](Self::flows).
    pub fn queues(&self) -> Result<RecordReader<QueueSample<'static>>, ResultsError> {
        self.records()
    }

    /// The dropped frames.
    ///
    /// # Errors
    /// As [`flows`](Self::flows).
    pub fn drops(&self) -> Result<RecordReader<DropRecord<'static>>, ResultsError> {
        self.records()
    }

    /// The links.
    ///
    /// # Errors
    /// As [`flows`](Self::flows).
    pub fn links(&self) -> Result<RecordReader<LinkRecord<'static>>, ResultsError> {
        self.records()
    }

    /// The events of the switches' watchdogs; `None` if there are no watchdogs.
    ///
    /// # Errors [`ResultsError::Read`]. Rows are read later, by the iterator, which returns their
    /// errors.
    pub fn storms(&self) -> Result<Option<RecordReader<StormRecord<'static>>>, ResultsError> {
        if !self.path.join(StormRecord::FILE).exists() {
            return Ok(None);
        }
        self.records().map(Some)
    }

    /// The counters of flows that were looked at closely; `None` if there are none.
    ///
    /// # Errors As [`storms`](Self::storms).
    pub fn flow_counters(
        &self,
    ) -> Result<Option<RecordReader<FlowCountersRecord<'static>>>, ResultsError> {
        if !self.path.join(FlowCountersRecord::FILE).exists() {
            return Ok(None);
        }
        self.records().map(Some)
    }

    /// What hosts did that take time; `None` if there are none.
    ///
    /// # Errors As [`storms`](Self::storms).
    pub fn hosts(&self) -> Result<Option<RecordReader<HostRecord<'static>>>, ResultsError> {
        if !self.path.join(HostRecord::FILE).exists() {
            return Ok(None);
        }
        self.records().map(Some)
    }

    /// The collective operations; `None` if there are none.
    ///
    /// # Errors As [`storms`](Self::storms).
    pub fn collectives(
        &self,
    ) -> Result<Option<RecordReader<CollectiveRecord<'static>>>, ResultsError> {
        if !self.path.join(CollectiveRecord::FILE).exists() {
            return Ok(None);
        }
        self.records().map(Some)
    }

    /// The pings between hosts; `None` if there are none.
    ///
    /// # Errors As [`storms`](Self::storms).
    pub fn monitoring(
        &self,
    ) -> Result<Option<RecordReader<MonitoringRecord<'static>>>, ResultsError> {
        if !self.path.join(MonitoringRecord::FILE).exists() {
            return Ok(None);
        }
        self.records().map(Some)
    }

    /// What hosts sent and received over NVLink; `None` if no server has any.
    ///
    /// # Errors As [`storms`](Self::storms).
    pub fn nvlink(&self) -> Result<Option<RecordReader<NvlinkRecord<'static>>>, ResultsError> {
        if !self.path.join(NvlinkRecord::FILE).exists() {
            return Ok(None);
        }
        self.records().map(Some)
    }

    /// The peaks of switches' memory; `None` if they were not measured.
    ///
    /// # Errors As [`storms`](Self::storms).
    pub fn switches(&self) -> Result<Option<RecordReader<SwitchRecord<'static>>>, ResultsError> {
        if !self.path.join(SwitchRecord::FILE).exists() {
            return Ok(None);
        }
        self.records().map(Some)
    }

    /// The samples in `file`; `None` if there is no such file.
    ///
    /// # Errors [`ResultsError::Malformed`] if a column is missing, or a row has no number where
    /// one is required.
    pub fn series(&self, file: SeriesFile) -> Result<Option<SeriesReader>, ResultsError> {
        let path = self.path.join(file.path);
        if !path.exists() {
            return Ok(None);
        }
        SeriesReader::open(path, file.value).map(Some)
    }

    /// The sampling interval of each quantity, by the name of its section, `[sample.NAME]`. Empty if nothing was
    /// sampled.
    ///
    /// # Errors [`ResultsError::Malformed`] if the file is not a scenario, or an interval is not a
    /// time.
    pub fn sample_intervals(&self) -> Result<BTreeMap<String, SampleInterval>, ResultsError> {
        crate::sample_intervals::read(&self.path, self.summary())
    }

    /// The congestion control of the run: every section of `scenario.resolved.toml` that names one,
    /// first the section for the whole scenario. Empty if there is no such file.
    ///
    /// # Errors [`ResultsError::Malformed`] if the file is not TOML.
    pub fn algorithms(&self) -> Result<Vec<AlgorithmChoice>, ResultsError> {
        crate::algorithms::read(&self.path)
    }

    /// The effective parameters of the run: every key of `scenario.resolved.toml`, such as
    /// `switch.ecn.kmin` or `workload.incast[0].bytes`, with its value as text. Empty if there is no
    /// such file.
    ///
    /// # Errors [`ResultsError::Malformed`] if the file is not TOML.
    pub fn parameters(&self) -> Result<BTreeMap<String, String>, ResultsError> {
        crate::parameters::read(&self.path)
    }

    /// Every pause with its cause, from `pauses.json`; `None` if there is no such file.
    ///
    /// # Errors [`ResultsError::Malformed`].
    pub fn pause_causes(&self) -> Result<Option<PauseCauses>, ResultsError> {
        self.optional_json(PAUSES_JSON)
    }

    /// The nodes with their kinds and positions, from `topology.json` (`{"nodes": [...]}`); `None`
    /// if there is no such file. The links are in [`links`](Self::links).
    ///
    /// # Errors [`ResultsError::Malformed`].
    pub fn nodes(&self) -> Result<Option<Vec<MapNode>>, ResultsError> {
        Ok(self.optional_json::<NodesFile>(TOPOLOGY_JSON)?.map(|file| file.nodes))
    }

    fn optional_json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, ResultsError> {
        let path = self.path.join(name);
        if !path.exists() {
            return Ok(None);
        }
        read_json(&path).map(Some)
    }

    fn records<R: Record + DeserializeOwned>(&self) -> Result<RecordReader<R>, ResultsError> {
        RecordReader::open(self.path.join(R::FILE))
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ResultsError> {
    let text = std::fs::read_to_string(path).map_err(ResultsError::read(path))?;
    serde_json::from_str(&text).map_err(|error| ResultsError::Malformed {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}
