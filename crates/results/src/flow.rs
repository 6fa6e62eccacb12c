//! Flows: source, destination, size, and completion time.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Millionths;
use crate::column::words;
use crate::declaration::record;

record! {
    /// A row of `flows.csv`: one flow, in order of completion; those that did not complete follow, in
    /// order of their number. A flow of more than 2^31 bytes is several messages and still one row.
    ///
    /// Two more columns follow from these: `slowdown` and `goodput_bps`.
    pub struct FlowRecord<'a> as "flows" in "flows.csv" and "flows.parquet" {
        /// Number in the scenario, from 0.
        flow: u64;
        /// The workload that asks for it: its kind, and its number among those of its kind, such as
        /// `incast[0]`.
        #[serde(default)]
        workload: Cow<'a, str>;
        /// The workload's `name`; without one, as `workload`.
        #[serde(default)]
        name: Cow<'a, str>;
        /// Requester's node.
        source: Cow<'a, str>;
        /// Responder's node.
        destination: Cow<'a, str>;
        /// Queue pair number at the source; port of a TCP flow.
        source_qpn: u32;
        /// Queue pair number at the destination; port of a TCP flow.
        destination_qpn: u32;
        /// What carries it: `rdma` or `tcp`.
        #[serde(default = "rdma")]
        transport: Cow<'a, str>;
        /// `send`, `write`, `write-with-immediate`, `read`.
        verb: Cow<'a, str>;
        /// Priority, 0 to 7.
        priority: u8;
        /// Name of the algorithm, as in the scenario.
        congestion_control: Cow<'a, str>;
        /// Payload; for a `read`, from destination to source.
        bytes: u64 => "bytes";
        /// Data packets of the payload, without retransmissions.
        packets: u64 => "packets";
        /// Number of messages into which the payload is cut.
        messages: u64;
        /// Time of the post.
        start_ps: u64 => "ps";
        /// Flow completion time: from the post to the requester's completion, including the way of
        /// the last ACK; on an unreliable service to the arrival of the last message; for a TCP
        /// flow to the delivery of its last byte to the application at its destination; empty if it
        /// did not complete.
        fct_ps: Option<u64> => "ps";
        /// The same in an empty network, at the rates of its links. The path is the fastest of the
        /// flow's shortest paths, or of those that static routes make. If routes can change in the
        /// run, by failures or flooding, or have loops, it is a bound for all paths over the
        /// topology's links. The acknowledgement is sent at once. So these count as slowdown: a
        /// path of equal cost through a slower switch, `ack_coalescing`, and a fixed sending
        /// `rate`, as of `[congestion_control.none]`.
        ideal_fct_ps: u64 => "ps";
        then {
            /// `fct_ps` / `ideal_fct_ps`; empty if the flow did not complete.
            slowdown: Option<Millionths> => "ratio";
            /// Payload bits / `fct_ps`, rounded down; empty if the flow did not complete.
            goodput_bps: Option<u64> => "bit/s";
        }
        /// Packets that the source sent again, counted each time; for TCP, until its source learnt
        /// of the end; for a `read` these are requests, and data that was sent again counts in the
        /// summary's `retransmissions`.
        retransmitted_packets: u64 => "packets";
        /// Messages that arrived completely, each counted once; empty if a flow of a reliable
        /// service did not complete, because only acknowledgements show it.
        messages_delivered: Option<u64>;
        /// `completed`; `retry-exceeded`, `rnr-retry-exceeded`: the queue pair gave up;
        /// `remote-invalid-request`, `remote-access-error`, `remote-operational-error`: the
        /// destination refused; `address-unresolved`: the next hop did not say its MAC address; `messages-lost`: on an unreliable service; `connection-timed-out`,
        /// `connection-rejected`: there was never a connection; `failed`: for another reason;
        /// `unfinished`: the run ended before.
        status: FlowStatus;
        /// 1 if it started in the [measuring window](scenario.md#measure), or if there is none; 0 if the summary leaves it out.
        #[serde(default = "measured")]
        measured: u8;
        /// The nodes that its data pass, from sender to receiver, such as `host-0>leaf-0>spine-1>leaf-3>host-50`. After a
        /// node with several links to the next one stands the port: `leaf-0:4`. Empty if the path is not fixed for
        /// the run: switches choose by other means than a hash, links fail, frames are flooded, packets of one
        /// queue pair have several UDP source ports, the flow is to a multicast group, or `[layer3]` routes; and if the flow did not begin.
        /// Of a queue pair with an alternate path, the first.
        #[serde(default)]
        path: Option<Cow<'a, str>>;
        /// Hash collisions: the most other flows with a known path that were open at some time while this one was, and whose
        /// data a hash put on the same link, over all links of the path that were chosen among several. Empty without a `path`.
        #[serde(default)]
        collisions: Option<u64>;
    }
}

/// Results of older builds have no measuring window.
pub(crate) const fn measured() -> u8 {
    1
}

const fn rdma<'a>() -> Cow<'a, str> {
    Cow::Borrowed("rdma")
}

words!(FlowStatus);

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
    /// The peer refused a request: it does not allow this access to its memory.
    RemoteAccessError,
    /// The peer could not execute a request.
    RemoteOperationalError,
    /// The peer's connection manager did not answer.
    ConnectionTimedOut,
    /// The peer's connection manager, or the own one, rejected the connection.
    ConnectionRejected,
    /// The source's next hop did not answer when it was asked for its MAC address.
    AddressUnresolved,
    /// The service is unreliable, and not all messages arrived.
    MessagesLost,
    /// The queue pair failed for another reason.
    Failed,
    /// The run ended first.
    Unfinished,
}

impl FlowStatus {
    /// The name in the file.
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
            Self::AddressUnresolved => "address-unresolved",
            Self::MessagesLost => "messages-lost",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }
}

impl FlowRecord<'_> {
    /// Completion time divided by ideal completion time; `None` if the flow did not complete or its
    /// ideal time is zero.
    pub fn slowdown(&self) -> Option<Millionths> {
        Millionths::ratio(self.fct_ps?, self.ideal_fct_ps)
    }

    /// Payload bits divided by completion time, in bit/s rounded down; `None` if the flow did not
    /// complete or took no time.
    pub fn goodput_bps(&self) -> Option<u64> {
        bits_per_second(self.bytes, self.fct_ps?)
    }
}

/// `bytes` in `ps` picoseconds as bit/s, rounded down; `None` if the time is zero.
pub(crate) fn bits_per_second(bytes: u64, ps: u64) -> Option<u64> {
    const BITS_PS: u128 = 8 * 1_000_000_000_000;
    let rate = (u128::from(bytes) * BITS_PS).checked_div(u128::from(ps))?;
    Some(u64::try_from(rate).unwrap_or(u64::MAX))
}
