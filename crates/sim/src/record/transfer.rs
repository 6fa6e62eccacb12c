//! What goes over NVLink from host to host.

use rocelab_engine::EventKey;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};

use crate::scenario::Side;

/// A message over NVLink, or a packet of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct NvlinkTransfer {
    /// The connection of a program that it belongs to, by its place in the plan.
    pub connection: u32,
    /// The end that it goes to.
    pub to: Side,
    /// What its message is.
    pub kind: TransferKind,
    /// What its message says.
    pub tag: u64,
    /// Its payload (bytes).
    pub bytes: u32,
    /// Payload of its message (bytes).
    pub message_bytes: u32,
    /// Whether it ends its message.
    pub is_last: bool,
}

/// What a message over NVLink is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum TransferKind {
    /// The receiving program is told: SEND, and WRITE with immediate data.
    Message,
    /// The receiving program is told nothing: WRITE.
    Store,
    /// Asks for the other host's data, without payload: the beginning of a READ.
    LoadRequest,
    /// Those data.
    Load,
}

impl NvlinkTransfer {
    /// One number for what it says.
    pub(crate) fn fingerprint(&self) -> u64 {
        let head = u64::from(self.connection) << 8 | (self.kind as u64) << 1;
        let sizes = u64::from(self.bytes) << 32 | u64::from(self.message_bytes);
        (head | u64::from(self.is_last)) ^ sizes.rotate_left(13) ^ self.tag.rotate_left(29)
    }
}

/// A transfer that leaves its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvlinkDeparture {
    /// What leaves.
    pub transfer: NvlinkTransfer,
    /// When its first byte reaches the other host; not now.
    pub head: SimTime,
}

/// A transfer that has left in another part of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct DistantTransfer {
    /// What has left.
    pub transfer: NvlinkTransfer,
    /// When its first byte reaches the host here, and where in the order of events.
    pub head: EventKey,
}

/// What passed a host's way out or in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct NvlinkCounts {
    /// Messages that were counted with their last bytes; those that ask for data among them.
    pub messages: u64,
    /// Their payload (bytes).
    pub bytes: u64,
    /// How long they took.
    pub busy: Duration,
}

impl NvlinkCounts {
    /// Counts a transfer.
    pub(crate) fn count(&mut self, transfer: &NvlinkTransfer, took: Duration) {
        self.messages += u64::from(transfer.is_last);
        self.bytes += u64::from(transfer.bytes);
        self.busy += took;
    }
}

/// What passed the way out of a host, and its way in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct NvlinkUse {
    /// Out of it.
    pub sent: NvlinkCounts,
    /// Into it.
    pub received: NvlinkCounts,
}
