//! Frames that cross the ports along a path one behind the other.

use super::train::{Hop, Train};

/// The ports along a path, with the time at which each is free.
pub(super) struct Route<'a> {
    pub(super) hops: &'a [Hop],
    free: Vec<u64>,
}

impl<'a> Route<'a> {
    pub(super) fn new(hops: &'a [Hop]) -> Self {
        Self { hops, free: vec![0; hops.len()] }
    }

    /// The arrivals at the far end of frames that the near end has ready.
    pub(super) fn carry(&mut self, ready: Train) -> Train {
        self.hops
            .iter()
            .zip(&mut self.free)
            .fold(ready, |train, (hop, free)| train.cross(hop, free))
    }
}
