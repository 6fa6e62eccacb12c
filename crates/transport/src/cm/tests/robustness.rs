//! Duplicates, strangers, wrong calls and random losses.

use super::*;

/// Every message twice changes nothing.
#[test]
fn duplicates() {
    let mut hosts = Hosts::new(&[]);
    let active = hosts.connect();
    let mut disconnected = false;
    loop {
        hosts.step();
        let Some((at, source, message)) = hosts.on_the_wire.pop() else { break };
        hosts.now = hosts.now.max(at);
        let to = usize::try_from(message.destination).unwrap();
        for _ in 0..2 {
            hosts.managers[to].receive(hosts.now, source, &message.mad);
            hosts.step();
        }
        if hosts.on_the_wire.is_empty() && !disconnected {
            hosts.managers[0].disconnect(hosts.now, active).unwrap();
            disconnected = true;
        }
    }
    hosts.run();
    hosts.assert_established_once();
    hosts.assert_disconnected_once();
    assert_eq!([Req, Rep, Dreq].map(|kind| hosts.count_sent(kind)), [1, 1, 1]);
    assert_eq!(hosts.managers[0].counters().repeated, 0);
    hosts.assert_all_released();
}

#[test]
fn wrong_calls_change_nothing() {
    let mut hosts = Hosts::new(&[]);
    let active = hosts.connect();
    let now = SimTime::ZERO;
    let manager = &mut hosts.managers[0];
    assert_eq!(manager.disconnect(now, active), Err(CmError::WrongState(active)));
    let reply = AcceptReply::new(1, 1);
    assert_eq!(manager.accept(now, active, &reply), Err(CmError::WrongState(active)));
    let reason = RejectReason::NO_QP;
    assert_eq!(manager.reject(active, reason, &[]), Err(CmError::WrongState(active)));
    let unknown = ConnectionId(7);
    assert_eq!(manager.abandon(now, unknown), Err(CmError::UnknownConnection(unknown)));

    let gid = Gid::from_ipv4([10, 0, 0, 1]);
    let request = ConnectRequest::new(PASSIVE, gid, SERVICE, 1, 1);
    let odd = ConnectRequest { path_mtu: 1000, ..request.clone() };
    assert_eq!(manager.connect(now, &odd), Err(CmError::PathMtu(1000)));
    let long = ConnectRequest { private_data: vec![1; 57], ..request.clone() };
    let error = CmError::PrivateDataTooLong { len: 57, max: 56 };
    assert_eq!(manager.connect(now, &long), Err(error));
    let full = ConnectRequest { private_data: vec![1; 56], ..request };
    assert_eq!(manager.connect(now, &full), Ok(ConnectionId(101)));
    assert_eq!(manager.connections(), 2);
}

#[test]
fn ids_count_on_and_skip_what_is_in_use() {
    let gid = Gid::from_ipv4([10, 0, 0, 1]);
    let config = CmConfig { first_communication_id: u32::MAX - 1, ..CmConfig::new(gid, 1) };
    let mut manager = ConnectionManager::new(config);
    let request = ConnectRequest::new(PASSIVE, gid, SERVICE, 1, 1);
    let mut connect = || manager.connect(SimTime::ZERO, &request).unwrap().0;
    assert_eq!([connect(), connect(), connect(), connect()], [u32::MAX - 1, u32::MAX, 1, 2]);
    manager.next_id = u32::MAX;
    assert_eq!(manager.connect(SimTime::ZERO, &request).unwrap().0, 3);
}

