//! ECN at one port, with dice of its own.

use rocelab_engine::RngStream;
use rocelab_fabric::{EcnConfig, EcnMarker, MarkAt};
use rocelab_units::Bandwidth;

use super::LinkLoss;
use crate::profile::Marking;

/// Marks frames that are ECN-capable as they join an egress queue or as they leave it.
#[derive(Debug)]
pub struct EcnMarking {
    marker: EcnMarker,
    mark_at: MarkAt,
    dice: RngStream,
}

impl EcnMarking {
    /// The marking of a port of `rate`.
    pub fn new(config: &EcnConfig, rate: Bandwidth, dice: RngStream) -> Self {
        Self { marker: EcnMarker::new(config, rate), mark_at: config.mark_at, dice }
    }

    #[inline]
    fn marks(&mut self, at: MarkAt, markable: bool, queued: u32) -> bool {
        markable && self.mark_at == at && self.marker.marks(queued, || self.dice.bits())
    }
}

impl Marking<LinkLoss> for EcnMarking {
    #[inline]
    fn on_enqueue(&mut self, _: &mut LinkLoss, markable: bool, queued: u32) -> bool {
        self.marks(MarkAt::Enqueue, markable, queued)
    }

    #[inline]
    fn on_dequeue(&mut self, _: &mut LinkLoss, markable: bool, queued: u32) -> bool {
        self.marks(MarkAt::Dequeue, markable, queued)
    }
}
