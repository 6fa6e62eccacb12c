//! What is sent again, when, and what it costs.

use rocelab_transport::tcp::TcpParameters;
use rocelab_units::{Bytes, Duration, SimTime};

use crate::wire::{Departure, Fate, MSS, Pair, Rule, number, parameters};

const FIRST: u32 = 0xffff_f000;

/// Drops these segments of the stream, each the first time.
fn dropping(segments: impl IntoIterator<Item = u64>) -> Rule {
    let mut segments: Vec<_> = segments.into_iter().collect();
    Box::new(move |departure: &Departure| {
        let which = number(departure, FIRST);
        match segments.iter().position(|&one| departure.side == 0 && one == which) {
            Some(place) => {
                segments.swap_remove(place);
                Fate::Drop
            }
            None => Fate::Deliver,
        }
    })
}

/// A connection whose window is 64 segments, by a receive window and 100 segments sent before.
fn steady(algorithm: &str) -> Pair {
    let receive_window = Bytes::new(64 * MSS);
    let mut pair = Pair::new(TcpParameters { receive_window, ..parameters(algorithm) });
    pair.transfer(2_000 * MSS);
    pair
}

#[test]
fn fast_retransmit_halves_the_window() {
    for (algorithm, expected) in [("reno", 32_000), ("cubic", 44_800), ("dctcp", 32_000)] {
        let mut pair = steady(algorithm);
        pair.rule = dropping([1_000]);
        while pair.hosts[0].counters().fast_retransmits == 0 {
            pair.run_until(pair.now + Duration::from_us(1));
        }
        // 64 in flight: the window is cut to a share of these.
        let window = pair.sender().congestion_window();
        assert!(window.abs_diff(expected) <= MSS, "{algorithm}: {window}");
        assert_eq!(window, pair.sender().slow_start_threshold());
        pair.run();
        pair.check_done(2_000 * MSS);
        let counters = pair.hosts[0].counters();
        // The lost one; and the last of the window once, as RFC 6675 has it where the receive window
        // keeps new data back.
        assert_eq!((counters.retransmitted.packets, counters.timeouts), (2, 0), "{algorithm}");
    }
}

#[test]
fn what_arrived_behind_a_hole_is_here() {
    let mut pair = Pair::new(parameters("reno"));
    pair.rule = dropping([3, 6]);
    pair.transfer(10 * MSS);
    while pair.receiver().waiting() < 4 * MSS {
        pair.run_until(pair.now + Duration::from_us(1));
    }
    let has = |from: u64, to: u64| pair.receiver().has(from * MSS, to * MSS);
    assert!(has(0, 3) && has(4, 6) && has(5, 6) && !has(3, 4) && !has(2, 5) && !has(4, 7));
    pair.run();
    assert!(pair.receiver().has(0, 10 * MSS) && !pair.receiver().has(9 * MSS, 11 * MSS));
}

