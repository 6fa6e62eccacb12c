//! ECN as a frame joins the queue.

use rocelab_engine::RngStream;
use rocelab_fabric::{EcnConfig, EcnMarker};
use rocelab_units::Bandwidth;

use super::LinkLoss;
use crate::profile::Marking;

/// Marks frames that are ECN-capable as they join an egress queue, with the port's own dice.
#[derive(Debug)]
pub struct EnqueueMarking {
    marker: EcnMarker,
    dice: RngStream,
}

impl EnqueueMarking {
    /// The marking of a port of `rate`.
    pub fn new(config: &EcnConfig, rate: Bandwidth, dice: RngStream) -> Self {
        Self { marker: EcnMarker::new(config, rate), dice }
    }
}

impl Marking<LinkLoss> for EnqueueMarking {
    #[inline]
    fn on_enqueue(&mut self, _: &mut LinkLoss, markable: bool, queued: u32) -> bool {
        markable && self.marker.marks(queued, || self.dice.bits())
    }
}
