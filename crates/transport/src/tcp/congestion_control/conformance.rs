//! What every registered algorithm must do, whatever it is.

use proptest::prelude::*;
use rocelab_units::{Duration, SimTime};

use super::*;

const MSS: u64 = 1_460;

fn path() -> TcpPath {
    TcpPath { mss: MSS, initial_window: 10 * MSS }
}

fn ack(now: SimTime, acked_bytes: u64) -> TcpAck {
    TcpAck {
        now,
        acked_bytes,
        acknowledged: 0,
        sent: 0,
        ece: false,
        rtt: Some(Duration::from_us(100)),
        grows: true,
        after_timeout: false,
    }
}

fn kind() -> impl Strategy<Value = Option<TcpCongestionKind>> {
    prop_oneof![
        20 => Just(None),
        1 => Just(Some(TcpCongestionKind::Loss)),
        1 => Just(Some(TcpCongestionKind::Ecn)),
        1 => any::<bool>().prop_map(|again| Some(TcpCongestionKind::Timeout { again })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn windows_keep_their_bounds(
        script in prop::collection::vec((kind(), 1..5 * MSS, any::<bool>()), 0..400)) {
        for algorithm in TcpAlgorithm::all_defaults() {
            let mut control = algorithm.build(&path());
            let mut now = SimTime::ZERO;
            let mut acknowledged = 0;
            for &(kind, bytes, ece) in &script {
                now += Duration::from_us(13);
                let before = control.window();
                if let Some(kind) = kind {
                    control.on_congestion(&TcpCongestion { now, kind, in_flight: before });
                    prop_assert!(control.window() <= before.max(2 * MSS), "{algorithm:?}");
                    prop_assert!(control.threshold() >= 2 * MSS);
                } else {
                    acknowledged += bytes;
                    let sent = acknowledged + before;
                    control.on_ack(&TcpAck { acknowledged, sent, ece, ..ack(now, bytes) });
                    prop_assert!(control.window() >= before, "{algorithm:?}");
                    prop_assert!(control.window() <= before + 2 * bytes.max(MSS));
                }
                prop_assert!(control.window() >= MSS);
            }
        }
    }
}

#[test]
fn slow_start_doubles_and_a_timeout_leaves_one_segment() {
    for algorithm in TcpAlgorithm::all_defaults() {
        let mut control = algorithm.build(&path());
        for expected in [10, 20, 40, 80] {
            assert_eq!(control.window(), expected * MSS, "{algorithm:?}");
            for _ in 0..expected / 2 {
                control.on_ack(&ack(SimTime::ZERO, 2 * MSS));
            }
        }
        let in_flight = control.window();
        let now = SimTime::ZERO;
        let kind = TcpCongestionKind::Timeout { again: false };
        control.on_congestion(&TcpCongestion { now, kind, in_flight });
        let threshold = control.threshold();
        assert_eq!(control.window(), MSS);
        assert!(in_flight / 2 <= threshold && threshold < in_flight);
        let kind = TcpCongestionKind::Timeout { again: true };
        control.on_congestion(&TcpCongestion { now, kind, in_flight: MSS });
        assert_eq!(control.threshold(), threshold, "the threshold stays");
    }
}

#[test]
fn a_long_pause_restarts_with_the_first_window() {
    for algorithm in TcpAlgorithm::all_defaults() {
        let mut control = algorithm.build(&path());
        control.on_ack(&ack(SimTime::ZERO, 2 * MSS));
        control.on_restart(Duration::from_us(10), false);
        assert_eq!(control.window(), 12 * MSS);
        control.on_restart(Duration::from_ms(900), true);
        assert_eq!(control.window(), 10 * MSS);
    }
}

#[test]
fn the_list_is_in_order() {
    assert_eq!(TcpAlgorithm::NAMES, ["reno", "cubic", "dctcp"]);
    for (algorithm, descriptor) in TcpAlgorithm::all_defaults().zip(TCP_DESCRIPTORS) {
        assert_eq!(algorithm.name(), descriptor.name);
        assert!(!descriptor.summary.is_empty() && !descriptor.reference.is_empty());
        assert_eq!(algorithm.validate(), Ok(()), "defaults are valid");
        let text = toml::to_string(&algorithm).unwrap();
        assert_eq!(toml::from_str::<TcpAlgorithm>(&text).unwrap(), algorithm, "{text}");
        let wrong = format!("[{}]\nno_such_key = 1", algorithm.name());
        let error = toml::from_str::<TcpAlgorithm>(&wrong).unwrap_err().to_string();
        assert!(error.contains("no_such_key"), "{error}");
    }
}

#[test]
fn wrong_parameters_are_named() {
    for (text, key) in [
        ("[cubic]\nc = 0", "c"),
        ("[cubic]\nbeta = 1", "beta"),
        ("[cubic]\nbeta = 0", "beta"),
        ("[dctcp]\ng = 0", "g"),
        ("[dctcp]\ng = 2", "g"),
        ("[dctcp]\ninitial_alpha = 1.5", "initial_alpha"),
    ] {
        let error = toml::from_str::<TcpAlgorithm>(text).unwrap().validate().unwrap_err();
        assert_eq!(error.key, key, "{error}");
    }
}
