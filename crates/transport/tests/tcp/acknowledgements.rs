//! How the receiver acknowledges.

use rocelab_transport::tcp::{TcpFlags, TcpHost, TcpParameters, TcpSegment};
use rocelab_units::{Bytes, Duration, SimTime};
use rocelab_wire::Ecn;

use crate::wire::{Fate, MSS, Pair, number, parameters};

const FIRST: u32 = 0xffff_f000;

#[test]
fn every_second_segment() {
    let mut pair = Pair::new(parameters("reno"));
    pair.transfer(1_000 * MSS);
    pair.run();
    assert_eq!(pair.acks().count(), 500);
    assert!(pair.acks().all(|ack| ack.segment.sack_count() == 0));
}

#[test]
fn the_last_odd_segment_waits_for_the_timer() {
    let mut pair = Pair::new(parameters("reno"));
    pair.transfer(3 * MSS);
    pair.run();
    let acks: Vec<_> = pair.acks().map(|ack| ack.time).collect();
    let arrived = pair.completions[1][0].0;
    assert_eq!(acks.len(), 2);
    assert_eq!(acks[1], arrived + Duration::from_ms(40));
    assert_eq!(pair.hosts[0].counters().timeouts, 0, "and the sender waits longer");
}

#[test]
fn the_first_segments_are_acknowledged_each() {
    let mut pair = Pair::new(TcpParameters { quick_acks: 16, ..parameters("reno") });
    pair.transfer(100 * MSS);
    pair.run();
    assert_eq!(pair.acks().count(), 16 + 84 / 2);
}

#[test]
fn no_delay_and_larger_counts() {
    let mut pair = Pair::new(TcpParameters { delayed_ack: Duration::ZERO, ..parameters("reno") });
    pair.transfer(99 * MSS);
    pair.run();
    assert_eq!(pair.acks().count(), 99);
    let mut pair = Pair::new(TcpParameters { segments_per_ack: 5, ..parameters("reno") });
    pair.transfer(100 * MSS);
    pair.run();
    assert_eq!(pair.acks().count(), 20);
}

#[test]
fn gaps_are_told_at_once_and_the_latest_block_first() {
    // Segments 3, 5 and 7 of ten are lost.
    let mut pair = Pair::new(parameters("reno"));
    let mut lost = vec![3, 5, 7];
    pair.rule = Box::new(move |departure| {
        let which = number(departure, FIRST);
        if departure.side == 0 && lost.contains(&which) {
            lost.retain(|&one| one != which);
            return Fate::Drop;
        }
        Fate::Deliver
    });
    pair.transfer(10 * MSS);
    pair.run();
    pair.check_done(10 * MSS);
    let block = |segment: u32| FIRST.wrapping_add(segment * 1_000);
    let blocks: Vec<Vec<_>> = pair
        .acks()
        .filter_map(|ack| ack.sack)
        .map(|sack| sack.as_slice().to_vec())
        .take(4)
        .collect();
    let pair_of = |from, to| (block(from), block(to));
    assert_eq!(blocks[0], [pair_of(4, 5)]);
    assert_eq!(blocks[1], [pair_of(6, 7), pair_of(4, 5)]);
    assert_eq!(blocks[2], [pair_of(8, 9), pair_of(6, 7), pair_of(4, 5)]);
    assert_eq!(blocks[3], [pair_of(8, 10), pair_of(6, 7), pair_of(4, 5)]);
}

#[test]
fn what_arrived_twice_is_answered_and_not_delivered() {
    let mut pair = Pair::new(parameters("reno"));
    pair.rule = Box::new(|departure| match departure.side {
        0 => Fate::Duplicate(Duration::from_us(500)),
        _ => Fate::Deliver,
    });
    pair.transfer(50 * MSS);
    pair.run();
    pair.check_done(50 * MSS);
    let counters = pair.hosts[1].counters();
    assert_eq!((counters.data_received, counters.duplicates), (100, 50));
    assert_eq!(pair.hosts[0].counters().retransmitted.packets, 0);
}

#[test]
fn strangers_are_counted() {
    let mut pair = Pair::new(parameters("reno"));
    pair.transfer(10 * MSS);
    pair.run_until(SimTime::from_ps(60_000_000));
    let mut segment = pair.data().next().unwrap().segment;
    segment.connection = 9;
    pair.hosts[1].receive(pair.now, &segment, None);
    // Beyond the window, and an acknowledgement of what was never sent.
    let mut beyond = segment;
    (beyond.connection, beyond.seq) = (0, FIRST.wrapping_add(7 << 20));
    pair.hosts[1].receive(pair.now, &beyond, None);
    let mut ack = segment.with_payload_len(0);
    (ack.connection, ack.ack) = (0, FIRST.wrapping_add(11_000));
    pair.hosts[0].receive(pair.now, &ack, None);
    assert_eq!(pair.hosts.each_ref().map(|host| host.counters().discarded), [1, 2]);
    pair.run();
    pair.check_done(10 * MSS);
}

/// Hands a receiver one segment of the stream, marked or not.
fn hand_over(host: &mut TcpHost, which: u32, is_marked: bool) {
    let mut segment = TcpSegment::new(0, FIRST.wrapping_add(which * 1_000), FIRST, 0xffff)
        .with_payload_len(1_000)
        .with_class(1, Ecn::Ect0);
    if is_marked {
        segment.set_ce();
    }
    host.receive(SimTime::ZERO, &segment, None);
}

/// Segments that a host acknowledges, and whether with ECE, of all that may leave now.
fn acknowledged(host: &mut TcpHost) -> Vec<(u32, bool)> {
    std::iter::from_fn(|| host.poll_transmit(SimTime::ZERO, 0))
        .map(|transmit| {
            let segment = transmit.segment;
            (segment.ack.wrapping_sub(FIRST) / 1_000, segment.flags.has(TcpFlags::ECE))
        })
        .collect()
}

#[test]
fn marks_are_told_apart_where_acknowledgements_have_to_wait() {
    // Only one acknowledgement may wait in the host, and its priority is paused.
    let limited = TcpParameters { output_limit: Bytes::new(1), ..parameters("dctcp") };
    let mut pair = Pair::new(TcpParameters { segments_per_ack: 100, ..limited });
    let host = &mut pair.hosts[1];
    let marks = [false, true, false, false, true, true];
    for (which, is_marked) in (0..).zip(marks) {
        hand_over(host, which, is_marked);
    }
    assert_eq!(acknowledged(host), [(1, false), (2, true), (4, false), (6, true)]);
    // Out of order nothing new is acknowledged, whatever the marks are: what is missing is asked for.
    for (which, is_marked) in [(7, false), (8, true), (9, false)] {
        hand_over(host, which, is_marked);
    }
    assert_eq!(acknowledged(host), [(6, false), (6, false)]);
}

#[test]
fn one_that_is_opened_again_only_answers() {
    let mut pair = Pair::new(parameters("dctcp"));
    pair.transfer(3 * MSS);
    while pair.completions[1].is_empty() {
        pair.run_until(pair.now + Duration::from_us(1));
    }
    let host = &mut pair.hosts[1];
    assert!(!host.close(0), "the third segment is still to be acknowledged");
    pair.run();
    let host = &mut pair.hosts[1];
    let config = *host.connection(0).unwrap().config();
    assert!(host.close(0) && host.connection(0).is_none());
    host.open_again(config, 3 * MSS);
    hand_over(host, 1, true);
    assert!(!host.close(0));
    assert_eq!(acknowledged(host), [(3, false)]);
    assert!(host.close(0) && !host.has_completions());
    assert_eq!(host.counters().payload_delivered, 3 * MSS);
}
