//! The congestion points of one port: QCN samples frames as they join its queues.

use rocelab_engine::RngStream;
use rocelab_fabric::{CongestionPoint, CongestionSample, QcnConfig};

use crate::profile::Joining;

/// One congestion point for each egress queue of a port, with dice of their own.
#[derive(Debug)]
pub(super) struct CongestionPoints {
    points: [CongestionPoint; 8],
    dice: RngStream,
    /// Of the frame that was sampled last.
    sample: Option<CongestionSample>,
}

// A sample is taken by whoever caused it.
rocelab_state::state!(CongestionPoints { values: dice; states: points; kept: sample });

impl CongestionPoints {
    pub(super) fn new(config: &QcnConfig, mut dice: RngStream) -> Self {
        let points = std::array::from_fn(|_| CongestionPoint::new(config, dice.bits()));
        Self { points, dice, sample: None }
    }

    /// A frame joins its queue; true if its sender is to hear of it.
    pub(super) fn samples(&mut self, frame: Joining) -> bool {
        let point = &mut self.points[usize::from(frame.queue & 7)];
        self.sample = point.on_enqueue(frame.len, frame.queued, || self.dice.bits());
        self.sample.is_some()
    }

    /// What is to be said about that frame.
    pub(super) const fn take_sample(&mut self) -> Option<CongestionSample> {
        self.sample.take()
    }
}
