//! What was stuck when a run ended.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::summary::class_of;
use crate::words::{counted, microseconds};

/// Number of queue pairs, and of queues, that a message lists; of the others it gives the number.
const NAMED: usize = 4;

/// What was stuck when a run ended because nothing moved, or because of a deadlock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StallRecord {
    /// When the last progress was seen, in picoseconds: up to 10 us before things stopped. If a
    /// deadlock ended the run, the time at which it closed.
    pub since_ps: u64,
    /// Number of queue pairs that are stuck.
    pub queue_pairs: u64,
    /// Number of egress queues of switches that hold frames.
    pub queues: u64,
    /// The first stuck queue pairs, in the order of flows and then of connections.
    pub stuck_queue_pairs: Vec<StuckQueuePairRecord>,
    /// The first stuck queues, in the order of nodes, ports and priorities.
    pub stuck_queues: Vec<StuckQueueRecord>,
}

/// A queue pair that is stuck.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuckQueuePairRecord {
    /// Name of its host.
    pub host: String,
    /// Its number.
    pub qpn: u32,
    /// Name of the host at the other end.
    pub peer: String,
    /// Its flow, if it belongs to a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<u64>,
    /// Its connection, if it belongs to an application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<u32>,
    /// What it waits for.
    pub waits_for: WaitsFor,
    /// The host whose program it waits for, where that is not the one at the other end of its connection alone: in a
    /// ring, the host before it. Empty if that is not known, or it waits for something else.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub waits_for_host: String,
    /// Packets between the two queue pairs that are in queues of switches.
    pub packets_in_queues: u64,
    /// The first such queue, as `switch:port`; if the queue pair waits for the end of a pause, the
    /// switch that pauses the host's port, or whose credits it waits for; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub at: String,
    /// The root cause of the pauses behind it: the congested egress port as `switch:port`, or a
    /// host, or `deadlock N`, where N is an index into
    /// [`Summary::deadlocks`](crate::Summary::deadlocks); empty if there are no pauses.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub root: String,
}

/// What a queue pair waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitsFor {
    /// The MAC address of its next hop.
    Address,
    /// Its connection to be established.
    Connection,
    /// An acknowledgement, or READ data: everything has been sent.
    #[default]
    Answer,
    /// A receive request of the responder.
    ReceiveRequest,
    /// Its congestion control's window, which only acknowledgements open.
    Window,
    /// Its limit of packets in flight, which only acknowledgements open.
    PacketLimit,
    /// Its limit of open READs and atomic operations.
    ReadLimit,
    /// The end of a pause of its host's port.
    Pause,
    /// Credits for its packet, on InfiniBand.
    Credits,
    /// Its host's link, which is down.
    Link,
    /// Its host, which is down.
    Host,
    /// The NIC's scheduler: nothing keeps it from sending.
    Turn,
    /// The other end of its connection: it has nothing to send itself.
    Peer,
}

impl WaitsFor {
    /// The description in words.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Address => "the MAC address of its next hop is not known",
            Self::Connection => "it is not connected",
            Self::Answer => "all is sent, and not all is answered",
            Self::ReceiveRequest => "the responder has no receive request",
            Self::Window => "its congestion window is full",
            Self::PacketLimit => "its limit of packets in flight is reached",
            Self::ReadLimit => "its limit of open READs is reached",
            Self::Pause => "its port is paused",
            Self::Credits => "its port has no credits",
            Self::Link => "its link is down",
            Self::Host => "its host is down",
            Self::Turn => "it may send",
            Self::Peer => "it waits for the program at the other end",
        }
    }
}

/// An egress queue of a switch that holds frames.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuckQueueRecord {
    /// Name of the switch.
    pub switch: String,
    /// Its port, from 0.
    pub port: u16,
    /// Priority, or virtual lane of InfiniBand, 0 to 7.
    pub priority: u8,
    /// Whether it is a virtual lane.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lane: bool,
    /// Bytes that wait there.
    pub bytes: u64,
    /// Name of the node that pauses it, or whose credits it waits for; empty if it is not paused.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub paused_by: String,
    /// Whether it waits for credits, on InfiniBand.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_credits: bool,
    /// The root cause of the pauses, as in [`StuckQueuePairRecord::root`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub root: String,
    /// Whether its link is down.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub link_down: bool,
}

impl fmt::Display for StallRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "stuck since {}: {}, {}",
            microseconds(self.since_ps),
            counted(self.queue_pairs, "queue pair"),
            counted(self.queues, "queue")
        )?;
        let queue_pairs = self.stuck_queue_pairs.iter().take(NAMED);
        queue_pairs.clone().try_for_each(|one| write!(f, "\n  {one}"))?;
        let queues = self.stuck_queues.iter().take(NAMED);
        queues.clone().try_for_each(|one| write!(f, "\n  {one}"))?;
        let named = (queue_pairs.len() + queues.len()) as u64;
        let more = (self.queue_pairs + self.queues).saturating_sub(named);
        if more > 0 {
            write!(f, "\n  and {more} more: see `stalled` in summary.json")?;
        }
        Ok(())
    }
}

impl StuckQueuePairRecord {
    /// What it waits for, in words.
    pub fn because(&self) -> Cow<'static, str> {
        match self.waits_for_host.as_str() {
            "" => self.waits_for.in_words().into(),
            host => format!("it waits for the program of {host}").into(),
        }
    }
}

impl fmt::Display for StuckQueuePairRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, qpn, peer, at, root, .. } = self;
        write!(f, "queue pair {qpn:#x} of {host}")?;
        match (self.flow, self.connection) {
            (Some(flow), _) => write!(f, " (flow {flow}, to {peer})")?,
            (None, Some(connection)) => write!(f, " (connection {connection}, to {peer})")?,
            (None, None) => write!(f, " (to {peer})")?,
        }
        write!(f, ": {}", self.because())?;
        match (self.waits_for, self.packets_in_queues) {
            (WaitsFor::Pause, _) => write!(f, " by {at}")?,
            (WaitsFor::Credits, _) => write!(f, " of {at}")?,
            (
                WaitsFor::Peer
                | WaitsFor::Address
                | WaitsFor::Connection
                | WaitsFor::Link
                | WaitsFor::Host,
                0,
            ) => {}
            (_, 0) => write!(f, "; nothing of it is in the network: what it waits for was lost")?,
            (_, 1) => write!(f, "; 1 of its packets is in a queue, at {at}")?,
            (_, packets) => write!(f, "; {packets} of its packets are in queues, first at {at}")?,
        }
        if root.is_empty() { Ok(()) } else { write!(f, ", in the end for {root}") }
    }
}

impl fmt::Display for StuckQueueRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { switch, port, bytes, paused_by, root, .. } = self;
        let class = class_of(self.priority, self.is_lane);
        write!(f, "{switch}:{port} ({class}): {}", counted(*bytes, "byte"))?;
        if self.link_down {
            write!(f, ", its link is down")?;
        }
        if !paused_by.is_empty() {
            let how = if self.awaits_credits { "no credits of" } else { "paused by" };
            write!(f, ", {how} {paused_by}")?;
        }
        if root.is_empty() { Ok(()) } else { write!(f, ", in the end for {root}") }
    }
}
