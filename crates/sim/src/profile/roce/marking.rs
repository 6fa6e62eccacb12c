//! ECN, FECN or QCN at one port, with dice of its own.

use rocelab_engine::RngStream;
use rocelab_fabric::{
    CongestionSample, EcnConfig, EcnMarker, FecnMarker, MarkAt, QcnConfig, StartingPacket,
};
use rocelab_state::State;
use rocelab_units::{Bandwidth, Ratio};

use super::LinkLoss;
use super::congestion_points::CongestionPoints;
use crate::profile::{Joining, Marking};

/// Marks frames that are ECN-capable as they join an egress queue or as they leave it; or has
/// senders notified of congestion (RoCE v1, where nothing can be marked).
#[derive(Debug)]
pub struct EcnMarking {
    marker: EcnMarker,
    mark_at: MarkAt,
    uncommon: Option<Uncommon>,
    dice: RngStream,
}

rocelab_state::state!(EcnMarking { values: dice; states: uncommon; kept: marker, mark_at });

/// What few ports go by.
#[derive(Debug)]
enum Uncommon {
    /// Marks by an average of each queue's length.
    Averages(Box<[Average; 8]>),
    /// No marks but notifications.
    CongestionPoints(Box<CongestionPoints>),
    /// FECN marks of InfiniBand.
    Fecn(Box<FecnMarker>),
}

impl State for Uncommon {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        match self {
            Self::Averages(averages) => averages.save(to),
            Self::CongestionPoints(points) => points.save(to),
            Self::Fecn(_) => Ok(()), // It is all settings.
        }
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        match self {
            Self::Averages(averages) => averages.load(from),
            Self::CongestionPoints(points) => points.load(from),
            Self::Fecn(_) => Ok(()),
        }
    }
}

/// A moving average of a queue's length, in units of 2^-16 bytes.
#[derive(Clone, Copy, Debug)]
struct Average {
    weight: Ratio,
    value: u64,
}

rocelab_state::state!(Average { values: value; kept: weight });

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
        let average = config.average_weight.map(|weight| Average { weight, value: 0 });
        Self {
            marker: EcnMarker::new(config, rate),
            mark_at: config.mark_at,
            uncommon: average.map(|average| Uncommon::Averages(Box::new([average; 8]))),
            dice,
        }
    }

    /// The congestion points of a port.
    pub fn notifying(config: &QcnConfig, dice: RngStream) -> Self {
        let points = CongestionPoints::new(config, dice.clone());
        Self {
            marker: EcnMarker::NEVER,
            mark_at: MarkAt::default(),
            uncommon: Some(Uncommon::CongestionPoints(Box::new(points))),
            dice,
        }
    }

    /// The FECN marks of a port with credits.
    pub fn forward(marker: FecnMarker, dice: RngStream) -> Self {
        Self {
            marker: EcnMarker::NEVER,
            mark_at: MarkAt::Dequeue,
            uncommon: Some(Uncommon::Fecn(Box::new(marker))),
            dice,
        }
    }

    #[inline]
    fn marks(&mut self, at: MarkAt, markable: bool, queued: u32) -> bool {
        markable && self.mark_at == at && self.marker.marks(queued, || self.dice.bits())
    }

    #[cold]
    fn joins_uncommonly(&mut self, frame: Joining) -> bool {
        match &mut self.uncommon {
            Some(Uncommon::CongestionPoints(points)) => points.samples(frame),
            _ => {
                self.marks_by_average(MarkAt::Enqueue, frame.markable, (frame.queue, frame.queued))
            }
        }
    }

    /// Every frame moves the average, those that cannot be marked too.
    #[cold]
    fn marks_by_average(&mut self, at: MarkAt, markable: bool, (queue, queued): (u8, u32)) -> bool {
        let Some(Uncommon::Averages(averages)) = &mut self.uncommon else { return false };
        if self.mark_at != at {
            return false;
        }
        let average = averages[usize::from(queue & 7)].update(queued);
        markable && self.marker.marks(average, || self.dice.bits())
    }
}

impl Marking<LinkLoss> for EcnMarking {
    fn quiet_up_to(&self) -> u32 {
        match (&self.uncommon, self.mark_at) {
            (Some(Uncommon::Fecn(_)), _) | (None, MarkAt::Dequeue) => u32::MAX,
            (Some(_), _) => 0,
            (None, MarkAt::Enqueue) => self.marker.kmin(),
        }
    }

    fn marks_departures(&self) -> bool {
        self.mark_at == MarkAt::Dequeue
    }

    #[inline]
    fn on_enqueue(&mut self, _: &mut LinkLoss, frame: Joining) -> bool {
        if self.uncommon.is_some() {
            return self.joins_uncommonly(frame);
        }
        self.marks(MarkAt::Enqueue, frame.markable, frame.queued)
    }

    fn take_sample(&mut self) -> Option<CongestionSample> {
        match &mut self.uncommon {
            Some(Uncommon::CongestionPoints(points)) => points.take_sample(),
            _ => None,
        }
    }

    #[cold]
    fn on_start(&mut self, packet: &StartingPacket) -> bool {
        let Some(Uncommon::Fecn(marker)) = &self.uncommon else { return false };
        marker.marks(packet, || self.dice.bits())
    }

    #[inline]
    fn on_dequeue(
        &mut self,
        _: &mut LinkLoss,
        markable: bool,
        queued: impl FnOnce() -> (u8, u32),
    ) -> bool {
        if self.mark_at != MarkAt::Dequeue {
            return false;
        }
        if self.uncommon.is_some() {
            return self.marks_by_average(MarkAt::Dequeue, markable, queued());
        }
        self.marks(MarkAt::Dequeue, markable, queued().1)
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
            (0..frames)
                .filter(|_| marking.marks_by_average(MarkAt::Enqueue, true, (3, 1_000)))
                .count()
        };
        assert_eq!(marked(&mut marking, 5), 0);
        assert_eq!(marked(&mut marking, 15), 15, "the average passes 500 with the sixth");
        assert!(!marking.marks_by_average(MarkAt::Enqueue, true, (5, 1_000)), "a queue of its own");
    }
}
