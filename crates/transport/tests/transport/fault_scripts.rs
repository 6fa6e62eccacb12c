//! The four promises, with real payload and whatever the wire does: nothing lost, nothing twice,
//! nothing out of order, nothing altered; or an error completion. Never a hang.
//!
//! `FAULT_SCRIPTS=1000000 cargo test --release -p rocelab-transport fault_scripts` runs more of
//! them than the 10,000 of every test run, from another seed.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rocelab_transport::{
    Access, AckCoalescing, AckTimeout, CompletionStatus, Memory, MemoryRegion, Operation, PathMtu,
    QueuePairProfile, QueuePairState, ReceiveQueueConfig, ReceiveRequest, Recovery,
    RetransmissionTimeouts, WorkRequest,
};
use rocelab_units::{Bandwidth, Duration, SimTime};

use crate::pair::{Fate, Pair, QPN, ends, profile};

/// Where things are in the memory of both sides: each work request, and each receive request, has
/// a place of its own in each stretch.
const PLACE: u64 = 32_768;
const SOURCE: u64 = 0x100_0000;
const TARGET: u64 = 0x200_0000;
const RECEIVED: u64 = 0x300_0000;
const WORD: u64 = 0x400_0000;
const KEY: u32 = 0xabcd;
const PLACES: u64 = 12;

#[derive(Clone, Debug)]
struct Script {
    profile: Profile,
    /// Work of each side: operation and length.
    work: [Vec<(Operation, u32)>; 2],
    /// What happens to the first frames, in the order of departure.
    faults: Vec<Fate>,
    /// Receive requests that are posted before the work; the others follow 1 ms later.
    receives: [usize; 2],
    spurious: bool,
}

#[derive(Clone, Debug)]
struct Profile {
    recovery: Recovery,
    mtu: u32,
    ack_interval: u32,
    ack_timeout: u8,
    retry_count: u8,
    rnr_retry: u8,
    max_rd_atomic: u32,
    max_outstanding: u32,
    coalescing: Option<u32>,
    timeouts: bool,
    initial_psns: [u32; 2],
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        Just(Operation::Send),
        any::<u32>().prop_map(Operation::SendWithImmediate),
        Just(Operation::Write),
        any::<u32>().prop_map(Operation::WriteWithImmediate),
        Just(Operation::Read),
        (0..9_u64).prop_map(|add| Operation::FetchAdd { add }),
        (0..9_u64, 0..9_u64).prop_map(|(compare, swap)| Operation::CompareSwap { compare, swap }),
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
    // Some READs of more packets than one selective acknowledgement speaks of.
    let length = prop_oneof![9 => 0..6000_u32, 1 => 20_000..32_000_u32];
    prop::collection::vec((operation(), length), 0..usize::try_from(PLACES).unwrap())
}

fn any_profile() -> impl Strategy<Value = Profile> {
    let acknowledging = (
        prop::sample::select(vec![0_u32, 1, 2, 7]),
        1..5_u8,
        prop_oneof![Just(2_u8), Just(7), Just(200)],
        prop_oneof![Just(2_u8), Just(7)],
        prop::option::of(1..10_u32),
        any::<bool>(),
    );
    (
        prop::sample::select(Recovery::all()),
        prop::sample::select(vec![256_u32, 512, 1024]),
        acknowledging,
        1..8_u32,
        prop_oneof![Just(8_u32), Just(40), Just(1 << 23)],
        [0..1_u32 << 24, 0xff_fff0..1_u32 << 24],
    )
        .prop_map(
            |(recovery, mtu, acknowledging, max_rd_atomic, max_outstanding, initial_psns)| {
                let (ack_interval, ack_timeout, retry_count, rnr_retry, coalescing, timeouts) =
                    acknowledging;
                Profile {
                    recovery,
                    mtu,
                    ack_interval,
                    ack_timeout,
                    retry_count,
                    rnr_retry,
                    max_rd_atomic,
                    max_outstanding,
                    coalescing,
                    timeouts,
                    initial_psns,
                }
            },
        )
}

fn script() -> impl Strategy<Value = Script> {
    (
        any_profile(),
        [messages(), messages()],
        prop::collection::vec(fate(), 0..400),
        [0..14_usize, 0..14_usize],
        any::<bool>(),
    )
        .prop_map(|(profile, work, faults, receives, spurious)| Script {
            profile,
            work,
            faults,
            receives,
            spurious,
        })
}

/// The bytes of work request `id` of `side`, on their way in direction `side` to the other.
fn pattern(side: usize, id: u64, length: u32) -> Vec<u8> {
    let seed = id * 2 + side as u64 + 1;
    (0..u64::from(length)).map(|place| ((place * seed * 31 + seed) >> 3).to_le_bytes()[0]).collect()
}

