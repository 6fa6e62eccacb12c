//! A frame arrives over a link that features are interested in: it passes one after the other, and reaches its node.

use rocelab_engine::EventKey;
use rocelab_fabric::PacketId;

use super::core::Network;
use super::feature::{Arrival, Frames, Scene, Sight, Timers, Verdict};
use super::features::{ArrivalFeatures, Features, Stage};
use super::own_frames::Emitting;
use super::passed::Passed;
use super::pauses::PortPauses;
use super::receiver::Receiving;
use crate::profile::Profile;

impl<P: Profile> Network<P> {
    /// What features may see.
    pub(super) fn sight(&self) -> Sight<'_, P> {
        let Self { plan, routing, ports, switches, layout, failures, .. } = self;
        Sight { plan, routing: &**routing, layout, ports, switches, failures }
    }

    /// The features that see frames arrive, and what they see.
    pub(super) fn scene(&mut self) -> (&mut ArrivalFeatures, Scene<'_, P>) {
        let Self {
            plan,
            routing,
            queue,
            pool,
            nodes,
            ports,
            switches,
            order,
            course,
            side,
            layout,
            failures,
            features: Features { arrivals, passed, emissions, owners, .. },
            ..
        } = self;
        let sight = Sight { plan, routing: &**routing, layout, ports, switches, failures };
        let frames = Frames { pool, side, totals: &mut course.totals, passed: passed.as_mut() };
        let timers = Timers { queue, order, nodes };
        (arrivals, Scene { sight, frames, timers, emissions, owners: owners.as_deref() })
    }

    /// A frame that came over the link of `port` and has passed the features up to `stage` passes the others.
    #[cold]
    pub(super) fn pass_features(
        &mut self,
        key: EventKey,
        port: u32,
        id: PacketId,
        mut stage: Stage,
    ) {
        let far = self.ports[port as usize].far;
        let arrival = Arrival { key, port, far, id };
        loop {
            let (features, mut scene) = self.scene();
            let (decided, verdict) = features.judge(stage, &arrival, &mut scene);
            stage = decided;
            if !self.features.emissions.is_empty() {
                Emitting(self).emit(key);
            }
            match verdict {
                Verdict::Continue => return self.deliver_specially(key, port, id),
                Verdict::Redirect(number) => self.pool.get_mut(id).switch_port = number,
                Verdict::Drop(cause) => {
                    return PortPauses(self).discard_with_credits(key, &far, id, cause);
                }
                Verdict::Replicate(numbers) => {
                    let (_, scene) = self.scene();
                    let mut frames = scene.frames;
                    let copies: Vec<_> =
                        numbers.iter().skip(1).map(|_| frames.duplicate(id)).collect();
                    for (number, copy) in numbers.into_iter().zip(std::iter::once(id).chain(copies))
                    {
                        self.pool.get_mut(copy).switch_port = number;
                        self.pass_features(key, port, copy, stage);
                    }
                    return;
                }
                Verdict::Hold => {
                    while let Some(id) = self.features.arrivals.release::<P>(stage) {
                        self.pass_features(key, port, id, stage);
                    }
                    return;
                }
                Verdict::Enter => return Receiving(self).enter(&arrival),
                Verdict::Store { pauses, begins } => {
                    if let Some(passed) = &mut self.features.passed {
                        passed.push(Passed::Kept { packet: id });
                    }
                    return Receiving(self).stored(key, far.role, pauses, begins);
                }
            }
        }
    }

    /// The first of the frames that faults delay on the link of `port` is due.
    #[cold]
    pub(super) fn line_due(&mut self, key: EventKey, port: u32) {
        loop {
            let (features, mut scene) = self.scene();
            let faults = features.faults.as_mut();
            let due = faults.and_then(|faults| faults.take_first(key.time, port, &mut scene));
            let Some(id) = due else { return };
            self.pass_features(key, port, id, Stage::Faults);
        }
    }

    /// A frame that faults hold back on the link of `port` has waited for long enough, if it still does.
    #[cold]
    pub(super) fn hold_due(&mut self, key: EventKey, port: u32) {
        let faults = self.features.arrivals.faults.as_mut();
        if let Some(id) = faults.and_then(|faults| faults.take_due(key.time, port)) {
            self.pass_features(key, port, id, Stage::Faults);
        }
    }
}
