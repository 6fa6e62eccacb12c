//! Work of a queue pair, to be looked at from outside.

/// Work that is posted and not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutstandingWork {
    /// The number of its work request.
    pub id: u64,
    /// PSN of its first packet.
    pub first_psn: u32,
    /// PSN after that of its last packet; of a READ, of the last of its response.
    pub end_psn: u32,
}
