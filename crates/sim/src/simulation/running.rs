//! A part of a network, with its own events.

use rocelab_engine::{Engine, Windows as UnitWindows};
use rocelab_units::SimTime;

use crate::network::{BatchOf, BuildError, Crossing, Event, Network, Part, Setting};
use crate::profile::Profile;

/// A part of a network, and what runs it.
#[derive(Debug)]
pub(super) struct Running<P: Profile> {
    pub(super) engine: Engine,
    pub(super) network: Network<P>,
    units: UnitWindows<Event>,
}

impl<P: Profile> Running<P> {
    /// A part of a network at time zero.
    pub(super) fn new(setting: &Setting<P>, part: Part) -> Result<Self, BuildError> {
        let mut network = Network::of_part(setting, part)?;
        let units = network.dividing().divide(setting);
        Ok(Self { engine: Engine::new(), network, units })
    }

    /// Runs to the end of a window.
    pub(super) fn run_until(&mut self, limit: SimTime) {
        self.units.run(&mut self.engine, &mut self.network, limit);
    }

    /// Takes in what another part has sent.
    pub(super) fn enter(&mut self, batch: BatchOf<P>) {
        Crossing(&mut self.network).enter(batch);
    }

    /// When something happens next.
    pub(super) fn next(&self) -> SimTime {
        self.units.next(&self.network)
    }

    /// All that waits to happen is in one queue from now on, until it
    /// [runs](Self::run_until) on.
    pub(super) fn join(&mut self) -> (&mut Engine, &mut Network<P>) {
        self.units.join(&mut self.network);
        (&mut self.engine, &mut self.network)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use rocelab_engine::World;
    use rocelab_units::Duration;

    use super::*;
    use crate::profile::roce::Roce;
    use crate::{Planning, Scenario};

    /// The part that a permutation on a fat tree of this arity is in, after 20 us.
    fn after_a_while(arity: u32) -> Running<Roce> {
        let text = format!(
            "[topology.fat-tree]\nk = {arity}\nhost_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"100Gbps\", cable = \"50m\" }}\n\
             [workload.permutation]\nbytes = \"200KB\"\n"
        );
        let scenario = Scenario::parse(&text, Path::new("t.toml"), &[]).unwrap();
        let plan = Arc::new(scenario.plan().unwrap());
        let part = Part::whole(&plan);
        let mut part = Running::new(&Setting::new(plan).unwrap(), part).unwrap();
        part.run_until(SimTime::ZERO + Duration::from_us(10));
        part.run_until(SimTime::ZERO + Duration::from_us(20));
        part
    }

    #[test]
    fn all_that_waits_in_units_can_be_put_into_one_queue() {
        let mut running = after_a_while(4);
        let next = running.next();
        assert_ne!(running.network.queue().peek().map(|key| key.time), Some(next));
        running.join();
        assert_eq!(running.next(), next);
        assert_eq!(running.network.queue().peek().map(|key| key.time), Some(next));
    }
}
