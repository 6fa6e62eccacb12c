//! Curves: by a model written anew in Python with its whole numbers and IEEE doubles.
//!
//! All are of one script: two ports, of 100G and 400G, on a path of 4160 ns that 52,000 bytes fill.
//! The first acknowledgement only stores the records. The second brings from the 100G port 2 units
//! of 512 bytes in 90 ns, u_i = 1024 x 8 / 90 ns / 100G = 0.910, and no queue that was there both
//! times, and from the other 5 units, 0.569. So u = (4070 + 90 x 0.910) / 4160 = 0.998, c = 1.0506,
//! and the rate 100 / c + 0.04 = 95.22 Gb/s. In the last row the clock of the records has gone
//! round.

use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wire::{IntHeader, IntHop, IntUnits, TelemetryHeader, TelemetryUnits};

use super::Parameters;
use crate::congestion_control::testing::ack;
use crate::congestion_control::{Ack, Definition, Feedback, Path};

/// What a port writes: time [ns], bytes sent, bytes queued, rate [Gbit/s].
type Record = (u64, u64, u64, u64);

/// Acknowledged, sent [bytes], and the records.
const SCRIPT: [(u64, u64, [Record; 2]); 12] = [
    (1_000, 60_000, [(2_000, 1_000_000, 0, 100), (3_000, 500, 0, 400)]),
    (2_000, 61_000, [(2_090, 1_001_090, 2_000, 100), (3_090, 3_000, 0, 400)]),
    (3_000, 62_000, [(2_500, 1_006_000, 30_000, 100), (3_500, 4_000, 0, 400)]),
    (60_001, 110_000, [(6_000, 1_049_750, 80_000, 100), (7_000, 200_000, 1_000, 400)]),
    (61_000, 111_000, [(6_100, 1_051_000, 70_000, 100), (7_100, 204_000, 0, 400)]),
    (110_001, 150_000, [(11_000, 1_090_000, 0, 100), (12_000, 405_000, 0, 400)]),
    (111_000, 151_000, [(11_500, 1_096_000, 0, 100), (12_500, 420_000, 0, 400)]),
    (112_000, 152_000, [(12_000, 1_096_500, 0, 100), (13_000, 445_000, 90_000, 400)]),
    (113_000, 153_000, [(12_400, 1_097_000, 0, 100), (13_400, 465_000, 70_000, 400)]),
    (150_001, 180_000, [(16_000, 1_140_000, 0, 100), (17_000, 660_000, 90_000, 400)]),
    (180_001, 190_000, [(21_000, 1_190_000, 0, 100), (22_000, 900_000, 0, 400)]),
    (190_001, 200_000, [(16_803_216, 1_250_000, 0, 100), (16_804_216, 1_000_000, 0, 400)]),
];

/// The rates [bit/s] that follow, and the last window [bytes].
#[track_caller]
fn check(parameters: &str, rates: [u64; 12], window: u64) {
    let parameters: Parameters = toml::from_str(parameters).unwrap();
    let mut control = parameters.build(&Path {
        line_rate: Bandwidth::from_gbps(100),
        base_rtt: Duration::from_ns(4_160),
        bdp: 52_000,
        path_mtu: 1_000,
        others: 0,
        seed: 0,
        start: SimTime::ZERO,
    });
    for ((acknowledged, sent, records), expected) in SCRIPT.into_iter().zip(rates) {
        assert!(!control.repaces() || acknowledged > 2_000, "the first one sets no rate");
        let mut header = IntHeader::default();
        for (time, tx, queue, gbps) in records {
            header.push(IntHop::new(time, tx, queue, gbps * 1_000_000_000, 4).unwrap());
        }
        let header = TelemetryHeader::Int(header);
        let telemetry = Some(&header);
        control.on_ack(&Ack { telemetry, ..ack(acknowledged, sent) });
        assert_eq!(control.rate().bits_per_second(), expected, "after {acknowledged}");
    }
    assert_eq!(control.window(), Some(window));
    assert!(control.repaces());
    control.on_ack(&ack(200_000, 210_000));
    assert!(!control.repaces(), "without records no rate is set");
}

#[test]
fn one_rate_for_all_ports() {
    // Stage 5 is not reached: the reference falls to 63.98 Gb/s, and rises twice.
    check(
        "",
        [
            100_000_000_000,
            95_224_878_321,
            95_811_355_210,
            63_984_896_632,
            40_512_984_465,
            64_024_896_632,
            64_064_896_632,
            64_064_896_632,
            64_064_896_632,
            45_093_863_895,
            44_735_649_184,
            44_380_597_794,
        ],
        23_077,
    );
}

#[test]
fn without_additive_stages() {
    // Each update meets the utilization at once.
    check(
        "max_stage = 0",
        [
            100_000_000_000,
            95_224_878_321,
            95_811_355_210,
            63_984_896_632,
            40_512_984_465,
            74_052_427_893,
            83_716_958_114,
            81_813_867_613,
            77_703_830_029,
            52_150_166_246,
            51_729_638_769,
            51_312_824_884,
        ],
        26_682,
    );
}

