//! Marks, and what they do.

use rocelab_transport::tcp::{TcpFlags, TcpParameters};
use rocelab_units::{Bytes, Duration, SimTime};
use rocelab_wire::Ecn;

use crate::wire::{Fate, MSS, Pair, parameters};

fn with_ecn(algorithm: &str) -> TcpParameters {
    TcpParameters { ecn: true, ..parameters(algorithm) }
}

#[test]
fn only_new_data_is_capable_and_only_where_asked_for() {
    let mut pair = Pair::new(parameters("reno"));
    pair.transfer(100 * MSS);
    pair.run();
    assert!(pair.log.iter().all(|departure| departure.segment.ecn() == Ecn::NotEct));

    let mut pair = Pair::new(with_ecn("reno"));
    let mut data = 0;
    pair.rule = Box::new(move |departure| {
        data += u32::from(departure.side == 0);
        if departure.side == 0 && data == 30 { Fate::Drop } else { Fate::Deliver }
    });
    pair.transfer(100 * MSS);
    pair.run();
    let again = pair.data().filter(|departure| departure.segment.ecn() == Ecn::NotEct).count();
    assert_eq!(again as u64, pair.hosts[0].counters().retransmitted.packets);
    assert!(pair.acks().all(|departure| departure.segment.ecn() == Ecn::NotEct));
}

#[test]
fn a_mark_is_echoed_until_the_sender_heard() {
    let mut pair = Pair::new(with_ecn("reno"));
    let mut data = 0;
    pair.rule = Box::new(move |departure| {
        data += u32::from(departure.side == 0);
        if departure.side == 0 && data == 101 { Fate::Mark } else { Fate::Deliver }
    });
    pair.transfer(1_000 * MSS);
    pair.run();
    pair.check_done(1_000 * MSS);
    let counters = pair.hosts[0].counters();
    assert_eq!((counters.ecn_reductions, counters.retransmitted.packets), (1, 0));
    assert!(counters.ece_received > 10, "a round trip of acknowledgements");
    let told = pair.data().filter(|data| data.segment.flags.has(TcpFlags::CWR)).count();
    assert_eq!(told, 1);
    // Those with ECE are all in a row.
    let echoes: Vec<_> = pair.acks().map(|ack| ack.segment.flags.has(TcpFlags::ECE)).collect();
    let first = echoes.iter().position(|&echo| echo).unwrap();
    let end = echoes.iter().rposition(|&echo| echo).unwrap();
    assert_eq!((end - first + 1) as u64, counters.ece_received);
}

#[test]
fn marks_cut_once_a_window() {
    // All is marked: a cut each round trip, down to two segments, where Reno stays.
    for algorithm in ["reno", "cubic", "dctcp"] {
        let mut pair = Pair::new(with_ecn(algorithm));
        pair.rule = Box::new(|_| Fate::Mark);
        pair.transfer(400 * MSS);
        let mut last = pair.sender().congestion_window();
        let mut cuts = Vec::new();
        for step in 1..2_000 {
            pair.run_until(SimTime::from_ps(step * 2_000_000));
            let window = pair.sender().congestion_window();
            if window < last {
                cuts.push(pair.now);
            }
            last = window;
        }
        for pair in cuts.windows(2) {
            let between = pair[1].since(pair[0]);
            assert!(between >= Duration::from_us(98), "{algorithm}: {between}");
        }
        assert!(cuts.len() >= 2);
        assert_eq!(last, 2 * MSS, "{algorithm}");
        pair.run();
        pair.check_done(400 * MSS);
    }
}

#[test]
fn dctcp_hears_of_each_change_at_once() {
    // Segments 5 to 7 of 20 are marked, counted from 1. Every second is acknowledged: 2, 4; then 5
    // by itself, as the change is told; 7; 8 by itself; 10 and so on.
    let mut pair = Pair::new(TcpParameters { initial_window: 20, ..parameters("dctcp") });
    let mut data = 0;
    pair.rule = Box::new(move |departure| {
        data += u32::from(departure.side == 0);
        if departure.side == 0 && (5..=7).contains(&data) { Fate::Mark } else { Fate::Deliver }
    });
    pair.transfer(20 * MSS);
    pair.run();
    let acks: Vec<_> = pair
        .acks()
        .map(|ack| {
            let segment = ack.segment;
            (segment.ack.wrapping_sub(0xffff_f000) / 1_000, segment.flags.has(TcpFlags::ECE))
        })
        .collect();
    let expected = [(2, false), (4, false), (5, true), (7, true), (8, false), (10, false)];
    assert_eq!(acks[..6], expected);
    assert_eq!(acks.len(), 11);
}

#[test]
fn dctcp_tells_apart_what_waited_before_a_change() {
    // Segment 6 is marked: 5 waits for its acknowledgement, which says that it was not.
    let mut pair = Pair::new(TcpParameters { initial_window: 20, ..parameters("dctcp") });
    let mut data = 0;
    pair.rule = Box::new(move |departure| {
        data += u32::from(departure.side == 0);
        if departure.side == 0 && data >= 6 { Fate::Mark } else { Fate::Deliver }
    });
    pair.transfer(8 * MSS);
    pair.run();
    let acks: Vec<_> = pair
        .acks()
        .map(|ack| {
            let segment = ack.segment;
            (segment.ack.wrapping_sub(0xffff_f000) / 1_000, segment.flags.has(TcpFlags::ECE))
        })
        .collect();
    assert_eq!(acks, [(2, false), (4, false), (5, false), (6, true), (8, true)]);
}

#[test]
fn a_share_of_marks_cuts_by_half_of_it() {
    // One segment in 20 is marked for long: each cut takes about half of a twentieth, where Reno
    // takes half.
    let mut pair =
        Pair::new(TcpParameters { receive_window: Bytes::new(100 * MSS), ..parameters("dctcp") });
    pair.keep_log = false;
    let mut data = 0_u32;
    pair.rule = Box::new(move |departure| {
        data += u32::from(departure.side == 0);
        if data.is_multiple_of(20) { Fate::Mark } else { Fate::Deliver }
    });
    pair.transfer(60_000 * MSS);
    pair.run_until(SimTime::from_ps(Duration::from_ms(50).ps()));
    let mut last = pair.sender().congestion_window();
    let mut shares = Vec::new();
    for _ in 0..2_000 {
        pair.run_until(pair.now + Duration::from_us(1));
        let window = pair.sender().congestion_window();
        if window < last {
            shares.push(1.0 - window as f64 / last as f64);
        }
        last = window;
    }
    assert!(shares.len() > 10);
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!((mean - 0.025).abs() < 0.008, "{mean} of {shares:?}");
}
