//! Curves of the form of adapters: the first steps by hand in the comments, all of them by a model
//! written anew in Python with its whole numbers and IEEE doubles.

use rocelab_units::{Bandwidth, SimTime};

use crate::congestion_control::testing::{path, serve_timers};
use crate::congestion_control::{Algorithm, dcqcn};

/// One row: a time [ns], what happens then, and the rate after it [bit/s].
type Row = (u64, Event, u64);

#[derive(Clone, Copy, Debug)]
enum Event {
    Cnp,
    /// Nothing but timers.
    Look,
}
use Event::{Cnp, Look};

#[track_caller]
fn check(parameters: &str, rows: &[Row]) {
    let parameters: dcqcn::Parameters = toml::from_str(parameters).unwrap();
    let mut control = Algorithm::Dcqcn(parameters).build(&path(Bandwidth::from_gbps(100)));
    for &(ns, event, expected) in rows {
        let now = SimTime::from_ps(ns * 1_000);
        serve_timers(control.as_mut(), now);
        if let Cnp = event {
            control.on_cnp(now);
        }
        assert_eq!(control.rate().bits_per_second(), expected, "{ns} ns, {event:?}");
    }
}

#[test]
fn the_hpcc_presets_curve() {
    // The first CNP starts the clocks. Four alpha timers later, 1 ns after 4 us, alpha is
    // (255/256)^4 = 0.98447 and the rate 100 (1 - 0.98447 / 2) = 50.777 Gb/s. Halfway to 100 Gb/s
    // after 300 us; then the target would rise by 20 Mb/s, but it is at the line rate already.
    // The CNPs at 610 us and 612 us are one cut, when the decrease timer looks at 613.001 us: from
    // 87.69 Gb/s, which is the target from now on. Steps to it: plain, 20 Mb/s, twice 200 Mb/s.
    check(
        "preset = \"hpcc\"",
        &[
            (1000, Cnp, 100_000_000_000),
            (5000, Look, 100_000_000_000),
            (5001, Look, 50_776_684_272),
            (305000, Look, 50_776_684_272),
            (305001, Look, 75_388_342_136),
            (605001, Look, 87_694_171_068),
            (610000, Cnp, 87_694_171_068),
            (612000, Cnp, 87_694_171_068),
            (613000, Look, 87_694_171_068),
            (613001, Look, 83_356_519_586),
            (913001, Look, 85_525_345_327),
            (1213001, Look, 86_619_758_197),
            (1513001, Look, 87_266_964_632),
            (1813001, Look, 87_690_567_850),
        ],
    );
}

#[test]
fn the_clamp_lowers_the_target_at_each_cut() {
    // 38.42 Gb/s is halfway from 26.07 Gb/s to 50.78 Gb/s, the rate before the second cut.
    check(
        "preset = \"hpcc\"\nclamp_target_rate = true",
        &[
            (0, Cnp, 100_000_000_000),
            (4001, Look, 50_776_684_272),
            (4500, Cnp, 50_776_684_272),
            (8001, Look, 26_072_949_528),
            (308001, Look, 38_424_816_900),
        ],
    );
}

#[test]
fn the_nvidia_presets_curve() {
    // 1019/1024 four times, from 1023/1024: alpha is 0.97965, the rate 51.017 Gb/s. The second cut
    // leaves the target at the line rate.
    check(
        "preset = \"nvidia\"",
        &[
            (1000, Cnp, 100_000_000_000),
            (5001, Look, 51_017_314_610),
            (5500, Cnp, 51_017_314_610),
            (9001, Look, 26_389_441_476),
            (309001, Look, 63_194_720_738),
            (609001, Look, 81_597_360_369),
            (909001, Look, 90_798_680_184),
        ],
    );
}

#[test]
fn a_cut_takes_at_most_its_largest_share() {
    check(
        "preset = \"nvidia\"\nmax_cut = \"1/4\"",
        &[(0, Cnp, 100_000_000_000), (4_001, Look, 75_000_000_000)],
    );
}

#[test]
fn the_rate_keeps_its_floor() {
    check(
        "preset = \"hpcc\"\nmin_rate = \"60Gbps\"",
        &[(0, Cnp, 100_000_000_000), (4_001, Look, 60_000_000_000)],
    );
}

#[test]
fn the_floor_may_be_above_the_line_rate() {
    // A cut leaves it; the target stays the line rate, and the increase goes halfway there.
    check(
        "preset = \"hpcc\"\nmin_rate = \"150Gbps\"",
        &[
            (0, Cnp, 100_000_000_000),
            (4_001, Look, 150_000_000_000),
            (304_001, Look, 125_000_000_000),
        ],
    );
}

#[test]
fn timers_are_armed_in_the_order_of_their_numbers() {
    let parameters = toml::from_str("preset = \"hpcc\"").unwrap();
    let mut control = Algorithm::Dcqcn(parameters).build(&path(Bandwidth::from_gbps(100)));
    let mut armed = |what: &str, now: u64, timer: Option<usize>, expected: u8| {
        let now = SimTime::from_ps(now * 1_000);
        match timer {
            Some(timer) => control.expire(timer, now),
            None => control.on_cnp(now),
        }
        assert_eq!(control.timers().unwrap().take_armed(), expected, "{what}");
    };
    armed("the first CNP starts alpha and decrease", 0, None, 0b011);
    armed("another CNP starts nothing", 500, None, 0);
    armed("alpha", 1_000, Some(0), 0b001);
    armed("decrease starts increase", 4_001, Some(1), 0b110);
    armed("decrease without a CNP does not", 8_001, Some(1), 0b010);
    armed("increase", 304_001, Some(2), 0b100);
    armed("what is not due", 305_000, Some(2), 0);
}
