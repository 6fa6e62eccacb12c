//! Congestion control on the wire: notifications, their interval, and the rates that follow.

use std::sync::Arc;

use rocelab_transport::congestion_control::Telemetry;
use rocelab_transport::{Operation, Packet, QueuePairProfile, QueuePairState, Service};
use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wire::{Cnm, Ecn, Opcode};

use crate::pair::{Fate, Pair, QPN, algorithm, ends, profile, work};

fn marked(parameters: &str) -> Pair {
    marked_on(Service::ReliableConnection, parameters)
}

fn marked_on(service: Service, parameters: &str) -> Pair {
    let congestion_control = algorithm("dcqcn", parameters);
    let mut pair = Pair::new(QueuePairProfile { congestion_control, service, ..profile() });
    pair.rule = Box::new(|sent| {
        if sent.transmit.packet.opcode().has_payload() { Fate::Mark } else { Fate::Deliver }
    });
    pair
}

#[test]
fn notifications_keep_their_interval() {
    let mut pair = marked("min_rate = \"50Gbps\"");
    pair.post(0, QPN, work(0, Operation::Write, 10_000_000));
    pair.drive_until(SimTime::from_ps(1_000_000_000));
    let cnps: Vec<_> =
        pair.log.iter().filter(|sent| sent.transmit.packet.opcode() == Opcode::Cnp).collect();
    for step in cnps.windows(2) {
        let gap = step[1].time.since(step[0].time);
        assert!(gap >= Duration::from_us(50), "{gap}");
        assert!(gap < Duration::from_us(51), "every packet is marked, yet {gap} passed");
    }
    assert!((19..=20).contains(&cnps.len()), "{} in 1 ms", cnps.len());
    let cnp = cnps[0].transmit;
    assert_eq!(cnp.frame_len, 74 + 4, "74 bytes on the wire of a ConnectX, and the FCS");
    assert_eq!(cnp.packet.dest_qp(), QPN);
    assert_eq!((cnp.packet.psn(), cnp.packet.priority()), (0, 6));
    assert!(cnp.packet.becn() && !cnp.packet.ack_req());
    assert_eq!(pair.nics[0].counters().cnps_received, cnps.len() as u64);
    let rate = pair.nics[0].queue_pair(QPN).unwrap().rate();
    assert!(rate.bits_per_second() < 70_000_000_000, "nineteen cuts later: {rate}");
}

#[test]
fn without_an_interval_every_mark_is_answered() {
    for service in [Service::ReliableConnection, Service::UnreliableConnection] {
        let mut pair = marked_on(service, "cnp_interval = \"0s\"");
        pair.post(0, QPN, work(0, Operation::Write, 100_000));
        pair.drive();
        let (sender, receiver) = (pair.nics[0].counters(), pair.nics[1].counters());
        assert_eq!(receiver.ce_received, sender.data_sent.packets);
        assert_eq!(receiver.cnps_sent.packets, receiver.ce_received);
        assert_eq!(sender.cnps_received, receiver.cnps_sent.packets);
        let rate = pair.nics[0].queue_pair(QPN).map(|queue_pair| queue_pair.rate());
        assert!(rate.is_some_and(|rate| rate.bits_per_second() < 100_000_000_000), "{service:?}");
    }
}

#[test]
fn marks_mean_nothing_to_those_who_did_not_ask() {
    let mut pair = Pair::new(profile());
    pair.rule = Box::new(|_| Fate::Mark);
    pair.post(0, QPN, work(0, Operation::Write, 100_000));
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    assert_eq!(pair.nics[1].counters().cnps_sent.packets, 0);
    assert_eq!(pair.nics[1].counters().ce_received, 98);
}

#[test]
fn read_data_that_is_marked_slows_the_responder() {
    let mut pair = marked("");
    pair.post(0, QPN, work(0, Operation::Read, 1_000_000));
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    assert!(pair.nics[0].counters().cnps_sent.packets > 0);
    assert!(pair.nics[1].counters().cnps_received > 0);
}

