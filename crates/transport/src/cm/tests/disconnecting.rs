//! Whole lives of connections, and their ends.

use super::*;

#[test]
fn connect_and_disconnect() {
    let mut hosts = Hosts::new(&[]);
    let active = hosts.connect();
    hosts.run();
    hosts.managers[0].disconnect(hosts.now, active).unwrap();
    let end = hosts.now + DELAY + DELAY;
    hosts.run();
    let [a, p] = [ACTIVE, PASSIVE];
    assert_eq!(hosts.sent, [(a, Req), (p, Rep), (a, Rtu), (a, Dreq), (p, Drep)]);
    assert!(matches!(
        hosts.events[0][..],
        [
            CmEvent::Established { .. },
            CmEvent::Disconnected { confirmed: true, .. },
            CmEvent::Released { .. }
        ]
    ));
    assert!(matches!(
        hosts.events[1][..],
        [
            CmEvent::ConnectRequested { .. },
            CmEvent::Established { .. },
            CmEvent::DisconnectRequested { .. },
            CmEvent::Disconnected { confirmed: true, .. },
            CmEvent::Released { .. }
        ]
    ));
    assert_eq!(hosts.now, end + TIME_WAIT);
    hosts.assert_all_released();
    let passive = hosts.passive_id();
    let gone = hosts.managers[1].disconnect(hosts.now, passive);
    assert_eq!(gone, Err(CmError::UnknownConnection(passive)));
}

#[test]
fn the_passive_side_disconnects() {
    let mut hosts = Hosts::new(&[]);
    hosts.connect();
    hosts.run();
    let passive = hosts.passive_id();
    hosts.managers[1].disconnect(hosts.now, passive).unwrap();
    hosts.run();
    assert_eq!(hosts.sent[3..], [(PASSIVE, Dreq), (ACTIVE, Drep)]);
    hosts.assert_disconnected_once();
    hosts.assert_all_released();
}

#[test]
fn each_message_lost_once() {
    for (lost, expected) in [
        (Dreq, vec![(ACTIVE, Dreq), (ACTIVE, Dreq), (PASSIVE, Drep)]),
        (Drep, vec![(ACTIVE, Dreq), (PASSIVE, Drep), (ACTIVE, Dreq), (PASSIVE, Drep)]),
    ] {
        let mut hosts = Hosts::new(&[(lost, 0)]);
        let active = hosts.connect();
        hosts.run();
        let established = hosts.sent.len();
        hosts.managers[0].disconnect(hosts.now, active).unwrap();
        hosts.run();
        assert_eq!(hosts.sent[established..], expected, "{lost} lost");
        hosts.assert_disconnected_once();
        hosts.assert_all_released();
    }
}

/// The DREP is lost, and its sender still remembers the connection when the DREQ comes again.
#[test]
fn a_second_dreq_in_time_wait_is_answered() {
    let mut hosts = Hosts::new(&[]);
    let active = hosts.connect();
    hosts.run();
    hosts.managers[0].disconnect(hosts.now, active).unwrap();
    let dreq = hosts.managers[0].poll_transmit().unwrap();
    let connection = hosts.passive_id();
    let passive = &mut hosts.managers[1];
    passive.receive(hosts.now, ACTIVE, &dreq.mad);
    assert_eq!(passive.poll_event(), Some(CmEvent::DisconnectRequested { connection }));
    // Again before the application answers: nothing new.
    passive.receive(hosts.now, ACTIVE, &dreq.mad);
    assert_eq!((passive.poll_event(), passive.poll_transmit()), (None, None));
    passive.disconnect(hosts.now, connection).unwrap();
    let drep = passive.poll_transmit().unwrap();
    let over = CmEvent::Disconnected { connection, confirmed: true };
    assert_eq!(passive.poll_event(), Some(over));
    passive.receive(hosts.now, ACTIVE, &dreq.mad);
    assert_eq!((passive.poll_event(), passive.poll_transmit()), (None, Some(drep)));
}

