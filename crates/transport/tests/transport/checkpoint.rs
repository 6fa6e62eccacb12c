//! A NIC that is saved, and loaded into one that is set up anew, goes on as if nothing had happened.

use std::sync::Arc;

use proptest::prelude::*;
use rocelab_state::State;
use rocelab_transport::congestion_control::Telemetry;
use rocelab_transport::{
    Access, AckCoalescing, AckTimeout, Algorithm, Completion, CompletionStatus, Memory,
    MemoryRegion, Nic, Operation, Packet, PathEntropy, QueuePairConfig, QueuePairProfile,
    ReceiveCompletion, ReceiveQueueConfig, ReceiveRequest, Recovery, RetransmissionTimeouts,
    Service, Transmit,
};
use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wire::{Cnm, IntHop, TelemetryHeader};

use crate::pair::{Departure, Fate, Pair, QPN, algorithm, ends, profile, work};

/// Every algorithm, those with two implementations twice.
const ALGORITHMS: [(&str, &str); 12] = [
    ("none", "rate = \"40Gbps\"\nwindow = \"16KB\""),
    ("dcqcn", ""),
    ("dcqcn", "preset = \"nvidia\""),
    ("dcqcn", "preset = \"hpcc\""),
    ("timely", ""),
    ("timely", "preset = \"hpcc\""),
    ("patched-timely", ""),
    ("swift", ""),
    ("dctcp", ""),
    ("qcn", ""),
    ("hpcc", ""),
    ("hpcc-pint", ""),
];

#[derive(Clone, Debug)]
struct Case {
    algorithm: usize,
    recovery: Recovery,
    coalesces: bool,
    receive_queue: bool,
    has_memory: bool,
    /// Work of each side on one of two queue pairs: operation and length.
    work: [Vec<(u32, Operation, u32)>; 2],
    /// What happens to the first frames, in the order of departure.
    faults: Vec<Fate>,
    /// The time between two moments at which both NICs are saved and loaded.
    step: u64,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        Just(Operation::Send),
        Just(Operation::Write),
        Just(Operation::WriteWithImmediate(2)),
        Just(Operation::Read),
        Just(Operation::FetchAdd { add: 3 }),
    ]
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Deliver),
        4 => Just(Fate::Mark),
        1 => Just(Fate::Drop),
        1 => (0..20_000_000_u64).prop_map(|ps| Fate::Duplicate(Duration::from_ps(ps))),
        1 => (0..20_000_000_u64).prop_map(|ps| Fate::Delay(Duration::from_ps(ps))),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let messages = || prop::collection::vec((0..2_u32, operation(), 0..40_000_u32), 0..8);
    let choices = (0..ALGORITHMS.len(), prop::sample::select(Recovery::all()), any::<[bool; 3]>());
    let faults = prop::collection::vec(fate(), 0..400);
    (choices, [messages(), messages()], faults, 500_000..20_000_000_u64).prop_map(
        |((algorithm, recovery, [coalesces, receive_queue, has_memory]), work, faults, step)| {
            Case { algorithm, recovery, coalesces, receive_queue, has_memory, work, faults, step }
        },
    )
}

impl Case {
    fn configs(&self) -> [[QueuePairConfig; 2]; 2] {
        let (name, parameters) = ALGORITHMS[self.algorithm];
        let [low, high] = [20, 60].map(Duration::from_us);
        let selective = self.recovery.is_selective();
        let spread = PathEntropy::all().into_iter().max_by_key(PathEntropy::numbers).unwrap();
        let coalescing = AckCoalescing { packets: 3, delay: Duration::from_us(2) };
        let profile = Arc::new(QueuePairProfile {
            recovery: self.recovery,
            ack_interval: 4,
            ack_timeout: AckTimeout::try_from(3).unwrap(),
            path_entropy: if self.coalesces { spread } else { PathEntropy::default() },
            retry_count: 200,
            timeouts: selective.then_some(RetransmissionTimeouts { low, high, low_packets: 3 }),
            ack_coalescing: self.coalesces.then_some(coalescing),
            congestion_control: algorithm(name, parameters),
            ..profile()
        });
        let queue =
            if self.receive_queue { ReceiveQueueConfig::Own } else { ReceiveQueueConfig::Endless };
        [0, 1].map(|index| {
            ends(&profile, index).map(|end| QueuePairConfig { receive_queue: queue, ..end })
        })
    }

    /// The ends of the connections at one side.
    fn config(&self, side: usize, qpn: u32) -> Option<QueuePairConfig> {
        self.configs().into_iter().map(|ends| ends[side].clone()).find(|end| end.qpn == qpn)
    }

    fn pair(&self) -> Pair {
        let mut pair = Pair::without_queue_pairs(Bandwidth::from_gbps(100));
        self.configs().into_iter().for_each(|ends| pair.connect(ends));
        pair.reorders = true;
        let mut faults = self.faults.clone().into_iter();
        pair.rule = Box::new(move |_| faults.next().unwrap_or(Fate::Deliver));
        pair.stamp = Box::new(stamp);
        for side in [0, 1] {
            if self.has_memory {
                pair.nics[side].set_memory(memory());
            }
            for (id, &(index, operation, length)) in (0..).zip(&self.work[side]) {
                pair.post(side, QPN + index, work(id, operation, length).local(0x2000));
            }
        }
        pair
    }
}

