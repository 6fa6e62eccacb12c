//! How many READs and atomic operations a requester has in flight.

/// READs and atomics that were requested and not answered, and how many there may be.
#[derive(Debug)]
#[repr(C)]
pub(super) struct ReadLimit {
    awaited: u32,
    max_rd_atomic: u32,
}

rocelab_state::state!(ReadLimit { values: awaited; kept: max_rd_atomic });

impl ReadLimit {
    /// None is in flight, and at least one may be.
    pub(super) fn new(max_rd_atomic: u32) -> Self {
        Self { awaited: 0, max_rd_atomic: max_rd_atomic.max(1) }
    }

    /// Whether one more may be in flight.
    #[inline]
    pub(super) const fn has_room(&self) -> bool {
        self.awaited < self.max_rd_atomic
    }

    /// A packet leaves; whether it `requests` one.
    #[inline]
    pub(super) fn count(&mut self, requests: bool) {
        self.awaited += u32::from(requests);
    }

    /// So many were answered. What was gone back to since is not counted until it is requested again.
    #[inline]
    pub(super) const fn answer(&mut self, count: u32) {
        self.awaited = self.awaited.saturating_sub(count);
    }

    /// All of them will be requested again.
    pub(super) const fn forget(&mut self) {
        self.awaited = 0;
    }
}
