//! What happens later, by time.

use std::collections::BTreeMap;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::SimTime;

/// Things that are due at known times; of one instant, in the order in which they came.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Later<T> {
    due: BTreeMap<(SimTime, u64), T>,
    came: u64,
}

impl<T> Default for Later<T> {
    fn default() -> Self {
        Self { due: BTreeMap::new(), came: 0 }
    }
}

impl<T> Later<T> {
    /// One that is due then.
    pub fn push(&mut self, at: SimTime, what: T) {
        self.due.insert((at, self.came), what);
        self.came += 1;
    }

    /// When the first is due; [`SimTime::NEVER`] if there is none.
    pub fn next(&self) -> SimTime {
        self.due.first_key_value().map_or(SimTime::NEVER, |(&(at, _), _)| at)
    }

    /// The first that is due by now.
    pub fn pop_due(&mut self, now: SimTime) -> Option<T> {
        let first = self.due.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.due.len() as u64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// All, by time.
    pub fn iter(&self) -> impl Iterator<Item = (SimTime, &T)> {
        self.due.iter().map(|(&(at, _), what)| (at, what))
    }
}