/// 64 KB at the address that work is for, and as many at that where it comes from.
fn memory() -> Memory {
    let mut memory = Memory::open();
    memory.place(0x1000, vec![0; 0x1000]).unwrap();
    memory.place(0x2000, (0..=255).cycle().take(40_000).collect()).unwrap();
    let access = Access { remote_read: true, remote_write: true, remote_atomic: true };
    let region = MemoryRegion { r_key: 5, address: 0x1000, length: 1 << 20, access };
    memory.register(region).unwrap();
    memory
}

/// A switch port that sends 100 Gb/s and whose queue grows for a while, again and again.
fn stamp(departure: &Departure, header: &mut TelemetryHeader) {
    let ns = departure.time.ps() / 1_000;
    match header {
        TelemetryHeader::Int(header) => {
            let hop = IntHop::new(ns, ns * 12, ns % 5_000 * 4, 100_000_000_000, 1).unwrap();
            header.push(hop);
        }
        TelemetryHeader::Pint(value) => *value = u16::try_from(ns % 300).unwrap(),
        _ => unreachable!("no algorithm here asks for it"),
    }
}

fn saved(nic: &Nic) -> Vec<u8> {
    let mut bytes = Vec::new();
    nic.save(&mut bytes).unwrap();
    bytes
}

/// Puts NICs in the place of those of the pair that are set up anew, and loaded.
fn exchange(pair: &mut Pair, config: impl Fn(usize, u32) -> Option<QueuePairConfig>) {
    for side in [0, 1] {
        let bytes = saved(&pair.nics[side]);
        let mut nic = Nic::new(*pair.nics[side].config());
        let mut rest = &bytes[..];
        nic.load_with(&mut rest, |qpn| config(side, qpn)).unwrap();
        assert!(rest.is_empty(), "all that was saved was loaded");
        assert_eq!(saved(&nic), bytes, "what was loaded is what was saved");
        pair.nics[side] = nic;
    }
}

type Outcome = (
    Vec<(SimTime, usize, Transmit, Option<TelemetryHeader>)>,
    [Vec<Completion>; 2],
    [Vec<ReceiveCompletion>; 2],
    [Vec<u8>; 2],
);

fn outcome(pair: Pair) -> Outcome {
    let Pair { nics, log, completions, received, .. } = pair;
    let departures = log.into_iter().map(|d| (d.time, d.side, d.transmit, d.telemetry)).collect();
    (departures, completions, received, nics.map(|nic| saved(&nic)))
}

