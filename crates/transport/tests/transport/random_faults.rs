//! Whatever the wire does: all work completes, in order, each message delivered exactly once.

use std::sync::Arc;

use proptest::prelude::*;
use rocelab_transport::{
    AckTimeout, Operation, PathMtu, QueuePairConfig, QueuePairProfile, Recovery,
};
use rocelab_units::{Bandwidth, Duration, SimTime};

use crate::pair::{Fate, Pair, QPN, ends, profile, work};

#[derive(Clone, Debug)]
struct Case {
    recovery: Recovery,
    mtu: u32,
    ack_interval: u32,
    ack_timeout: u8,
    initial_psns: [u32; 2],
    /// Work of each side: operation and length.
    work: [Vec<(Operation, u32)>; 2],
    /// What happens to the first frames, in the order of departure.
    faults: Vec<Fate>,
    spurious: bool,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        Just(Operation::Send),
        Just(Operation::SendWithImmediate(1)),
        Just(Operation::Write),
        Just(Operation::WriteWithImmediate(2)),
        Just(Operation::Read),
        Just(Operation::FetchAdd { add: 3 }),
        Just(Operation::CompareSwap { compare: 3, swap: 1 }),
    ]
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Deliver),
        2 => Just(Fate::Drop),
        1 => (0..20_000_000_u64).prop_map(|ps| Fate::Duplicate(Duration::from_ps(ps))),
        1 => (0..20_000_000_u64).prop_map(|ps| Fate::Delay(Duration::from_ps(ps))),
    ]
}

fn messages() -> impl Strategy<Value = Vec<(Operation, u32)>> {
    prop::collection::vec((operation(), 0..6000_u32), 0..12)
}

fn case() -> impl Strategy<Value = Case> {
    (
        prop::sample::select(Recovery::all()),
        prop::sample::select(vec![256_u32, 512, 1024]),
        prop::sample::select(vec![0_u32, 1, 2, 7]),
        1..5_u8,
        [0..1_u32 << 24, 0xff_fff0..1_u32 << 24],
        [messages(), messages()],
        prop::collection::vec(fate(), 0..400),
        any::<bool>(),
    )
        .prop_map(
            |(recovery, mtu, ack_interval, ack_timeout, initial_psns, work, faults, spurious)| {
                Case {
                    recovery,
                    mtu,
                    ack_interval,
                    ack_timeout,
                    initial_psns,
                    work,
                    faults,
                    spurious,
                }
            },
        )
}

fn connect(case: &Case) -> Pair {
    let profile = Arc::new(QueuePairProfile {
        recovery: case.recovery,
        path_mtu: PathMtu::try_from(case.mtu).unwrap(),
        ack_interval: case.ack_interval,
        ack_timeout: AckTimeout::try_from(case.ack_timeout).unwrap(),
        retry_count: 200,
        ..profile()
    });
    let [a, b] = ends(&profile, 0);
    let [first, second] = case.initial_psns;
    let mut pair = Pair::without_queue_pairs(Bandwidth::from_gbps(100));
    pair.connect([
        QueuePairConfig { initial_psn: first, remote_initial_psn: second, ..a },
        QueuePairConfig { initial_psn: second, remote_initial_psn: first, ..b },
    ]);
    pair
}

/// What a side receives: the other's SENDs and WRITEs, and its own READs and atomics, in order.
fn split_deliveries(work: &[(Operation, u32)]) -> (Vec<u64>, Vec<u64>) {
    let lengths = |responses: bool| {
        let chosen =
            work.iter().filter(move |(operation, _)| operation.awaits_response() == responses);
        let length = |&(operation, length): &(Operation, u32)| {
            u64::from(if operation.is_atomic() { 8 } else { length })
        };
        chosen.map(length).collect()
    };
    (lengths(false), lengths(true))
}

/// Whether `merged` is an interleaving of `a` and `b`.
fn is_interleaving(merged: &[u64], a: &[u64], b: &[u64]) -> bool {
    let mut reachable = vec![false; b.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let from_a = i > 0 && reachable[j] && merged.get(i + j - 1) == Some(&a[i - 1]);
            let from_b = j > 0 && reachable[j - 1] && merged.get(i + j - 1) == Some(&b[j - 1]);
            reachable[j] = (i == 0 && j == 0) || from_a || from_b;
        }
    }
    merged.len() == a.len() + b.len() && reachable[b.len()]
}

fn check(case: &Case) {
    let mut pair = connect(case);
    pair.spurious = case.spurious;
    pair.reorders = case.recovery.is_selective();
    let mut faults = case.faults.clone().into_iter();
    pair.rule = Box::new(move |_| faults.next().unwrap_or(Fate::Deliver));
    for side in [0, 1] {
        for (id, &(operation, length)) in (0..).zip(&case.work[side]) {
            pair.post(side, QPN, work(id, operation, length));
        }
    }
    pair.drive();
    for side in [0, 1] {
        pair.assert_all_succeeded(side, 0..case.work[side].len() as u64);
        let (written, _) = split_deliveries(&case.work[1 - side]);
        let (_, read) = split_deliveries(&case.work[side]);
        let counters = pair.nics[side].counters();
        let total: u64 = written.iter().chain(&read).sum();
        assert_eq!(counters.messages_delivered, (written.len() + read.len()) as u64);
        assert_eq!(counters.payload_delivered, total);
        assert!(
            pair.reorders || is_interleaving(&pair.delivered[side], &written, &read),
            "side {side} got {:?}, not {written:?} and {read:?}",
            pair.delivered[side]
        );
        let queue_pair = pair.nics[side].queue_pair(QPN).unwrap();
        assert_eq!(queue_pair.bytes_in_flight(), 0);
        assert_eq!(queue_pair.work_outstanding(), 0);
        assert_eq!(pair.nics[side].poll_timeout(), SimTime::NEVER);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_completes_in_order_exactly_once(case in case()) {
        check(&case);
    }
}

#[test]
fn interleavings_are_told_from_others() {
    assert!(is_interleaving(&[1, 2, 1, 3], &[1, 3], &[2, 1]));
    assert!(!is_interleaving(&[3, 2, 1, 1], &[1, 3], &[2, 1]));
    assert!(!is_interleaving(&[1, 2, 1], &[1, 3], &[2, 1]));
}
