//! Go-back-0: the recovery that early RoCE NICs had (Guo et al., "RDMA over Commodity Ethernet at
//! Scale", SIGCOMM 2016, section 4.1).

use super::{Gap, Loss, Reliability};
use crate::sequence::Sequence;

/// A gap makes the responder forget the unfinished message and ask for its first packet; the
/// requester starts the message over, after a timeout too. If every attempt at a message loses a
/// packet, the link is busy and nothing gets done.
#[derive(Debug)]
pub(super) struct GoBackZero;

/// Its rules.
pub(super) const fn rules() -> GoBackZero {
    GoBackZero
}

impl Reliability for GoBackZero {
    fn keeps_partial_messages(&self) -> bool {
        false
    }

    fn resend_from(&self, loss: &Loss) -> Sequence {
        loss.message_first
    }

    fn expect_after_gap(&self, gap: &Gap) -> Sequence {
        gap.message_first
    }
}