/// What is not for this host, or from another one, is counted and ignored.
#[test]
fn strangers_are_ignored() {
    let mut hosts = Hosts::new(&[]);
    hosts.connect();
    hosts.run();
    let passive = hosts.passive_id();
    let stranger = 9;
    let dreq = rocelab_wire::cm::Dreq {
        local_communication_id: 100,
        remote_communication_id: passive.0,
        remote_qpn: 0x99,
        ..Default::default()
    };
    let rtu = rocelab_wire::cm::Rtu {
        local_communication_id: 100,
        remote_communication_id: passive.0,
        private_data: &[],
    };
    let manager = &mut hosts.managers[1];
    manager.receive(hosts.now, ACTIVE, &Mad::new(1, CmMessage::Dreq(dreq)).to_bytes());
    manager.receive(hosts.now, stranger, &Mad::new(1, CmMessage::Rtu(rtu)).to_bytes());
    manager.receive(hosts.now, stranger, &[0; 255]);
    manager.receive(hosts.now, stranger, &[0; 256]);
    assert_eq!(manager.counters().discarded, 4);
    assert_eq!((manager.poll_event(), manager.poll_transmit()), (None, None));
    // But whoever asks to disconnect what nobody knows is told that it is over.
    manager.receive(hosts.now, stranger, &Mad::new(1, CmMessage::Dreq(dreq)).to_bytes());
    let drep = manager.poll_transmit().unwrap();
    assert_eq!(drep.destination, stranger);
    assert_eq!(Mad::parse(&drep.mad).unwrap().message.attribute(), Some(Drep));
    assert_eq!((manager.connections(), manager.poll_event()), (1, None));
}

/// Requests that nobody decides on are remembered up to a limit, whoever sends them.
#[test]
fn undecided_requests_are_bounded() {
    let config = CmConfig { max_pending: 2, ..CmConfig::new(Gid::from_ipv4([10, 0, 0, 2]), 2) };
    assert_eq!(CmConfig::new(config.gid, 2).max_pending, 1_024);
    let mut manager = ConnectionManager::new(config);
    manager.listen(SERVICE);
    let ask = |manager: &mut ConnectionManager, source, id| {
        let req = rocelab_wire::cm::Req {
            service_id: SERVICE,
            local_communication_id: id,
            ..Default::default()
        };
        let mad = Mad::new(u64::from(id), CmMessage::Req(req)).to_bytes();
        manager.receive(SimTime::ZERO, source, &mad);
        manager.poll_transmit()
    };
    let mut asked = Vec::new();
    for id in [1, 2] {
        assert_eq!(ask(&mut manager, 7, id), None);
        let Some(CmEvent::ConnectRequested { connection, .. }) = manager.poll_event() else {
            panic!("a request");
        };
        asked.push(connection);
    }
    for (source, id) in [(7, 3), (8, 1)] {
        let answer = ask(&mut manager, source, id).expect("an answer");
        let Ok(Mad { message: CmMessage::Rej(rej), .. }) = Mad::parse(&answer.mad) else {
            panic!("a REJ");
        };
        let expected = (source, RejectReason::NO_RESOURCES, id);
        assert_eq!((answer.destination, rej.reason, rej.remote_communication_id), expected);
        assert_eq!((manager.poll_event(), manager.connections()), (None, 2));
    }
    // A decision, whichever, makes room for one more.
    manager.accept(SimTime::ZERO, asked[0], &AcceptReply::new(0x22, 1)).unwrap();
    assert!(manager.poll_transmit().is_some());
    manager.reject(asked[1], RejectReason::CONSUMER_DEFINED, &[]).unwrap();
    assert!(manager.poll_transmit().is_some());
    assert_eq!([ask(&mut manager, 8, 1), ask(&mut manager, 8, 2)], [None, None]);
    assert!(ask(&mut manager, 8, 3).is_some());
}

/// Whatever is lost, so that no message needs a seventeenth try: nothing hangs, both sides agree.
#[test]
fn random_losses() {
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 33
    };
    for _ in 0..500 {
        let kinds = [Req, Rep, Rtu, Dreq, Drep];
        let losses: Vec<Loss> = kinds
            .iter()
            .flat_map(|kind| (0..7).map(move |nth| (*kind, nth)))
            .filter(|_| random() % 2 == 0)
            .collect();
        let mut hosts = Hosts::new(&losses);
        let active = hosts.connect();
        hosts.run();
        hosts.assert_established_once();
        let [one, other] = [hosts.established(0)[0], hosts.established(1)[0]];
        assert_eq!((one.send_psn, one.receive_psn), (other.receive_psn, other.send_psn));
        hosts.managers[0].disconnect(hosts.now, active).unwrap();
        hosts.run();
        hosts.assert_disconnected_once();
        hosts.assert_all_released();
    }
}
