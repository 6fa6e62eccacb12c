//! Shared-memory admission in a switch: which frames are stored or dropped, and when a sender must
//! pause.

mod by_egress;
mod credited;
mod headroom;
mod hpcc_ns3;
mod in_use;
mod measured;
mod peaks;
mod pools;
mod shared;
mod switch;

use core::fmt;

pub use credited::CreditedBuffer;
pub use headroom::{
    HeadroomInput, HeadroomTerms, LosslessHop, headroom, rate_of_response, standard_response,
};
pub use hpcc_ns3::{HpccNs3Buffer, HpccNs3Port};
pub use measured::MeasuredBuffer;
pub use peaks::{IngressPeak, MemoryParts, Occupancy, PauseThresholds, Peaks};
pub use pools::PoolBuffer;
use rocelab_state::{BorshDeserialize, BorshSerialize, State};
pub use shared::{BufferError, BufferLayout, SharedBuffer};
pub use switch::{GeneralBuffer, SwitchBuffer};

/// Admission to a switch's memory. The native switch is [`SharedBuffer`].
///
/// Its state is what each port and priority holds. The use of parts that all of them share is not
/// saved: it is the sum of these, and loading adds it up.
pub trait BufferPolicy: fmt::Debug + Send + State {
    /// A frame has arrived; decides whether it is stored, and accounts for it if so.
    fn admit(&mut self, arrival: Arrival) -> Admission;

    /// Whether a frame that arrives and leaves at once would be stored without a pause and leave no
    /// trace here, so that the caller may skip [`Self::admit`] and [`Self::release`]. False where
    /// this takes more than a quick test.
    fn passes(&self, arrival: Arrival) -> bool {
        let _ = arrival;
        false
    }

    /// Releases the memory of a stored frame that leaves; true if its ingress priority may send
    /// again.
    fn release(&mut self, departure: Departure) -> bool;

    /// Bytes of memory held by the frames of an ingress port and priority, headroom included.
    fn held(&self, ingress: u16, priority: u8) -> u32;

    /// The counter of an ingress port and priority, for prefetching it; `None` if there is more
    /// than one place to look at.
    fn account(&self, ingress: u16, priority: u8) -> Option<&u32> {
        let _ = (ingress, priority);
        None
    }

    /// The bytes of [`Self::held`], by egress port; `None` unless they are [tracked](Self::follow).
    fn held_by_egress(&self, ingress: u16, priority: u8) -> Option<&[u32]>;

    /// Starts to count the bytes of an ingress port and lossless priority by egress port. `held` is
    /// the count now.
    fn follow(&mut self, ingress: u16, priority: u8, held: Box<[u32]>);

    /// Sets the counts of an egress port to zero, because its frames are lost without being
    /// released. Only the rules of HPCC's ns-3 simulator lose frames like that; their memory stays
    /// in use.
    fn forget_egress(&mut self, egress: u16) {
        let _ = egress;
    }

    /// Bytes of memory in use now.
    fn stored(&self) -> u64;

    /// What an ingress port and priority holds now, and its limits.
    fn occupancy(&self, ingress: u16, priority: u8) -> Occupancy;

    /// How much of the memory's parts is in use now.
    fn in_use(&self) -> MemoryParts;

    /// How large these parts are.
    fn sizes(&self) -> MemoryParts;

    /// The most that was ever in use; `None` unless that is measured.
    fn peaks(&self) -> Option<&Peaks> {
        None
    }

    /// Bytes of memory that a frame of `len` bytes takes.
    fn memory_of(&self, len: u32) -> u32 {
        len
    }
}

/// A frame that asks to be stored.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The ingress port, counted from 0.
    pub ingress: u16,
    /// The egress port, counted from 0.
    pub egress: u16,
    /// Its priority, 0 to 7.
    pub priority: u8,
    /// Its length in bytes, FCS included.
    pub len: u32,
    /// Bytes that wait in its egress queue, without this frame.
    pub egress_queue: u32,
}

/// A frame that leaves the memory.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The ingress port, counted from 0.
    pub ingress: u16,
    /// The egress port, counted from 0.
    pub egress: u16,
    /// Its priority, 0 to 7.
    pub priority: u8,
    /// Its length in bytes, FCS included.
    pub len: u32,
}

/// The result of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The frame is stored.
    Stored,
    /// The frame is stored, and its ingress priority has crossed XOFF: its sender must pause.
    StoredAndPause,
    /// The frame is dropped.
    Dropped(DropReason),
    /// The frame is dropped, and its ingress priority has crossed XOFF: its sender must pause.
    DroppedAndPause(DropReason),
}

/// Why a switch dropped a frame: the limit that it would exceed. All values in bytes.
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
    /// InfiniBand: the buffer of the input port and lane is full, though its sender had credits.
    CreditsExceeded {
        /// Bytes that are taken.
        used: u32,
        /// The frame.
        len: u32,
        /// The buffer.
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
    /// Whether the frame was stored.
    pub const fn is_stored(self) -> bool {
        matches!(self, Self::Stored | Self::StoredAndPause)
    }

    /// Whether the frame was dropped because there is too little headroom.
    pub const fn exceeds_headroom(self) -> bool {
        let (Self::Dropped(reason) | Self::DroppedAndPause(reason)) = self else { return false };
        matches!(
            reason,
            DropReason::HeadroomExceeded { .. }
                | DropReason::HeadroomPoolExceeded { .. }
                | DropReason::CreditsExceeded { .. }
        )
    }
}

impl DropReason {
    /// The names of all reasons.
    pub const NAMES: [&str; 6] = [
        "headroom_exceeded",
        "headroom_pool_exceeded",
        "ingress_threshold",
        "egress_threshold",
        "shared_buffer_full",
        "credits_exceeded",
    ];

    /// A short name, the key of the counts in `summary.json`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::HeadroomExceeded { .. } => Self::NAMES[0],
            Self::HeadroomPoolExceeded { .. } => Self::NAMES[1],
            Self::IngressThreshold { .. } => Self::NAMES[2],
            Self::EgressThreshold { .. } => Self::NAMES[3],
            Self::SharedBufferFull { .. } => Self::NAMES[4],
            Self::CreditsExceeded { .. } => Self::NAMES[5],
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
            Self::CreditsExceeded { used, len, limit } => {
                write!(f, "buffer of the lane in use {used} + packet {len} > buffer {limit}")
            }
            Self::SharedBufferFull { used, len, limit } => {
                write!(f, "shared buffer in use {used} + frame {len} > shared buffer {limit}")
            }
        }
    }
}
