//! How many flows a hash put on the same link at the same time.

use rocelab_units::SimTime;

use super::known_paths::{KnownPaths, PathHop};
use crate::Plan;

/// In place of a link's number: no hash ever chose it.
const NEVER: u32 = u32::MAX;

/// The flows on each link that a hash chose among several.
#[derive(Debug, Default)]
pub(super) struct Collisions {
    /// By the place of its port among all: the number of the link below.
    numbers: Vec<u32>,
    /// By link: its flows, in order of their starts.
    flows: Vec<Vec<u32>>,
    /// By link: when flows ended there (ps), ascending.
    ends: Vec<Vec<u64>>,
}

rocelab_state::state!(Collisions { values: ends; kept: numbers, flows });

impl Collisions {
    /// Of a run in which nothing has ended.
    pub(super) fn new(plan: &Plan, paths: &KnownPaths<'_>) -> Self {
        let mut all = Self::default();
        for (number, flow) in (0u32..).zip(&plan.flows) {
            for hop in paths.of(flow).iter().flatten().filter(|hop| hop.is_chosen) {
                let link = all.number(paths.place(hop));
                all.flows[link].push(number);
            }
        }
        all.ends = vec![Vec::new(); all.flows.len()];
        all
    }

    fn number(&mut self, place: usize) -> usize {
        if self.numbers.len() <= place {
            self.numbers.resize(place + 1, NEVER);
        }
        if self.numbers[place] == NEVER {
            self.numbers[place] = u32::try_from(self.flows.len()).unwrap_or(NEVER);
            self.flows.push(Vec::new());
        }
        self.numbers[place] as usize
    }

    /// A flow of these hops is over, or the run is: the most other flows that were open while it was, over the links that
    /// a hash chose for it. `None` in a branch of a run that did not count, because paths might have changed in it.
    pub(super) fn end(
        &mut self,
        plan: &Plan,
        (paths, hops): (&KnownPaths<'_>, &[PathHop]),
        (start, end): (SimTime, SimTime),
    ) -> Option<u64> {
        if self.ends.len() != self.flows.len() {
            return None;
        }
        let mut most = 0;
        for hop in hops.iter().filter(|hop| hop.is_chosen) {
            let link = self.number(paths.place(hop));
            let began = |flow: &u32| plan.flows[*flow as usize].start < end;
            let begun = self.flows[link].partition_point(began);
            let over = self.ends[link].partition_point(|over| *over <= start.ps());
            // One that starts as the run ends is not among those that had begun.
            let own = usize::from(start < end);
            most = most.max(begun.saturating_sub(over + own));
            self.ends[link].push(end.ps());
        }
        Some(most as u64)
    }
}
