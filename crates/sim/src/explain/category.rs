//! What time can be spent on.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use rocelab_fabric::LinkFlowControl;
use serde::Serialize;

/// On what. There is no category for the rest: every picosecond has one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// The MAC address of the next hop is asked for: ARP, or Neighbour Discovery.
    AddressResolution,
    /// The queue pair is not connected yet.
    ConnectionSetup,
    /// The flow's own bits leave, with preamble and gap: at the sender those of all its packets, on
    /// the way those of the one packet that is followed.
    Serialisation,
    /// The bits are on the wire.
    Propagation,
    /// The frame is in a switch's pipeline.
    SwitchLatency,
    /// The transmitter is busy with other packets of the same flow.
    QueueingBehindItself,
    /// The transmitter is busy with what is not of this flow.
    QueueingBehindOthers,
    /// The flow control of the link pauses the priority, or has no credits for the packet.
    Pause(#[serde(skip)] LinkFlowControl),
    /// A shaper holds the queue back.
    Shaping,
    /// The link is down.
    LinkDown,
    /// The host is down.
    HostDown,
    /// The congestion control lets the next packet leave later.
    Pacing,
    /// The congestion control allows no more unacknowledged payload.
    Window,
    /// The receiver of a TCP connection offers no more room (RFC 9293).
    ReceiveWindow,
    /// No more packets may be unacknowledged, by the queue pair's own limit.
    PacketLimit,
    /// No more READs may be open.
    ReadLimit,
    /// From a packet's first departure to the one that counted.
    Retransmission,
    /// The source has nothing left to send, and a message was lost that nobody sends again.
    MessageLost,
    /// The responder asked the requester to wait, because it had no receive request.
    ReceiverNotReady,
    /// An acknowledgement of RDMA is held back so that one answers several packets.
    AckCoalescing,
    /// The receiver of a TCP connection waits for another segment before it acknowledges (RFC 5681,
    /// section 4.2), and the sender for the acknowledgement.
    DelayedAck,
    /// A segment is between a host's port and its TCP: interrupt, driver, IP, waking up.
    HostStack,
    /// A fault rule delays the frame, or holds it back behind others.
    FaultDelay,
    /// A program, its processor and its NIC prepare what leaves: posting, doorbell, fetching of the work request and of its first
    /// payload, pipeline (`[[host_model]]`).
    Posting,
    /// The NIC, or the memory behind it, prepares more payload (`[[host_model]]`).
    HostFetch,
    /// A frame is in the pipeline of the NIC that it has reached, or what it asks for is read from memory
    /// (`[[host_model]]`).
    Reception,
    /// What has arrived goes to memory, and a program finds the completion there (`[[host_model]]`).
    Completion,
    /// It waits in a NIC that is slow to handle what arrives, or is being handled there.
    SlowReceiver,
    /// A program works before it posts.
    Work,
    /// Nothing is asked of the queue pair, or it has failed.
    Idle,
}

impl Category {
    /// In words.
    pub fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::AddressResolution => "address resolution",
            Self::ConnectionSetup => "connection set-up",
            Self::Serialisation => "serialisation",
            Self::Propagation => "propagation",
            Self::SwitchLatency => "switch latency",
            Self::QueueingBehindItself => "queueing behind itself",
            Self::QueueingBehindOthers => "queueing behind others",
            Self::Pause(LinkFlowControl::Credits) => "no credits",
            Self::Pause(control) => return format!("paused by {}", control.frame_name()).into(),
            Self::Shaping => "held by a shaper",
            Self::LinkDown => "link down",
            Self::HostDown => "host down",
            Self::Pacing => "pacing",
            Self::Window => "window",
            Self::ReceiveWindow => "receive window",
            Self::PacketLimit => "limit of packets in flight",
            Self::ReadLimit => "limit of open READs",
            Self::Retransmission => "retransmission",
            Self::MessageLost => "message lost",
            Self::ReceiverNotReady => "receiver not ready",
            Self::AckCoalescing => "acknowledgement held back",
            Self::DelayedAck => "delayed ACK",
            Self::HostStack => "host stack",
            Self::FaultDelay => "delayed by a fault rule",
            Self::Posting => "posting",
            Self::HostFetch => "fetching of payload",
            Self::Reception => "reception in the NIC",
            Self::Completion => "memory and completion",
            Self::SlowReceiver => "slow receiver",
            Self::Work => "work of the program",
            Self::Idle => "nothing to do",
        })
    }
}

/// Where on the critical path: in an operation first the program, then the sender's state, then the
/// way of the packet that counted, then the other end's state, then the way of what it answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// A program of an application, before it posts.
    Program,
    /// From the post until the packet leaves whose answer completed the flow.
    Sender,
    /// That packet's way.
    Request,
    /// From its arrival until the answer leaves: an acknowledgement, or the last READ data.
    Responder,
    /// The answer's way.
    Answer,
}

impl Stage {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Sender => "sender",
            Self::Request => "packet's way",
            Self::Responder => "responder",
            Self::Answer => "answer's way",
        }
    }
}

