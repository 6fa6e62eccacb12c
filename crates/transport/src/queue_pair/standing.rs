//! What a queue pair waits for, to be looked at from outside.

use rocelab_units::SimTime;

/// Why a queue pair does not send, or when it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is not connected yet.
    NotConnected,
    /// It has failed.
    Failed,
    /// No work is posted, and nobody asked it for READ data.
    NoWork,
    /// All is sent, and not all is acknowledged or answered.
    Unanswered,
    /// The responder had no receive request: it waits as it was asked to (RNR NAK).
    ReceiverNotReady,
    /// The congestion control allows no more unacknowledged payload.
    Window,
    /// No more packets may be unacknowledged.
    PacketLimit,
    /// No more READs and atomic operations may be open, or their sequence numbers would get mixed
    /// up.
    ReadLimit,
    /// A packet may leave at this time, or could have left since: when pacing allows it.
    MaySend(SimTime),
}
