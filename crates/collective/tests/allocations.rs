//! A step needs no memory of its own: vectors of the one before it are used again.

use rocelab_collective::{Algorithm, Collective, Kind, Matrix, Options, Step};

fn collective(kind: Kind) -> Collective {
    let collective = match kind {
        Kind::Barrier => Collective::new(kind, 16, 0),
        Kind::AllToAllV => Matrix::new(&vec![vec![100; 16]; 16]).and_then(Collective::all_to_all_v),
        _ => Collective::new(kind, 16, 100_000),
    };
    collective.expect("fits")
}

#[test]
fn steps_allocate_nothing() {
    for &algorithm in Algorithm::ALL {
        for &kind in algorithm.kinds() {
            let options = Options {
                channels: 2,
                chunk: Some(1600),
                slices: 2,
                ranks_per_server: 4,
                ..Options::default()
            };
            let schedule = algorithm.schedule(&collective(kind), &options).expect("fits");
            let mut step = Step::default();
            let mut steps = 0_u64;
            let mut walk = |step: &mut Step| {
                for rank in 0..16 + schedule.switches() {
                    for lane in 0..schedule.lanes() {
                        for number in 0..schedule.steps(rank, lane) {
                            schedule.step(rank, lane, number, step);
                            steps += 1;
                        }
                    }
                }
            };
            walk(&mut step);
            let allocated = allocation_counter::measure(|| walk(&mut step));
            assert!(steps > 0);
            assert_eq!(allocated.count_total, 0, "{algorithm:?} {kind:?}");
        }
    }
}
