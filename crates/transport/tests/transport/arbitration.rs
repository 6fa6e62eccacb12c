//! Who may send: round robin, priorities, pauses, pacing, windows.

use std::sync::Arc;

use rocelab_transport::congestion_control::Telemetry;
use rocelab_transport::{Content, Operation, Packet, QueuePairConfig, QueuePairProfile, Transmit};
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};
use rocelab_wire::{Deth, Opcode};

use crate::pair::{Pair, QPN, algorithm, ends, profile, work};

/// A pair with a queue pair for each of `priorities`, each with one long WRITE to do.
fn busy(priorities: &[u8], profile: QueuePairProfile) -> Pair {
    let mut pair = Pair::without_queue_pairs(Bandwidth::from_gbps(100));
    let profile = Arc::new(profile);
    for (index, &priority) in (0..).zip(priorities) {
        pair.connect(ends(&profile, index).map(|end| QueuePairConfig {
            priority,
            marking: priority,
            ..end
        }));
        pair.post(0, QPN + index, work(0, Operation::Write, 50 * 1024));
    }
    pair
}

#[test]
fn queue_pairs_take_turns() {
    let mut pair = busy(&[3, 5, 3, 0], profile());
    pair.drive();
    let order: Vec<u32> =
        pair.requests(0).map(|sent| sent.transmit.packet.dest_qp() - QPN).collect();
    assert_eq!(order.len(), 200);
    assert!(order.chunks(4).all(|turn| turn == [0, 1, 2, 3]), "{order:?}");
}

#[test]
fn a_paused_priority_stands_still_and_resumes() {
    let mut pair = busy(&[3, 4, 3], profile());
    let nic = &mut pair.nics[0];
    for _ in 0..50 {
        assert!(nic.is_ready(1 << 3));
        let packet = nic.poll_transmit(SimTime::ZERO, 1 << 3).unwrap().packet;
        assert_eq!(packet.priority(), 4);
    }
    assert!(!nic.is_ready(1 << 3), "only the paused priority is left");
    assert_eq!(nic.poll_transmit(SimTime::ZERO, 1 << 3), None);
    let order = [(); 4].map(|()| nic.poll_transmit(SimTime::ZERO, 0).unwrap().packet.dest_qp());
    assert_eq!(order, [QPN, QPN + 2, QPN, QPN + 2]);
}

#[test]
fn pause_holds_control_packets_of_its_priority_only() {
    let mut pair = busy(&[3, 4], profile());
    for index in [0, 1] {
        let send = Packet::new(Opcode::RcSendOnly, QPN + index, 100).with_ack_req(true);
        pair.nics[0].receive(SimTime::ZERO, &send, Telemetry::None);
    }
    let ack = pair.nics[0].poll_transmit(SimTime::ZERO, 1 << 3).unwrap().packet;
    assert_eq!((ack.opcode(), ack.priority()), (Opcode::RcAcknowledge, 4));
    let data = pair.nics[0].poll_transmit(SimTime::ZERO, 1 << 3).unwrap().packet;
    assert_eq!((data.opcode(), data.priority()), (Opcode::RcRdmaWriteFirst, 4));
    let ack = pair.nics[0].poll_transmit(SimTime::ZERO, 0).unwrap().packet;
    assert_eq!((ack.opcode(), ack.priority()), (Opcode::RcAcknowledge, 3));
}

#[test]
fn pacing_gaps_are_exact() {
    // 7 Gb/s does not divide: gaps round up to a picosecond.
    let congestion_control = algorithm("none", "rate = \"7Gbps\"");
    let mut pair = Pair::new(QueuePairProfile { congestion_control, ..profile() });
    pair.post(0, QPN, work(0, Operation::Write, 20_000));
    pair.post(0, QPN, work(1, Operation::Send, 0));
    pair.drive();
    let sent: Vec<_> = pair.requests(0).collect();
    assert_eq!(sent.len(), 21);
    for step in sent.windows(2) {
        let bits = (u64::from(step[0].transmit.frame_len) + 20) * 8;
        let gap = (u128::from(bits) * 1_000_000_000_000).div_ceil(7_000_000_000);
        assert_eq!(u128::from(step[1].time.since(step[0].time).ps()), gap);
    }
}

#[test]
fn at_the_line_rate_there_is_no_gap() {
    let mut pair = Pair::new(profile());
    pair.post(0, QPN, work(0, Operation::Write, 100 * 1024));
    pair.drive();
    let sent: Vec<_> = pair.requests(0).collect();
    let line_rate = Bandwidth::from_gbps(100);
    for step in sent.windows(2) {
        let occupied = Bytes::new(u64::from(step[0].transmit.frame_len) + 20);
        assert_eq!(step[1].time.since(step[0].time), line_rate.transmission_time(occupied));
    }
    assert_eq!(pair.nics[0].next_release(), SimTime::NEVER);
}

#[test]
fn paced_queue_pairs_fill_each_others_gaps() {
    let congestion_control = algorithm("none", "rate = \"25Gbps\"");
    let mut pair = busy(&[3, 3, 3, 3], QueuePairProfile { congestion_control, ..profile() });
    pair.drive_until(SimTime::from_ps(10_000_000));
    let sent = pair.requests(0).count();
    // 1126 bytes with RETH, preamble and gap take 88.5 ns at most: four times 25G is the line.
    assert!(sent >= 111, "{sent} frames in 10 us");
}

#[test]
fn the_window_is_kept() {
    let congestion_control = algorithm("none", "window = \"10KiB\"");
    let profile = QueuePairProfile { congestion_control, ack_interval: 1, ..profile() };
    let mut pair = Pair::new(profile);
    pair.post(0, QPN, work(0, Operation::Write, 1 << 20));
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    let (mut in_flight, mut most) = (0_i64, 0);
    let latency = Duration::from_us(2);
    let sent: Vec<_> = pair.requests(0).collect();
    // Ten packets a round trip; a round trip is at least twice the latency.
    for (index, departure) in sent.iter().enumerate() {
        in_flight += 1;
        let old = sent[..index].iter().rev().take_while(|o| departure.time.since(o.time) < latency);
        most = most.max(old.count() + 1);
    }
    assert_eq!(in_flight, 1024);
    assert_eq!(most, 10);
}

#[test]
fn management_datagrams_leave_before_data_with_their_content() {
    let mut pair = Pair::new(profile());
    pair.post(0, QPN, work(0, Operation::Write, 5000));
    let packet = Packet::new(Opcode::UdSendOnly, 1, 0)
        .with_payload_len(256)
        .with_deth(Deth::GSI_Q_KEY, 1)
        .with_content(true);
    let transmit = Transmit { packet, destination: 7, entropy: 0, frame_len: packet.frame_len(42) };
    let nic = &mut pair.nics[0];
    for byte in [1, 2] {
        nic.send_datagram(transmit, Content::Payload(vec![byte; 256].into()));
    }
    for byte in [1, 2] {
        assert_eq!(nic.poll_transmit(SimTime::ZERO, 0).unwrap(), transmit);
        assert_eq!(nic.take_content(&packet).unwrap().payload(), [byte; 256]);
    }
    let data = nic.poll_transmit(SimTime::ZERO, 0).unwrap();
    assert!(data.packet.opcode().is_rdma_write() && nic.take_content(&data.packet).is_none());
    assert_eq!(nic.counters().datagrams_sent.packets, 2);
    assert_eq!(nic.counters().naks_sent.packets, 0);
}
