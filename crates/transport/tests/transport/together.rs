//! Many queue pairs of one pair of NICs at once, of all services and with all verbs: what arrives for
//! one of them must not disturb the others.

use std::sync::Arc;

use proptest::prelude::*;
use rocelab_transport::{
    AckTimeout, AddressHandle, CompletionStatus, Memory, NicConfig, Operation, PathMtu,
    QueuePairConfig, QueuePairProfile, ReceiveQueueConfig, ReceiveRequest, Recovery, Service,
};
use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wire::{Encapsulation, encapsulation_len};

use crate::pair::{Fate, Pair, QPN, ends, profile, work};

/// Work of one side of a queue pair: operation and length.
type Work = Vec<(Operation, u32)>;

#[derive(Clone, Debug)]
struct Connection {
    service: Service,
    /// Whether SENDs take receive requests.
    has_receive_queue: bool,
    work: [Work; 2],
}

#[derive(Clone, Debug)]
struct Case {
    encapsulation: Encapsulation,
    recovery: Recovery,
    mtu: u32,
    connections: Vec<Connection>,
    /// Whether the NICs have memory with bytes in it: from the beginning, later, or never.
    memory_after: Option<Duration>,
    /// What happens to the first frames, in the order of departure.
    faults: Vec<Fate>,
}

/// Bytes of memory at the address of all work, more than any message has.
const PLACED: usize = 8192;

fn operation(service: Service) -> BoxedStrategy<Operation> {
    let mut all = vec![Operation::Send, Operation::SendWithImmediate(1)];
    if !service.is_datagram() {
        all.extend([Operation::Write, Operation::WriteWithImmediate(2)]);
    }
    if service.is_reliable() {
        let atomics =
            [Operation::FetchAdd { add: 3 }, Operation::CompareSwap { compare: 3, swap: 1 }];
        all.push(Operation::Read);
        all.extend(atomics);
    }
    prop::sample::select(all).boxed()
}

fn connection(mtu: u32) -> impl Strategy<Value = Connection> {
    let services = vec![
        Service::ReliableConnection,
        Service::ReliableConnection,
        Service::ReliableConnection,
        Service::UnreliableConnection,
        Service::UnreliableDatagram,
    ];
    prop::sample::select(services).prop_flat_map(move |service| {
        let most = if service.is_datagram() { mtu } else { 6000 };
        let messages = move || prop::collection::vec((operation(service), 0..=most), 0..6);
        (any::<bool>(), [messages(), messages()]).prop_map(move |(has_receive_queue, work)| {
            Connection { service, has_receive_queue, work }
        })
    })
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Deliver),
        2 => Just(Fate::Drop),
        1 => (0..20_000_000_u64).prop_map(|ps| Fate::Duplicate(Duration::from_ps(ps))),
        1 => (0..20_000_000_u64).prop_map(|ps| Fate::Delay(Duration::from_ps(ps))),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    prop::sample::select(vec![256_u32, 1024]).prop_flat_map(|mtu| {
        (
            prop::sample::select(vec![
                Encapsulation::V1,
                Encapsulation::V2Ipv4,
                Encapsulation::V2Ipv6,
            ]),
            prop::sample::select(Recovery::all()),
            prop::collection::vec(connection(mtu), 2..9),
            prop::option::of((0..6_000_000_u64).prop_map(Duration::from_ps)),
            prop_oneof![Just(Vec::new()), prop::collection::vec(fate(), 1..300)],
        )
            .prop_map(
                move |(encapsulation, recovery, connections, memory_after, faults)| Case {
                    encapsulation,
                    recovery,
                    mtu,
                    connections,
                    memory_after,
                    faults,
                },
            )
    })
}

