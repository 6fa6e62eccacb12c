//! Scripts of notifications and the rates that they must give, each computed by hand from the
//! formulas at the top of the parent module.

use rocelab_units::{Bandwidth, Ratio, SimTime};

use super::Parameters;
use crate::congestion_control::testing::{path, serve_timers};
use crate::congestion_control::{CongestionControl, Definition, Sent};

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A notification with this quantized feedback.
    Cnm(u8),
    /// Nothing but timers.
    Look,
    /// So many bytes leave.
    Sent(u64),
}
use Event::{Cnm, Look};

/// One row: a time (ms), what happens then, and the rate after it (Gb/s).
type Row = (u64, Event, f64);

#[track_caller]
fn check(parameters: &Parameters, rows: &[Row]) {
    let mut control = parameters.build(&path(Bandwidth::from_gbps(40)));
    for &(ms, event, expected) in rows {
        let now = SimTime::from_ps(ms * 1_000_000_000);
        serve_timers(control.as_mut(), now);
        match event {
            Cnm(feedback) => control.on_cnm(now, feedback),
            Look => {}
            Event::Sent(bytes) => _ = control.on_sent(&Sent { now, bytes }),
        }
        // Cut off to whole bits.
        let short = expected * 1e9 - control.rate().bits_per_second() as f64;
        assert!((-0.001..1.0).contains(&short), "{ms} ms, {event:?}: {short} below {expected}");
    }
}

#[test]
fn cuts_are_in_proportion_to_the_feedback() {
    check(
        &Parameters::default(),
        &[
            (0, Look, 40.0),
            // 16/128 is an eighth; 63/128 is less than the largest cut of a half.
            (1, Cnm(16), 35.0),
            (2, Cnm(63), 35.0 * 65.0 / 128.0),
        ],
    );
    let steep = Parameters { gd: Ratio::new(1, 64), ..Parameters::default() };
    check(&steep, &[(1, Cnm(63), 20.0), (2, Cnm(63), 10.0), (3, Cnm(16), 7.5)]);
}

#[test]
fn time_alone_recovers_five_times_and_then_increases_in_half_the_time() {
    let halfway = |steps: i32| 40.0 - 10.0 / f64::from(1 << steps);
    let parameters = Parameters { gd: Ratio::new(1, 64), ..Parameters::default() };
    // 40 to 20, and from there 30 after a step; the next cut leaves its target at 30.
    let recovered = |steps: i32| 30.0 - 7.5 / f64::from(1 << steps);
    let active = (recovered(5) + 30.005) / 2.0;
    check(
        &parameters,
        &[
            (0, Cnm(16), 30.0),
            (14, Look, 30.0),
            (15, Look, halfway(1)),
            (16, Cnm(0), halfway(1)),
            (17, Cnm(32), halfway(1) / 2.0),
        ],
    );
    check(
        &parameters,
        &[
            (0, Cnm(32), 20.0),
            (15, Look, 30.0),
            (20, Cnm(16), 22.5),
            (35, Look, recovered(1)),
            (50, Look, recovered(2)),
            (95, Look, recovered(5)),
            // The sixth comes 7.5 ms later.
            (102, Look, recovered(5)),
            (103, Look, active),
        ],
    );
}

#[test]
fn the_target_stays_while_notifications_follow_each_other() {
    let parameters = Parameters { gd: Ratio::new(1, 64), ..Parameters::default() };
    check(&parameters, &[(0, Cnm(32), 20.0), (1, Cnm(32), 10.0), (16, Look, 25.0)]);
}

#[test]
fn bytes_recover_too_and_both_together_hyper_actively() {
    // F of 1: the first step of each is fast recovery.
    let parameters =
        Parameters { gd: Ratio::new(1, 64), fast_recovery_threshold: 1, ..Parameters::default() };
    let sent = Event::Sent;
    let first = 30.0;
    let second = (first + 40.0) / 2.0;
    // The target is at the line rate; a second cut brings it to 35.
    let third = (17.5 + 35.0) / 2.0;
    let active = (third + 35.005) / 2.0;
    let timed = (active + 35.010) / 2.0;
    let hyper = (timed + 35.060) / 2.0;
    check(
        &parameters,
        &[
            (0, Cnm(32), 20.0),
            (1, sent(149_999), 20.0),
            (1, sent(1), first),
            // Half of the bytes from here on.
            (1, sent(75_000), second),
            (2, Cnm(32), 17.5),
            (2, sent(150_000), third),
            (2, sent(75_000), active),
            // T = 1, B = 2: one of them is in fast recovery.
            (17, Look, timed),
            // T = 2, B = 2, after half of 15 ms.
            (25, Look, hyper),
        ],
    );
}

#[test]
fn the_least_rate_holds_and_nothing_runs_at_the_line_rate() {
    let mut control = Parameters::default().build(&path(Bandwidth::from_gbps(40)));
    assert!(!control.on_sent(&Sent { now: SimTime::ZERO, bytes: 1_000_000 }));
    for _ in 0..100 {
        control.on_cnm(SimTime::ZERO, 63);
    }
    assert_eq!(control.rate(), Bandwidth::from_mbps(10));
    let mut now = SimTime::ZERO;
    let mut steps = 0;
    while control.rate() < Bandwidth::from_gbps(40) {
        now = next_timer(control.as_mut());
        control.expire(0, now);
        steps += 1;
        assert!(steps < 100, "its target is the line rate, from where it came");
    }
    assert_eq!(next_timer(control.as_mut()), SimTime::NEVER, "after {now}");
}

fn next_timer(control: &mut dyn CongestionControl) -> SimTime {
    control.timers().map_or(SimTime::NEVER, |timers| timers.next())
}