/// Runs to the end, with a stop at each step at which receive requests are posted, a switch sends a
/// notification, and `at_stop` may do something.
fn run(mut pair: Pair, case: &Case, mut at_stop: impl FnMut(&mut Pair)) -> Outcome {
    for stop in 1..40 {
        pair.drive_until(SimTime::from_ps(stop * case.step));
        pair.now = SimTime::from_ps(stop * case.step);
        for nic in &mut pair.nics {
            let request = ReceiveRequest { id: stop, address: 0x1800, length: 50_000 };
            let _ = nic.post_receive(QPN + u32::from(stop % 3 == 0), request);
            let cnm = Cnm { quantized_feedback: 20, ..Cnm::default() };
            let notification = Packet::congestion_notification(QPN, &cnm);
            nic.receive(pair.now, &notification, Telemetry::None);
        }
        at_stop(&mut pair);
    }
    pair.drive_until(SimTime::from_ps(1_000_000_000_000));
    outcome(pair)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_loaded_goes_on_exactly(case in case()) {
        let uninterrupted = run(case.pair(), &case, |_| ());
        let resumed = run(case.pair(), &case, |pair| {
            exchange(pair, |side, qpn| case.config(side, qpn));
        });
        prop_assert_eq!(uninterrupted, resumed);
    }

    #[test]
    fn damaged_bytes_are_refused_or_loaded_but_never_a_panic(
        case in case(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut pair = case.pair();
        pair.drive_until(SimTime::from_ps(case.step));
        let mut bytes = saved(&pair.nics[0]);
        for (place, value) in damage {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let mut nic = Nic::new(*pair.nics[0].config());
        let _ = nic.load_with(&mut &bytes[..], |qpn| case.config(0, qpn));
    }
}

/// Two connections of queue pairs with work under way, one of which was destroyed.
fn busy() -> (Pair, [[QueuePairConfig; 2]; 3]) {
    let profile =
        Arc::new(QueuePairProfile { congestion_control: algorithm("dcqcn", ""), ..profile() });
    let configs = [0, 1, 2].map(|index| ends(&profile, index));
    let mut pair = Pair::without_queue_pairs(Bandwidth::from_gbps(100));
    configs.iter().for_each(|ends| pair.connect(ends.clone()));
    for index in 0..3 {
        pair.post(0, QPN + index, work(1, Operation::Write, 100_000));
    }
    pair.drive_until(SimTime::from_ps(5_000_000));
    (pair, configs)
}

#[test]
fn queue_pairs_that_were_destroyed_stay_so() {
    let (mut pair, configs) = busy();
    assert!(pair.nics[0].destroy_queue_pair(QPN + 2));
    let bytes = saved(&pair.nics[0]);
    // They are there from the start.
    let mut nic = Nic::new(*pair.nics[0].config());
    configs.iter().for_each(|ends| nic.create_queue_pair(ends[0].clone()));
    nic.load(&mut &bytes[..]).unwrap();
    let numbers: Vec<_> = nic.queue_pairs().map(|queue_pair| queue_pair.qpn()).collect();
    assert_eq!(numbers, [QPN, QPN + 1]);
    assert_eq!(saved(&nic), bytes);
    assert_eq!(nic.poll_timeout(), pair.nics[0].poll_timeout(), "with the timers that are left");
}

#[test]
fn what_was_cut_off_is_an_error() {
    let (pair, configs) = busy();
    let bytes = saved(&pair.nics[0]);
    let load = |bytes: &[u8]| {
        let mut nic = Nic::new(*pair.nics[0].config());
        configs.iter().for_each(|ends| nic.create_queue_pair(ends[0].clone()));
        nic.load(&mut &bytes[..])
    };
    assert!(load(&bytes).is_ok());
    for end in 0..bytes.len() {
        assert!(load(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
    }
    let mut nic = Nic::new(*pair.nics[0].config());
    assert!(nic.load(&mut &bytes[..]).is_err(), "nobody knows the queue pairs");
}

#[test]
fn another_congestion_control_is_an_error_and_other_parameters_are_not() {
    let (pair, configs) = busy();
    let bytes = saved(&pair.nics[0]);
    let load = |control: Algorithm| {
        let mut nic = Nic::new(*pair.nics[0].config());
        nic.load_with(&mut &bytes[..], |qpn| {
            let index = usize::try_from(qpn - QPN).unwrap();
            let profile = QueuePairProfile {
                congestion_control: control.clone(),
                ..(*configs[index][0].profile).clone()
            };
            Some(QueuePairConfig { profile: Arc::new(profile), ..configs[index][0].clone() })
        })
    };
    assert!(load(algorithm("dcqcn", "additive_increase = \"100Mbps\"")).is_ok());
    for (name, parameters) in [("hpcc", ""), ("none", ""), ("dcqcn", "preset = \"nvidia\"")] {
        let error = load(algorithm(name, parameters)).unwrap_err().to_string();
        assert!(error.ends_with("the congestion control"), "{name}: {error}");
    }
}

#[test]
fn without_acknowledgements_it_goes_on_exactly_too() {
    for service in [Service::UnreliableConnection, Service::UnreliableDatagram] {
        let profile = Arc::new(QueuePairProfile { service, ..profile() });
        let start = || {
            let mut pair = Pair::without_queue_pairs(Bandwidth::from_gbps(100));
            for nic in &mut pair.nics {
                assert_eq!(nic.create_shared_receive_queue(), 0);
                for id in 0..40 {
                    let request = ReceiveRequest { id, address: 0, length: 9_000 };
                    nic.post_shared_receive(0, request).unwrap();
                }
            }
            pair.connect(configs(&profile));
            for id in 0..20 {
                let length = 50 * u32::try_from(id).unwrap();
                let work = work(id, Operation::SendWithImmediate(3), length);
                let posted = match service {
                    Service::UnreliableDatagram => {
                        pair.nics[0].post_datagram(pair.now, QPN, work, address())
                    }
                    _ => pair.nics[0].post_send(pair.now, QPN, work),
                };
                posted.unwrap();
            }
            pair
        };
        let run = |at_stop: fn(&mut Pair, &Arc<QueuePairProfile>)| {
            let mut pair = start();
            for stop in 1..12 {
                pair.drive_until(SimTime::from_ps(stop * 230_000));
                at_stop(&mut pair, &profile);
            }
            pair.drive();
            outcome(pair)
        };
        let uninterrupted = run(|_, _| ());
        assert_eq!(uninterrupted.1[0].len(), 20);
        assert!(uninterrupted.2[1].iter().all(|end| end.status == CompletionStatus::Success));
        let resumed = run(|pair, profile| {
            exchange(pair, |side, qpn| (qpn == QPN).then(|| configs(profile)[side].clone()));
        });
        assert_eq!(uninterrupted, resumed);
    }
}

fn configs(profile: &Arc<QueuePairProfile>) -> [QueuePairConfig; 2] {
    ends(profile, 0)
        .map(|end| QueuePairConfig { receive_queue: ReceiveQueueConfig::Shared(0), ..end })
}

const fn address() -> rocelab_transport::AddressHandle {
    rocelab_transport::AddressHandle { destination: 1, entropy: 2, dest_qp: QPN, q_key: 0 }
}