fn nics(encapsulation: Encapsulation) -> Pair {
    let line_rate = Bandwidth::from_gbps(100);
    let mut pair = Pair::without_queue_pairs(line_rate);
    let encapsulation_len = u16::try_from(encapsulation_len(encapsulation, false)).unwrap();
    let config = NicConfig { line_rate, encapsulation_len, seed: 0 };
    pair.nics = [0, 1].map(|_| rocelab_transport::Nic::new(config));
    pair
}

fn connect(pair: &mut Pair, case: &Case, index: u32, connection: &Connection) {
    let profile = Arc::new(QueuePairProfile {
        service: connection.service,
        recovery: case.recovery,
        path_mtu: PathMtu::try_from(case.mtu).unwrap(),
        ack_timeout: AckTimeout::try_from(5).unwrap(),
        retry_count: 200,
        ..profile()
    });
    let receive_queue = if connection.has_receive_queue {
        ReceiveQueueConfig::Own
    } else {
        ReceiveQueueConfig::Endless
    };
    pair.connect(ends(&profile, index).map(|end| QueuePairConfig { receive_queue, ..end }));
    if connection.has_receive_queue {
        for side in [0, 1] {
            for id in 0..connection.work[1 - side].len() as u64 {
                let request = ReceiveRequest { id, address: 0x1000, length: 8192 };
                pair.nics[side].post_receive(QPN + index, request).unwrap();
            }
        }
    }
}

fn post(pair: &mut Pair, index: u32, connection: &Connection) {
    let qpn = QPN + index;
    for side in [0, 1] {
        for (id, &(operation, length)) in (0..).zip(&connection.work[side]) {
            let work = work(id, operation, length).local(0x1000);
            if connection.service.is_datagram() {
                let to = AddressHandle { destination: 7, entropy: 0, dest_qp: qpn, q_key: 0 };
                pair.nics[side].post_datagram(pair.now, qpn, work, to).unwrap();
            } else {
                pair.post(side, qpn, work);
            }
        }
    }
}

fn set_memory(pair: &mut Pair) {
    for nic in &mut pair.nics {
        let mut memory = Memory::open();
        memory.place(0x1000, vec![7; PLACED]).unwrap();
        nic.set_memory(memory);
    }
}

/// Messages and bytes that side `side` takes, its own READs and atomics among them.
fn due(connections: &[Connection], side: usize, service: Option<Service>) -> (u64, u64) {
    let chosen = connections.iter().filter(|one| service.is_none_or(|only| one.service == only));
    let lengths = chosen.flat_map(|one| {
        let taken = |from: usize, responses: bool| {
            let work = one.work[from].iter();
            work.filter(move |(operation, _)| operation.awaits_response() == responses)
        };
        taken(1 - side, false)
            .chain(taken(side, true))
            .map(|&(operation, length)| u64::from(if operation.is_atomic() { 8 } else { length }))
    });
    lengths.fold((0, 0), |(count, bytes), length| (count + 1, bytes + length))
}

