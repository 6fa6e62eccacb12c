//! REQ to RTU, and why there may be no connection.

use super::*;

/// What one side says is what the other is told, and the limits meet.
#[test]
fn parameters_agree() {
    let mut hosts = Hosts::new(&[]);
    hosts.connect();
    hosts.run();
    let [active, passive] = [hosts.established(0)[0], hosts.established(1)[0]];
    assert_eq!(hosts.accepted, Some(passive));
    assert_eq!((active.local_qpn, active.remote_qpn), (0x11, 0x22));
    assert_eq!((passive.local_qpn, passive.remote_qpn), (0x22, 0x11));
    assert_eq!((active.receive_psn, active.send_psn), (0xaaa, 0xbbb));
    assert_eq!((passive.receive_psn, passive.send_psn), (0xbbb, 0xaaa));
    // The active side wants 16 of the passive side's 8, the passive side 8 of the other's 4.
    assert_eq!((active.initiator_depth, passive.responder_resources), (8, 8));
    assert_eq!((passive.initiator_depth, active.responder_resources), (4, 4));
    assert_eq!((active.path_mtu(), passive.path_mtu()), (Some(4096), Some(4096)));
    assert_eq!((active.ack_timeout, passive.ack_timeout), (19, 19));
    assert_eq!((active.retry_count, passive.retry_count), (3, 3));
    // Each wishes for the other.
    assert_eq!((active.rnr_retry_count, passive.rnr_retry_count), (6, 5));
    assert_eq!((active.peer, passive.peer), (PASSIVE, ACTIVE));
    assert_eq!(passive.remote_gid, Gid::from_ipv4([10, 0, 0, 0]));
}

#[test]
fn the_application_sees_the_request() {
    let mut hosts = Hosts::new(&[]);
    hosts.connect();
    hosts.run();
    let CmEvent::ConnectRequested { request, .. } = &hosts.events[1][0] else { panic!() };
    assert_eq!((request.source, request.service_id), (ACTIVE, SERVICE));
    assert_eq!((request.remote_qpn, request.unreliable), (0x11, false));
    assert_eq!((request.responder_resources, request.initiator_depth), (4, 16));
    let header = CmaHeader::parse(&request.private_data).unwrap();
    assert_eq!(header.to_string(), "CMA 10.0.0.0 port 77 > 10.0.0.1");
    assert_eq!(&request.private_data[CmaHeader::LEN..][..6], b"hello\0");
}

/// Whatever single message is lost, both sides connect once, at the time of its repetition.
#[test]
fn each_message_lost_once() {
    let [a, p] = [ACTIVE, PASSIVE];
    let cases = [
        (Req, vec![(a, Req), (a, Req), (p, Rep), (a, Rtu)], REQUEST_TIMEOUT),
        (Rep, vec![(a, Req), (p, Rep), (p, Rep), (a, Rtu)], RESPONSE_TIMEOUT),
        (Rtu, vec![(a, Req), (p, Rep), (a, Rtu), (p, Rep), (a, Rtu)], RESPONSE_TIMEOUT),
    ];
    for (lost, expected, timeout) in cases {
        let mut hosts = Hosts::new(&[(lost, 0)]);
        let active = hosts.connect();
        hosts.run();
        assert_eq!(hosts.sent, expected, "{lost} lost");
        hosts.assert_established_once();
        let late = hosts.now.since(SimTime::ZERO + timeout);
        assert!(hosts.now >= SimTime::ZERO + timeout && late < DELAY * 5, "{lost}: {late}");
        hosts.managers[0].disconnect(hosts.now, active).unwrap();
        hosts.run();
        hosts.assert_all_released();
    }
}

#[test]
fn no_listener() {
    let mut hosts = Hosts::new(&[]);
    hosts.managers[1].listeners.clear();
    let connection = hosts.connect();
    hosts.run();
    assert_eq!(hosts.sent, [(ACTIVE, Req), (PASSIVE, Rej)]);
    let reason = RejectReason::INVALID_SERVICE_ID;
    assert_eq!(hosts.events[0], [CmEvent::Rejected { connection, reason }]);
    assert!(hosts.events[1].is_empty());
    hosts.assert_all_released();
}

