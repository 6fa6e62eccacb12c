//! The order of events.

use rocelab_state::{BorshDeserialize, BorshSerialize, State, load_value, save_value, unfit};
use rocelab_units::SimTime;

/// Where an event stands in the order of a run.
///
/// Events run by time; those of the same instant by the node that caused them, lowest first, and
/// those of one node in the order in which the model says that the node scheduled them. The order
/// does not depend on when an entry was put into a queue, or into which of several queues: a run
/// cut into partitions keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub struct EventKey {
    /// When it happens.
    pub time: SimTime,
    /// Its place among the events of that instant.
    pub tie: Tie,
}

impl EventKey {
    /// As one number: keys are compared for every event, without a branch.
    #[inline(always)]
    const fn wide(self) -> u128 {
        (self.time.ps() as u128) << u64::BITS | self.tie.0 as u128
    }
}

impl PartialOrd for EventKey {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }

    #[inline(always)]
    fn lt(&self, other: &Self) -> bool {
        self.wide() < other.wide()
    }
}

impl Ord for EventKey {
    #[inline(always)]
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.wide().cmp(&other.wide())
    }
}

/// The place of an event among those of the same instant: origin node (24 bits), then that node's
/// own counter (40 bits).
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    BorshSerialize,
    BorshDeserialize,
)]
#[repr(transparent)]
pub struct Tie(u64);

impl Tie {
    /// The first of all.
    pub const LEAST: Self = Self(0);
    /// Bits of the counter.
    const COUNTER_BITS: u32 = 40;
    /// The largest origin that fits.
    pub const MAX_ORIGIN: u32 = (1 << (u64::BITS - Self::COUNTER_BITS)) - 1;
}

/// Hands out the ties of one origin node, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TieCounter(u64);

impl TieCounter {
    /// The counter of node `origin`.
    ///
    /// # Panics
    /// If the origin does not fit into 24 bits; topologies are limited to that.
    pub fn new(origin: u32) -> Self {
        assert!(origin <= Tie::MAX_ORIGIN, "node {origin} does not fit into an event key");
        Self(u64::from(origin) << Tie::COUNTER_BITS)
    }

    /// Reserves the next place. A node can reserve 2^40 of them, which at ten a microsecond lasts
    /// for thirty hours of simulated time.
    #[inline]
    pub fn reserve(&mut self) -> Tie {
        let tie = Tie(self.0);
        self.0 += 1;
        tie
    }
}

/// The origin is a setting.
impl State for TieCounter {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        save_value(&self.0, to)
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        let saved: u64 = load_value(from)?;
        if saved >> Tie::COUNTER_BITS != self.0 >> Tie::COUNTER_BITS {
            return Err(unfit("the node that events come from"));
        }
        self.0 = saved;
        Ok(())
    }
}

/// The rule for the order of what happens at one instant.
pub trait TieOrder: Default + core::fmt::Debug + Send + State {
    /// What each node keeps for it.
    type OfNode: core::fmt::Debug + Send + State;

    /// What node `origin` keeps.
    ///
    /// # Panics
    /// If the origin does not fit into 24 bits; topologies are limited to that.
    fn of_node(origin: u32) -> Self::OfNode;

    /// Reserves the next place for an event that a node causes.
    fn reserve(&mut self, node: &mut Self::OfNode) -> Tie;

    /// Whether an event at `now` finds over what ends at `end`.
    fn is_over(end: EventKey, now: EventKey) -> bool;
}

/// By the node that caused an event, then in the order in which that node did: it does not depend
/// on how a network is cut into partitions. Whatever ends at an instant is over for all that
/// happens at it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeOrder;

/// All of it is with the nodes.
impl State for NodeOrder {
    fn save(&self, _to: &mut Vec<u8>) -> rocelab_state::Result {
        Ok(())
    }

    fn load(&mut self, _from: &mut &[u8]) -> rocelab_state::Result {
        Ok(())
    }
}

impl TieOrder for NodeOrder {
    type OfNode = TieCounter;

    fn of_node(origin: u32) -> TieCounter {
        TieCounter::new(origin)
    }

    #[inline]
    fn reserve(&mut self, node: &mut TieCounter) -> Tie {
        node.reserve()
    }

    #[inline]
    fn is_over(end: EventKey, now: EventKey) -> bool {
        end.time <= now.time
    }
}

/// In the order in which events were scheduled anywhere, as ns-3 has it. It depends on a run being
/// sequential.
#[derive(Clone, Copy, Debug)]
pub struct InsertionOrder(TieCounter);

impl State for InsertionOrder {
    fn save(&self, to: &mut Vec<u8>) -> rocelab_state::Result {
        self.0.save(to)
    }

    fn load(&mut self, from: &mut &[u8]) -> rocelab_state::Result {
        self.0.load(from)
    }
}

impl Default for InsertionOrder {
    fn default() -> Self {
        Self(TieCounter::new(0))
    }
}

impl TieOrder for InsertionOrder {
    type OfNode = ();

    fn of_node(_origin: u32) {}

    #[inline]
    fn reserve(&mut self, _node: &mut ()) -> Tie {
        self.0.reserve()
    }

    #[inline]
    fn is_over(end: EventKey, now: EventKey) -> bool {
        end <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_comes_first_then_origin_then_the_counter() {
        let (mut low, mut high) = (TieCounter::new(1), TieCounter::new(2));
        let key = |ps, tie| EventKey { time: SimTime::from_ps(ps), tie };
        let (first, second) = (low.reserve(), low.reserve());
        let third = high.reserve();
        assert!(key(5, first) < key(5, second));
        assert!(key(5, second) < key(5, third));
        assert!(key(4, third) < key(5, first));
    }

    #[test]
    fn a_counter_that_was_saved_goes_on_and_is_no_other_node_s() {
        let (mut counter, mut saved) = (TieCounter::new(7), Vec::new());
        counter.reserve();
        counter.save(&mut saved).unwrap();
        let mut loaded = TieCounter::new(7);
        loaded.load(&mut &saved[..]).unwrap();
        assert_eq!(loaded.reserve(), counter.reserve());
        assert!(TieCounter::new(8).load(&mut &saved[..]).is_err());
        assert!(TieCounter::new(7).load(&mut &saved[..7]).is_err());
    }
}
