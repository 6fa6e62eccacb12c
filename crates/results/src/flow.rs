//! Flows: who sent how much to whom, and how long it took.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Millionths;

/// A row of `flows.csv`: one flow, in order of completion; those that did not complete follow, in
/// order of their number. A flow of more than 2^31 bytes is several messages and still one row.
///
/// Two more columns follow from these: `slowdown` and `goodput_bps`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FlowRecord<'a> {
    /// Number in the scenario, from 0.
    pub flow: u64,
    /// Name of the requester's node.
    pub source: Cow<'a, str>,
    /// Name of the responder's node.
    pub destination: Cow<'a, str>,
    /// Queue pair number at the source; port of a TCP flow.
    pub source_qpn: u32,
    /// Queue pair number at the destination; port of a TCP flow.
    pub destination_qpn: u32,
    /// What carries it: `rdma` or `tcp`; `rdma` in results that do not say.
    #[serde(default = "rdma")]
    pub transport: Cow<'a, str>,
    /// Operation: `send`, `write`, `write-with-immediate`, `read`.
    pub verb: Cow<'a, str>,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// Name of the congestion control.
    pub congestion_control: Cow<'a, str>,
    /// Payload, in bytes.
    pub bytes: u64,
    /// Data packets that the payload needs, without retransmissions.
    pub packets: u64,
    /// Messages that the payload is cut into.
    pub messages: u64,
    /// When the work was posted, in picoseconds from the start of the run.
    pub start_ps: u64,
    /// Flow completion time in picoseconds, from posting to the requester's completion, on an
    /// unreliable service to the arrival of the last message, of a TCP flow to that of its last byte at
    /// the application; `None` (an empty field) if the flow did not complete.
    pub fct_ps: Option<u64>,
    /// What the completion time would be in an empty network, in picoseconds.
    pub ideal_fct_ps: u64,
    /// Data packets sent more than once, counted each further time.
    pub retransmitted_packets: u64,
    /// Of its messages, those that arrived; `None` (an empty field) if a flow of a reliable service
    /// did not complete: its requester does not know.
    pub messages_delivered: Option<u64>,
    /// How it ended.
    pub status: FlowStatus,
}

const fn rdma<'a>() -> Cow<'a, str> {
    Cow::Borrowed("rdma")
}

/// How a flow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowStatus {
    /// All bytes arrived and were acknowledged.
    Completed,
    /// The queue pair gave up: its retry count was exceeded.
    RetryExceeded,
    /// The queue pair gave up: the peer had no receive request, however often it was asked.
    RnrRetryExceeded,
    /// The peer refused a request: one that makes no sense to it.
    RemoteInvalidRequest,
    /// The peer refused a request: its memory may not be accessed so.
    RemoteAccessError,
    /// The peer could not execute a request.
    RemoteOperationalError,
    /// The peer's connection manager did not answer.
    ConnectionTimedOut,
    /// The peer's connection manager, or the own one, rejected the connection.
    ConnectionRejected,
    /// The service is unreliable, and not all messages arrived.
    MessagesLost,
    /// The queue pair failed for another reason.
    Failed,
    /// The run ended first.
    Unfinished,
}

impl FlowStatus {
    /// As it stands in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::RetryExceeded => "retry-exceeded",
            Self::RnrRetryExceeded => "rnr-retry-exceeded",
            Self::RemoteInvalidRequest => "remote-invalid-request",
            Self::RemoteAccessError => "remote-access-error",
            Self::RemoteOperationalError => "remote-operational-error",
            Self::ConnectionTimedOut => "connection-timed-out",
            Self::ConnectionRejected => "connection-rejected",
            Self::MessagesLost => "messages-lost",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }
}

impl FlowRecord<'_> {
    /// Completion time over ideal completion time; `None` if the flow did not complete or needed
    /// no time.
    pub fn slowdown(&self) -> Option<Millionths> {
        Millionths::ratio(self.fct_ps?, self.ideal_fct_ps)
    }

    /// Payload bits over completion time, in bit/s rounded down; `None` if the flow did not
    /// complete or took no time.
    pub fn goodput_bps(&self) -> Option<u64> {
        bits_per_second(self.bytes, self.fct_ps?)
    }
}

/// `bytes` in `ps` picoseconds as bit/s, rounded down; `None` in no time.
pub(crate) fn bits_per_second(bytes: u64, ps: u64) -> Option<u64> {
    const BITS_PS: u128 = 8 * 1_000_000_000_000;
    let rate = (u128::from(bytes) * BITS_PS).checked_div(u128::from(ps))?;
    Some(u64::try_from(rate).unwrap_or(u64::MAX))
}
