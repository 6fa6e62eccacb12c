//! A flow takes the port with the place of its other port: both are on the same rail of a rail-optimised network. Flows
//! whose other port belongs to no server, or is not chosen yet, take the ports in turn.

use super::{ServerFlow, round_robin};

pub(super) fn select(flow: &ServerFlow) -> usize {
    match flow.peer_port {
        Some(place) => place % flow.ports,
        None => round_robin::select(flow),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ports_have_the_same_place() {
        let flow = |peer_port| select(&ServerFlow { number: 5, ports: 4, peer_port });
        assert_eq!([None, Some(0), Some(3), Some(6)].map(flow), [1, 0, 3, 2]);
    }
}
