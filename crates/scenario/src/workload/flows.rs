//! `[workload.flows]`: flows one by one.

use std::path::{Path, PathBuf};

use rocelab_transport::{Algorithm, MarkingConfig};
use rocelab_units::{Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Description;
use crate::{QueuePairAttributes, Transport, Verb};

/// `[workload.flows]`: exactly one of `list`, `csv` and `reference`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "FlowsParameters")]
pub struct Parameters {
    /// What the results call it. Default: `flows[K]`, K counting from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The flows themselves: `[[workload.flows.list]]`, or an array of inline tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<FlowConfig>,
    /// A CSV file with the columns `source`, `destination`, `bytes` (with a unit, or digits
    /// alone), `start` (with a unit) or `start_ps`, and optionally `priority` and `verb`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csv: Option<PathBuf>,
    /// A flow file of the HPCC simulator (`flow.txt`), whose node numbers are those of this
    /// topology's nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<PathBuf>,
    /// With `reference`: taken off every start time, because those files begin at 2 s.
    pub start_offset: Duration,
    /// Payload bytes of each message: a flow's bytes are posted at its start as messages of this
    /// size, and one with the rest. Default: one message, as far as 2GiB allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Bytes>,
    /// What carries them: `rdma` or `tcp`.
    #[serde(skip_serializing_if = "Transport::is_rdma")]
    pub transport: Transport,
    /// The operation of flows that name none.
    pub verb: Verb,
    /// Priority 0 to 7 of flows that name none. Default: that of `[roce]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How these flows react to congestion. Default: as those of their priority, or all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<Algorithm>,
    /// The code points of its RDMA frames. Default: as those of their host or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<MarkingConfig>,
    /// Attributes of its queue pairs.
    #[serde(skip_serializing_if = "QueuePairAttributes::is_default")]
    pub queue_pair: QueuePairAttributes,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            name: None,
            list: Vec::new(),
            csv: None,
            reference: None,
            start_offset: Duration::from_ms(2_000),
            message: None,
            transport: Transport::default(),
            verb: Verb::default(),
            priority: None,
            congestion_control: None,
            marking: None,
            queue_pair: QueuePairAttributes::default(),
        }
    }
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// The host that posts the work.
    pub from: String,
    /// The other host.
    pub to: String,
    /// Payload bytes; a READ moves them from `to` to `from`.
    pub bytes: Bytes,
    /// When the work is posted. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// The operation. Default: that of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verb: Option<Verb>,
    /// Priority 0 to 7. Default: that of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
}

impl Description for Parameters {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn congestion_control(&self) -> Option<&Algorithm> {
        self.congestion_control.as_ref()
    }

    fn marking(&self) -> Option<&MarkingConfig> {
        self.marking.as_ref()
    }

    fn queue_pair(&self) -> Option<&QueuePairAttributes> {
        Some(&self.queue_pair)
    }

    fn transport(&self) -> Transport {
        self.transport
    }

    fn key_of(&self, row: u32) -> String {
        match (&self.csv, &self.reference) {
            (Some(_), _) => "csv".into(),
            (_, Some(_)) => "reference".into(),
            _ => format!("list[{row}]"),
        }
    }

    fn files(&self, _: &Path) -> Vec<(&'static str, PathBuf)> {
        let csv = self.csv.iter().map(|file| ("csv", file.clone()));
        csv.chain(self.reference.iter().map(|file| ("reference", file.clone()))).collect()
    }

    fn files_mut(&mut self) -> Vec<&mut PathBuf> {
        self.csv.iter_mut().chain(&mut self.reference).collect()
    }
}