#[test]
fn rejected_by_the_application() {
    for losses in [&[][..], &[(Rej, 0)]] {
        let mut hosts = Hosts::new(losses);
        hosts.passive = Passive::Rejects;
        let connection = hosts.connect();
        hosts.run();
        let reason = RejectReason::CONSUMER_DEFINED;
        assert_eq!(hosts.events[0], [CmEvent::Rejected { connection, reason }]);
        hosts.assert_all_released();
        // A lost REJ makes the request new: there is nothing to remember of it.
        assert_eq!(hosts.events[1].len(), losses.len() + 1);
    }
}

#[test]
fn reliable_datagram_is_not_served() {
    let mut hosts = Hosts::new(&[]);
    let req = rocelab_wire::cm::Req {
        local_communication_id: 5,
        service_id: SERVICE,
        transport_service_type: 2,
        ..Default::default()
    };
    let manager = &mut hosts.managers[1];
    manager.receive(SimTime::ZERO, ACTIVE, &Mad::new(1, CmMessage::Req(req)).to_bytes());
    let answer = manager.poll_transmit().unwrap();
    let Mad { message: CmMessage::Rej(rej), .. } = Mad::parse(&answer.mad).unwrap() else {
        panic!("{answer:?}")
    };
    assert_eq!(rej.reason, RejectReason::INVALID_TRANSPORT_TYPE);
    assert_eq!((rej.remote_communication_id, manager.connections()), (5, 0));
}

/// Nothing answers the REP: it and fifteen repetitions, and the end.
#[test]
fn rep_is_never_answered() {
    let mut hosts = Hosts::new(&[]);
    hosts.connect();
    let req = hosts.managers[0].poll_transmit().unwrap();
    let passive = &mut hosts.managers[1];
    passive.receive(SimTime::ZERO, ACTIVE, &req.mad);
    let Some(CmEvent::ConnectRequested { connection, .. }) = passive.poll_event() else { panic!() };
    passive.accept(SimTime::ZERO, connection, &AcceptReply::new(2, 2)).unwrap();
    let mut sent = 0;
    while passive.poll_timeout() < SimTime::NEVER {
        sent += usize::from(passive.poll_transmit().is_some());
        passive.handle_timeout(passive.poll_timeout());
    }
    assert_eq!(sent, 16);
    assert_eq!(passive.poll_event(), Some(CmEvent::TimedOut { connection, message: Rep }));
    assert_eq!(passive.connections(), 0);
}

/// A REQ that comes again while the application sleeps is answered by an MRA, and the active side
/// waits for the service timeout and the ACK timeout.
#[test]
fn a_slow_application_gets_time() {
    let mut hosts = Hosts::new(&[]);
    hosts.passive = Passive::Sleeps;
    let active = hosts.connect();
    hosts.run_until(SimTime::ZERO + REQUEST_TIMEOUT + DELAY * 4);
    assert_eq!(hosts.sent, [(ACTIVE, Req), (ACTIVE, Req), (PASSIVE, Mra)]);
    assert_eq!(hosts.managers[1].counters().duplicates, 1);
    let service_timeout = Duration::from_ns(4_096 << 24);
    let expected = SimTime::ZERO + REQUEST_TIMEOUT + DELAY + DELAY + service_timeout + TIME_WAIT;
    assert_eq!(hosts.managers[0].poll_timeout(), expected);

    hosts.passive = Passive::Accepts;
    let event = hosts.events[1][0].clone();
    hosts.decide(1, &event);
    hosts.run();
    hosts.assert_established_once();
    // The longer wait was the REQ's alone: the DREQ has the usual one.
    hosts.managers[0].disconnect(hosts.now, active).unwrap();
    assert_eq!(hosts.managers[0].poll_timeout(), hosts.now + REQUEST_TIMEOUT);
}

