//! ECN at one port, with dice of its own.

use rocelab_engine::RngStream;
use rocelab_fabric::{EcnConfig, EcnMarker, MarkAt};
use rocelab_units::{Bandwidth, Ratio};

use super::LinkLoss;
use crate::profile::Marking;

/// Marks frames that are ECN-capable as they join an egress queue or as they leave it.
#[derive(Debug)]
pub struct EcnMarking {
    marker: EcnMarker,
    mark_at: MarkAt,
    average: Option<Box<Average>>,
    dice: RngStream,
}

/// A moving average of a queue's length, in units of 2^-16 bytes.
#[derive(Debug)]
struct Average {
    weight: Ratio,
    value: u64,
}

impl Average {
    /// The average, rounded down, after another frame has found `queued` bytes.
    fn update(&mut self, queued: u32) -> u32 {
        let target = u64::from(queued) << 16;
        let share = |difference: u64| {
            let moved = u128::from(difference) * u128::from(self.weight.numerator())
                / u128::from(self.weight.denominator());
            u64::try_from(moved).unwrap_or(difference)
        };
        if target >= self.value {
            self.value += share(target - self.value);
        } else {
            self.value -= share(self.value - target);
        }
        u32::try_from(self.value >> 16).unwrap_or(u32::MAX)
    }
}

impl EcnMarking {
    /// The marking of a port of `rate`.
    pub fn new(config: &EcnConfig, rate: Bandwidth, dice: RngStream) -> Self {
        let average = config.average_weight.map(|weight| Box::new(Average { weight, value: 0 }));
        Self { marker: EcnMarker::new(config, rate), mark_at: config.mark_at, average, dice }
    }

    #[inline]
    fn marks(&mut self, at: MarkAt, markable: bool, queued: u32) -> bool {
        if self.average.is_some() {
            return self.marks_by_average(at, markable, queued);
        }
        markable && self.mark_at == at && self.marker.marks(queued, || self.dice.bits())
    }

    /// Every frame moves the average, those that cannot be marked too.
    #[cold]
    fn marks_by_average(&mut self, at: MarkAt, markable: bool, queued: u32) -> bool {
        let Some(average) = self.average.as_mut().filter(|_| self.mark_at == at) else {
            return false;
        };
        let average = average.update(queued);
        markable && self.marker.marks(average, || self.dice.bits())
    }
}

impl Marking<LinkLoss> for EcnMarking {
    #[inline]
    fn on_enqueue(&mut self, _: &mut LinkLoss, markable: bool, queued: u32) -> bool {
        self.marks(MarkAt::Enqueue, markable, queued)
    }

    #[inline]
    fn on_dequeue(
        &mut self,
        _: &mut LinkLoss,
        markable: bool,
        queued: impl FnOnce() -> u32,
    ) -> bool {
        self.mark_at == MarkAt::Dequeue && self.marks(MarkAt::Dequeue, markable, queued())
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::Bytes;

    use super::*;

    #[test]
    fn an_average_follows_the_queue_slowly() {
        let mut average = Average { weight: Ratio::new(1, 4), value: 0 };
        assert_eq!(
            [1_000, 1_000, 1_000, 0].map(|queued| average.update(queued)),
            [250, 437, 578, 433]
        );
    }

    #[test]
    fn a_burst_is_not_marked_and_a_standing_queue_is() {
        let config = EcnConfig {
            kmin: Bytes::new(500),
            kmax: Bytes::new(500),
            pmax: 1.0,
            per_rate: None,
            mark_at: MarkAt::Enqueue,
            average_weight: Some(Ratio::new(1, 8)),
        };
        let mut marking =
            EcnMarking::new(&config, Bandwidth::from_gbps(1), RngStream::new(1, "dice"));
        let marked = |marking: &mut EcnMarking, frames: u32| {
            (0..frames).filter(|_| marking.marks(MarkAt::Enqueue, true, 1_000)).count()
        };
        assert_eq!(marked(&mut marking, 5), 0);
        assert_eq!(marked(&mut marking, 15), 15, "the average passes 500 with the sixth");
    }
}