/// The rate at the end of a marked transfer, and that of one without marks 100 ms later.
fn rates_of_two_transfers(parameters: &str) -> [u64; 2] {
    let mut pair = marked(parameters);
    let rate = |pair: &Pair| pair.nics[0].queue_pair(QPN).unwrap().rate().bits_per_second();
    pair.post(0, QPN, work(0, Operation::Write, 200_000));
    pair.drive();
    let first = rate(&pair);
    assert_eq!(pair.nics[0].poll_timeout(), SimTime::NEVER, "no timer runs without work");
    pair.now += Duration::from_ms(100);
    pair.rule = Box::new(|_| Fate::Deliver);
    pair.post(0, QPN, work(1, Operation::Write, 2_000));
    pair.drive();
    assert_eq!(pair.nics[0].poll_timeout(), SimTime::NEVER, "no timer runs without work");
    [first, rate(&pair)]
}

#[test]
fn dcqcn_returns_to_the_line_rate() {
    let [slow, recovered] = rates_of_two_transfers("");
    assert!(slow < 76_000_000_000, "{slow} bit/s after a cut");
    assert_eq!(recovered, 100_000_000_000);
}

#[test]
fn its_timers_go_on_while_a_queue_pair_has_no_work() {
    // 333 increases, most of them by 200 Mb/s of the target, which the rate follows by halves.
    let [slow, recovered] = rates_of_two_transfers("preset = \"hpcc\"");
    assert!(slow < 60_000_000_000, "{slow} bit/s");
    assert!(recovered > 99_000_000_000, "{recovered} bit/s");
}

#[test]
fn a_failed_queue_pair_has_no_timers() {
    let mut pair = marked("preset = \"hpcc\"");
    pair.rule = Box::new(|sent| match sent.time {
        early if early < SimTime::from_ps(20_000_000) => Fate::Mark,
        _ => Fate::Drop,
    });
    pair.post(0, QPN, work(0, Operation::Write, 1_000_000));
    pair.drive_until(SimTime::from_ps(20_000_000_000));
    assert_eq!(pair.nics[0].queue_pair(QPN).unwrap().state(), QueuePairState::Error);
    assert_eq!(pair.nics[0].poll_timeout(), SimTime::NEVER);
}

#[test]
fn timely_slows_down_when_round_trips_grow() {
    let congestion_control = algorithm("timely", "");
    let ack_timeout = 14.try_into().unwrap();
    let mut pair = Pair::new(QueuePairProfile { congestion_control, ack_timeout, ..profile() });
    pair.latency = Duration::from_us(300);
    pair.post(0, QPN, work(0, Operation::Write, 20_000_000));
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    let rate = pair.nics[0].queue_pair(QPN).unwrap().rate();
    assert!(rate.bits_per_second() < 10_000_000_000, "{rate} with round trips above t_high");
}

#[test]
fn all_packets_are_ecn_capable_when_asked() {
    let mut pair = Pair::new(profile());
    pair.post(0, QPN, work(0, Operation::Write, 5000));
    pair.drive();
    assert!(pair.log.iter().all(|sent| sent.transmit.packet.ecn() == Ecn::Ect0));
}

#[test]
fn a_window_opens_again_however_rarely_acknowledgements_are_asked_for() {
    // Eight packets fill the window, and only the sixteenth would ask.
    let congestion_control = algorithm("none", "window = \"8KiB\"");
    let mut pair =
        Pair::new(QueuePairProfile { congestion_control, ack_interval: 16, ..profile() });
    pair.post(0, QPN, work(0, Operation::Write, 100 * 1024));
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    assert_eq!(pair.nics[0].counters().timeouts, 0);
}

