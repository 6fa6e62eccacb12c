//! What a queue pair is told when it is set up.

use std::sync::Arc;

use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wire::{Ethernet, Transport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Algorithm, Operation, PathEntropy, ReceiveQueueConfig, Recovery};

/// The path MTU: the payload bytes of a full packet, one of the five sizes of the InfiniBand
/// architecture.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "u32", into = "u32")]
#[schemars(with = "u32")]
pub struct PathMtu(u16);

impl PathMtu {
    /// The sizes that exist, in bytes.
    pub const SIZES: [u16; 5] = [256, 512, 1024, 2048, 4096];

    /// The size in bytes.
    #[inline]
    pub const fn bytes(self) -> u32 {
        self.0 as u32
    }
}

impl TryFrom<u32> for PathMtu {
    type Error = String;

    fn try_from(bytes: u32) -> Result<Self, String> {
        Self::SIZES.into_iter().find(|&size| u32::from(size) == bytes).map(Self).ok_or_else(|| {
            format!("path MTU {bytes} does not exist: use 256, 512, 1024, 2048 or 4096")
        })
    }
}

impl From<PathMtu> for u32 {
    fn from(mtu: PathMtu) -> Self {
        mtu.bytes()
    }
}

/// The local ACK timeout exponent n, 0 to 31: 4.096 us x 2^n, and 0 for no timeout
/// (IBTA, as rdma-core documents it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u8", into = "u8")]
#[schemars(with = "u8")]
pub struct AckTimeout(u8);

impl AckTimeout {
    /// The waiting time; none when the exponent is 0.
    pub const fn duration(self) -> Option<Duration> {
        if self.0 == 0 { None } else { Some(Duration::from_ps(4_096_000 << self.0)) }
    }
}

impl TryFrom<u8> for AckTimeout {
    type Error = String;

    fn try_from(exponent: u8) -> Result<Self, String> {
        if exponent < 32 {
            Ok(Self(exponent))
        } else {
            Err(format!("timeout exponent {exponent} does not exist: use 0 (never) to 31"))
        }
    }
}

impl From<AckTimeout> for u8 {
    fn from(timeout: AckTimeout) -> Self {
        timeout.0
    }
}

/// The transport service of a queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Service {
    /// Reliable connection: acknowledged, in order, exactly once.
    #[default]
    #[serde(rename = "rc")]
    ReliableConnection,
    /// Unreliable connection: SEND and WRITE; a message that misses a packet is dropped whole.
    #[serde(rename = "uc")]
    UnreliableConnection,
    /// Unreliable datagram: SENDs of one packet, to whom each names. CNPs for marked ones go to the
    /// peer that a queue pair has at set-up.
    #[serde(rename = "ud")]
    UnreliableDatagram,
}

impl Service {
    /// What the opcodes of its packets say.
    #[inline]
    #[must_use]
    pub const fn transport(self) -> Transport {
        match self {
            Self::ReliableConnection => Transport::Rc,
            Self::UnreliableConnection => Transport::Uc,
            Self::UnreliableDatagram => Transport::Ud,
        }
    }

    /// Whether packets are acknowledged.
    #[inline]
    #[must_use]
    pub const fn is_reliable(self) -> bool {
        matches!(self, Self::ReliableConnection)
    }

    /// Whether each message names where it goes.
    #[inline]
    #[must_use]
    pub const fn is_datagram(self) -> bool {
        matches!(self, Self::UnreliableDatagram)
    }

    /// Whether its queue pairs can do this.
    #[must_use]
    pub const fn supports(self, operation: Operation) -> bool {
        match self {
            Self::ReliableConnection => true,
            Self::UnreliableConnection => {
                !operation.awaits_response()
                    && !matches!(operation, Operation::SendWithInvalidate(_))
            }
            Self::UnreliableDatagram => {
                matches!(operation, Operation::Send | Operation::SendWithImmediate(_))
            }
        }
    }
}

/// How a responder saves acknowledgements. Those of an error, and those that a READ or atomic
/// response stands for, never wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckCoalescing {
    /// One acknowledgement for this many request packets that ask for one, at least 1.
    pub packets: u32,
    /// How long the first of them waits at most.
    pub delay: Duration,
}

/// How long selective repeat waits for an acknowledgement (IRN, SIGCOMM 2018: its RTO_low and
/// RTO_high). Few packets in flight bring few selective acknowledgements, so that their loss is
/// known by the timeout only, which then has to be short; many may wait in queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetransmissionTimeouts {
    /// With at most `low_packets` in flight, above 0.
    pub low: Duration,
    /// With more, above 0.
    pub high: Duration,
    /// Packets.
    pub low_packets: u32,
}

/// What a NIC is told when it is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicConfig {
    /// The port's rate: the fastest that a queue pair may send.
    pub line_rate: Bandwidth,
    /// Bytes before the BTH of every frame: Ethernet, 802.1Q tag, GRH or IP and UDP.
    pub encapsulation_len: u16,
    /// Where the [seeds](crate::congestion_control::Path::seed) of its queue pairs come from.
    pub seed: u64,
}

/// Whether packets with so many bytes before their BTH are of native InfiniBand: they have no Ethernet header.
#[inline]
pub(crate) const fn is_infiniband(encapsulation_len: u16) -> bool {
    (encapsulation_len as usize) < Ethernet::LEN
}

