//! Join the shortest queue: what DRILL (Ghorbani et al., SIGCOMM 2017) comes to if a switch compares all
//! of its ports. It sees only its own queues, so packets overtake each other as with packet spraying,
//! but the longest queue stays shorter.

use super::{Choice, ChoosePort};

/// How often the switch has chosen.
#[derive(Debug, Default)]
pub struct Balancer {
    turn: u32,
}

rocelab_state::state!(Balancer { values: turn });

impl ChoosePort for Balancer {
    fn choose(&mut self, choice: Choice<'_>, waiting: impl Fn(u16) -> u32) -> usize {
        let count = choice.ports.len();
        // Ties are broken by a place that moves on with each choice. Otherwise the first port would get every packet
        // while all queues are empty, although it is still sending.
        let first = self.turn as usize % count;
        self.turn = self.turn.wrapping_add(1);
        let places = (0..count).map(|place| (first + place) % count);
        places.min_by_key(|&place| waiting(choice.ports[place])).unwrap_or(first)
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::SimTime;

    use super::*;

    #[test]
    fn the_shortest_queue_is_joined_and_equal_ones_in_turn() {
        let choice = Choice { now: SimTime::ZERO, flow_hash: 0, destination: 1, ports: &[4, 6, 8] };
        let mut balancer = Balancer::default();
        let mut chosen = |waiting: [u32; 3]| {
            let of = |port: u16| waiting[usize::from(port) / 2 - 2];
            (0..3).map(|_| balancer.choose(choice, of)).collect::<Vec<_>>()
        };
        assert_eq!(chosen([900, 100, 300]), [1, 1, 1]);
        assert_eq!(chosen([0, 0, 0]), [0, 1, 2]);
        assert_eq!(chosen([0, 50, 0]), [0, 2, 2]);
    }
}
