//! What a host knows of a queue pair beside its transport.

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::SimTime;

/// Bytes that the NIC moves at once between memory and the wire: less of a message is stored and forwarded whole.
pub(crate) const GRANULE: u64 = 4096;

/// Of one queue pair.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct QueuePairPath {
    /// When the next work request may be taken up.
    pub(crate) next: SimTime,
    /// When the last one that was taken up is ready.
    pub(crate) ready: SimTime,
    /// Payload of work requests that has not left, of what was posted here (bytes).
    pub(crate) leaving: u64,
    /// Of it, what has been fetched (bytes).
    pub(crate) fetched: u64,
    /// Payload that was fetched for answers to READs (bytes).
    pub(crate) fetched_for_answers: u64,
    /// Payload of the message that is arriving (bytes).
    pub(crate) arriving: u64,
    /// Where in registered memory it goes.
    pub(crate) place: u64,
    /// When all that has reached the queue pair was written.
    pub(crate) written: SimTime,
    /// When the last request reaches it.
    pub(crate) requested: SimTime,
    /// When a program has the last completion.
    pub(crate) found: SimTime,
}

impl QueuePairPath {
    /// So many bytes of a message arrive. Gives what the NIC gathers before it writes, up to the last of them.
    pub(crate) fn arrive(&mut self, bytes: u64, begins: bool) -> u64 {
        self.arriving = if begins { bytes } else { self.arriving + bytes };
        match self.arriving % GRANULE {
            0 => GRANULE.min(self.arriving),
            some => some,
        }
    }
}
