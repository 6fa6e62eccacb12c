//! Ping-pong: how long a message takes there and back.

use rocelab_transport::Algorithm;
use rocelab_units::{Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::app::{App, Common, Pace, Pairs, Peers, VerbName, step_size};
use super::{Site, Workload};
use crate::plan::{OperationKind, Side, StepPlan};
use crate::scenario::{Fault, ensure};

/// `[workload.ping-pong]`: the client sends a message and the server sends one back; a READ or
/// atomic operation is there and back by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PingPongParameters")]
pub struct Parameters {
    /// What the results call it. Default: `ping-pong[K]`, K counting from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The hosts that begin: names, or ranges such as `host-0..host-7`.
    pub clients: Vec<String>,
    /// The hosts that answer: the k-th client's is the k-th, and from the first again.
    pub servers: Vec<String>,
    /// What both sides do. A plain `write` is told to nobody: use `write-with-immediate`.
    /// Default: `send`.
    #[serde(default = "send")]
    pub verb: VerbName,
    /// Payload of each message; atomics always have 8 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Round trips, one after the other. Default: 1000.
    #[serde(default = "thousand")]
    #[schemars(range(min = 1))]
    pub iterations: u64,
    /// When the first one starts. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// Priority 0 to 7. Default: that of `[roce]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How its connections react to congestion. Default: as those of their priority, or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<Algorithm>,
}

const fn send() -> VerbName {
    VerbName::Send
}

const fn thousand() -> u64 {
    1_000
}

impl Workload for Parameters {
    fn congestion_control(&self) -> Option<&Algorithm> {
        self.congestion_control.as_ref()
    }

    fn app(&self, site: &Site<'_>) -> Result<Option<App>, Fault> {
        let common = Common {
            name: self.name.as_deref(),
            peers: Peers {
                clients: &self.clients,
                servers: &self.servers,
                pairs: Pairs::RoundRobin,
            },
            pace: Pace {
                count: Some(self.iterations),
                count_key: "iterations",
                until: None,
                start: self.start,
                think_time: Duration::ZERO,
                queue_depth: 1,
            },
            receive_depth: None,
            priority: self.priority,
        };
        let steps = self.steps()?;
        let kind = OperationKind { name: "round-trip".into(), cumulative_share: 1.0, steps };
        common.app(site, vec![kind]).map(Some)
    }
}

impl Parameters {
    fn steps(&self) -> Result<Vec<StepPlan>, Fault> {
        let verb = self.verb.verb();
        ensure(verb.is_noticed() || verb.awaits_response(), || {
            Fault::at("verb", "nothing tells the other side of a plain WRITE")
                .help("use `write-with-immediate`, or `read`")
        })?;
        let bytes = step_size("bytes", verb, self.bytes)?;
        let ping =
            StepPlan { by: Side::Client, verb, bytes, after: Duration::ZERO, chained: false };
        if verb.awaits_response() {
            return Ok(vec![ping]);
        }
        Ok(vec![ping, StepPlan { by: Side::Server, ..ping }])
    }
}
