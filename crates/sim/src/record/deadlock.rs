//! Deadlocks, as they are recorded.

use rocelab_fabric::NodeId;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::SimTime;

/// A deadlock: queues of which each is paused by the switch behind it, whose memory is full of
/// frames that wait in the next.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Deadlock {
    /// When the last of its pauses began: from then on nothing of it could move.
    pub began: SimTime,
    /// When it was found.
    pub found: SimTime,
    /// A cycle among its queues, in the direction in which frames would go; each waits for the next,
    /// the last for the first. It begins with the queue of the lowest node.
    pub cycle: Vec<StuckQueue>,
    /// All its queues, those that wait for the cycle too, in order.
    pub queues: Vec<StuckQueue>,
    /// Bytes that wait in them.
    pub bytes: u64,
}

/// An egress queue that cannot move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct StuckQueue {
    /// Its switch.
    pub node: NodeId,
    /// Its port.
    pub port: u16,
    /// Its priority.
    pub priority: u8,
}
