//! ECN as a frame leaves the queue.

use rocelab_fabric::ThresholdMarker;

use super::Commons;
use crate::profile::Marking;

/// Marks all that leaves an egress queue, acknowledgements too, by what waits behind it. Each draw
/// is the first number of a generator of its own, the next of all.
#[derive(Debug)]
pub struct DequeueMarking {
    marker: ThresholdMarker,
}

impl DequeueMarking {
    /// Marks by these thresholds.
    pub fn new(marker: ThresholdMarker) -> Self {
        Self { marker }
    }
}

impl Marking<Commons> for DequeueMarking {
    fn marks_departures(&self) -> bool {
        true
    }

    #[inline]
    fn on_dequeue(
        &mut self,
        commons: &mut Commons,
        _markable: bool,
        queued: impl FnOnce() -> (u8, u32),
    ) -> bool {
        self.marker.marks(queued().1, || commons.streams.next_uniform())
    }
}
