//! The length of a sampled queue over a stretch of a run.

use rocelab_sim::network::RecordKind;
use rocelab_units::SimTime;

use super::PS_PER_MS;
use crate::support::Run;

/// Samples of one queue [bytes].
pub(super) struct Samples(Vec<f64>);

/// The samples between two times [ms] of the only sampled port and priority, in a run that is past
/// the second of them. Empty queues leave no record, but count.
pub(super) fn samples(run: &Run, from: u64, to: u64) -> Samples {
    let interval =
        run.plan.sampling.queues.as_ref().expect("the scenario samples").interval.first_ps;
    let stretch = SimTime::from_ps(from * PS_PER_MS)..SimTime::from_ps(to * PS_PER_MS);
    let length = |record: &rocelab_sim::network::Record| match record.kind {
        RecordKind::Queue(queue) if queue.priority == 3 && stretch.contains(&record.key.time) => {
            Some(f64::from(queue.bytes))
        }
        _ => None,
    };
    let mut lengths: Vec<f64> = run.records.iter().filter_map(length).collect();
    let count = usize::try_from((to - from) * PS_PER_MS / interval).expect("not that many");
    assert!(lengths.len() <= count, "one port is sampled");
    lengths.resize(count, 0.0);
    Samples(lengths)
}

impl Samples {
    /// Of a queue that was not the simulator's.
    pub(super) fn new(lengths: Vec<f64>) -> Self {
        Self(lengths)
    }

    /// Bytes.
    pub(super) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// Standard deviation as a share of the mean.
    pub(super) fn variation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|length| (length - mean) * (length - mean)).sum();
        (squares / self.0.len() as f64).sqrt() / mean
    }

    /// Mean of what a frame of `frame` bytes would find above `threshold`, itself included, as
    /// marking counts it [bytes].
    pub(super) fn mean_above(&self, threshold: f64, frame: f64) -> f64 {
        let above = |length: &f64| (length + frame - threshold).max(0.0);
        self.0.iter().map(above).sum::<f64>() / self.0.len() as f64
    }
}
