//! What a requester was told at set-up about its packets.

use crate::QueuePairProfile;
use crate::queue_pair::message::Segmentation;
use crate::recovery::Reliability;
use crate::sequence::MAX_OUTSTANDING;

/// Rules that do not change while a requester lives.
#[derive(Debug)]
#[repr(C)]
pub(super) struct SendRules {
    /// Packets that may be sent and not acknowledged.
    pub(super) max_outstanding: u64,
    ack_interval: u32,
    /// Whether all packets that may be outstanding can leave without one that asks for an
    /// acknowledgement, so that the last of them must.
    pub(super) asks_when_full: bool,
    pub(super) keeps_partial_messages: bool,
    pub(super) segmentation: Segmentation,
}

impl SendRules {
    pub(super) fn new(profile: &QueuePairProfile, reliability: &dyn Reliability) -> Self {
        let max_outstanding = u64::from(profile.max_outstanding).clamp(1, MAX_OUTSTANDING);
        let ack_interval = profile.ack_interval;
        Self {
            max_outstanding,
            ack_interval,
            asks_when_full: ack_interval == 0 || u64::from(ack_interval) > max_outstanding,
            keeps_partial_messages: reliability.keeps_partial_messages(),
            segmentation: Segmentation::new(profile.path_mtu),
        }
    }

    /// Whether packet `index` of a message asks for an acknowledgement.
    #[inline]
    pub(super) const fn is_ack_due(&self, index: u32) -> bool {
        match self.ack_interval {
            0 => false,
            1 => true,
            interval => (index + 1).is_multiple_of(interval),
        }
    }
}
