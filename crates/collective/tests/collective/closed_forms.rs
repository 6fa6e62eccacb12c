//! Times of those algorithms that have a closed form, where n divides S, by the order of steps; and bounds for all.

use proptest::prelude::*;
use rocelab_collective::{
    Algorithm, Collective, Kind, Matrix, Options, Posted, Schedule, Step, check, execute,
};

use crate::timer::{USUAL, time};

/// 2 us (ps).
const LATENCY: u64 = USUAL.latency;

fn schedule(
    algorithm: Algorithm,
    kind: Kind,
    ranks: u32,
    bytes: u64,
    options: &Options,
) -> Box<dyn Schedule> {
    let collective = Collective::new(kind, ranks, bytes).expect("fits");
    algorithm.schedule(&collective, options).expect("fits")
}

/// Time on the wire (ps).
fn wire(bytes: u64) -> u64 {
    bytes * USUAL.byte
}

#[test]
fn messages_to_all_others() {
    for ranks in [2, 3, 8, 17, 64] {
        let (n, block) = (u64::from(ranks), 12_345);
        let of = |algorithm, kind| {
            time(&*schedule(algorithm, kind, ranks, n * block, &Options::default()), USUAL)
        };
        let at_once = LATENCY + (n - 1) * wire(block);
        let one_by_one = (n - 1) * (LATENCY + wire(block));
        for kind in [Kind::AllToAll, Kind::AllGather, Kind::ReduceScatter] {
            assert_eq!(of(Algorithm::Direct, kind), at_once, "{kind:?} {ranks}");
            assert_eq!(of(Algorithm::Pairwise, kind), one_by_one, "{kind:?} {ranks}");
        }
        assert_eq!(of(Algorithm::Direct, Kind::AllReduce), 2 * at_once);
        // The incast of the one who begins with rank 0 takes longer as soon as there are two who do.
        let incast = of(Algorithm::Linear, Kind::AllToAll);
        assert!(incast > at_once || ranks == 2, "{incast} {at_once}");
        assert_eq!(of(Algorithm::Linear, Kind::Gather), at_once);
        assert_eq!(of(Algorithm::Linear, Kind::Scatter), at_once);
        assert_eq!(of(Algorithm::Ring, Kind::SendReceive), LATENCY + wire(n * block));
        let all = LATENCY + (n - 1) * wire(n * block);
        assert_eq!(of(Algorithm::Linear, Kind::Broadcast), all);
        assert_eq!(of(Algorithm::Linear, Kind::Reduce), all);
    }
}

#[test]
fn powers_of_two() {
    for steps in 1..=6 {
        let ranks = 1 << steps;
        let (n, block) = (u64::from(ranks), 1000);
        let of = |algorithm, kind, bytes| {
            time(&*schedule(algorithm, kind, ranks, bytes, &Options::default()), USUAL)
        };
        let halves = steps * LATENCY + (n - 1) * wire(block);
        let s = n * block;
        assert_eq!(of(Algorithm::HalvingDoubling, Kind::ReduceScatter, s), halves);
        assert_eq!(of(Algorithm::HalvingDoubling, Kind::AllReduce, s), 2 * halves);
        assert_eq!(of(Algorithm::Bruck, Kind::AllGather, s), halves);
        assert_eq!(of(Algorithm::Binomial, Kind::Gather, s), halves);
        assert_eq!(of(Algorithm::Binomial, Kind::Scatter, s), halves);
        let whole = steps * (LATENCY + wire(s));
        assert_eq!(of(Algorithm::Binomial, Kind::Broadcast, s), whole);
        assert_eq!(of(Algorithm::Binomial, Kind::Reduce, s), whole);
        assert_eq!(of(Algorithm::RecursiveDoubling, Kind::AllReduce, s), whole);
        assert_eq!(of(Algorithm::Bruck, Kind::AllToAll, s), steps * (LATENCY + wire(s / 2)));
    }
}

#[test]
fn barriers() {
    for ranks in [2, 3, 5, 8, 33] {
        let of = |algorithm| {
            time(&*schedule(algorithm, Kind::Barrier, ranks, 0, &Options::default()), USUAL)
        };
        let phases = u64::from(ranks.next_power_of_two().trailing_zeros());
        assert_eq!(of(Algorithm::Bruck), phases * LATENCY);
        assert_eq!(of(Algorithm::Direct), LATENCY);
        assert_eq!(of(Algorithm::Ring), u64::from(ranks - 1) * LATENCY);
    }
}

#[test]
fn servers() {
    for (local, servers) in [(2, 2), (8, 4), (3, 5), (1, 6), (6, 1)] {
        let (g, m) = (u64::from(local), u64::from(servers));
        let (ranks, block) = (local * servers, 1000);
        let options = Options { ranks_per_server: local, ..Options::default() };
        let of = |algorithm, kind| {
            let bytes = u64::from(ranks) * block;
            time(&*schedule(algorithm, kind, ranks, bytes, &options), USUAL)
        };
        let inside = if local > 1 { LATENCY + (g - 1) * wire(m * block) } else { 0 };
        let rails = (m - 1) * (LATENCY + wire(block));
        for kind in [Kind::ReduceScatter, Kind::AllGather] {
            assert_eq!(of(Algorithm::Hierarchical, kind), inside + rails, "{local} {servers}");
        }
        assert_eq!(of(Algorithm::Hierarchical, Kind::AllReduce), 2 * (inside + rails));
        let across = if servers > 1 { LATENCY + (m - 1) * wire(g * block) } else { 0 };
        assert_eq!(of(Algorithm::Pxn, Kind::AllToAll), inside + across);
    }
}

