//! Curves: by a model written anew in Python with its whole numbers and IEEE doubles.

use rocelab_units::{Bandwidth, Duration};

use crate::congestion_control::testing::{ack, path};
use crate::congestion_control::{Ack, Algorithm};

/// One row: acknowledged, sent [bytes], round-trip time [ns], and the rate after it [bit/s].
type Row = (u64, u64, u64, u64);

#[track_caller]
fn check(parameters: &str, rows: &[Row]) {
    let parameters = toml::from_str(parameters).unwrap();
    let mut control = Algorithm::Timely(parameters).build(&path(Bandwidth::from_gbps(100)));
    for &(acknowledged, sent, rtt, expected) in rows {
        let rtt = Some(Duration::from_ns(rtt));
        control.on_ack(&Ack { rtt, ..ack(acknowledged, sent) });
        assert_eq!(control.rate().bits_per_second(), expected, "after {acknowledged}");
    }
}

#[test]
fn the_hpcc_presets_curve() {
    // Row 2 comes within the round trip. The third has a difference of 0.875 x 2 us, which is a
    // gradient of 0.0875, and leaves 1 - 0.8 x 0.0875 = 0.93. The fifth's is 0.125 x 520.625 ns less
    // 10.5 ns, still above 0. 0.7 ms are above t_high. Then steps of 0.1 Gb/s, and from the sixth
    // increase on of 0.5 Gb/s. The last one's gradient leaves nothing but the least rate.
    check(
        "preset = \"hpcc\"",
        &[
            (1_000, 9_000, 60_000, 100_000_000_000),
            (2_000, 10_000, 90_000, 100_000_000_000),
            (9_001, 18_000, 62_000, 93_000_000_000),
            (18_001, 27_000, 62_345, 91_063_275_000),
            (27_001, 36_000, 62_333, 90_864_472_487),
            (36_001, 45_000, 700_001, 70_095_376_029),
            (45_001, 54_000, 70_000, 70_195_376_029),
            (54_001, 63_000, 30_000, 70_295_376_029),
            (63_001, 72_000, 29_000, 70_395_376_029),
            (72_001, 81_000, 29_001, 70_495_376_029),
            (81_001, 90_000, 29_000, 70_595_376_029),
            (90_001, 99_000, 29_003, 71_095_376_029),
            (99_001, 108_000, 49_999, 71_595_376_029),
            (108_001, 117_000, 51_234, 61_925_096_831),
            (117_001, 126_000, 53_210, 56_596_840_983),
            (126_001, 135_000, 53_211, 55_986_135_876),
            (135_001, 144_000, 90_000, 1_000_000_000),
        ],
    );
}

#[test]
fn the_least_rate_may_be_above_the_line_rate() {
    // A decrease leaves it, and the next increase the line rate.
    check(
        "preset = \"hpcc\"\nmin_rate = \"150Gbps\"",
        &[
            (1_000, 9_000, 60_000, 100_000_000_000),
            (9_001, 18_000, 600_000, 150_000_000_000),
            (18_001, 27_000, 20_000, 100_000_000_000),
        ],
    );
}
