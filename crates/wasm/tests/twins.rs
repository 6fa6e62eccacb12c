//! Guests in Rust answer as the native algorithms do, bit for bit.

use std::collections::BTreeMap;
use std::sync::Arc;

use rocelab_transport::Algorithm;
use rocelab_transport::congestion_control::{
    Ack, CongestionControl, ExternalAlgorithm, LossEvent, Path, Sent,
};
use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wasm::{GuestAlgorithm, GuestModule, check, values};
use rocelab_wire::{EndpointReport, TelemetryHeader};

/// Events of a script.
const EVENTS: u32 = 200_000;

fn guest(bytes: &[u8]) -> GuestAlgorithm {
    let module = Arc::new(GuestModule::new(bytes).unwrap());
    GuestAlgorithm::new(module, &BTreeMap::new(), 100_000).unwrap()
}

/// A native algorithm with these parameters, in JSON.
fn named(name: &str, parameters: &str) -> Algorithm {
    serde_json::from_str(&format!("{{\"{name}\": {{{parameters}}}}}")).unwrap()
}

fn path(gbps: u64) -> Path {
    let (line_rate, base_rtt) = (Bandwidth::from_gbps(gbps), Duration::from_ns(6_130));
    let bdp = line_rate.bytes_in(base_rtt).get();
    Path { line_rate, base_rtt, bdp, path_mtu: 1024, others: 0, seed: 7, start: SimTime::ZERO }
}

/// SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Tells a controller of one of the events that `kinds` allow; of the first of them once in so many events.
fn tell(
    control: &mut dyn CongestionControl,
    now: SimTime,
    (kinds, rarity): (&str, u64),
    random: &mut dyn FnMut() -> u64,
) {
    while let Some(timer) = control.timers().and_then(|timers| timers.due(now)) {
        let time = control.timers().unwrap().deadline(timer);
        control.expire(timer, time);
    }
    let is_first = random().is_multiple_of(rarity);
    let kind = if is_first { 0 } else { 1 + random() % (kinds.len() as u64 - 1) };
    let kind = kinds.as_bytes()[usize::try_from(kind).unwrap()];
    let numbers = [(); 4].map(|()| random());
    let report = numbers[3].to_le_bytes();
    let header = TelemetryHeader::Endpoint(EndpointReport {
        hops: u16::from(report[0] % 8),
        delay_ns: u32::from(u16::from_le_bytes([report[1], report[2]])),
        held_ns: u32::from(u16::from_le_bytes([report[3], report[4]])) / 16,
    });
    match kind {
        b'a' => control.on_ack(&Ack {
            now,
            acked_bytes: numbers[0] % 8_192,
            acknowledged: now.ps() / 100,
            sent: now.ps() / 100 + numbers[1] % 100_000,
            rtt: (numbers[2] % 8 > 0)
                .then(|| Duration::from_ps(5_000_000 + numbers[2] % 60_000_000)),
            ecn_echo: numbers[3] % 4 == 0,
            telemetry: (report[5] % 8 > 0).then_some(&header),
        }),
        b'c' => control.on_cnp(now),
        b's' => {
            control.on_sent(&Sent { now, bytes: 64 + numbers[0] % 4_096 });
        }
        b'l' => control.on_loss(&LossEvent { now, timeout: numbers[0] % 2 == 0 }),
        other => panic!("{other}"),
    }
}

#[track_caller]
fn answers_as_native(bytes: &[u8], name: &str, script: (&str, u64)) {
    answers_as(bytes, &named(name, ""), script);
}

#[track_caller]
fn answers_as(bytes: &[u8], native: &Algorithm, (kinds, rarity): (&str, u64)) {
    for gbps in [1, 25, 100, 400] {
        let algorithm = guest(bytes);
        let feedback = native.feedback(Bandwidth::from_gbps(gbps));
        assert_eq!(algorithm.feedback(Bandwidth::from_gbps(gbps)), feedback);
        let mut pair = [native.build(&path(gbps)), algorithm.build(&path(gbps))];
        assert_eq!(pair[0].counts_sent_bytes(), pair[1].counts_sent_bytes());
        let (mut seed, mut changes, mut windows, mut last) = (gbps, 0, 0, (0, None));
        let mut now = 0;
        for event in 0..EVENTS {
            now += random(&mut seed) % 4_000_000;
            let told = pair.each_mut().map(|control| {
                let mut own = seed;
                tell(control.as_mut(), SimTime::from_ps(now), (kinds, rarity), &mut || {
                    random(&mut own)
                });
                let timers = control.timers().map_or([SimTime::NEVER; 3], |timers| {
                    [0, 1, 2].map(|timer| timers.deadline(timer))
                });
                (control.rate().bits_per_second(), control.window(), control.repaces(), timers)
            });
            assert_eq!(told[0], told[1], "event {event} at {gbps} Gbit/s");
            changes += u32::from(last.0 != told[0].0);
            windows += u32::from(last.1 != told[0].1);
            last = (told[0].0, told[0].1);
            random(&mut seed);
        }
        assert_eq!(algorithm.fault(), None);
        assert!(gbps == 1 || changes > 50 || windows > 50, "{changes} and {windows} changes");
    }
}

const DCQCN: &[u8] = include_bytes!("../../../guests/compiled/dcqcn.wasm");

#[test]
fn dcqcn_with_many_cnps() {
    answers_as_native(DCQCN, "dcqcn", ("cs", 150));
}

/// The byte counter gets as far as hyper increase.
#[test]
fn dcqcn_with_few_cnps() {
    answers_as_native(DCQCN, "dcqcn", ("cs", 40_000));
}

#[test]
fn swift() {
    let bytes = include_bytes!("../../../guests/compiled/swift.wasm");
    answers_as_native(bytes, "swift", ("la", 16));
}

#[test]
fn swift_with_both_windows() {
    let bytes = include_bytes!("../../../guests/compiled/swift-endpoint.wasm");
    let native = "\"hops\": \"counted\", \"endpoint_target\": \"20us\", \"retransmit_reset\": 5";
    answers_as(bytes, &named("swift", native), ("la", 16));
}

#[test]
fn dctcp() {
    let bytes = include_bytes!("../../../guests/compiled/dctcp.wasm");
    answers_as_native(bytes, "dctcp", ("aa", 2));
}

/// What a guest keeps beyond the bytes that its metadata declare would be lost between two calls.
#[test]
fn the_guests_keep_nothing_but_their_state() {
    let guests: [&[u8]; 4] = [
        DCQCN,
        include_bytes!("../../../guests/compiled/swift.wasm"),
        include_bytes!("../../../guests/compiled/swift-endpoint.wasm"),
        include_bytes!("../../../guests/compiled/dctcp.wasm"),
    ];
    for bytes in guests {
        let module = GuestModule::new(bytes).unwrap();
        let values = values(module.metadata(), &BTreeMap::new()).unwrap();
        let findings = check(&module, &values, 100_000).unwrap();
        assert_eq!((&findings.faults[..], findings.hidden), (&[][..], None));
    }
}