/// A chain of k chunks: (n-1) a + (n-2+k) S/kB.
#[test]
fn chains() {
    for (ranks, chunks) in [(2, 1), (3, 5), (8, 16)] {
        let options = Options { chunk: Some(1000), ..Options::default() };
        let bytes = 1000 * chunks;
        let n = u64::from(ranks);
        for kind in [Kind::Broadcast, Kind::Reduce] {
            let found = time(&*schedule(Algorithm::Ring, kind, ranks, bytes, &options), USUAL);
            assert_eq!(found, (n - 1) * LATENCY + (n - 2 + chunks) * wire(1000));
        }
    }
}

/// A port carries at most 2 S each way, whatever the number of ranks, if it is even: a rank is inner in one tree only. With many
/// chunks, that and the first half of S/B, in which nothing comes down yet, is nearly all of the time.
#[test]
fn chunks_make_double_trees_fast() {
    for ranks in [4, 8, 16, 64] {
        let bytes = 256 << 20;
        let options = Options { chunk: Some(512 << 10), ..Options::default() };
        let tree = schedule(Algorithm::DoubleBinaryTree, Kind::AllReduce, ranks, bytes, &options);
        let checked = check(&*tree).expect("it is right");
        let mut received = vec![0; ranks as usize];
        for (&(from, to), &(_, carried)) in &checked.pairs {
            assert!(checked.sent(from) <= 2 * bytes);
            received[to as usize] += carried;
        }
        assert!(received.iter().all(|received| *received <= 2 * bytes), "{received:?}");
        let found = time(&*tree, USUAL);
        let least = wire(bytes) * 2 * u64::from(ranks - 1) / u64::from(ranks);
        assert!(found >= least && found < wire(bytes) * 5 / 2 * 102 / 100, "{ranks}: {found}");
    }
}

/// What a port carries at least (bytes), for kinds whose blocks are all alike.
fn least(collective: &Collective) -> u64 {
    let (n, s) = (u64::from(collective.ranks()), collective.bytes());
    match collective.kind() {
        Kind::AllReduce => 2 * (n - 1) * s / n,
        Kind::AllGather => s - s.div_ceil(n),
        Kind::Broadcast | Kind::Reduce if n > 1 => s,
        _ => 0,
    }
}

fn any_case() -> impl Strategy<Value = (Algorithm, Collective, Options)> {
    let algorithm = prop::sample::select(Algorithm::ALL);
    let kind = any::<prop::sample::Index>();
    let ranks = prop_oneof![1..20_u32, Just(32)];
    let sizes = (0..5_000_u64, prop::sample::select(vec![1_u32, 2, 4, 8]), any::<u32>());
    let cuts = (1..5_u32, prop::option::of(1..40_u64), 1..4_u32, any::<prop::sample::Index>());
    (algorithm, kind, ranks, sizes, cuts).prop_map(|(algorithm, kind, ranks, sizes, cuts)| {
        let (elements, element, seed) = sizes;
        let kind = *kind.get(algorithm.kinds());
        let bytes = elements * u64::from(element);
        let collective = match kind {
            Kind::Barrier => Collective::new(kind, ranks, 0),
            Kind::AllToAllV => {
                let entry = |at: u32| u64::from(at.wrapping_mul(seed | 1) % 97 * element);
                let row = |source| (0..ranks).map(|one| entry(source * ranks + one)).collect();
                let rows: Vec<_> = (0..ranks).map(row).collect();
                Matrix::new(&rows).and_then(Collective::all_to_all_v)
            }
            _ => Collective::new(kind, ranks, bytes),
        };
        let collective = collective.and_then(|one| one.with_element(element));
        let collective = collective.and_then(|one| one.with_root(seed % ranks)).expect("fits");
        let (channels, chunk, slices, server) = cuts;
        let sizes: Vec<_> = (1..=ranks).filter(|one| ranks.is_multiple_of(*one)).collect();
        let options = Options {
            channels,
            chunk: chunk.map(|chunk| chunk * 16 * u64::from(element)),
            slices,
            ranks_per_server: *server.get(&sizes),
            rings: Vec::new(),
        };
        (algorithm, collective, options)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn any_schedule_is_right((algorithm, collective, options) in any_case()) {
        let Ok(schedule) = algorithm.schedule(&collective, &options) else {
            // Some need powers of two.
            prop_assert!(!collective.ranks().is_power_of_two());
            return Ok(());
        };
        let checked = check(&*schedule);
        prop_assert!(checked.is_ok(), "{checked:?}");
        let mut largest = 0;
        let mut cut = None;
        let element = u64::from(collective.element());
        execute(&*schedule, &mut |posted: &Posted| {
            largest = largest.max(posted.message.bytes);
            let is_whole = |piece: &rocelab_collective::Piece| {
                piece.source.is_multiple_of(element) && piece.bytes.is_multiple_of(element)
            };
            if !posted.pieces.iter().all(is_whole) {
                cut = Some(posted.clone());
            }
        }).expect("it was right");
        prop_assert_eq!(cut, None);
        prop_assert_eq!(schedule.largest_message(), largest);
        if algorithm != Algorithm::Nvls {
            prop_assert!(time(&*schedule, USUAL) >= wire(least(&collective)));
        }
        let mut step = Step::default();
        for rank in 0..collective.ranks() {
            schedule.step(rank, 0, schedule.steps(rank, 0), &mut step);
            prop_assert_eq!(&step, &Step::default());
        }
        prop_assert_eq!(schedule.steps(0, schedule.lanes()), 0);
    }
}
