//! Against the formulas of RFC 9438, written anew for a test: closed forms in whole numbers where
//! there are some.

use rocelab_units::{Duration, SimTime};

use super::*;

const MSS: u64 = 1_000;

/// A controller that met congestion with a window of `w_max` segments at time 0.
fn after_congestion(w_max: u64) -> Cubic {
    let path = TcpPath { mss: MSS, initial_window: w_max * MSS };
    let mut control = Cubic::new(&Parameters::default(), &path);
    let in_flight = w_max * MSS;
    let kind = TcpCongestionKind::Loss;
    control.on_congestion(&TcpCongestion { now: SimTime::ZERO, kind, in_flight });
    control
}

fn ack(now: SimTime, acked_bytes: u64, rtt: Duration) -> TcpAck {
    TcpAck {
        now,
        acked_bytes,
        acknowledged: 0,
        sent: 0,
        ece: false,
        rtt: Some(rtt),
        grows: true,
        after_timeout: false,
    }
}

/// Acknowledges whole windows, one segment at a time, until `end`.
fn run(control: &mut Cubic, from: SimTime, end: SimTime, rtt: Duration) {
    let mut now = from;
    while now < end {
        let segments = control.window() / MSS;
        for _ in 0..segments {
            now += Duration::from_ps(rtt.ps() / segments);
            control.on_ack(&ack(now, MSS, rtt));
        }
    }
}

#[test]
fn the_window_is_back_after_k() {
    // W_max = 10,000, so that K = cbrt(0.3 10,000 / 0.4) = cbrt(7500) = 19.5743 s: the long-fat
    // case in which CUBIC is far above Reno. At t = K / 2 what is missing is an eighth of 3,000:
    // 9,625. At 2 K it is 3,000 more than W_max.
    let rtt = Duration::from_ms(100);
    let k = Duration::from_us(19_574_338);
    let mut control = after_congestion(10_000);
    assert_eq!(control.window(), 7_000 * MSS);
    let mut now = SimTime::ZERO;
    for (quarters, expected) in [(1, 8_734.375), (2, 9_625.0), (4, 10_000.0), (8, 13_000.0)] {
        let end = SimTime::from_ps(k.ps() / 4 * quarters);
        run(&mut control, now, end, rtt);
        now = end;
        let window = control.segments();
        let off = (window - expected).abs() / expected;
        // The window follows its target within a round trip, in which it moves by 0.1 / K of it.
        assert!(off < 0.01, "{window} at {quarters} quarters of K, expected {expected}");
    }
}

#[test]
fn each_step_is_that_of_the_rfc() {
    // The recursion computed here with powers and the cube root by Newton's method.
    let (c, beta, rtt) = (0.4, 0.7, 0.01);
    let mut control = after_congestion(500);
    let (w_max, mut cwnd, mut w_est) = (500.0, 350.0, 350.0);
    let mut k = 5.0;
    for _ in 0..50 {
        k -= (k * k * k - (w_max - cwnd) / c) / (3.0 * k * k);
    }
    let alpha_cubic = 3.0 * (1.0 - beta) / (1.0 + beta);
    for step in 0..20_000_u64 {
        let at = Duration::from_us(step * 500);
        control.on_ack(&ack(SimTime::ZERO + at, MSS, Duration::from_ms(10)));
        let t = at.as_secs_f64();
        w_est += if w_est < 500.0 { alpha_cubic } else { 1.0 } / cwnd;
        if c * (t - k).powi(3) + w_max < w_est {
            cwnd = w_est.max(cwnd);
        } else {
            let target = (c * (t + rtt - k).powi(3) + w_max).clamp(cwnd, 1.5 * cwnd);
            cwnd += (target - cwnd) / cwnd;
        }
        let off = (control.window() as f64 / MSS as f64 - cwnd).abs();
        assert!(off < 0.002, "step {step}: {} and {cwnd}", control.window());
    }
    assert!(cwnd > 500.0, "it went through the plateau: {cwnd}");
}

#[test]
fn as_reno_where_the_window_is_small() {
    // A round trip of 100 us: within 50 of them the cubic function has moved by nothing, Reno's
    // estimate by alpha = 3 0.3 / 1.7 = 9/17 each.
    let mut control = after_congestion(20);
    run(&mut control, SimTime::ZERO, SimTime::from_ps(950_000_000), Duration::from_us(100));
    let gained = control.segments() - 14.0;
    assert!((gained - 10.0 * 9.0 / 17.0).abs() < 0.3, "{gained} in ten round trips");
}

#[test]
fn fast_convergence_gives_way() {
    // Congestion at 70 segments, before 100 are reached again: W_max is 85 % of 70.
    let mut control = after_congestion(100);
    let kind = TcpCongestionKind::Loss;
    let now = SimTime::ZERO;
    control.on_congestion(&TcpCongestion { now, kind, in_flight: 70 * MSS });
    assert_eq!(control.window(), 49 * MSS);
    let w_max = control.w_max.unwrap();
    assert!((w_max - 59.5).abs() < 1e-9, "{w_max}");
}

#[test]
fn after_a_timeout_the_function_starts_at_its_plateau() {
    let mut control = after_congestion(100);
    let kind = TcpCongestionKind::Timeout { again: false };
    let now = SimTime::ZERO;
    control.on_congestion(&TcpCongestion { now, kind, in_flight: 70 * MSS });
    assert_eq!((control.window(), control.threshold()), (MSS, 49 * MSS));
    for _ in 0..60 {
        control.on_ack(&ack(now, MSS, Duration::from_us(100)));
    }
    let epoch = control.epoch.unwrap();
    assert_eq!((epoch.k, epoch.w_max), (0.0, 49.0));
}
