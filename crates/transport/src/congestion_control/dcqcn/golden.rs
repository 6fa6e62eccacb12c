//! Scripts of notifications and the rates that they must give, each computed by hand from the
//! formulas at the top of the parent module.

use rocelab_units::{Bandwidth, SimTime};

use super::Parameters;
use crate::congestion_control::testing::{path, serve_timers};
use crate::congestion_control::{Definition, Sent};

/// One row: a time [us], what happens then, and the rate after it [Gb/s].
type Row = (u64, Event, f64);

#[derive(Clone, Copy, Debug)]
enum Event {
    Cnp,
    /// Nothing but timers.
    Look,
    /// So many bytes leave.
    Sent(u64),
}
use Event::{Cnp, Look};

#[track_caller]
fn check(parameters: &Parameters, gbps: u64, rows: &[Row]) {
    let mut control = parameters.build(&path(Bandwidth::from_gbps(gbps)));
    for &(us, event, expected) in rows {
        let now = SimTime::from_ps(us * 1_000_000);
        serve_timers(control.as_mut(), now);
        match event {
            Cnp => control.on_cnp(now),
            Look => {}
            Event::Sent(bytes) => _ = control.on_sent(&Sent { now, bytes }),
        }
        // Cut off to whole bits.
        let short = expected * 1e9 - control.rate().bits_per_second() as f64;
        assert!((-0.001..1.0).contains(&short), "{us} us, {event:?}: {short} below {expected}");
    }
}

const DECAY: f64 = 255.0 / 256.0;

#[test]
fn the_papers_curve() {
    // The second cut finds alpha twice decayed, at 130 and 185 us; it was 1, and 1 after the first.
    let second_alpha = DECAY * DECAY;
    let second = 35.0 * (1.0 - second_alpha / 2.0);
    // The CNP at 140 us comes within 50 us: it cuts at 180 us, with alpha raised and not decayed.
    let third_alpha = DECAY * second_alpha + 1.0 / 256.0;
    let third = second * (1.0 - third_alpha / 2.0);
    let halfway = |rate: f64, target: f64| (rate + target) / 2.0;
    let recovered = |steps: u32| second - (second - third) / f64::from(1 << steps);
    let additive = halfway(recovered(5), second + 0.04);
    check(
        &Parameters::default(),
        40,
        &[
            (0, Look, 40.0),
            (20, Cnp, 20.0),
            (74, Look, 20.0),
            (75, Look, 30.0),
            (130, Cnp, second),
            (140, Cnp, second),
            (179, Look, second),
            (180, Look, third),
            (234, Look, third),
            (235, Look, recovered(1)),
            (290, Look, recovered(2)),
            (345, Look, recovered(3)),
            (400, Look, recovered(4)),
            (455, Look, recovered(5)),
            (510, Look, additive),
            (565, Look, halfway(additive, second + 0.08)),
        ],
    );
}

#[test]
fn bytes_and_time_together_increase_hyper() {
    // One step each of fast recovery; then the byte counter's is additive while the timer has
    // made none, and hyper once both have made more than one.
    let parameters = Parameters { fast_recovery_threshold: Some(1), ..Parameters::default() };
    let step = Event::Sent(10_000_000);
    let mut rate = 50.0;
    let mut target = 100.0;
    let mut expect = |increase: f64| {
        target = f64::min(target + increase, 100.0);
        rate = (rate + target) / 2.0;
        rate
    };
    let rows = [
        (0, Cnp, 50.0),
        (0, Cnp, 50.0),
        // The deferred cut at 50 us: alpha is still 1.
        (50, Look, 25.0),
    ];
    check(&parameters, 100, &rows);
    let rows = [
        (0, Cnp, 50.0),
        (1, step, expect(0.0)),
        (2, step, expect(0.04)),
        (3, step, expect(0.04)),
        (55, Look, expect(0.04)),
        (110, Look, expect(0.04)),
        (111, step, expect(0.2)),
        (165, Look, expect(0.2)),
        (166, step, expect(0.4)),
    ];
    check(&parameters, 100, &rows);
}

#[test]
fn hyper_increase_raises_the_target() {
    // Low enough that no target is cut off at the line rate.
    let parameters = Parameters {
        fast_recovery_threshold: Some(0),
        byte_counter: Some(rocelab_units::Bytes::ZERO),
        ..Parameters::default()
    };
    check(
        &parameters,
        100,
        &[
            (0, Cnp, 50.0),
            (50, Cnp, 25.0),
            // T before the step: 0, 1, 2. Targets 50.04, 50.24, 50.64.
            (105, Look, (25.0 + 50.04) / 2.0),
            (160, Look, ((25.0 + 50.04) / 2.0 + 50.24) / 2.0),
            (215, Look, (((25.0 + 50.04) / 2.0 + 50.24) / 2.0 + 50.64) / 2.0),
        ],
    );
}

#[test]
fn a_cut_takes_at_most_its_largest_share() {
    let parameters: Parameters = toml::from_str("max_cut = \"1/4\"").unwrap();
    check(&parameters, 100, &[(0, Cnp, 75.0)]);
}

#[test]
fn keys_override_the_preset() {
    let parameters: Parameters = toml::from_str("min_rate = \"60Gbps\"").unwrap();
    check(&parameters, 100, &[(0, Cnp, 60.0)]);
}
