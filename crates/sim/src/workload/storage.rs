//! Storage: blocks read and written, as NVMe over Fabrics does it over RDMA.
//!
//! A command is a SEND. Of a read, the target writes the data into the client's memory by RDMA
//! WRITE, and of a write it fetches them by RDMA READ; its response is a SEND.

use rocelab_transport::Algorithm;
use rocelab_units::{Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::app::{App, Common, Pace, Pairs, Peers, check_work_time, step_size};
use super::{Site, Workload};
use crate::plan::{OperationKind, Side, StepPlan, StepVerb};
use crate::scenario::{Fault, ensure};

/// `[workload.storage]`: clients read and write blocks of servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StorageParameters")]
pub struct Parameters {
    /// What the results call it. Default: `storage[K]`, K counting from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The hosts that read and write: names, or ranges such as `host-0..host-7`.
    pub clients: Vec<String>,
    /// The hosts that hold the blocks.
    pub servers: Vec<String>,
    /// Which clients use which servers. Default: `round-robin`.
    #[serde(default)]
    pub pairs: Pairs,
    /// Data of each operation.
    pub block: Bytes,
    /// The share of reads among the operations, 0 to 1; the rest are writes. Default: 1.
    #[serde(default = "all")]
    #[schemars(range(min = 0, max = 1))]
    pub read_fraction: f64,
    /// Operations of each connection that are open at once, 1 to 65535. Default: 1.
    #[serde(default = "super::app::one")]
    #[schemars(range(min = 1))]
    pub queue_depth: u16,
    /// How many operations each connection does: this, or `until`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub operations: Option<u64>,
    /// From when on no operation starts: this, or `operations`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<SimTime>,
    /// How long the server takes to find data, or to store them. Default: no time.
    #[serde(default)]
    pub access_time: Duration,
    /// Bytes of a command. Default: 64B.
    #[serde(default = "command")]
    pub command: Bytes,
    /// Bytes of a response. Default: 16B.
    #[serde(default = "response")]
    pub response: Bytes,
    /// When the first operations start. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// Receive requests that each end of a connection posts. Default: one for each operation that
    /// can be open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub receive_depth: Option<u32>,
    /// Priority 0 to 7. Default: that of `[roce]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How its connections react to congestion. Default: as those of their priority, or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<Algorithm>,
}

const fn all() -> f64 {
    1.0
}

const fn command() -> Bytes {
    Bytes::new(64)
}

const fn response() -> Bytes {
    Bytes::new(16)
}

impl Workload for Parameters {
    fn congestion_control(&self) -> Option<&Algorithm> {
        self.congestion_control.as_ref()
    }

    fn app(&self, site: &Site<'_>) -> Result<Option<App>, Fault> {
        let common = Common {
            name: self.name.as_deref(),
            peers: Peers { clients: &self.clients, servers: &self.servers, pairs: self.pairs },
            pace: Pace {
                count: self.operations,
                count_key: "operations",
                until: self.until,
                start: self.start,
                think_time: Duration::ZERO,
                queue_depth: self.queue_depth,
            },
            receive_depth: self.receive_depth,
            priority: self.priority,
        };
        common.app(site, self.kinds()?).map(Some)
    }
}

impl Parameters {
    /// Reads and writes, or one of them if there are no others.
    fn kinds(&self) -> Result<Vec<OperationKind>, Fault> {
        ensure((0.0..=1.0).contains(&self.read_fraction), || {
            Fault::at("read_fraction", "this is a share").help("give a number from 0 to 1")
        })?;
        let kind = |name: &str, cumulative_share, data| {
            let steps = self.steps(data)?;
            Ok(OperationKind { name: name.into(), cumulative_share, steps })
        };
        let mut kinds = Vec::new();
        if self.read_fraction > 0.0 {
            kinds.push(kind("read", self.read_fraction, StepVerb::Write)?);
        }
        if self.read_fraction < 1.0 {
            kinds.push(kind("write", 1.0, StepVerb::Read)?);
        }
        Ok(kinds)
    }

    /// Command, data and response. What has to be found first is sent after the access time; what
    /// was fetched is stored before the response.
    fn steps(&self, data: StepVerb) -> Result<Vec<StepPlan>, Fault> {
        check_work_time("access_time", self.access_time)?;
        let fetches = data.awaits_response();
        let step = |by, verb, bytes, after, chained| StepPlan { by, verb, bytes, after, chained };
        let [before_data, before_response] = if fetches {
            [Duration::ZERO, self.access_time]
        } else {
            [self.access_time, Duration::ZERO]
        };
        let command = step_size("command", StepVerb::Send, Some(self.command))?;
        let block = step_size("block", data, Some(self.block))?;
        let response = step_size("response", StepVerb::Send, Some(self.response))?;
        Ok(vec![
            step(Side::Client, StepVerb::Send, command, Duration::ZERO, false),
            step(Side::Server, data, block, before_data, false),
            step(Side::Server, StepVerb::Send, response, before_response, !fetches),
        ])
    }
}
