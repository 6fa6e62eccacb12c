//! How the window opens.

use rocelab_units::{Bytes, Duration, SimTime};

use crate::wire::{MSS, Pair, parameters};

/// Segments that left in each round trip, counted from the start. A round trip is 100 us and the
/// time of an acknowledgement on the wire, 0.07 us, and of the `segments` that it acknowledges, 0.86
/// us each; what a window takes to leave is less.
fn per_round_trip(pair: &Pair, rounds: usize, segments: u64) -> Vec<u64> {
    let mut counts = vec![0; rounds];
    for departure in pair.data() {
        let round = departure.time.ps() / (100_060_000 + 860_000 * segments);
        if let Some(count) = usize::try_from(round).ok().and_then(|round| counts.get_mut(round)) {
            *count += 1;
        }
    }
    counts
}

#[test]
fn slow_start_doubles_each_round_trip() {
    for algorithm in ["reno", "cubic", "dctcp"] {
        let mut pair = Pair::new(parameters(algorithm));
        pair.transfer(2_000 * MSS);
        pair.run_until(SimTime::from_ps(300_000_000));
        assert_eq!(per_round_trip(&pair, 3, 2), [10, 20, 40], "{algorithm}");
        pair.run();
        pair.check_done(2_000 * MSS);
        assert_eq!(pair.hosts[0].counters().retransmitted.packets, 0);
    }
}

#[test]
fn the_initial_window_is_a_parameter() {
    let mut pair = Pair::new(rocelab_transport::tcp::TcpParameters {
        initial_window: 3,
        segments_per_ack: 1,
        ..parameters("reno")
    });
    pair.transfer(100 * MSS);
    pair.run();
    assert_eq!(per_round_trip(&pair, 4, 1), [3, 6, 12, 24]);
}

#[test]
fn the_receive_window_bounds_what_is_in_flight() {
    let window = 16 * MSS;
    let mut pair = Pair::new(rocelab_transport::tcp::TcpParameters {
        receive_window: Bytes::new(window),
        ..parameters("reno")
    });
    pair.transfer(1_000 * MSS);
    for step in 1..100 {
        pair.run_until(SimTime::from_ps(step * 37_000_000));
        assert!(pair.sender().in_flight() <= window);
    }
    pair.run();
    pair.check_done(1_000 * MSS);
    // A window a round trip.
    let end = pair.completions[1][0].0;
    let rounds = end.since(SimTime::ZERO).as_secs_f64() / 103e-6;
    assert!((rounds - 1_000.0 / 16.0).abs() < 3.0, "{rounds}");
    assert!(pair.sender().congestion_window() <= 2 * window + 2 * MSS, "no growth without use");
}

#[test]
fn a_long_flow_fills_the_wire() {
    for algorithm in ["reno", "cubic", "dctcp"] {
        let mut pair = Pair::new(parameters(algorithm));
        pair.keep_log = false;
        pair.transfer(100_000 * MSS);
        pair.run();
        let seconds = pair.completions[1][0].0.as_secs_f64();
        // 1078 bytes a segment on the wire at 10 Gb/s.
        let ideal = 100_000.0 * 1_078.0 * 8.0 / 10e9;
        assert!(seconds < ideal + 0.001, "{algorithm}: {seconds} s, {ideal} s of frames");
    }
}

#[test]
fn sequence_numbers_wrap() {
    // 5 GB go round once, beginning just before the end.
    let mut pair =
        Pair::new(rocelab_transport::tcp::TcpParameters { mtu: 9_000, ..parameters("cubic") });
    pair.keep_log = false;
    let mut count = 0_u64;
    pair.rule = Box::new(move |departure| {
        count += u64::from(departure.side == 0);
        if departure.side == 0 && count.is_multiple_of(50_000) {
            crate::wire::Fate::Drop
        } else {
            crate::wire::Fate::Deliver
        }
    });
    pair.transfer(5_000_000_000);
    pair.run();
    pair.check_done(5_000_000_000);
    assert_eq!(pair.hosts[0].counters().timeouts, 0);
    assert!(pair.hosts[0].counters().fast_retransmits >= 10);
}

#[test]
fn messages_complete_in_their_order() {
    let mut pair = Pair::new(parameters("reno"));
    for id in 0..5 {
        pair.hosts[0].post_send(pair.now, 0, id, 700).unwrap();
        pair.hosts[1].post_receive(pair.now, 0, 10 + id, 700).unwrap();
    }
    pair.hosts[0].post_send(pair.now, 0, 5, 0).unwrap();
    pair.run();
    let ids = |side: usize| pair.completions[side].iter().map(|done| done.1.id).collect::<Vec<_>>();
    assert_eq!(ids(0), [0, 1, 2, 3, 4, 5]);
    assert_eq!(ids(1), [10, 11, 12, 13, 14]);
}

#[test]
fn a_closed_connection_is_gone_and_its_number_free() {
    let mut pair = Pair::new(parameters("reno"));
    pair.transfer(3 * MSS);
    assert!(!pair.hosts[0].close(0), "something waits for the wire");
    pair.run_until(SimTime::from_ps(20_000_000));
    let config = *pair.hosts[0].connection(0).unwrap().config();
    assert!(pair.hosts[0].close(0) && !pair.hosts[0].close(0) && !pair.hosts[0].close(9));
    assert!(pair.hosts[0].post_send(pair.now, 0, 1, 1).is_err());
    pair.run();
    assert_eq!(pair.hosts[0].counters().discarded, 2, "its acknowledgements");
    assert_eq!(pair.receiver().delivered(), 3 * MSS);
    pair.hosts[0].open(config);
    assert_eq!(pair.sender().sent(), 0);
}

#[test]
fn the_wrong_end_refuses() {
    let mut pair = Pair::new(parameters("reno"));
    assert!(pair.hosts[1].post_send(pair.now, 0, 1, 1).is_err());
    assert!(pair.hosts[0].post_receive(pair.now, 0, 1, 1).is_err());
    assert!(pair.hosts[0].post_send(pair.now, 1, 1, 1).is_err());
}

#[test]
fn after_a_pause_it_begins_with_the_first_window() {
    let mut pair = Pair::new(parameters("reno"));
    pair.transfer(500 * MSS);
    pair.run();
    assert!(pair.sender().congestion_window() > 100 * MSS);
    pair.now += Duration::from_ms(1_000);
    let start = pair.now;
    pair.log.clear();
    pair.hosts[0].post_send(start, 0, 2, 500 * MSS).unwrap();
    pair.run_until(start + Duration::from_us(90));
    assert_eq!(pair.data().count(), 10);
}

#[test]
fn connections_take_turns() {
    let mut pair = Pair::with_connections(parameters("reno"), 4, 0);
    for connection in 0..4 {
        pair.transfer_on(connection, 10 * MSS);
    }
    pair.run();
    // What one made before the others were there was alone: nothing has left yet.
    let order: Vec<_> = pair.data().map(|departure| departure.segment.connection).collect();
    assert_eq!(order.len(), 40);
    for (place, &connection) in order.iter().enumerate() {
        assert_eq!(connection as usize, place % 4, "at {place}");
    }
}

#[test]
fn nothing_leaves_while_its_priority_is_paused() {
    let mut pair = Pair::new(parameters("reno"));
    pair.transfer(MSS);
    let host = &mut pair.hosts[0];
    assert!(!host.is_ready(0b10) && host.poll_transmit(pair.now, 0b10).is_none());
    assert!(host.is_ready(!0b10) && host.poll_transmit(pair.now, !0b10).is_some());
}
