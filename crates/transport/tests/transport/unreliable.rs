//! Unreliable connections and datagrams: nobody acknowledges anything.

use std::sync::Arc;

use rocelab_transport::{
    AddressHandle, CompletionStatus, DatagramSource, Operation, PostError, QueuePairProfile,
    ReceiveQueueConfig, ReceiveRequest, Service,
};
use rocelab_units::Bandwidth;
use rocelab_wire::Opcode;

use crate::pair::{Fate, Pair, QPN, ends, profile, work};

const Q_KEY: u32 = 0x1111;

fn pair(service: Service, receive_queue: ReceiveQueueConfig) -> Pair {
    let mut pair = Pair::without_queue_pairs(Bandwidth::from_gbps(100));
    let [near, mut far] = ends(&Arc::new(QueuePairProfile { service, ..profile() }), 0);
    far.receive_queue = receive_queue;
    far.q_key = Q_KEY;
    pair.connect([near, far]);
    pair
}

fn opcodes(pair: &Pair) -> Vec<Opcode> {
    pair.log.iter().map(|departure| departure.transmit.packet.opcode()).collect()
}

#[test]
fn a_connection_completes_what_it_has_sent() {
    let mut pair = pair(Service::UnreliableConnection, ReceiveQueueConfig::Endless);
    pair.post(0, QPN, work(0, Operation::Send, 3000));
    pair.post(0, QPN, work(1, Operation::WriteWithImmediate(7), 100));
    pair.drive();
    pair.assert_all_succeeded(0, 0..2);
    assert_eq!(
        opcodes(&pair),
        [
            Opcode::UcSendFirst,
            Opcode::UcSendMiddle,
            Opcode::UcSendLast,
            Opcode::UcRdmaWriteOnlyWithImmediate
        ]
    );
    assert!(pair.log.iter().all(|departure| !departure.transmit.packet.ack_req()));
    assert_eq!(pair.delivered[1], [3000, 100]);
    assert_eq!(pair.nics[0].poll_timeout(), rocelab_units::SimTime::NEVER);
}

#[test]
fn a_message_that_misses_a_packet_is_dropped_whole() {
    // Which of three messages of three packets arrive when packet n is lost.
    for lost in 0..9 {
        let mut pair = pair(Service::UnreliableConnection, ReceiveQueueConfig::Endless);
        let mut sent = 0;
        pair.rule = Box::new(move |_| {
            sent += 1;
            if sent == lost + 1 { Fate::Drop } else { Fate::Deliver }
        });
        for id in 0..3 {
            pair.post(0, QPN, work(id, Operation::Send, 3000 + u32::try_from(id).unwrap()));
        }
        pair.drive();
        pair.assert_all_succeeded(0, 0..3);
        let expected: Vec<u64> =
            (0..3).filter(|&message| message != lost / 3).map(|id| 3000 + id).collect();
        assert_eq!(pair.delivered[1], expected, "packet {lost} lost");
    }
}

#[test]
fn a_send_without_a_buffer_is_lost_without_a_word() {
    let mut pair = pair(Service::UnreliableConnection, ReceiveQueueConfig::Own);
    pair.post(0, QPN, work(0, Operation::Send, 3000));
    pair.drive();
    pair.nics[1].post_receive(QPN, ReceiveRequest { id: 5, address: 0, length: 4000 }).unwrap();
    pair.post(0, QPN, work(1, Operation::Send, 2000));
    pair.drive();
    pair.assert_all_succeeded(0, 0..2);
    let received: Vec<_> = pair.received[1].iter().map(|done| (done.id, done.bytes)).collect();
    assert_eq!(received, [(5, 2000)]);
    assert!(pair.log.iter().all(|departure| departure.side == 0));
}

#[test]
fn datagrams_go_where_each_says() {
    let mut pair = pair(Service::UnreliableDatagram, ReceiveQueueConfig::Own);
    for id in 0..3 {
        let request = ReceiveRequest { id, address: 0, length: 1024 };
        pair.nics[1].post_receive(QPN, request).unwrap();
    }
    let to = AddressHandle { destination: 42, entropy: 9, dest_qp: QPN, q_key: Q_KEY };
    let now = pair.now;
    let immediate = Operation::SendWithImmediate(3);
    let nic = &mut pair.nics[0];
    nic.post_datagram(now, QPN, work(0, Operation::Send, 1024), to).unwrap();
    nic.post_datagram(now, QPN, work(1, immediate, 10), AddressHandle { q_key: 0, ..to }).unwrap();
    nic.post_datagram(now, QPN, work(2, immediate, 20), AddressHandle { dest_qp: 99, ..to })
        .unwrap();
    nic.post_datagram(now, QPN, work(3, immediate, 30), to).unwrap();
    pair.drive();
    pair.assert_all_succeeded(0, 0..4);
    let received: Vec<_> =
        pair.received[1].iter().map(|done| (done.bytes, done.immediate, done.from)).collect();
    let from = Some(DatagramSource { host: 0, qpn: QPN });
    assert_eq!(received, [(1024, None, from), (30, Some(3), from)]);
    let counters = pair.nics[1].counters();
    assert_eq!((counters.wrong_key, counters.unknown_qp), (1, 1));
    assert!(pair.log.iter().all(|departure| departure.transmit.destination == 42));
    let deth = pair.log[0].transmit.packet.deth().unwrap();
    assert_eq!((deth.q_key, deth.src_qp), (Q_KEY, QPN));
}

#[test]
fn what_a_service_cannot_do_is_not_posted() {
    let refused = Err(PostError::NotOnThisService { qpn: QPN });
    let to = AddressHandle { destination: 0, entropy: 0, dest_qp: QPN, q_key: 0 };
    let mut uc = pair(Service::UnreliableConnection, ReceiveQueueConfig::Endless);
    let mut ud = pair(Service::UnreliableDatagram, ReceiveQueueConfig::Endless);
    let mut rc = pair(Service::ReliableConnection, ReceiveQueueConfig::Endless);
    for operation in [Operation::Read, Operation::FetchAdd { add: 1 }] {
        assert_eq!(uc.nics[0].post_send(uc.now, QPN, work(0, operation, 8)), refused);
    }
    let write = work(0, Operation::Write, 8);
    assert_eq!(ud.nics[0].post_datagram(ud.now, QPN, write, to), refused);
    let send = work(0, Operation::Send, 8);
    assert_eq!(ud.nics[0].post_send(ud.now, QPN, send), refused, "where to?");
    assert_eq!(uc.nics[0].post_datagram(uc.now, QPN, send, to), refused);
    assert_eq!(rc.nics[0].post_datagram(rc.now, QPN, send, to), refused);
    let long = ud.nics[0].post_datagram(ud.now, QPN, work(0, Operation::Send, 1025), to);
    assert_eq!(long, Err(PostError::DatagramTooLong { length: 1025, mtu: 1024 }));
    assert!(!ud.nics[0].is_ready(0) && !uc.nics[0].is_ready(0));
}

#[test]
fn a_failed_datagram_queue_pair_flushes() {
    let mut pair = pair(Service::UnreliableDatagram, ReceiveQueueConfig::Own);
    pair.nics[1].post_receive(QPN, ReceiveRequest { id: 5, address: 0, length: 10 }).unwrap();
    let error = rocelab_transport::QueuePairState::Error;
    pair.nics[1].modify_queue_pair(pair.now, QPN, error).unwrap();
    let flushed = pair.nics[1].poll_receive_completion().unwrap();
    assert_eq!((flushed.id, flushed.status), (5, CompletionStatus::Flushed));
}
