//! `steps`: what an operation consists of.

use rocelab_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::check_work_time;
use crate::plan::{MAX_MESSAGE_BYTES, Side, StepPlan, StepVerb};
use crate::scenario::{Fault, ensure};

/// The payload of an atomic operation (bytes).
const ATOMIC_BYTES: u32 = rocelab_transport::ATOMIC_LENGTH;

/// The most steps of an operation.
const MOST: usize = 1_000;

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

impl VerbName {
    /// The verb with the operands that most mean.
    pub(in crate::workload) const fn verb(self) -> StepVerb {
        match self {
            Self::Send => StepVerb::Send,
            Self::SendWithImmediate => StepVerb::SendWithImmediate,
            Self::SendWithInvalidate => StepVerb::SendWithInvalidate,
            Self::Write => StepVerb::Write,
            Self::WriteWithImmediate => StepVerb::WriteWithImmediate,
            Self::Read => StepVerb::Read,
            Self::CompareSwap => StepVerb::CompareSwap { compare: 0, swap: 1 },
            Self::FetchAdd => StepVerb::FetchAdd { add: 1 },
        }
    }
}

/// The size of a step of `verb`, from the value of `key`.
pub(in crate::workload) fn step_size(
    key: &str,
    verb: StepVerb,
    bytes: Option<Bytes>,
) -> Result<u32, Fault> {
    if verb.is_atomic() {
        ensure(bytes.is_none_or(|bytes| bytes.get() == u64::from(ATOMIC_BYTES)), || {
            Fault::at(key, "an atomic operation has 8 bytes, always").help("leave it out")
        })?;
        return Ok(ATOMIC_BYTES);
    }
    let given = bytes.map(Bytes::get).filter(|bytes| (1..=MAX_MESSAGE_BYTES).contains(bytes));
    given.and_then(|bytes| u32::try_from(bytes).ok()).ok_or_else(|| {
        let fault = Fault::at(key, "a message has at least one byte and at most 2^31");
        fault.value(bytes.map_or("none".into(), |bytes| bytes.to_string())).help("give 1B to 2GiB")
    })
}

/// The steps of an operation, which can be done in this order.
pub(super) fn planned(steps: &[StepConfig]) -> Result<Vec<StepPlan>, Fault> {
    ensure(!steps.is_empty(), || {
        Fault::at("steps", "an operation without steps does nothing").help(
            "give at least one, such as { by = \"client\", verb = \"send\", bytes = \"64B\" }",
        )
    })?;
    ensure(steps.len() <= MOST, || {
        Fault::at("steps", format!("{} steps are too many", steps.len()))
            .help(format!("give at most {MOST}"))
    })?;
    let mut planned: Vec<StepPlan> = Vec::with_capacity(steps.len());
    for (place, step) in steps.iter().enumerate() {
        let plan = step.plan(planned.last()).map_err(|fault| fault.within(&key(place)))?;
        planned.push(plan);
    }
    for (place, step) in planned.iter().enumerate() {
        let next = planned.get(place + 1).map(|next| next.by);
        check_turn(step, next).map_err(|fault| fault.within(&key(place)))?;
    }
    Ok(planned)
}

fn key(place: usize) -> String {
    format!("steps[{place}]")
}

impl StepConfig {
    fn plan(&self, before: Option<&StepPlan>) -> Result<StepPlan, Fault> {
        ensure(before.is_some() || self.by == Side::Client, || {
            Fault::at("by", "nothing tells the server that an operation begins")
                .help("let the client take the first step")
        })?;
        self.check_operands()?;
        check_work_time("after", self.after.unwrap_or_default())?;
        if self.chained {
            self.check_chain(before)?;
        }
        let verb = match self.verb {
            VerbName::CompareSwap => StepVerb::CompareSwap {
                compare: self.compare.unwrap_or(0),
                swap: self.swap.unwrap_or(1),
            },
            VerbName::FetchAdd => StepVerb::FetchAdd { add: self.add.unwrap_or(1) },
            other => other.verb(),
        };
        Ok(StepPlan {
            by: self.by,
            verb,
            bytes: step_size("bytes", verb, self.bytes)?,
            after: self.after.unwrap_or_default(),
            chained: self.chained,
        })
    }

    fn check_operands(&self) -> Result<(), Fault> {
        for (key, given, owner, name) in [
            ("add", self.add, VerbName::FetchAdd, "fetch-add"),
            ("compare", self.compare, VerbName::CompareSwap, "compare-swap"),
            ("swap", self.swap, VerbName::CompareSwap, "compare-swap"),
        ] {
            ensure(given.is_none() || self.verb == owner, || {
                Fault::at(key, format!("only `{name}` has this operand"))
                    .help(format!("leave it out, or use the verb `{name}`"))
            })?;
        }
        Ok(())
    }

    fn check_chain(&self, before: Option<&StepPlan>) -> Result<(), Fault> {
        let before = before.filter(|before| before.by == self.by);
        let Some(before) = before else {
            return Err(Fault::at("chained", "no step of the same side stands before this one")
                .help("leave it out: this step waits for the other side, or is the first"));
        };
        ensure(!before.verb.awaits_response(), || {
            Fault::at("chained", "the step before this one ends with a response, which it awaits")
                .help("leave it out")
        })?;
        ensure(self.after.is_none(), || {
            Fault::at("after", "a chained step is posted together with the one before it")
                .help("leave `after` out, or `chained`")
        })
    }
}

/// Whether who has the next turn (or the client, at an operation's end) notices that `step` is
/// done.
fn check_turn(step: &StepPlan, next: Option<Side>) -> Result<(), Fault> {
    let waits = next.unwrap_or(Side::Client);
    ensure(waits == step.by || step.verb.is_noticed(), || {
        let what = match next {
            Some(_) => format!("the next step is the {}'s", waits.name()),
            None => "the client ends the operation".into(),
        };
        let message = format!("{what}, whom nothing tells that this one is done");
        Fault::at("verb", message).help(
            "use `send`, `send-with-immediate`, `send-with-invalidate` or `write-with-immediate`",
        )
    })
}
