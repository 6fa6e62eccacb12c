//! What a profile decides that the native simulator decides otherwise.

use std::sync::Arc;

use rocelab_fabric::NodeId;
use rocelab_transport::Algorithm;
use rocelab_units::{Bandwidth, Duration, SimTime};

/// Whose rules hosts, switches and links follow.
#[derive(Clone, Debug, Default)]
pub enum ProfilePlan {
    /// RoCE v1 or v2, as the rest of the plan says.
    #[default]
    Roce,
    /// HPCC's ns-3 simulator.
    HpccNs3(Arc<HpccNs3Plan>),
}

impl ProfilePlan {
    /// The rules of HPCC's ns-3 simulator, if they hold.
    pub fn hpcc_ns3(&self) -> Option<&HpccNs3Plan> {
        match self {
            Self::Roce => None,
            Self::HpccNs3(plan) => Some(plan),
        }
    }
}

/// A run by the rules of HPCC's ns-3 simulator; its configuration keys are in brackets.
///
/// Of the rest of the [`Plan`](super::Plan), `topology`, `flows` and `stop` hold. All times are on the clock of
/// the flow file, in which flows start from 2 s on.
#[derive(Clone, Debug, PartialEq)]
pub struct HpccNs3Plan {
    /// Payload bytes of a full packet (`PACKET_PAYLOAD_SIZE`), above zero.
    pub payload_bytes: u32,
    /// Bytes of a chunk (`L2_CHUNK_SIZE`): what is sent again at once with
    /// [`back_to_chunk`](Self::back_to_chunk), and where an acknowledgement is due. Zero only
    /// where nothing depends on it.
    pub chunk_bytes: u32,
    /// From which position of a flow on every packet is acknowledged, in bytes
    /// (`L2_ACK_INTERVAL`).
    pub ack_interval_bytes: u32,
    /// Whether a loss sends the packet's whole chunk again, not only from the packet on
    /// (`L2_BACK_TO_ZERO`).
    pub back_to_chunk: bool,
    /// Whether a queue pair's bytes in flight are limited (`HAS_WIN`).
    pub has_window: bool,
    /// Whether that limit shrinks with the rate (`VAR_WIN`).
    pub scale_window: bool,
    /// Whether all queue pairs share the largest base round-trip time and window of the network
    /// (`GLOBAL_T`), instead of those of their own hosts.
    pub common_base_rtt: bool,
    /// Whether packets are spaced by the current rate, instead of the line rate (`RATE_BOUND`).
    pub pace_at_rate: bool,
    /// Whether nothing pauses a host's acknowledgements, instead of pauses of class 3
    /// (`ACK_HIGH_PRIO`).
    pub ack_high_priority: bool,
    /// Whether switches mark (`ENABLE_QCN`).
    pub mark: bool,
    /// Marking thresholds of each port rate (`KMIN_MAP`, `KMAX_MAP`, `PMAX_MAP`), ascending by
    /// rate. With [`mark`](Self::mark), every rate of a switch port has its own.
    pub ecn: Vec<RateThresholds>,
    /// Memory of each switch in bytes (`BUFFER_SIZE`).
    pub buffer_bytes: u64,
    /// Probability that a packet is lost on a link whose own is zero (`ERROR_RATE_PER_LINK`).
    pub common_loss: f64,
    /// The reaction to congestion (`CC_MODE`); `none` for modes without one.
    pub algorithm: Algorithm,
    /// The share of acknowledgements that HPCC-PINT looks at (`PINT_PROB`), 0 to 1.
    pub pint_probability: f64,
    /// The link that fails (`LINK_DOWN`).
    pub link_down: Option<LinkDown>,
    /// When switches look at their queues (`QLEN_MON_START`, `QLEN_MON_END`), if a file asks for it
    /// (`QLEN_MON_FILE`).
    pub queue_monitor: Option<QueueMonitor>,
}

/// When switches look at their queues: every [`INTERVAL`](Self::INTERVAL) from one time to another. What they saw by
/// each multiple of [`DUMP`](Self::DUMP) is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueMonitor {
    /// The first time.
    pub from: SimTime,
    /// From this time on nothing more is looked at, but once if it begins later.
    pub to: SimTime,
}

impl QueueMonitor {
    /// The time between two looks.
    pub const INTERVAL: Duration = Duration::from_ns(100);
    /// The time between two dumps.
    pub const DUMP: Duration = Duration::from_ms(100);

    /// The look after that at a time, if there is one.
    pub fn next(self, now: SimTime) -> Option<SimTime> {
        (now < self.to).then(|| now.saturating_add(Self::INTERVAL))
    }

    /// Whether what was seen until a look at a time is written.
    pub fn is_dump(now: SimTime) -> bool {
        now.ps().is_multiple_of(Self::DUMP.ps())
    }
}

/// Marking thresholds of the ports of one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateThresholds {
    /// The port's rate.
    pub rate: Bandwidth,
    /// Never marked up to here, in bytes that wait.
    pub kmin: u32,
    /// Always marked above, in bytes that wait.
    pub kmax: u32,
    /// The probability of a mark at `kmax`, 0 to 1.
    pub pmax: f64,
}

/// A link that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkDown {
    /// When, on the clock of the flows' starts.
    pub at: SimTime,
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
}
