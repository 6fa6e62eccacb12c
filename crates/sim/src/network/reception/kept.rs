//! What is on its way through the NICs of hosts that take time.

use std::collections::BTreeMap;

use rocelab_fabric::PacketId;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::SimTime;

/// The hosts of a network that take time.
#[derive(Debug, Default)]
pub(in crate::network) struct Receptions {
    /// By host.
    pub(in crate::network) by_host: BTreeMap<u32, Reception>,
}

/// What is on its way through the NIC of one host.
#[derive(Debug)]
pub(in crate::network) struct Reception {
    /// The port at the other end of its link.
    pub(in crate::network) sending_port: u32,
    /// By when they reach their queue pairs; of one instant in the order in which they came.
    pub(in crate::network) frames: BTreeMap<(SimTime, u64), Entered>,
    /// Bit p: priority p pauses when the buffer is full.
    pub(in crate::network) lossless: u8,
    /// From how many bytes on, and down to how many.
    pub(in crate::network) thresholds: (u64, u64),
    pub(in crate::network) state: Standing,
}

/// A frame in the NIC.
#[derive(Clone, Copy, Debug)]
pub(in crate::network) struct Entered {
    pub(in crate::network) id: PacketId,
    /// When it came over the link.
    pub(in crate::network) arrived: SimTime,
    /// When memory has its payload.
    pub(in crate::network) written: SimTime,
}

/// What a NIC asks for, and has asked for.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(in crate::network) struct Standing {
    /// Whether the lossless priorities are paused.
    pub(in crate::network) pauses: bool,
    /// Pauses that it has asked for.
    pub(in crate::network) asked: u64,
    /// Frames that have entered.
    pub(in crate::network) entered: u64,
    /// The earliest event that is armed for a frame.
    pub(in crate::network) armed: SimTime,
}

impl Reception {
    /// Bit p: priority p is to pause.
    pub(in crate::network) fn pausing(&self) -> u8 {
        if self.state.pauses { self.lossless } else { 0 }
    }

    /// Pauses that it has asked for.
    pub(in crate::network) fn pauses(&self) -> u64 {
        self.state.asked
    }

    /// Whether a frame is on its way.
    pub(in crate::network) fn is_busy(&self) -> bool {
        !self.frames.is_empty()
    }
}