fn memory(script: &Script, side: usize) -> Memory {
    let mut memory = Memory::protected();
    let length = usize::try_from(PLACE * PLACES).unwrap();
    let mut sources = vec![0; length];
    let mut targets = vec![0; length];
    for (id, &(operation, length)) in (0..).zip(&script.work[side]) {
        if !operation.awaits_response() {
            put(&mut sources, id, &pattern(side, id, length));
        }
    }
    for (id, &(operation, length)) in (0..).zip(&script.work[1 - side]) {
        if operation.is_read() {
            put(&mut targets, id, &pattern(side, id, length));
        }
    }
    memory.place(SOURCE, sources).unwrap();
    memory.place(TARGET, targets).unwrap();
    memory.place(RECEIVED, vec![0; length]).unwrap();
    memory.place(WORD, vec![0; 8]).unwrap();
    let region =
        |r_key, address, length| MemoryRegion { r_key, address, length, access: Access::ALL };
    memory.register(region(KEY, TARGET, PLACE * PLACES)).unwrap();
    memory.register(region(KEY + 1, WORD, 8)).unwrap();
    memory
}

fn put(stretch: &mut [u8], id: u64, bytes: &[u8]) {
    let start = usize::try_from(id * PLACE).unwrap();
    stretch[start..start + bytes.len()].copy_from_slice(bytes);
}

fn connect(script: &Script) -> Pair {
    let chosen = &script.profile;
    let profile = Arc::new(QueuePairProfile {
        recovery: chosen.recovery,
        path_mtu: PathMtu::try_from(chosen.mtu).unwrap(),
        ack_interval: chosen.ack_interval,
        ack_timeout: AckTimeout::try_from(chosen.ack_timeout).unwrap(),
        retry_count: chosen.retry_count,
        rnr_retry: chosen.rnr_retry,
        rnr_timer: 1,
        max_rd_atomic: chosen.max_rd_atomic,
        max_dest_rd_atomic: chosen.max_rd_atomic,
        timeouts: chosen.timeouts.then_some(RetransmissionTimeouts {
            low: Duration::from_us(10),
            high: Duration::from_us(40),
            low_packets: 3,
        }),
        max_outstanding: chosen.max_outstanding,
        ack_coalescing: chosen
            .coalescing
            .map(|packets| AckCoalescing { packets, delay: Duration::from_us(3) }),
        ..profile()
    });
    let mut ends = ends(&profile, 0);
    let [first, second] = chosen.initial_psns;
    for (end, own, other) in [(0, first, second), (1, second, first)] {
        ends[end].initial_psn = own;
        ends[end].remote_initial_psn = other;
        ends[end].receive_queue = ReceiveQueueConfig::Own;
    }
    let mut pair = Pair::without_queue_pairs(Bandwidth::from_gbps(100));
    pair.connect(ends);
    for side in [0, 1] {
        pair.nics[side].set_memory(memory(script, side));
    }
    pair.reorders = true;
    pair.keep_log = false;
    pair.spurious = script.spurious;
    let mut faults = script.faults.clone().into_iter();
    pair.rule = Box::new(move |_| faults.next().unwrap_or(Fate::Deliver));
    pair
}

fn post_receives(pair: &mut Pair, side: usize, ids: std::ops::Range<usize>) {
    for id in ids {
        let id = id as u64;
        let address = RECEIVED + id * PLACE;
        let request = ReceiveRequest { id, address, length: u32::try_from(PLACE).unwrap() };
        pair.nics[side].post_receive(QPN, request).unwrap();
    }
}

fn post_work(pair: &mut Pair, script: &Script, side: usize) {
    for (id, &(operation, length)) in (0..).zip(&script.work[side]) {
        let work = WorkRequest::new(id, operation, length).local(SOURCE + id * PLACE);
        let work = if operation.is_atomic() {
            work.to(WORD, KEY + 1)
        } else {
            work.to(TARGET + id * PLACE, KEY)
        };
        pair.post(side, QPN, work);
    }
}

/// Work that takes a receive request, by its place in the list.
fn takers(work: &[(Operation, u32)]) -> Vec<u64> {
    let takes = |operation: Operation| {
        matches!(operation, Operation::Send | Operation::SendWithImmediate(_))
            || operation.immediate().is_some()
    };
    (0..).zip(work).filter(|(_, (operation, _))| takes(*operation)).map(|(id, _)| id).collect()
}

fn check(script: &Script) {
    let mut pair = connect(script);
    let needed = [1, 0].map(|sender| takers(&script.work[sender]).len());
    for side in [0, 1] {
        post_receives(&mut pair, side, 0..script.receives[side].min(needed[side]));
        post_work(&mut pair, script, side);
    }
    pair.drive_until(SimTime::from_ps(1_000_000_000));
    for side in [0, 1] {
        post_receives(&mut pair, side, script.receives[side].min(needed[side])..needed[side]);
    }
    pair.drive();
    for side in [0, 1] {
        check_completions(&pair, script, side);
        check_received(&pair, script, side);
        check_memory(&pair, script, side);
        assert_eq!(pair.nics[side].poll_timeout(), SimTime::NEVER);
    }
}

