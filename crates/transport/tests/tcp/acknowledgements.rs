//! How the receiver acknowledges.

use rocelab_transport::tcp::TcpParameters;
use rocelab_units::{Duration, SimTime};

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
