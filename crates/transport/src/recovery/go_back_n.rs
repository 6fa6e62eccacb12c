//! Go-back-N: the recovery of the InfiniBand reliable connection.

use super::{Gap, Loss, Reliability};
use crate::sequence::Sequence;

/// The responder drops what follows a gap and asks once for the packet that it expects; the
/// requester resumes with that one.
#[derive(Debug)]
pub(super) struct GoBackN;

impl Reliability for GoBackN {
    fn keeps_partial_messages(&self) -> bool {
        true
    }

    fn resend_from(&self, loss: &Loss) -> Sequence {
        loss.lost
    }

    fn expect_after_gap(&self, gap: &Gap) -> Sequence {
        gap.expected
    }
}