/// How many work requests of a side succeeded.
fn succeeded(pair: &Pair, side: usize) -> usize {
    let success = |status| status == CompletionStatus::Success;
    pair.completions[side].iter().filter(|done| success(done.status)).count()
}

/// Each work request completes once, in order: successes, then at most one failure, then what was
/// flushed; failures only where retries ran out on either side.
fn check_completions(pair: &Pair, script: &Script, side: usize) {
    let completions = &pair.completions[side];
    let ids: Vec<_> = completions.iter().map(|done| done.id).collect();
    assert_eq!(ids, (0..script.work[side].len() as u64).collect::<Vec<_>>());
    let good = succeeded(pair, side);
    for (place, done) in completions.iter().enumerate() {
        let expected: &[CompletionStatus] = match place.cmp(&good) {
            std::cmp::Ordering::Less => &[CompletionStatus::Success],
            std::cmp::Ordering::Equal => &[
                CompletionStatus::RetryExceeded,
                CompletionStatus::RnrRetryExceeded,
                CompletionStatus::Flushed,
            ],
            std::cmp::Ordering::Greater => &[CompletionStatus::Flushed],
        };
        assert!(expected.contains(&done.status), "{place}: {done:?}");
    }
    if good == completions.len() {
        return;
    }
    assert_eq!(pair.nics[side].queue_pair(QPN).unwrap().state(), QueuePairState::Error);
    assert!(
        script.profile.retry_count < 200 || script.profile.rnr_retry < 7,
        "patience was enough"
    );
}

/// Receive requests complete in order, with what the other side sent, in order.
fn check_received(pair: &Pair, script: &Script, side: usize) {
    let sender = &script.work[1 - side];
    let takers = takers(sender);
    let received = pair.received[side].iter();
    let received: Vec<_> =
        received.filter(|done| done.status == CompletionStatus::Success).collect();
    let ids: Vec<_> = received.iter().map(|done| done.id).collect();
    assert_eq!(ids, (0..received.len() as u64).collect::<Vec<_>>());
    for (done, &sent) in received.iter().zip(&takers) {
        let (operation, length) = sender[usize::try_from(sent).unwrap()];
        assert_eq!((done.bytes, done.immediate), (length, operation.immediate()));
        if matches!(operation, Operation::Send | Operation::SendWithImmediate(_)) {
            let address = RECEIVED + done.id * PLACE;
            assert_bytes(pair, side, address, &pattern(1 - side, sent, length));
        }
    }
    let acknowledged = succeeded(pair, 1 - side) as u64;
    let owed = takers.iter().filter(|&&id| id < acknowledged).count();
    assert!(received.len() >= owed, "{} received of {owed} acknowledged", received.len());
}

/// What succeeded was done, once; what did not succeed touched nothing but its own place.
fn check_memory(pair: &Pair, script: &Script, side: usize) {
    let mut word = 0;
    let mut words = vec![word];
    for (id, &(operation, length)) in (0..).zip(&script.work[side]) {
        let done = &pair.completions[side][usize::try_from(id).unwrap()];
        let success = done.status == CompletionStatus::Success;
        if operation.is_atomic() {
            assert!(!success || done.original == word, "{id}: found {}", done.original);
            word = match operation {
                Operation::FetchAdd { add } => word.wrapping_add(add),
                Operation::CompareSwap { compare, swap } if word == compare => swap,
                _ => word,
            };
            words.push(word);
        } else if success && operation.is_read() {
            assert_bytes(pair, side, SOURCE + id * PLACE, &pattern(1 - side, id, length));
        } else if success && !matches!(operation, Operation::Send | Operation::SendWithImmediate(_))
        {
            assert_bytes(pair, 1 - side, TARGET + id * PLACE, &pattern(side, id, length));
        }
    }
    let bytes = pair.nics[1 - side].memory().unwrap().bytes(WORD, 8).unwrap();
    let found = u64::from_le_bytes(bytes.try_into().unwrap());
    let all = succeeded(pair, side) == script.work[side].len();
    assert!(if all { found == word } else { words.contains(&found) }, "{found} of {words:?}");
}

#[track_caller]
fn assert_bytes(pair: &Pair, side: usize, address: u64, expected: &[u8]) {
    let found = pair.nics[side].memory().unwrap().bytes(address, expected.len()).unwrap();
    assert!(found == expected, "bytes at {address:#x} of side {side} were altered");
}

#[test]
fn data_is_right_exactly_once_or_an_error() {
    let more = std::env::var("FAULT_SCRIPTS").ok().and_then(|count| count.parse().ok());
    let config = ProptestConfig {
        cases: more.unwrap_or(10_000),
        rng_seed: if more.is_some() { RngSeed::Random } else { RngSeed::Fixed(4791) },
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(script in script())| check(&script));
}