#[test]
fn switches_slow_those_who_listen_to_them() {
    let notified = |name: &str| {
        let congestion_control = algorithm(name, "");
        let mut pair = Pair::new(QueuePairProfile { congestion_control, ..profile() });
        pair.post(0, QPN, work(0, Operation::Write, 1_000_000));
        pair.drive_until(SimTime::from_ps(1_000_000));
        let tagged = pair.log.iter().filter(|sent| sent.transmit.packet.has_cn_tag()).count();
        let data = &pair.log.first().unwrap().transmit;
        let cnm = Cnm { quantized_feedback: 32, ..Cnm::default() };
        let packet = Packet::congestion_notification(QPN, &cnm).with_class(6, Ecn::NotEct);
        pair.nics[0].receive(SimTime::from_ps(1_000_000), &packet, Telemetry::None);
        assert_eq!(pair.nics[0].counters().cnms_received, 1);
        assert_eq!(pair.nics[0].counters().cnps_received, 0);
        let rate = pair.nics[0].queue_pair(QPN).unwrap().rate();
        (tagged > 0, data.frame_len, rate.bits_per_second())
    };
    let (tagged, frame_len, rate) = notified("qcn");
    let (untagged, plain_len, line_rate) = notified("none");
    assert!(tagged && !untagged);
    assert_eq!(frame_len, plain_len + 4);
    assert_eq!(rate * 4, line_rate * 3, "32/128 of the rate is taken");
}

/// Four queue pairs between two NICs of 100G, which start one after the other.
fn starting(name: &str) -> Pair {
    let mut pair = Pair::without_queue_pairs(Bandwidth::from_gbps(100));
    let profile =
        QueuePairProfile { congestion_control: algorithm(name, "t_low = \"1us\""), ..profile() };
    let profile = Arc::new(profile);
    for index in 0..4 {
        pair.connect(ends(&profile, index));
    }
    pair
}

/// The rate of a queue pair of one side, in Mbit/s.
fn mbps(pair: &Pair, side: usize, index: u32) -> u64 {
    pair.nics[side].queue_pair(QPN + index).unwrap().rate().bits_per_second() / 1_000_000
}

#[test]
fn timely_starts_a_queue_pair_at_a_share_among_those_that_are_not_done() {
    for name in ["timely", "patched-timely"] {
        let mut pair = starting(name);
        for index in 0..3 {
            pair.post(0, QPN + index, work(0, Operation::Write, 50_000));
            // The first packet leaves; nothing is answered yet.
            while mbps(&pair, 0, index) == 100_000 && index > 0 {
                assert!(pair.nics[0].poll_transmit(SimTime::ZERO, 0).is_some());
            }
            if index == 0 {
                assert!(pair.nics[0].poll_transmit(SimTime::ZERO, 0).is_some());
            }
        }
        let rates = [0, 1, 2].map(|index| mbps(&pair, 0, index));
        assert_eq!(rates, [100_000, 50_000, 33_333], "{name}");
        // One that is gone counts no more.
        assert!(pair.nics[0].destroy_queue_pair(QPN));
        assert!(pair.nics[0].destroy_queue_pair(QPN + 1));
        pair.post(0, QPN + 3, work(0, Operation::Write, 50_000));
        while mbps(&pair, 0, 3) == 100_000 {
            assert!(pair.nics[0].poll_transmit(SimTime::from_ps(1_000_000_000), 0).is_some());
        }
        assert_eq!(mbps(&pair, 0, 3), 50_000, "{name}");
    }
}

#[test]
fn one_that_starts_when_all_others_are_done_has_the_whole_link_and_so_has_read_data() {
    let mut pair = starting("timely");
    for index in 0..3 {
        pair.post(0, QPN + index, work(index.into(), Operation::Write, 1_000));
        pair.drive();
        assert_eq!(mbps(&pair, 0, index), 100_000, "{index}");
    }
    // Nothing would raise the rate of a responder, which hears of no acknowledgement.
    let mut pair = starting("timely");
    for index in 0..4 {
        pair.post(0, QPN + index, work(0, Operation::Read, 500_000));
    }
    pair.drive();
    for index in 0..4 {
        assert_eq!(mbps(&pair, 1, index), 100_000, "{index}");
    }
}
