//! Rings.

use rocelab_collective::{
    Algorithm, Collective, Kind, Message, Operation, Options, Step, check, rail_rings,
};

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

/// With an even number of servers, no message goes from one rail to another, and each rank sends and receives as much over
/// its NIC as any other one.
#[test]
fn rings_over_servers_stay_on_their_rails() {
    for (servers, local) in [(2, 2), (4, 8), (6, 3)] {
        let ranks = servers * local;
        let mut out = vec![0; ranks as usize];
        let mut into = out.clone();
        for ring in rail_rings(servers, local, local) {
            let next = ring.iter().cycle().skip(1);
            for (&from, &to) in
                ring.iter().zip(next).filter(|(from, to)| **from / local != **to / local)
            {
                assert_eq!(from % local, to % local);
                out[from as usize] += 1;
                into[to as usize] += 1;
            }
        }
        assert!(out.iter().chain(&into).all(|count| *count == 1), "{out:?} {into:?}");
    }
    // From the third server to the first one, rails differ.
    assert_eq!(rail_rings(3, 2, 1), [[0, 1, 3, 2, 4, 5]]);
}

#[test]
fn channels_have_rings_of_their_own() {
    for &kind in Algorithm::Ring.kinds() {
        let bytes = if kind == Kind::Barrier { 0 } else { 1001 };
        let collective = Collective::new(kind, 8, bytes).expect("fits");
        let collective = collective.with_root(5).expect("a rank");
        let on_rails = Options { channels: 4, ranks_per_server: 4, ..Options::default() };
        let rings = vec![vec![0, 3, 6, 1, 4, 7, 2, 5], (0..8).collect()];
        let own = Options { channels: 3, rings, ..Options::default() };
        for options in [on_rails, own] {
            let schedule = Algorithm::Ring.schedule(&collective, &options).expect("fits");
            check(&*schedule).unwrap_or_else(|fault| panic!("{kind:?} {options:?}: {fault}"));
        }
    }
}
