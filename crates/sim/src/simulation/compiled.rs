//! What of a simulation is compiled in this crate, once for each profile.
//!
//! Code that is generic is compiled in each crate that uses it. A network is generic in its profile, and is most of
//! what there is to compile: the program and some twenty programs of tests would have one each. So the generic
//! methods that lead to all of it ask the profile, and what the profile answers with is not generic.

use std::sync::Arc;

use super::{Ending, Execution, Simulation};
use crate::Plan;
use crate::network::BuildError;
use crate::profile::Profile;
use crate::profile::hpcc_ns3::HpccNs3;
use crate::profile::roce::Roce;

/// A profile whose simulation is compiled in this crate.
pub trait Compiled: Profile {
    /// [`Simulation::new`].
    ///
    /// # Errors
    /// As there.
    fn new(plan: Arc<Plan>) -> Result<Simulation<Self>, BuildError>;

    /// [`Simulation::with_execution`].
    ///
    /// # Errors
    /// As there.
    fn with_execution(
        plan: Arc<Plan>,
        execution: Execution,
    ) -> Result<Simulation<Self>, BuildError>;

    /// [`Simulation::advance`].
    fn advance(simulation: &mut Simulation<Self>, budget: u64) -> Option<Ending>;

    /// [`Simulation::finish_samples`].
    fn finish_samples(simulation: &mut Simulation<Self>);
}

impl<P: Compiled> Simulation<P> {
    /// The network of `plan` at time zero, in one part.
    ///
    /// # Errors
    /// If the plan cannot become a network.
    pub fn new(plan: Arc<Plan>) -> Result<Self, BuildError> {
        P::new(plan)
    }

    /// The network of `plan` at time zero, carried out like this.
    ///
    /// # Errors
    /// If the plan cannot become a network.
    pub fn with_execution(plan: Arc<Plan>, execution: Execution) -> Result<Self, BuildError> {
        P::with_execution(plan, execution)
    }

    /// Runs about `budget` events; says so if the run is over.
    pub fn advance(&mut self, budget: u64) -> Option<Ending> {
        P::advance(self, budget)
    }

    /// Runs to the end, without looking after records.
    pub fn run_to_end(&mut self) -> Ending {
        loop {
            if let Some(ending) = self.advance(u64::MAX) {
                return ending;
            }
        }
    }

    /// When the run is over: measures what counts over an interval, of the one that is not over.
    pub fn finish_samples(&mut self) {
        P::finish_samples(self);
    }
}

macro_rules! compiled {
    ($($profile:ty),*) => {$(
        impl Compiled for $profile {
            #[inline(never)]
            fn new(plan: Arc<Plan>) -> Result<Simulation<Self>, BuildError> {
                Simulation::in_one_part(plan)
            }

            #[inline(never)]
            fn with_execution(
                plan: Arc<Plan>,
                execution: Execution,
            ) -> Result<Simulation<Self>, BuildError> {
                Simulation::executed_so(plan, execution)
            }

            #[inline(never)]
            fn advance(simulation: &mut Simulation<Self>, budget: u64) -> Option<Ending> {
                simulation.advance_here(budget)
            }

            #[inline(never)]
            fn finish_samples(simulation: &mut Simulation<Self>) {
                simulation.finish_samples_here();
            }
        }
    )*};
}

compiled!(Roce, HpccNs3);