/// An MRA of a REP does the same for the passive side.
#[test]
fn mra_of_a_rep() {
    let mut hosts = Hosts::new(&[(Rtu, 0)]);
    hosts.connect();
    hosts.run_until(SimTime::ZERO + DELAY * 4);
    let passive = &mut hosts.managers[1];
    let mra = rocelab_wire::cm::Mra {
        local_communication_id: 100,
        remote_communication_id: 200,
        message: AnsweredMessage::Rep,
        service_timeout: 10,
        ..Default::default()
    };
    passive.receive(hosts.now, ACTIVE, &Mad::new(1, CmMessage::Mra(mra)).to_bytes());
    let expected = hosts.now + Duration::from_ns(4_096 << 10) + TIME_WAIT;
    assert_eq!(passive.poll_timeout(), expected);
    // Of a REQ that this side never sent, it means nothing.
    let wrong = rocelab_wire::cm::Mra { message: AnsweredMessage::Req, ..mra };
    passive.receive(hosts.now, ACTIVE, &Mad::new(1, CmMessage::Mra(wrong)).to_bytes());
    assert_eq!((passive.poll_timeout(), passive.counters().discarded), (expected, 1));
}

#[test]
fn data_counts_as_ready_to_use() {
    let mut hosts = Hosts::new(&[(Rtu, 0)]);
    hosts.connect();
    hosts.run_until(SimTime::ZERO + DELAY * 4);
    hosts.managers[1].on_data_received(0x23);
    hosts.step();
    assert!(hosts.established(1).is_empty(), "the data was of another queue pair");
    hosts.managers[1].on_data_received(0x22);
    hosts.managers[1].on_data_received(0x22);
    hosts.run();
    hosts.assert_established_once();
    assert_eq!(hosts.sent, [(ACTIVE, Req), (PASSIVE, Rep), (ACTIVE, Rtu)]);
}

/// An answer that comes when nobody waits any more is told once, however often it comes.
#[test]
fn an_answer_that_comes_too_late() {
    let mut hosts = Hosts::new(&[]);
    for manager in &mut hosts.managers {
        // 2 x 4.096 us there and back, 4 us for the answer; the way takes 20 us.
        (manager.config.response_timeout, manager.config.packet_lifetime) = (0, 0);
        manager.config.max_cm_retries = 1;
    }
    hosts.delay = Duration::from_us(20);
    let connection = hosts.connect();
    hosts.run();
    let message = Req;
    assert_eq!(
        hosts.events[0],
        [CmEvent::TimedOut { connection, message }, CmEvent::AnsweredLate { connection }]
    );
    assert_eq!(hosts.sent.iter().filter(|&&sent| sent == (PASSIVE, Rep)).count(), 4);
}

/// A late answer counts if it is the peer's, as one in time does.
#[test]
fn a_late_answer_of_someone_else_is_none() {
    let mut hosts = Hosts::new(&[]);
    for manager in &mut hosts.managers {
        (manager.config.response_timeout, manager.config.packet_lifetime) = (0, 0);
        manager.config.max_cm_retries = 1;
    }
    hosts.delay = Duration::from_us(20);
    let connection = hosts.connect();
    hosts.run_until(SimTime::ZERO + Duration::from_us(30));
    let timed_out = CmEvent::TimedOut { connection, message: Req };
    assert_eq!(hosts.events[0], std::slice::from_ref(&timed_out));
    let reply = hosts.on_the_wire.iter().find(|(_, source, _)| *source == PASSIVE);
    let reply = reply.expect("a REP is under way").2.mad;
    hosts.managers[0].receive(hosts.now, PASSIVE + 1, &reply);
    hosts.step();
    assert_eq!(hosts.events[0], std::slice::from_ref(&timed_out));
    hosts.run();
    assert_eq!(hosts.events[0], [timed_out, CmEvent::AnsweredLate { connection }]);
}

/// A rejection is an answer, too.
#[test]
fn a_rejection_that_comes_too_late() {
    let mut hosts = Hosts::new(&[]);
    for manager in &mut hosts.managers {
        (manager.config.response_timeout, manager.config.packet_lifetime) = (0, 0);
        manager.config.max_cm_retries = 1;
    }
    hosts.delay = Duration::from_us(20);
    hosts.passive = Passive::Rejects;
    let connection = hosts.connect();
    hosts.run();
    assert_eq!(
        hosts.events[0],
        [CmEvent::TimedOut { connection, message: Req }, CmEvent::AnsweredLate { connection }]
    );
}