/// What many queue pairs have in common.
#[derive(Clone, Debug)]
pub struct QueuePairProfile {
    /// The transport service.
    pub service: Service,
    /// Payload bytes of a full packet.
    pub path_mtu: PathMtu,
    /// How lost packets are sent again.
    pub recovery: Recovery,
    /// The requester sets AckReq on every n-th packet of a message, and always on its last; 0 is
    /// the last only. With a window (see [`QueuePair::window`](crate::QueuePair::window)) every
    /// packet asks.
    pub ack_interval: u32,
    /// How long the oldest unacknowledged packet waits before it is sent again.
    pub ack_timeout: AckTimeout,
    /// How often in a row it is sent again before the queue pair fails (IBTA: 3 bits, 0 to 7).
    pub retry_count: u8,
    /// How often in a row a message is sent again that finds no receive request, before the queue
    /// pair fails (IBTA: 3 bits; 7 is for ever).
    pub rnr_retry: u8,
    /// How long the responder asks the requester to wait then: the code of an RNR NAK, 0 to 31.
    pub rnr_timer: u8,
    /// READs and atomic operations that the requester may have in flight, above 0.
    pub max_rd_atomic: u32,
    /// READs and atomic operations that the responder keeps the results of, above 0: it refuses
    /// more at once.
    pub max_dest_rd_atomic: u32,
    /// Packets that the requester may have sent and not seen acknowledged, 1 to 2^23.
    pub max_outstanding: u32,
    /// With selective repeat, what takes the place of `ack_timeout`.
    pub timeouts: Option<RetransmissionTimeouts>,
    /// How the responder saves acknowledgements; none: it answers each packet that asks.
    pub ack_coalescing: Option<AckCoalescing>,
    /// Priority (0 to 7) of congestion notification packets.
    pub cnp_priority: u8,
    /// The number of their code points; 0 to 7 are those of the priorities.
    pub cnp_marking: u8,
    /// Which of the numbers of a queue pair its data packets have that equal-cost multipath goes by.
    pub path_entropy: PathEntropy,
    /// Whether packets leave as ECT(0), so that switches may mark them.
    pub ecn_capable: bool,
    /// How the sending rate reacts.
    pub congestion_control: Algorithm,
    /// Round-trip time of a full packet and its acknowledgement in the idle network, above 0.
    pub base_rtt: Duration,
    /// How long it takes in the NIC until a rate or window counts that follows from feedback.
    pub control_latency: Duration,
}

impl QueuePairProfile {
    /// The largest [`max_outstanding`](Self::max_outstanding): half of the sequence numbers, so
    /// that old and new can be told apart.
    pub const MAX_OUTSTANDING: u32 = 1 << 23;

    /// A profile with what most hosts use: reliable connection, go-back-N, an acknowledgement for
    /// each message, 67 ms timeout, 7 retries, 16 READs or atomics at once, no ECN and no
    /// congestion control; base round-trip time 10 us.
    pub fn new(path_mtu: PathMtu) -> Self {
        Self {
            service: Service::ReliableConnection,
            path_mtu,
            recovery: Recovery::GoBackN,
            ack_interval: 0,
            ack_timeout: AckTimeout(14),
            retry_count: 7,
            rnr_retry: 7,
            rnr_timer: 12,
            max_rd_atomic: 16,
            max_dest_rd_atomic: 16,
            max_outstanding: Self::MAX_OUTSTANDING,
            timeouts: None,
            ack_coalescing: None,
            cnp_priority: 6,
            cnp_marking: 6,
            path_entropy: PathEntropy::default(),
            ecn_capable: false,
            congestion_control: Algorithm::default_for(false),
            base_rtt: Duration::from_us(10),
            control_latency: Duration::ZERO,
        }
    }
}

/// A second path of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlternatePath {
    /// What packets have there in place of [`QueuePairConfig::entropy`].
    pub entropy: u32,
    /// How long after a migration the program loads the path that was left as the new alternate path; none: it does not.
    pub rearm: Option<Duration>,
    /// When the program asks this end to migrate, if it does: at the first packet that arrives from then on while it is armed.
    pub migrate_at: Option<SimTime>,
}

/// One end of a connection, or, without the other end's, a queue pair for datagrams.
#[derive(Clone, Debug)]
pub struct QueuePairConfig {
    /// This end's queue pair number, 24 bits.
    pub qpn: u32,
    /// The other end's queue pair number, 24 bits.
    pub dest_qp: u32,
    /// Who the other end is: handed back with every packet, never looked into.
    pub destination: u32,
    /// UDP source port (v2) or flow label (v1): handed back with packets.
    pub entropy: u32,
    /// Others that data packets may have in its place: one less than the policy of path entropy has
    /// [numbers](PathEntropy::numbers). Of datagrams those have them that go to `destination`.
    pub more_entropies: Vec<u32>,
    /// The first packet sequence number that this end sends, 24 bits.
    pub initial_psn: u32,
    /// The first packet sequence number that this end expects, 24 bits.
    pub remote_initial_psn: u32,
    /// Priority (0 to 7) of data and acknowledgements.
    pub priority: u8,
    /// The number of their code points, handed back with packets; 0 to 7 are those of the priorities.
    pub marking: u8,
    /// Where buffers for SENDs come from.
    pub receive_queue: ReceiveQueueConfig,
    /// The key that datagrams for this queue pair must carry.
    pub q_key: u32,
    /// Its second path, if it has one. Packets must then come by [`Nic::receive_from`](crate::Nic::receive_from).
    pub alternate_path: Option<AlternatePath>,
    /// What it shares with others.
    pub profile: Arc<QueuePairProfile>,
}
