//! A curve: by a model written anew in Python with its whole numbers and IEEE doubles.

use rocelab_units::{Bandwidth, Duration};

use super::Parameters;
use crate::congestion_control::testing::{ack, path};
use crate::congestion_control::{Ack, Definition, Path};

#[test]
fn the_curve_of_hpccs_scripts() {
    // The first acknowledgement starts a round trip of 101 packets. The mark in it halves the rate,
    // as alpha is 1, and no other cut follows before 101,000 bytes are acknowledged, all that was
    // sent by then. The next round trip begins there, and alpha is 15/16 + 3/101/16 = 0.9394. The
    // one after it begins with a mark, at 15/16 of that and 1/31/16 more, 0.8827, half of which
    // goes. A round trip without a cut adds 615 Mb/s.
    let parameters =
        Parameters { additive_increase: Some(Bandwidth::from_mbps(615)), ..Parameters::default() };
    let mut control = parameters.build(&path(Bandwidth::from_gbps(100)));
    for (acknowledged, sent, ecn_echo, expected) in [
        (1_000, 100_000, false, 100_000_000_000),
        (2_000, 101_000, true, 50_000_000_000),
        (50_000, 120_000, false, 50_000_000_000),
        (100_000, 130_000, true, 50_000_000_000),
        (101_000, 131_000, true, 50_000_000_000),
        (102_000, 131_000, false, 50_000_000_000),
        (103_000, 131_500, false, 50_000_000_000),
        (130_000, 160_000, false, 50_000_000_000),
        (131_500, 160_500, true, 27_933_430_313),
        (161_000, 170_000, false, 28_548_430_313),
        (171_000, 180_000, true, 17_385_596_658),
    ] {
        control.on_ack(&Ack { ecn_echo, ..ack(acknowledged, sent) });
        assert_eq!(control.rate().bits_per_second(), expected, "after {acknowledged}");
        // The path holds 125,000 bytes.
        assert_eq!(control.window(), Some(125_000 * expected / 100_000_000_000));
    }
}

#[test]
fn the_step_is_a_packet_for_each_round_trip() {
    // 1000 bytes in 13 us are 615,384,615.4 bit/s; a cut in half, and a round trip.
    let line_rate = Bandwidth::from_gbps(100);
    let path = Path { base_rtt: Duration::from_us(13), ..path(line_rate) };
    let mut control = Parameters::default().build(&path);
    control.on_ack(&Ack { ecn_echo: true, ..ack(1_000, 2_000) });
    control.on_ack(&ack(3_000, 4_000));
    assert_eq!(control.rate().bits_per_second(), 50_615_384_615);
}

#[test]
fn a_round_trip_that_begins_behind_its_acknowledgement_is_huge() {
    // Sending fell back by 1000 bytes: (2^64 - 1000) / 1000 + 1 packets, 1,271,310,319 in 32 bits.
    // The mark is nothing in that: alpha is 15/16 of 15/16, 0.87890625, half of which goes. In a
    // round trip of one packet it would be 1/16 more.
    let mut control = Parameters::default().build(&path(Bandwidth::from_gbps(100)));
    control.on_ack(&ack(1_000, 100_000));
    control.on_ack(&ack(101_000, 100_000));
    control.on_ack(&Ack { ecn_echo: true, ..ack(101_001, 110_000) });
    assert_eq!(control.rate().bits_per_second(), 56_054_687_497);
}

#[test]
fn the_least_rate_may_be_above_the_line_rate() {
    // A cut leaves it, and the next increase the line rate. The window is 1.5 times the path's.
    let min_rate = Bandwidth::from_gbps(150);
    let parameters = Parameters { min_rate, ..Parameters::default() };
    let mut control = parameters.build(&path(Bandwidth::from_gbps(100)));
    control.on_ack(&Ack { ecn_echo: true, ..ack(1_000, 2_000) });
    assert_eq!((control.rate(), control.window()), (min_rate, Some(187_500)));
    control.on_ack(&ack(3_000, 4_000));
    assert_eq!(control.rate(), Bandwidth::from_gbps(100));
}