/// Because of what, where a category leaves that open.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Cause {
    /// Frames of another flow.
    Flow {
        /// Its number.
        flow: u32,
    },
    /// Frames of an application's connection.
    Connection {
        /// By its place in the plan.
        connection: u32,
    },
    /// Packets of a stream of a host's stack.
    Stream {
        /// By its place in `streams` of `summary.json`.
        stream: u32,
    },
    /// The flow's own acknowledgements and notifications.
    OwnControl,
    /// Frames of the flow control of links: PFC, or PAUSE.
    PauseFrames,
    /// Flow control packets of InfiniBand.
    FlowControlPackets,
    /// Frames of ARP or Neighbour Discovery.
    AddressResolution,
    /// The next hop whose MAC address is asked for.
    NextHop {
        /// A router, or the peer.
        node: String,
    },
    /// Pings between hosts, and their answers.
    Pings,
    /// Management datagrams, or frames that nobody here knows.
    Management,
    /// A pause.
    PausedBy {
        /// Its place in `pauses.json`.
        pause: usize,
        /// The node that asked for it.
        by: String,
        /// The egress port, or host, that what filled up there waited for.
        waits_for: String,
        /// What the first pause of the chain waited for, whose consequence this one is; `deadlock N` if
        /// that is a deadlock, by its place in `deadlocks` of `summary.json`.
        root: String,
    },
    /// The shaper of a queue of a switch's port, or of a priority of a host (`host.shapers`).
    Shaper {
        /// The queue, or the host's priority.
        queue: u8,
        /// Its rate (bit/s).
        rate_bps: u64,
    },
    /// A failure that lowers the rate of the link.
    LoweredRate {
        /// The rate meanwhile (bit/s).
        rate_bps: u64,
    },
    /// A congestion control.
    CongestionControl {
        /// Its name.
        algorithm: &'static str,
        /// What it goes by.
        signal: &'static str,
    },
    /// A loss that was noticed in this way.
    Loss {
        /// How the sender learnt of it.
        noticed: LossSignal,
        /// The first frame that was dropped of what is sent again, or of what would have answered it;
        /// none if nothing was.
        lost: Option<Lost>,
    },
    /// A packet of an unreliable service arrived, and the responder discarded it without a word: it was out
    /// of order, or there was no receive request.
    Discarded,
    /// A packet was dropped.
    Dropped {
        /// Where, and why.
        #[serde(flatten)]
        lost: Lost,
    },
}

/// Where a frame was dropped, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Lost {
    /// A node, or a port as `node:port` that the frame should have left by.
    pub place: String,
    /// The port that it came in by, where none was chosen yet that it should have left by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress_port: Option<u16>,
    /// Why, as in `drops.csv`.
    pub reason: &'static str,
    /// Name of the fault rule that dropped it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl Lost {
    /// The reason in words, with the rule if it was one.
    pub(super) fn why(&self) -> String {
        match &self.rule {
            Some(rule) => format!("{} {rule}", self.reason),
            None => self.reason.to_owned(),
        }
    }
}

impl Display for Lost {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        if let Some(port) = self.ingress_port {
            write!(f, " (in by port {port})")?;
        }
        write!(f, ", {}", self.why())
    }
}

/// Packets of an unreliable service that were dropped: nobody sends them again, and their messages cannot
/// arrive any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostForGood {
    /// Packets of the flow that were dropped.
    pub packets: u64,
    /// When that packet was dropped that was sent first of those that were lost (ps).
    pub time_ps: u64,
    /// Where, and why.
    #[serde(flatten)]
    pub lost: Lost,
}

/// How a sender learns that it must send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossSignal {
    /// A NAK: PSN sequence error.
    Nak,
    /// An acknowledgement that says what arrived behind a gap.
    SelectiveAck,
    /// An RNR NAK.
    ReceiverNotReady,
    /// The local ACK timeout.
    Timeout,
    /// The ACK timeout when no retry was left: the queue pair took its alternate path.
    PathMigration,
    /// TCP's fast retransmit: acknowledgements of what was sent later (RFC 6675).
    FastRetransmit,
    /// TCP's retransmission timer (RFC 6298).
    RetransmissionTimeout,
    /// A gap in READ data, or a request that came twice.
    Gap,
    /// It has not learnt of it yet.
    Unnoticed,
}

impl LossSignal {
    /// Whether a timer said so, and nobody else.
    pub(super) const fn is_timeout(self) -> bool {
        matches!(self, Self::Timeout | Self::PathMigration | Self::RetransmissionTimeout)
    }

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nak => "NAK",
            Self::SelectiveAck => "selective ACK",
            Self::ReceiverNotReady => "RNR NAK",
            Self::Timeout => "ACK timeout",
            Self::PathMigration => "ACK timeout and path migration",
            Self::FastRetransmit => "fast retransmit",
            Self::RetransmissionTimeout => "retransmission timeout",
            Self::Gap => "gap in the answers",
            Self::Unnoticed => "not noticed",
        }
    }
}