fn check(case: &Case) {
    let mut pair = nics(case.encapsulation);
    pair.reorders = case.recovery.is_selective();
    let mut faults = case.faults.clone().into_iter();
    pair.rule = Box::new(move |_| faults.next().unwrap_or(Fate::Deliver));
    for (index, connection) in (0..).zip(&case.connections) {
        connect(&mut pair, case, index, connection);
    }
    for (index, connection) in (0..).zip(&case.connections) {
        post(&mut pair, index, connection);
    }
    if let Some(after) = case.memory_after {
        pair.drive_until(SimTime::ZERO + after);
        set_memory(&mut pair);
    }
    pair.drive();
    for side in [0, 1] {
        for (index, connection) in (0..).zip(&case.connections) {
            let ended: Vec<_> = pair.completions[side]
                .iter()
                .filter(|completion| completion.qpn == QPN + index)
                .map(|completion| (completion.id, completion.status))
                .collect();
            let all = 0..connection.work[side].len() as u64;
            let expected: Vec<_> = all.map(|id| (id, CompletionStatus::Success)).collect();
            assert_eq!(ended, expected, "side {side}, connection {index}");
        }
        let counters = pair.nics[side].counters();
        let delivered = (counters.messages_delivered, counters.payload_delivered);
        if case.faults.is_empty() {
            assert_eq!(delivered, due(&case.connections, side, None));
            assert_eq!(counters.out_of_order, 0);
        } else {
            let reliable = due(&case.connections, side, Some(Service::ReliableConnection));
            assert!(delivered >= reliable, "{delivered:?}, not {reliable:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn queue_pairs_do_not_disturb_each_other(case in case()) {
        check(&case);
    }
}

/// A message of several packets on one queue pair, and `operation` on another, which arrives between
/// two of them.
fn beside(message: Operation, service: Service, operation: Operation) -> Pair {
    let mut pair = Pair::without_queue_pairs(Bandwidth::from_gbps(100));
    pair.connect(ends(&Arc::new(QueuePairProfile { service, ..profile() }), 0));
    pair.connect(ends(&Arc::new(profile()), 1));
    pair.post(0, QPN, work(0, message, 20_000));
    pair.post(0, QPN + 1, work(0, operation, 8));
    pair.drive();
    pair
}

#[test]
fn an_atomic_operation_disturbs_no_message_of_another_queue_pair() {
    let atomics = [Operation::FetchAdd { add: 1 }, Operation::CompareSwap { compare: 0, swap: 1 }];
    let messages = [Operation::Send, Operation::SendWithImmediate(1), Operation::Write];
    let messages = messages.into_iter().chain([Operation::WriteWithImmediate(2), Operation::Read]);
    for message in messages {
        for service in [Service::ReliableConnection, Service::UnreliableConnection] {
            for operation in atomics.into_iter().filter(|_| service.supports(message)) {
                let pair = beside(message, service, operation);
                let statuses: Vec<_> = pair.completions[0].iter().map(|one| one.status).collect();
                assert_eq!(statuses, [CompletionStatus::Success; 2], "{message:?} {service:?}");
                let taken: u64 = [0, 1].iter().map(|&side| pair.delivered[side].len() as u64).sum();
                assert_eq!(taken, 2, "{message:?} {service:?}");
            }
        }
    }
}

/// Words that atomic operations wrote are no memory to look at: packets of others stay as cheap as
/// they were.
#[test]
fn an_atomic_operation_gives_a_nic_no_memory() {
    let pair =
        beside(Operation::Write, Service::ReliableConnection, Operation::FetchAdd { add: 1 });
    assert!(pair.nics.iter().all(|nic| nic.memory().is_none()));
}

#[test]
fn a_message_that_has_begun_is_not_checked_against_memory_that_came_later() {
    for service in [Service::ReliableConnection, Service::UnreliableConnection] {
        for message in [Operation::Send, Operation::Write, Operation::WriteWithImmediate(1)] {
            let mut pair = Pair::without_queue_pairs(Bandwidth::from_gbps(100));
            pair.connect(ends(&Arc::new(QueuePairProfile { service, ..profile() }), 0));
            pair.post(0, QPN, work(0, message, 20_000));
            pair.drive_until(SimTime::from_ps(1_500_000));
            assert_eq!(pair.delivered[1], [0_u64; 0], "it is under way");
            pair.nics[1].set_memory(Memory::protected());
            pair.drive();
            assert_eq!(pair.delivered[1], [20_000], "{message:?} {service:?}");
        }
    }
}

/// Also the first one at a NIC without memory.
#[test]
fn the_first_atomic_operation_at_an_unaligned_address_is_refused() {
    let mut pair = Pair::new(profile());
    let fetch_add = Operation::FetchAdd { add: 1 };
    pair.post(0, QPN, work(0, fetch_add, 8).to(0x1004, 5));
    pair.drive();
    assert_eq!(pair.completions[0][0].status, CompletionStatus::RemoteInvalidRequest);
}