/// No answer at all: the message and fifteen repetitions, and the end.
#[test]
fn retries_are_exhausted() {
    let all = |kind| (0..16).map(|nth| (kind, nth)).collect::<Vec<Loss>>();

    let mut hosts = Hosts::new(&all(Req));
    let connection = hosts.connect();
    hosts.run();
    assert_eq!(hosts.events[0], [CmEvent::TimedOut { connection, message: Req }]);
    assert_eq!(hosts.sent.len(), 16);
    assert_eq!(hosts.now, SimTime::ZERO + REQUEST_TIMEOUT * 16);
    assert_eq!(hosts.managers[0].counters().repeated, 15);
    hosts.assert_all_released();

    let mut hosts = Hosts::new(&all(Dreq));
    let connection = hosts.connect();
    hosts.run();
    hosts.managers[0].disconnect(hosts.now, connection).unwrap();
    hosts.run();
    let over = CmEvent::Disconnected { connection, confirmed: false };
    assert_eq!(hosts.events[0][1..], [over, CmEvent::Released { connection }]);
    assert_eq!(hosts.count_sent(Dreq), 16);
    assert_eq!(hosts.managers[1].connections(), 1, "nobody told the passive side");
}

#[test]
fn both_disconnect_at_once() {
    let mut hosts = Hosts::new(&[]);
    let active = hosts.connect();
    hosts.run();
    let passive = hosts.passive_id();
    hosts.managers[0].disconnect(hosts.now, active).unwrap();
    hosts.managers[1].disconnect(hosts.now, passive).unwrap();
    hosts.run();
    hosts.assert_disconnected_once();
    hosts.assert_all_released();
}

/// A process exits: at every point its peer learns of it, and keeps nothing.
#[test]
fn abandoned() {
    // The active side gives up before it is accepted.
    let mut hosts = Hosts::new(&[]);
    hosts.passive = Passive::Sleeps;
    let active = hosts.connect();
    hosts.run_until(hosts.now + DELAY);
    hosts.managers[0].abandon(hosts.now, active).unwrap();
    hosts.run();
    assert_eq!(hosts.sent, [(ACTIVE, Req), (ACTIVE, Rej)]);
    let connection = hosts.passive_id();
    let reason = RejectReason::TIMEOUT;
    assert_eq!(hosts.events[1][1..], [CmEvent::Rejected { connection, reason }]);
    hosts.assert_all_released();

    // The passive side exits without a decision.
    let mut hosts = Hosts::new(&[]);
    hosts.passive = Passive::Sleeps;
    let connection = hosts.connect();
    hosts.run_until(hosts.now + DELAY);
    let passive = hosts.passive_id();
    hosts.managers[1].abandon(hosts.now, passive).unwrap();
    hosts.run();
    let reason = RejectReason::CONSUMER_DEFINED;
    assert_eq!(hosts.events[0], [CmEvent::Rejected { connection, reason }]);
    hosts.assert_all_released();

    // It exits behind its REP, which is lost.
    let mut hosts = Hosts::new(&[(Rep, 0)]);
    let connection = hosts.connect();
    hosts.run_until(hosts.now + DELAY);
    let passive = hosts.passive_id();
    hosts.managers[1].abandon(hosts.now, passive).unwrap();
    hosts.run();
    assert_eq!(hosts.sent, [(ACTIVE, Req), (PASSIVE, Rep), (PASSIVE, Rej)]);
    assert_eq!(hosts.events[0], [CmEvent::Rejected { connection, reason }]);
    hosts.assert_all_released();

    // The active side exits: one DREQ, and it does not wait for the DREP.
    let mut hosts = Hosts::new(&[(Dreq, 0)]);
    let active = hosts.connect();
    hosts.run();
    hosts.managers[0].abandon(hosts.now, active).unwrap();
    hosts.run();
    assert_eq!(hosts.sent[3..], [(ACTIVE, Dreq)]);
    assert_eq!(hosts.events[0].last(), Some(&CmEvent::Released { connection: active }));
    assert_eq!(hosts.managers[0].connections(), 0);
}
