//! A curve: by a model written anew in Python with its whole numbers, fractions and IEEE doubles.

use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wire::TelemetryHeader;

use super::Parameters;
use crate::congestion_control::testing::ack;
use crate::congestion_control::{Ack, Definition, Path};

#[test]
fn the_curve_with_one_additive_stage() {
    // The first number is not looked at. 1.05^140 / 512 is a utilization of 1.8082, c = 1.9034 and
    // the rate 100 / c + 0.04 = 52.58 Gb/s, but the reference is still 100 Gb/s. The third sets it,
    // the fourth and fifth start there; 120 is below eta, which is one additive stage, and 100 at
    // the second is met at once. Nothing in a number, 0, is a utilization of 1/512.
    let parameters = Parameters { max_stage: 1, ..Parameters::default() };
    let mut control = parameters.build(&Path {
        line_rate: Bandwidth::from_gbps(100),
        base_rtt: Duration::from_ns(4_160),
        bdp: 52_000,
        path_mtu: 1_000,
        others: 0,
        seed: 0,
        start: SimTime::ZERO,
    });
    for (acknowledged, sent, field, expected) in [
        (1_000, 60_000, 200, 100_000_000_000),
        (2_000, 61_000, 140, 52_580_196_955),
        (60_001, 90_000, 135, 67_096_084_663),
        (61_000, 91_000, 128, 63_348_272_541),
        (90_001, 120_000, 120, 67_136_084_663),
        (120_001, 150_000, 100, 100_000_000_000),
        (150_001, 180_000, 127, 99_112_377_325),
        (180_001, 200_000, 0, 99_152_377_325),
    ] {
        let header = TelemetryHeader::Pint(field);
        let telemetry = Some(&header);
        control.on_ack(&Ack { telemetry, ..ack(acknowledged, sent) });
        assert_eq!(control.rate().bits_per_second(), expected, "after {acknowledged}");
        assert_eq!(control.window(), Some(52_000 * expected / 100_000_000_000));
        assert_eq!(control.repaces(), acknowledged > 1_000, "the first one sets no rate");
    }
}