#[test]
fn a_rate_for_each_port() {
    // The lower one applies, that of the 100G port.
    check(
        "per_hop_rate = true\nmax_stage = 2",
        [
            100_000_000_000,
            95_224_878_321,
            95_811_355_210,
            63_984_896_632,
            40_512_984_465,
            64_024_896_632,
            64_064_896_632,
            64_064_896_632,
            64_064_896_632,
            61_926_195_138,
            61_419_337_545,
            61_459_337_545,
        ],
        31_958,
    );
}

#[test]
fn ports_without_a_queue_are_ignored_within_a_round_trip() {
    // In row 7 no port has a queue: the rate stays. In rows 8 and 9 the second one has.
    check(
        "sample_feedback = true\nmax_stage = 0",
        [
            100_000_000_000,
            95_224_878_321,
            95_811_355_210,
            63_984_896_632,
            40_512_984_465,
            74_056_194_621,
            74_056_194_621,
            86_275_072_689,
            81_313_664_562,
            52_362_492_855,
            51_940_090_365,
            51_521_418_025,
        ],
        26_791,
    );
}

#[test]
fn ports_that_are_ignored_take_part_with_their_references() {
    // Row 6 leaves the 100G port, of 63.98 Gb/s, at 64.02 Gb/s. Row 7 sets no rate. Rows 8 and 9
    // ignore that port: its reference is the lowest still, as the other port has 95.27 Gb/s.
    check(
        "per_hop_rate = true\nsample_feedback = true\nmax_stage = 2",
        [
            100_000_000_000,
            95_224_878_321,
            95_811_355_210,
            63_984_896_632,
            40_512_984_465,
            64_024_896_632,
            64_024_896_632,
            64_024_896_632,
            64_024_896_632,
            64_064_896_632,
            66_765_253_350,
            66_805_253_350,
        ],
        34_738,
    );
}

#[test]
fn without_a_window_a_standing_queue_is_without_measure() {
    // One port. No queue in both records: 0 / 0, which is no new maximum, so u stays 1 and the rate
    // is 95 + 0.04 Gb/s. A queue in both is infinite: for less than a round trip so is u, and
    // nothing but the step is left, which the least rate raises to 1 Gb/s; for a whole one u is
    // infinity times 0, NaN, and the quotient 2^63, which is cut to the line rate.
    let parameters: Parameters = toml::from_str("max_stage = 0").unwrap();
    let (line_rate, base_rtt) = (Bandwidth::from_gbps(100), Duration::from_ns(4_160));
    let mut control = parameters.build(&Path {
        line_rate,
        base_rtt,
        bdp: 0,
        path_mtu: 1_000,
        others: 0,
        seed: 0,
        start: SimTime::ZERO,
    });
    for (time, queue, expected) in [
        (1_000, 0, 100_000_000_000),
        (1_100, 90_000, 95_040_000_000),
        (1_500, 90_000, 1_000_000_000),
        (9_000, 90_000, 100_000_000_000),
    ] {
        let mut header = IntHeader::default();
        header.push(IntHop::new(time, time * 10, queue, 100_000_000_000, 4).unwrap());
        let header = TelemetryHeader::Int(header);
        let telemetry = Some(&header);
        control.on_ack(&Ack { telemetry, ..ack(time, 100_000) });
        assert_eq!(control.rate().bits_per_second(), expected, "at {time}");
    }
    assert_eq!(control.window(), None);
}

#[test]
fn without_fast_reactions() {
    // Only rows 4, 6, 10, 11 and 12 end a round trip.
    check(
        "fast_react = false",
        [
            100_000_000_000,
            100_000_000_000,
            100_000_000_000,
            95_186_379_044,
            95_186_379_044,
            95_226_379_044,
            95_226_379_044,
            95_226_379_044,
            95_226_379_044,
            88_739_583_580,
            87_995_942_425,
            87_258_868_213,
        ],
        45_374,
    );
}

#[test]
fn without_records_nothing_happens() {
    let path = crate::congestion_control::testing::path(Bandwidth::from_gbps(100));
    let mut control = Parameters::default().build(&path);
    for step in 1..100 {
        control.on_ack(&ack(step * 1_000, step * 1_000 + 60_000));
    }
    assert_eq!(control.rate(), Bandwidth::from_gbps(100));
    assert_eq!(control.window(), Some(125_000));
}

#[test]
fn the_unit_of_records_follows_the_line_rate() {
    let multiplier = |gbps, text| {
        let parameters: Parameters = toml::from_str(text).unwrap();
        let Feedback::Telemetry(TelemetryUnits::Int(IntUnits { multiplier })) =
            parameters.feedback(Bandwidth::from_gbps(gbps))
        else {
            panic!("HPCC asks for records");
        };
        multiplier
    };
    assert_eq!([10, 25, 100, 400].map(|gbps| multiplier(gbps, "")), [1, 1, 4, 16]);
    assert_eq!(multiplier(100, "int_multiplier = 7"), 7);
}
