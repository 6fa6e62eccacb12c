//! What an application does: operations of several steps between clients and servers, one behind the other.

use rocelab_transport::Operation;
use rocelab_units::{Duration, SimTime};

use crate::scenario::workload::app::{CompletionEventsConfig, Side, VerbName};
use crate::workload::ProgramPlan;

/// What clients and servers do with each other, over how many connections ever; or the members of a program.
#[derive(Clone, Debug)]
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
    /// Whether programs sleep until an event of their completion queue.
    pub completion_events: Option<CompletionEventsConfig>,
    /// What its members do, if it is a program: then its kind has no steps, and none of the numbers of operations
    /// above matter.
    pub program: Option<ProgramPlan>,
}

/// One kind of operation.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationKind {
    /// What the results call it.
    pub name: String,
    /// The share of operations that are of this kind or of one before it: 1 for the last.
    pub cumulative_share: f64,
    /// Payload of all that is done (bytes).
    pub payload: u64,
    /// What is done, in order, at least one; none if a program decides. The first is the client's.
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
    /// Whether it asks for an event at the other side.
    pub solicited: bool,
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

impl AppPlan {
    /// The completion events for which `side` sleeps, if it does.
    pub(crate) fn sleep_of(&self, side: Side) -> Option<CompletionEventsConfig> {
        self.completion_events.filter(|events| events.by.is_none_or(|by| by == side))
    }

    /// The number of the kind that `draw` (0 to 1, uniform) falls on.
    pub(crate) fn kind_at(&self, draw: f64) -> u16 {
        let place = self.kinds.iter().position(|kind| draw < kind.cumulative_share);
        let last = self.kinds.len().saturating_sub(1);
        u16::try_from(place.unwrap_or(last)).unwrap_or(u16::MAX)
    }

    /// How many operations there will be over so many connections, if that is known.
    pub(crate) fn planned(&self, connections: u64) -> Option<u64> {
        match &self.program {
            Some(program) => program.operations,
            None => self.operations.map(|each| each.saturating_mul(connections)),
        }
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
    /// One that consists of these steps.
    pub(crate) fn of_steps(name: &str, cumulative_share: f64, steps: Vec<StepPlan>) -> Self {
        let payload = steps.iter().map(|step| u64::from(step.bytes)).sum();
        Self { name: name.into(), cumulative_share, payload, steps }
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

/// The verb with the operands that most mean.
impl From<VerbName> for StepVerb {
    fn from(name: VerbName) -> Self {
        match name {
            VerbName::Send => Self::Send,
            VerbName::SendWithImmediate => Self::SendWithImmediate,
            VerbName::SendWithInvalidate => Self::SendWithInvalidate,
            VerbName::Write => Self::Write,
            VerbName::WriteWithImmediate => Self::WriteWithImmediate,
            VerbName::Read => Self::Read,
            VerbName::CompareSwap => Self::CompareSwap { compare: 0, swap: 1 },
            VerbName::FetchAdd => Self::FetchAdd { add: 1 },
        }
    }
}
