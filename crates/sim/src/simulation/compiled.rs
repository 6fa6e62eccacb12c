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
pub trait Compiled: Sized {
    /// [`Simulation::new`].
    fn new(plan: Arc<Plan>) -> Result<Simulation<Self>, BuildError>
    where
        Self: Profile;

    /// [`Simulation::with_execution`].
    fn with_execution(
        plan: Arc<Plan>,
        execution: Execution,
    ) -> Result<Simulation<Self>, BuildError>
    where
        Self: Profile;

    /// [`Simulation::advance`].
    fn advance(simulation: &mut Simulation<Self>, budget: u64) -> Option<Ending>
    where
        Self: Profile;

    /// [`Simulation::finish_samples`].
    fn finish_samples(simulation: &mut Simulation<Self>)
    where
        Self: Profile;
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
