//! What is asked of all parts of a network between two windows, wherever they are, and how the answers
//! of some parts become one.

use rocelab_fabric::NodeId;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::SimTime;

use super::running::Running;
use crate::network::Standstill;
use crate::profile::Profile;

/// All parts of a network, wherever they are, between two windows.
pub(super) trait Assembly<P: Profile> {
    /// What may go wrong where some of the parts are elsewhere.
    type Error;

    /// The parts that are here.
    fn parts(&mut self) -> &mut [Running<P>];

    /// When something happens next in any part.
    fn next(&self) -> Option<SimTime>;

    /// What is known of all parts, of which `here` is known of those that are here.
    fn of_all<F: Fact>(&mut self, here: F) -> Result<F, Self::Error>;

    /// The part that a node is in, if it is here.
    fn part_with(&mut self, node: NodeId) -> Option<&mut Running<P>> {
        self.parts().iter_mut().find(|part| part.network.part().has(node))
    }

    /// Lets time pass up to `limit` without an event, as at the end of a run.
    fn advance_to(&mut self, limit: SimTime) {
        for part in self.parts() {
            part.engine.advance_to(limit);
        }
    }
}

/// What is known of some parts of a network, and put together is known of all.
pub(super) trait Fact: BorshSerialize + BorshDeserialize {
    /// With what is known of other parts.
    fn with(self, other: Self) -> Self;
}

/// The sum of what is counted.
impl Fact for u64 {
    fn with(self, other: Self) -> Self {
        self + other
    }
}

/// Whether it holds of any part.
impl Fact for bool {
    fn with(self, other: Self) -> Self {
        self | other
    }
}

/// What holds of each flow of a list.
impl<F: Fact> Fact for Vec<F> {
    fn with(self, other: Self) -> Self {
        self.into_iter().zip(other).map(|(one, other)| one.with(other)).collect()
    }
}

impl Fact for Standstill {
    fn with(self, other: Self) -> Self {
        Self::with(self, other)
    }
}
