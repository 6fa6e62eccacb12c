//! `[workload.app]`: operations of several steps, with the verb of each.

use rocelab_transport::{Algorithm, MarkingConfig};
use rocelab_units::{Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Description;
use crate::QueuePairAttributes;

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
    /// Whether programs sleep until an event of their completion queue. Default: they look at it all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_events: Option<CompletionEventsConfig>,
    /// Priority 0 to 7. Default: that of `[roce]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How its connections react to congestion. Default: as those of their priority, or all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<Algorithm>,
    /// The code points of its RDMA frames. Default: as those of their host or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<MarkingConfig>,
    /// Attributes of its queue pairs.
    #[serde(default, skip_serializing_if = "QueuePairAttributes::is_default")]
    pub queue_pair: QueuePairAttributes,
}

/// The default of `queue_depth`.
pub(super) const fn one() -> u16 {
    1
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
}

/// Which clients talk to which servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pairs {
    /// Each client talks to one server: the k-th to the k-th, and from the first again.
    #[default]
    RoundRobin,
    /// Each client talks to every server, over a connection each.
    All,
}

/// One work request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepConfig {
    /// Who posts it.
    pub by: Side,
    /// What it does.
    pub verb: VerbName,
    /// Payload, 1B to 2GiB; a `read` moves it to who posts it. Atomics always have 8 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// How long its side works before it posts it. Default: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Duration>,
    /// Whether it is posted together with the step before it, without awaiting that one's
    /// completion. Default: false.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub chained: bool,
    /// Whether it asks for an event at the other side (the Solicited Event bit of its last packet): `send` and its kin, and
    /// `write-with-immediate`. Default: false.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub solicited: bool,
    /// What a `fetch-add` adds. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add: Option<u64>,
    /// What a `compare-swap` compares with. Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<u64>,
    /// What a `compare-swap` stores. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap: Option<u64>,
}

/// Programs that sleep. Each end of a connection has a completion queue of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompletionEventsConfig {
    /// Which completion makes an event. Default: `next`.
    #[serde(default)]
    pub notify: Notify,
    /// The side that sleeps. Default: both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Side>,
    /// Time from the event until the program has woken up and looks at its completion queue.
    pub wake_up: Duration,
}

/// What a program asks its completion queue for, each time before it sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Notify {
    /// An event at the next completion.
    #[default]
    Next,
    /// An event at the next completion that is solicited: of a message with the Solicited Event bit, or of an error.
    Solicited,
}

/// The verbs of the InfiniBand transport over a reliable connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VerbName {
    /// SEND into a buffer that the other side has posted.
    Send,
    /// SEND with immediate data.
    SendWithImmediate,
    /// SEND that invalidates a key of the other side.
    SendWithInvalidate,
    /// RDMA WRITE, of which the other side is not told.
    Write,
    /// RDMA WRITE with immediate data.
    WriteWithImmediate,
    /// RDMA READ.
    Read,
    /// Compare and swap of eight bytes.
    CompareSwap,
    /// Fetch and add of eight bytes.
    FetchAdd,
}

/// An end of a connection.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    borsh::BorshSerialize,
    borsh::BorshDeserialize,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Who begins operations.
    Client,
    /// The other.
    Server,
}

impl Side {
    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// The name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}
