//! From where a requester goes on.

use crate::sequence::Sequence;

/// What is waited for that a requester has gone back to, or will go back to.
#[derive(Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
#[repr(C)]
pub(super) struct Resumption {
    /// The response that was asked for again and has not come yet.
    pub(super) awaited_response: Option<Sequence>,
    /// Where to resume after an RNR NAK.
    pub(super) resume_at: Sequence,
}

impl Resumption {
    pub(super) const fn new(first: Sequence) -> Self {
        Self { awaited_response: None, resume_at: first }
    }

    /// All before `acknowledged` arrived.
    #[inline]
    pub(super) fn note_acknowledged(&mut self, acknowledged: Sequence) {
        if self.awaited_response.is_some_and(|response| acknowledged > response) {
            self.awaited_response = None;
        }
    }
}
