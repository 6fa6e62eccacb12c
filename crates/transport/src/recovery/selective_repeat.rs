//! Selective repeat, as IRN does it (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM
//! 2018): the responder keeps what arrives out of order and says so, and only what is missing is
//! sent again.
//!
//! Every packet asks for an acknowledgement. One that arrives out of order is answered with a
//! selective acknowledgement: the last packet before the gap, and a bitmap of what arrived behind
//! it. The requester takes what is not in the bitmap, and lies before something that is, for lost,
//! and sends it again once; what gets lost again waits for the timeout, after which everything is
//! sent again that is not known to be done with. IRN's other half, a bound of one bandwidth-delay
//! product on what is in flight, is
//! [`max_outstanding`](crate::QueuePairProfile::max_outstanding).
//!
//! Unlike in IRN, READ responses are not acknowledged by the requester: it asks for those again
//! that are missing, by READ requests for just these. And the responder executes requests in order:
//! what arrives early waits.

use super::{EarlyPackets, Reliability, Selection};

/// What is missing is sent again, and nothing else.
#[derive(Debug)]
pub(super) struct SelectiveRepeat;

/// Its rules.
pub(super) const fn rules() -> SelectiveRepeat {
    SelectiveRepeat
}

impl Reliability for SelectiveRepeat {
    fn selection(&self) -> Option<Selection> {
        Some(Selection { tolerance: 0 })
    }

    fn early_packets(&self, max_outstanding: u32) -> Option<EarlyPackets> {
        Some(EarlyPackets { reach: max_outstanding })
    }
}
