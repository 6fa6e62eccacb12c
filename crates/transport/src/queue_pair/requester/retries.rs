//! How often a requester tries again: retry count and RNR retry count.

/// The `rnr_retry` that stands for "for ever" (IBTA: 3 bits).
const RNR_RETRY_FOR_EVER: u8 = 7;

/// Retries in a row, and how many there may be.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Retries {
    retries: u8,
    retry_count: u8,
    rnr_retries: u8,
    rnr_retry: u8,
}

rocelab_state::state!(Retries { values: retries, rnr_retries; kept: retry_count, rnr_retry });

impl Retries {
    /// All retries are left: `retry_count` after timeouts, `rnr_retry` after RNR NAKs.
    pub(super) const fn new(retry_count: u8, rnr_retry: u8) -> Self {
        Self { retries: 0, retry_count, rnr_retries: 0, rnr_retry }
    }

    /// Timeouts in a row.
    pub(super) const fn timeouts(&self) -> u8 {
        self.retries
    }

    /// Takes a retry after a timeout; whether there was one left.
    pub(super) const fn take(&mut self) -> bool {
        if self.retries >= self.retry_count {
            return false;
        }
        self.retries += 1;
        true
    }

    /// Takes a retry after an RNR NAK; whether there was one left.
    pub(super) const fn take_rnr(&mut self) -> bool {
        if self.rnr_retry < RNR_RETRY_FOR_EVER && self.rnr_retries >= self.rnr_retry {
            return false;
        }
        self.rnr_retries = self.rnr_retries.saturating_add(1);
        true
    }

    /// There is progress: all retries are left again.
    #[inline]
    pub(super) const fn forget(&mut self) {
        self.retries = 0;
        self.rnr_retries = 0;
    }
}
