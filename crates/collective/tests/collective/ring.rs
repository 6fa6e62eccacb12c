//! The first steps of a ring.

use rocelab_collective::{Algorithm, Collective, Kind, Message, Operation, Options, Step};

#[test]
fn a_ring_all_reduce_of_three_ranks() {
    let collective = Collective::new(Kind::AllReduce, 3, 10).expect("fits");
    let schedule = Algorithm::Ring.schedule(&collective, &Options::default()).expect("fits");
    let mut step = Step::default();
    let message = |peer, bytes, operation| Message { peer, lane: 0, bytes, operation };
    let (reduce, copy) = (Operation::Reduce, Operation::Copy);
    // Blocks have 4, 3 and 3 bytes. Rank 1 sends block 0, 2, 1 (complete) and 0.
    let sends = [
        Some(message(2, 4, reduce)),
        Some(message(2, 3, reduce)),
        Some(message(2, 3, copy)),
        Some(message(2, 4, copy)),
        None,
    ];
    let receives = [
        None,
        Some(message(0, 3, reduce)),
        Some(message(0, 3, reduce)),
        Some(message(0, 4, copy)),
        Some(message(0, 3, copy)),
    ];
    assert_eq!((schedule.lanes(), schedule.steps(1, 0)), (1, 5));
    for (number, (send, receive)) in (0..).zip(sends.into_iter().zip(receives)) {
        schedule.step(1, 0, number, &mut step);
        assert_eq!(step.sends.first().copied(), send, "{number}");
        assert_eq!(step.receives.first().copied(), receive, "{number}");
    }
    let connections: Vec<_> = schedule.connections().collect();
    assert_eq!(connections, [(0, 1), (1, 2), (2, 0)]);
}