#[test]
fn a_mark_and_a_loss_of_one_window_cut_once() {
    let mut pair = Pair::new(TcpParameters {
        receive_window: Bytes::new(64 * MSS),
        ecn: true,
        ..parameters("reno")
    });
    pair.rule = Box::new(|departure| match (departure.side, number(departure, FIRST)) {
        (0, 1_000) => Fate::Mark,
        (0, 1_010) if departure.segment.ecn().is_capable() => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.transfer(2_000 * MSS);
    while pair.hosts[0].counters().fast_retransmits == 0 {
        pair.run_until(pair.now + Duration::from_us(1));
    }
    assert_eq!(pair.hosts[0].counters().ecn_reductions, 1);
    // Half of the 62 that were in flight as the echo came, and not half of that.
    assert_eq!(pair.sender().congestion_window(), 31 * MSS);
    pair.run();
    pair.check_done(2_000 * MSS);
}

#[test]
fn dctcp_halves_on_a_loss_in_a_window_that_a_mark_has_cut() {
    // A share of marks that is held at 1/2 takes a quarter of the window of 40 segments. The loss
    // takes half of the 30 that are left (RFC 8257 section 3.5), once.
    let text = "mtu = 1040
        quick_acks = 0
        initial_window = 40
        [congestion_control.dctcp]
        g = '1/1000000000'
        initial_alpha = 0.5";
    let mut pair = Pair::new(toml::from_str(text).unwrap());
    pair.rule = Box::new(|departure| match (departure.side, number(departure, FIRST)) {
        (0, 0) => Fate::Mark,
        (0, 10 | 20) if departure.segment.ecn().is_capable() => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.transfer(60 * MSS);
    let segments = |pair: &Pair| (pair.sender().congestion_window() + MSS / 2) / MSS;
    let mut windows = vec![segments(&pair)];
    while pair.sender().acknowledged() < 40 * MSS {
        pair.run_until(pair.now + Duration::from_ns(100));
        windows.push(segments(&pair));
    }
    windows.dedup();
    assert_eq!(windows[..3], [40, 30, 15], "{windows:?}");
    let counters = pair.hosts[0].counters();
    assert_eq!((counters.ecn_reductions, counters.fast_retransmits), (1, 1));
    pair.run();
    pair.check_done(60 * MSS);
}

#[test]
fn losses_do_not_lengthen_measured_round_trips() {
    let mut pair = steady("reno");
    pair.rule = dropping((100..2_000).step_by(100));
    let mut longest = Duration::ZERO;
    while pair.sender().acknowledged() < 1_900 * MSS {
        pair.run_until(pair.now + Duration::from_us(10));
        longest = longest.max(pair.sender().smoothed_rtt().unwrap_or_default());
    }
    // 102 us without a queue, and some of what a window that leaves at once takes.
    assert!(longest < Duration::from_us(120), "{longest}");
}

#[test]
fn one_round_trip_recovers_many_losses() {
    // Every fourth segment of a window: all of them again within a round trip and the time that it
    // takes to see the first missing, and nothing else.
    let mut pair = steady("reno");
    let lost: Vec<_> = (1_000..1_032).step_by(4).collect();
    pair.rule = dropping(lost.clone());
    pair.run();
    pair.check_done(2_000 * MSS);
    let again: Vec<_> = pair
        .data()
        .scan(0, |highest, departure| {
            let which = number(departure, FIRST);
            let again = which < *highest;
            *highest = (*highest).max(which);
            Some((again, which, departure.time))
        })
        .filter(|&(again, ..)| again)
        .collect();
    let order: Vec<_> = again.iter().map(|&(_, which, _)| which).collect();
    assert_eq!(order, lost);
    let took = again[again.len() - 1].2.since(again[0].2);
    assert!(took < Duration::from_us(104), "{took}");
    let counters = pair.hosts[0].counters();
    assert_eq!((counters.fast_retransmits, counters.timeouts), (1, 0));
}

#[test]
fn a_lost_tail_takes_one_timeout() {
    let mut pair = Pair::new(parameters("reno"));
    pair.rule = dropping([9]);
    pair.transfer(10 * MSS);
    pair.run();
    pair.check_done(10 * MSS);
    let counters = pair.hosts[0].counters();
    assert_eq!((counters.timeouts, counters.retransmitted.packets), (1, 1));
    let departures: Vec<_> = pair.data().collect();
    let waited = departures[10].time.since(departures[9].time);
    // 200 ms from the last acknowledgement that moved something, that of the delayed one.
    let [least, most] = [200_000, 240_200].map(Duration::from_us);
    assert!(least <= waited && waited <= most, "{waited}");
    assert_eq!(pair.sender().congestion_window(), 2 * MSS, "one, and one for its acknowledgement");
}

#[test]
fn the_timeout_doubles_while_nothing_comes_back() {
    let mut pair = Pair::new(TcpParameters {
        min_rto: Duration::from_ms(5),
        max_rto: Duration::from_ms(60),
        ..parameters("reno")
    });
    let end = SimTime::from_ps(Duration::from_ms(400).ps());
    pair.transfer(10 * MSS);
    pair.run();
    pair.rule =
        Box::new(move |departure| if departure.time < end { Fate::Drop } else { Fate::Deliver });
    pair.log.clear();
    let start = pair.now;
    pair.hosts[0].post_send(start, 0, 9, MSS).unwrap();
    pair.run();
    let waits: Vec<_> =
        pair.data().map(|departure| departure.time.since(start).ps() / 1_000_000_000).collect();
    assert_eq!(waits[..7], [0, 5, 15, 35, 75, 135, 195]);
    assert_eq!(pair.sender().acknowledged(), 11 * MSS);
}

#[test]
fn a_lost_window_comes_back_in_slow_start() {
    let mut pair = steady("reno");
    pair.rule = dropping(1_000..1_064);
    pair.run();
    pair.check_done(2_000 * MSS);
    let counters = pair.hosts[0].counters();
    assert_eq!((counters.timeouts, counters.fast_retransmits), (1, 0));
    assert_eq!(counters.retransmitted.packets, 64, "each once");
    assert_eq!(pair.hosts[1].counters().duplicates, 0);
}

#[test]
fn what_arrived_is_not_sent_again_after_a_timeout() {
    // The end of the window arrives, but too little of it for a fast retransmit, and all of what
    // is sent next is lost.
    let mut pair = Pair::new(parameters("reno"));
    pair.rule = dropping(0..8);
    pair.transfer(10 * MSS);
    pair.run();
    pair.check_done(10 * MSS);
    assert_eq!(pair.hosts[0].counters().retransmitted.packets, 8);
    assert_eq!(pair.hosts[1].counters().duplicates, 0);
}

#[test]
fn reordering_by_less_than_three_segments_costs_nothing() {
    let mut pair = steady("cubic");
    let mut count = 0_u64;
    pair.rule = Box::new(move |departure| {
        count += u64::from(departure.side == 0);
        // A segment takes 0.86 us on the wire.
        let late = departure.side == 0 && count.is_multiple_of(10);
        if late { Fate::Delay(Duration::from_ns(1_800)) } else { Fate::Deliver }
    });
    pair.run();
    pair.check_done(2_000 * MSS);
    assert!(pair.hosts[1].counters().out_of_order > 300);
    assert_eq!(pair.hosts[0].counters().retransmitted.packets, 0);
}

#[test]
fn a_lost_retransmission_waits_for_the_timer() {
    // RFC 6675 does not see that a segment was lost twice.
    let mut pair = steady("reno");
    pair.rule = dropping([1_000, 1_000]);
    pair.run();
    pair.check_done(2_000 * MSS);
    let counters = pair.hosts[0].counters();
    assert_eq!((counters.fast_retransmits, counters.timeouts), (1, 1));
}

#[test]
fn the_end_of_the_data_is_rescued() {
    // Of the last ten, the first and the last two: the latter leave no trace, but are sent again
    // once the first has come.
    let mut pair = steady("reno");
    pair.rule = dropping([1_990, 1_999]);
    pair.run();
    pair.check_done(2_000 * MSS);
    assert_eq!(pair.hosts[0].counters().timeouts, 0);
}

#[test]
fn small_messages_arrive_whatever_is_lost() {
    // What is sent again is cut otherwise than it was: many messages in one segment, which covers
    // several ranges that have arrived.
    for seed in 0..300 {
        let mut pair = Pair::new(parameters("reno"));
        // Knuth's generator, for the first 60 frames.
        let (mut state, mut left) = (seed * 7 + 1, 60);
        pair.rule = Box::new(move |_| {
            state = u64::wrapping_add(
                u64::wrapping_mul(state, 6_364_136_223_846_793_005),
                1_442_695_040_888_963_407,
            );
            left -= u32::from(left > 0);
            match (left, (state >> 33) % 8) {
                (0, _) => Fate::Deliver,
                (_, 0..3) => Fate::Drop,
                (_, 3) => Fate::Delay(Duration::from_ms(300)),
                _ => Fate::Deliver,
            }
        });
        for id in 0..20 {
            pair.hosts[0].post_send(pair.now, 0, id, 100).unwrap();
            pair.run_until(pair.now + Duration::from_us(1));
        }
        pair.run_until(pair.now + Duration::from_ms(1_000_000));
        assert_eq!(pair.sender().acknowledged(), 2_000, "seed {seed}");
    }
}
