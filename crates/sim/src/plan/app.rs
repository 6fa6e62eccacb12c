//! Applications: operations of several steps between clients and servers, one behind the other.

use rocelab_fabric::NodeId;
use rocelab_transport::Operation;
use rocelab_units::{Duration, SimTime};

use super::Plan;

/// What clients and servers do with each other, over how many connections ever.
#[derive(Clone, Debug, PartialEq)]
pub struct AppPlan {
    /// What the results call it.
    pub name: String,
    /// The kinds of its operations, at least one.
    pub kinds: Vec<OperationKind>,
    /// Operations of each connection that are open at once, above 0.
    pub queue_depth: u16,
    /// How many operations each connection does; without it, as many as [`until`](Self::until)
    /// allows.
    pub operations: Option<u64>,
    /// When the first operations start.
    pub start: SimTime,
    /// From when on no operation starts.
    pub until: Option<SimTime>,
    /// Time from an operation's end to the start of the next in its place.
    pub think_time: Duration,
    /// Receive requests that an end posts where messages take some, above 0 and no more than are ever taken
    /// at once.
    pub receive_depth: u32,
}

/// One kind of operation.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationKind {
    /// What the results call it.
    pub name: String,
    /// The share of operations that are of this kind or of one before it: 1 for the last.
    pub cumulative_share: f64,
    /// What is done, in order, at least one. The first is the client's.
    pub steps: Vec<StepPlan>,
}

/// One work request of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepPlan {
    /// Who posts it.
    pub by: Side,
    /// What it does.
    pub verb: StepVerb,
    /// Payload (bytes); 8 of an atomic operation.
    pub bytes: u32,
    /// How long its side works before it posts it.
    pub after: Duration,
    /// Whether it is posted together with the step before it, which is of the same side.
    pub chained: bool,
}

/// An end of a connection.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
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

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepVerb {
    /// SEND.
    Send,
    /// SEND with immediate data.
    SendWithImmediate,
    /// SEND that invalidates a key of the receiver.
    SendWithInvalidate,
    /// RDMA WRITE.
    Write,
    /// RDMA WRITE with immediate data.
    WriteWithImmediate,
    /// RDMA READ.
    Read,
    /// Compare and swap.
    CompareSwap {
        /// The value that must be there.
        compare: u64,
        /// The value to store.
        swap: u64,
    },
    /// Fetch and add.
    FetchAdd {
        /// The value to add.
        add: u64,
    },
}

/// A reliable connection of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionPlan {
    /// Its application, by its place in [`Plan::apps`].
    pub app: u32,
    /// The two ends: the client's, then the server's.
    pub ends: [ConnectionEndPlan; 2],
    /// Priority 0 to 7.
    pub priority: u8,
    /// UDP source port (v2: 0xC000 to 0xFFFF) or flow label (v1: 20 bits).
    pub entropy: u32,
    /// The parameters of its queue pairs, by their place in [`Plan::queue_pairs`].
    pub queue_pairs: u32,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionEndPlan {
    /// Where it is.
    pub host: NodeId,
    /// Its queue pair number, 24 bits; those of flows come first.
    pub qpn: u32,
    /// First packet sequence number of its requests, 24 bits.
    pub psn: u32,
}

impl Plan {
    /// The application of a connection.
    pub fn app_of(&self, connection: u32) -> &AppPlan {
        &self.apps[self.connections[connection as usize].app as usize]
    }
}

impl AppPlan {
    /// The number of the kind that `draw` (0 to 1, uniform) falls on.
    pub(crate) fn kind_at(&self, draw: f64) -> u16 {
        let place = self.kinds.iter().position(|kind| draw < kind.cumulative_share);
        let last = self.kinds.len().saturating_sub(1);
        u16::try_from(place.unwrap_or(last)).unwrap_or(u16::MAX)
    }

    /// The largest message for which `side` needs a buffer (bytes); none if it receives none.
    pub(crate) fn largest_received(&self, side: Side) -> Option<u32> {
        let steps = self.kinds.iter().flat_map(|kind| &kind.steps);
        steps.filter(|step| step.by != side && step.verb.is_noticed()).map(|step| step.bytes).max()
    }

    /// The largest step (bytes).
    pub(crate) fn largest_step(&self) -> u32 {
        let steps = self.kinds.iter().flat_map(|kind| &kind.steps);
        steps.map(|step| step.bytes).max().unwrap_or(0)
    }
}

impl OperationKind {
    /// Payload of all steps (bytes).
    pub fn payload(&self) -> u64 {
        self.steps.iter().map(|step| u64::from(step.bytes)).sum()
    }
}

impl ConnectionPlan {
    /// The end of `side`.
    pub const fn end(&self, side: Side) -> &ConnectionEndPlan {
        match side {
            Side::Client => &self.ends[0],
            Side::Server => &self.ends[1],
        }
    }
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

impl StepVerb {
    /// Whether the other end's program is told: it takes a receive request there and completes it.
    pub const fn is_noticed(self) -> bool {
        matches!(
            self,
            Self::Send
                | Self::SendWithImmediate
                | Self::SendWithInvalidate
                | Self::WriteWithImmediate
        )
    }

    /// Whether it ends with a response, and not with an acknowledgement.
    pub const fn awaits_response(self) -> bool {
        matches!(self, Self::Read | Self::CompareSwap { .. } | Self::FetchAdd { .. })
    }

    /// Whether it is an atomic operation.
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::CompareSwap { .. } | Self::FetchAdd { .. })
    }

    /// The transport's operation; `data` is what goes into an ImmDt or IETH.
    pub(crate) const fn operation(self, data: u32) -> Operation {
        match self {
            Self::Send => Operation::Send,
            Self::SendWithImmediate => Operation::SendWithImmediate(data),
            Self::SendWithInvalidate => Operation::SendWithInvalidate(data),
            Self::Write => Operation::Write,
            Self::WriteWithImmediate => Operation::WriteWithImmediate(data),
            Self::Read => Operation::Read,
            Self::CompareSwap { compare, swap } => Operation::CompareSwap { compare, swap },
            Self::FetchAdd { add } => Operation::FetchAdd { add },
        }
    }
}
