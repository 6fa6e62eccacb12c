//! The delay between wire and protocol.

use rocelab_transport::tcp::TcpParameters;
use rocelab_units::{Bytes, Duration, SimTime};

use crate::wire::{MSS, Pair, parameters};

/// When one segment is delivered, and when its sender knows.
fn times(parameters: TcpParameters) -> [u64; 2] {
    let mut pair = Pair::new(parameters);
    pair.transfer(MSS);
    pair.run();
    [1, 0].map(|side| pair.completions[side][0].0.ps())
}

#[test]
fn each_way_has_both_delays() {
    let base = TcpParameters { quick_acks: 1, ..parameters("reno") };
    let [delivered, known] = times(base.clone());
    // 1078 and 84 bytes at 10 Gb/s, and 50 us each way.
    assert_eq!([delivered, known], [50_862_400, 100_929_600]);
    let delayed = TcpParameters {
        send_delay: Duration::from_us(7),
        receive_delay: Duration::from_us(11),
        ..base
    };
    assert_eq!(times(delayed), [delivered + 18_000_000, known + 36_000_000]);
}

#[test]
fn the_protocol_measures_it() {
    let mut pair = Pair::new(TcpParameters {
        send_delay: Duration::from_us(7),
        receive_delay: Duration::from_us(11),
        segments_per_ack: 1,
        ..parameters("reno")
    });
    pair.transfer(MSS);
    pair.run();
    assert_eq!(pair.sender().smoothed_rtt(), Some(Duration::from_ps(136_929_600)));
}

#[test]
fn jitter_is_of_the_seed_and_keeps_the_order() {
    let jittery = || TcpParameters {
        jitter: Duration::from_us(30),
        receive_delay: Duration::from_us(5),
        ..parameters("cubic")
    };
    let run = || {
        let mut pair = Pair::new(jittery());
        pair.transfer(3_000 * MSS);
        pair.run();
        pair.check_done(3_000 * MSS);
        assert_eq!(pair.hosts[1].counters().out_of_order, 0);
        pair.completions[1][0].0
    };
    assert_eq!(run(), run());
    let mut calm = Pair::new(TcpParameters { jitter: Duration::ZERO, ..jittery() });
    calm.transfer(3_000 * MSS);
    calm.run();
    assert!(calm.completions[1][0].0 < run());
}

#[test]
fn a_limit_bounds_the_rate() {
    // 20 frames of 1058 bytes each 100 us.
    let mut pair = Pair::new(TcpParameters {
        send_delay: Duration::from_us(100),
        output_limit: Bytes::new(20 * 1_058),
        ..parameters("reno")
    });
    pair.transfer(5_000 * MSS);
    pair.run();
    pair.check_done(5_000 * MSS);
    let seconds = pair.completions[1][0].0.since(SimTime::ZERO).as_secs_f64();
    assert!((seconds / (5_000.0 / 20.0 * 100e-6) - 1.0).abs() < 0.05, "{seconds}");
}
