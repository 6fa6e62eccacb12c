//! Who may store a frame in a switch's memory, when a sender must pause, and what is dropped.

mod by_egress;
mod headroom;
mod hpcc_ns3;
mod in_use;
mod pools;
mod shared;
mod switch;

use core::fmt;

pub use headroom::{
    HeadroomInput, HeadroomTerms, LosslessHop, headroom, rate_of_response, standard_response,
};
pub use hpcc_ns3::{HpccNs3Buffer, HpccNs3Port};
pub use pools::PoolBuffer;
use rocelab_state::{BorshDeserialize, BorshSerialize, State};
pub use shared::{BufferError, BufferLayout, SharedBuffer};
pub use switch::SwitchBuffer;

/// Admission to a switch's memory. The native switch is [`SharedBuffer`].
///
/// Its state is what each port and priority holds. What is in use of parts that all share follows from
/// that: loading adds it up.
pub trait BufferPolicy: fmt::Debug + Send + State {
    /// A frame has arrived; decides whether it is stored, and accounts for it if so.
    fn admit(&mut self, arrival: Arrival) -> Admission;

    /// Whether a frame that arrives and leaves at once changes nothing here: it would be stored without a pause, and
    /// nobody waits for its memory. False if that takes a closer look.
    fn passes(&self, arrival: Arrival) -> bool {
        let _ = arrival;
        false
    }

    /// A stored frame leaves; true if its ingress priority may now send again.
    fn release(&mut self, departure: Departure) -> bool;

    /// Bytes of memory that frames hold which came in by a port in a priority, headroom included.
    fn held(&self, ingress: u16, priority: u8) -> u32;

    /// What is counted of an ingress port and priority, as far as there is one place for it: to be
    /// looked at ahead of time.
    fn account(&self, ingress: u16, priority: u8) -> Option<&u32> {
        let _ = (ingress, priority);
        None
    }

    /// Of [`Self::held`], the bytes by the port that the frames are to leave by; none unless it is
    /// [followed](Self::follow).
    fn held_by_egress(&self, ingress: u16, priority: u8) -> Option<&[u32]>;

    /// Counts from now on by egress port what an ingress port and lossless priority hold, of which
    /// so much is held by frames for each.
    fn follow(&mut self, ingress: u16, priority: u8, held: Box<[u32]>);

    /// Frames that were to leave by a port are gone without being released: nobody waits for it, though
    /// their memory stays in use. Only the rules of HPCC's ns-3 simulator lose frames like that.
    fn forget_egress(&mut self, egress: u16) {
        let _ = egress;
    }

    /// Bytes of memory in use now.
    fn stored(&self) -> u64;

    /// Bytes of memory that a frame of `len` bytes takes.
    fn memory_of(&self, len: u32) -> u32 {
        len
    }
}

/// A frame that asks to be stored.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The port it came in by, counted from 0.
    pub ingress: u16,
    /// The port it is to leave by.
    pub egress: u16,
    /// Its priority, 0 to 7.
    pub priority: u8,
    /// Its bytes, FCS included.
    pub len: u32,
    /// Bytes that wait in the queue that it would join.
    pub egress_queue: u32,
}

/// A frame that leaves the memory.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The port it came in by.
    pub ingress: u16,
    /// The port it leaves by.
    pub egress: u16,
    /// Its priority, 0 to 7.
    pub priority: u8,
    /// Its bytes, FCS included.
    pub len: u32,
}

/// What became of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Stored.
    Stored,
    /// Stored, and its ingress priority has crossed XOFF: its sender must pause.
    StoredAndPause,
    /// Not stored.
    Dropped(DropReason),
    /// Not stored, and its ingress priority has crossed XOFF all the same.
    DroppedAndPause(DropReason),
}

/// Why a switch dropped a frame: the inequality that did not hold. All in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
#[non_exhaustive]
pub enum DropReason {
    /// Lossless: the ingress priority's headroom is too small.
    HeadroomExceeded {
        /// Headroom in use.
        used: u32,
        /// The frame.
        len: u32,
        /// The headroom.
        limit: u32,
    },
    /// Lossless: the headroom that all ingress ports share is too small.
    HeadroomPoolExceeded {
        /// Shared headroom in use.
        used: u32,
        /// The frame.
        len: u32,
        /// The shared headroom.
        limit: u32,
    },
    /// Lossy: the ingress priority holds more than its share of the free buffer.
    IngressThreshold {
        /// Bytes that it holds.
        used: u32,
        /// The frame.
        len: u32,
        /// Alpha times the free shared buffer.
        limit: u64,
    },
    /// The egress queue is longer than its share of the free buffer.
    EgressThreshold {
        /// Bytes that wait in the queue.
        queued: u32,
        /// The frame.
        len: u32,
        /// Alpha times the free shared buffer, or the fixed threshold.
        limit: u64,
    },
    /// Lossy: the shared buffer is full.
    SharedBufferFull {
        /// Shared bytes in use.
        used: u32,
        /// The frame.
        len: u32,
        /// The shared buffer.
        limit: u32,
    },
}

impl Admission {
    /// Whether the frame is in the memory now.
    pub const fn is_stored(self) -> bool {
        matches!(self, Self::Stored | Self::StoredAndPause)
    }
}

impl DropReason {
    /// The names of all reasons.
    pub const NAMES: [&str; 5] = [
        "headroom_exceeded",
        "headroom_pool_exceeded",
        "ingress_threshold",
        "egress_threshold",
        "shared_buffer_full",
    ];

    /// A short name, as `summary.json` counts by.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::HeadroomExceeded { .. } => Self::NAMES[0],
            Self::HeadroomPoolExceeded { .. } => Self::NAMES[1],
            Self::IngressThreshold { .. } => Self::NAMES[2],
            Self::EgressThreshold { .. } => Self::NAMES[3],
            Self::SharedBufferFull { .. } => Self::NAMES[4],
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeadroomExceeded { used, len, limit } => {
                write!(f, "headroom in use {used} + frame {len} > headroom {limit}")
            }
            Self::HeadroomPoolExceeded { used, len, limit } => {
                write!(f, "shared headroom in use {used} + frame {len} > shared headroom {limit}")
            }
            Self::IngressThreshold { used, len, limit } => {
                write!(f, "held for ingress {used} + frame {len} > threshold {limit}")
            }
            Self::EgressThreshold { queued, len, limit } => {
                write!(f, "egress queue {queued} + frame {len} > threshold {limit}")
            }
            Self::SharedBufferFull { used, len, limit } => {
                write!(f, "shared buffer in use {used} + frame {len} > shared buffer {limit}")
            }
        }
    }
}
