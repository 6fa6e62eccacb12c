//! Adaptive routing of InfiniBand with bounds: a destination keeps its port for a while, and takes the least busy one after that.
//! Packets of a flow overtake each other only where it changes.

use rocelab_units::{Duration, SimTime};

use super::adaptive_greedy::least_busy;
use super::{Choice, ChoosePort};

/// How long a destination keeps its port.
const BOUND: Duration = Duration::from_us(2);

/// The ports of one switch that destinations keep.
#[derive(Debug, Default)]
pub struct Balancer {
    /// By destination: its port, and until when it keeps that.
    kept: Vec<Option<(u16, SimTime)>>,
}

// All of it is saved in a checkpoint.
rocelab_state::state!(Balancer { values: kept });

impl ChoosePort for Balancer {
    fn choose(&mut self, choice: Choice<'_>, waiting: impl Fn(u16) -> u32) -> usize {
        let index = choice.destination as usize;
        if self.kept.len() <= index {
            self.kept.resize(index + 1, None);
        }
        let kept = &mut self.kept[index];
        let place_of = |port: u16| choice.ports.iter().position(|&one| one == port);
        let usable =
            |&(port, _): &(u16, SimTime)| place_of(port).is_some() && waiting(port) < u32::MAX;
        let current = kept.filter(usable);
        if let Some((port, until)) = current
            && choice.now < until
        {
            return place_of(port).unwrap_or(0);
        }
        let least = least_busy(&choice, &waiting);
        let place = current
            .filter(|&(port, _)| waiting(port) <= waiting(choice.ports[least]))
            .and_then(|(port, _)| place_of(port))
            .unwrap_or(least);
        *kept = Some((choice.ports[place], choice.now.saturating_add(BOUND)));
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the ports 4, 6 and 8 is taken at a time (us).
    fn choose(balancer: &mut Balancer, us: u64, destination: u32, waiting: [u32; 3]) -> usize {
        let now = SimTime::ZERO + Duration::from_us(us);
        let choice = Choice { now, flow_hash: 0, destination, ports: &[4, 6, 8] };
        balancer.choose(choice, |port| waiting[usize::from(port) / 2 - 2])
    }

    #[test]
    fn a_destination_keeps_its_port_for_two_microseconds() {
        let mut balancer = Balancer::default();
        assert_eq!(choose(&mut balancer, 0, 5, [9, 1, 9]), 1);
        assert_eq!(choose(&mut balancer, 1, 5, [0, 50, 0]), 1, "it is bound");
        assert_eq!(choose(&mut balancer, 1, 3, [0, 50, 0]), 0, "another destination is not");
        assert_eq!(choose(&mut balancer, 2, 5, [9, 50, 0]), 2, "the bound is over");
        assert_eq!(choose(&mut balancer, 3, 5, [0, 0, 50]), 2);
        assert_eq!(choose(&mut balancer, 4, 5, [7, 7, 7]), 2, "of equal ones it keeps its own");
    }

    #[test]
    fn a_port_that_would_drop_packets_is_not_kept() {
        let mut balancer = Balancer::default();
        assert_eq!(choose(&mut balancer, 0, 5, [9, 1, 9]), 1);
        assert_eq!(choose(&mut balancer, 1, 5, [9, u32::MAX, 8]), 2);
    }
}
