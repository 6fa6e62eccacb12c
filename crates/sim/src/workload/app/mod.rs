//! Applications: operations of several steps, with the verb of each.

mod check;
mod peers;
mod step;

use rocelab_transport::Algorithm;
use rocelab_units::{Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::check::App;
pub(super) use self::check::{Common, Pace, check_work_time};
pub use self::peers::Pairs;
pub(super) use self::peers::Peers;
pub(super) use self::step::step_size;
pub use self::step::{StepConfig, VerbName};
use super::{Site, Workload};
use crate::plan::OperationKind;
use crate::scenario::Fault;

/// `[workload.app]`: clients and servers that answer each other, step by step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AppParameters")]
pub struct Parameters {
    /// What the results call it. Default: `app[K]`, K counting from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The hosts that begin operations: names, or ranges such as `host-0..host-7`.
    pub clients: Vec<String>,
    /// The hosts that they talk to.
    pub servers: Vec<String>,
    /// Which clients talk to which servers. Default: `round-robin`.
    #[serde(default)]
    pub pairs: Pairs,
    /// Operations of each connection that are open at once, 1 to 65535. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub queue_depth: u16,
    /// How many operations each connection does: this, or `until`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub operations: Option<u64>,
    /// From when on no operation starts: this, or `operations`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<SimTime>,
    /// Time from an operation's end to the start of the next in its place. Default: none.
    #[serde(default)]
    pub think_time: Duration,
    /// When the first operations start. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// What an operation consists of, in this order.
    pub steps: Vec<StepConfig>,
    /// Receive requests that each end of a connection posts. Default: enough for all messages
    /// that can be on their way.
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

/// The default of `queue_depth`.
pub(super) const fn one() -> u16 {
    1
}

impl Workload for Parameters {
    fn congestion_control(&self) -> Option<&Algorithm> {
        self.congestion_control.as_ref()
    }

    fn app(&self, site: &Site<'_>) -> Result<Option<App>, Fault> {
        let steps = step::planned(&self.steps)?;
        let kind = OperationKind { name: "operation".into(), cumulative_share: 1.0, steps };
        let common = Common {
            name: self.name.as_deref(),
            peers: Peers { clients: &self.clients, servers: &self.servers, pairs: self.pairs },
            pace: Pace {
                count: self.operations,
                count_key: "operations",
                until: self.until,
                start: self.start,
                think_time: self.think_time,
                queue_depth: self.queue_depth,
            },
            receive_depth: self.receive_depth,
            priority: self.priority,
        };
        common.app(site, vec![kind]).map(Some)
    }
}
