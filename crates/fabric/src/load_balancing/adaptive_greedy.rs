//! Adaptive routing of InfiniBand, packet by packet: each takes the port of its group that is the least busy. Packets of a flow
//! overtake each other.

use super::{Choice, ChoosePort};

/// It knows nothing of packets before.
#[derive(Debug, Default)]
pub struct Balancer;

// There is nothing to save.
rocelab_state::state!(Balancer {});

impl ChoosePort for Balancer {
    fn choose(&mut self, choice: Choice<'_>, waiting: impl Fn(u16) -> u32) -> usize {
        least_busy(&choice, waiting)
    }
}

/// The place of the port where the least waits. Of equal ones the flow's hash chooses: in an idle network a flow keeps its path.
pub(super) fn least_busy(choice: &Choice<'_>, waiting: impl Fn(u16) -> u32) -> usize {
    let count = choice.ports.len();
    let first = choice.flow_hash as usize % count;
    let places = (0..count).map(|place| (first + place) % count);
    places.min_by_key(|&place| waiting(choice.ports[place])).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use rocelab_units::SimTime;

    use super::*;

    #[test]
    fn the_least_busy_port_is_taken_and_of_equal_ones_that_of_the_flow() {
        for (flow_hash, waiting, expected) in
            [(0, [9, 1, 3], 1), (0, [2, 2, 2], 0), (4, [2, 2, 2], 1), (4, [2, 3, 2], 2)]
        {
            let choice =
                Choice { now: SimTime::ZERO, flow_hash, destination: 7, ports: &[4, 6, 8] };
            let chosen = Balancer.choose(choice, |port| waiting[usize::from(port) / 2 - 2]);
            assert_eq!(chosen, expected, "{flow_hash} {waiting:?}");
        }
    }
}
