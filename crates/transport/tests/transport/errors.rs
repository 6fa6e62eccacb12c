//! Failure: silence, refusals, and what is posted afterwards.

use rocelab_transport::congestion_control::Telemetry;
use rocelab_transport::{
    Completion, CompletionStatus, Operation, Packet, PostError, QueuePairProfile, QueuePairState,
};
use rocelab_units::SimTime;
use rocelab_wire::{NakCode, Opcode, Syndrome};

use crate::pair::{Fate, Pair, QPN, algorithm, profile, work};

fn statuses(completions: &[Completion]) -> Vec<(u64, CompletionStatus)> {
    completions.iter().map(|completion| (completion.id, completion.status)).collect()
}

#[test]
fn silence_exhausts_the_retries() {
    for retry_count in [0, 3, 7] {
        let mut pair = Pair::new(QueuePairProfile { retry_count, ..profile() });
        pair.rule = Box::new(|_| Fate::Drop);
        pair.post(0, QPN, work(0, Operation::Write, 100));
        pair.post(0, QPN, work(1, Operation::Send, 100));
        pair.drive();
        let expected = [(0, CompletionStatus::RetryExceeded), (1, CompletionStatus::Flushed)];
        assert_eq!(statuses(&pair.completions[0]), expected);
        assert_eq!(pair.nics[0].counters().timeouts, u64::from(retry_count) + 1);
        assert_eq!(pair.requests(0).count(), 2 * (usize::from(retry_count) + 1));
        // 4.096 us x 2^6 after the first packet of each attempt.
        assert_eq!(pair.now.ps(), 262_144_000 * (u64::from(retry_count) + 1));
        assert_eq!(pair.nics[0].queue_pair(QPN).unwrap().state(), QueuePairState::Error);
        assert_eq!(pair.nics[0].poll_timeout(), SimTime::NEVER);
    }
}

#[test]
fn progress_restarts_the_retries() {
    // Each packet gets through at its third attempt, and one at a time is under way.
    let congestion_control = algorithm("none", "window = \"1B\"");
    let mut pair = Pair::new(QueuePairProfile { retry_count: 2, congestion_control, ..profile() });
    let mut sent = 0;
    pair.rule = Box::new(move |departure| {
        sent += u32::from(departure.side == 0);
        if departure.side == 0 && sent % 3 != 0 { Fate::Drop } else { Fate::Deliver }
    });
    for id in 0..20 {
        pair.post(0, QPN, work(id, Operation::Send, 10));
    }
    pair.drive();
    pair.assert_all_succeeded(0, 0..20);
    assert_eq!(pair.nics[0].counters().timeouts, 40);
    assert_eq!(pair.nics[0].counters().retransmitted.packets, 40);
}

#[test]
fn no_timeout_waits_for_ever() {
    let ack_timeout = 0.try_into().unwrap();
    let mut pair = Pair::new(QueuePairProfile { ack_timeout, ..profile() });
    pair.rule = Box::new(|_| Fate::Drop);
    pair.post(0, QPN, work(0, Operation::Write, 100));
    pair.drive();
    assert_eq!(pair.nics[0].poll_timeout(), SimTime::NEVER);
    assert_eq!(pair.nics[0].queue_pair(QPN).unwrap().work_outstanding(), 1);
}

#[test]
fn refusals_end_the_work_that_they_name() {
    for (code, status) in [
        (NakCode::InvalidRequest, CompletionStatus::RemoteInvalidRequest),
        (NakCode::RemoteAccessError, CompletionStatus::RemoteAccess),
        (NakCode::RemoteOperationalError, CompletionStatus::RemoteOperational),
    ] {
        let mut pair = Pair::new(profile());
        pair.rule = Box::new(|_| Fate::Drop);
        for id in 0..3 {
            pair.post(0, QPN, work(id, Operation::Write, 10));
        }
        pair.drive_until(SimTime::from_ps(1_000_000));
        // The first message, PSN 0xfffffe, arrived; the second is refused.
        let nak =
            Packet::new(Opcode::RcAcknowledge, QPN, 0xff_ffff).with_aeth(Syndrome::Nak(code), 1);
        pair.nics[0].receive(pair.now, &nak, Telemetry::None);
        pair.drive();
        pair.nics[0].post_send(pair.now, QPN, work(3, Operation::Send, 1)).unwrap();
        let rest = std::iter::from_fn(|| pair.nics[0].poll_completion());
        let all: Vec<_> = pair.completions[0].iter().copied().chain(rest).collect();
        let flushed = CompletionStatus::Flushed;
        let expected = [(0, CompletionStatus::Success), (1, status), (2, flushed), (3, flushed)];
        assert_eq!(statuses(&all), expected);
    }
}

#[test]
fn requests_out_of_opcode_order_are_refused() {
    for opcode in [Opcode::RcSendMiddle, Opcode::RcRdmaWriteLast, Opcode::RcFlush] {
        let mut pair = Pair::new(profile());
        let packet = Packet::new(opcode, QPN, 0xff_fffe).with_payload_len(64);
        pair.nics[1].receive(pair.now, &packet, Telemetry::None);
        let nak = pair.nics[1].poll_transmit(pair.now, 0).unwrap().packet;
        assert_eq!(nak.aeth().unwrap().syndrome, Syndrome::Nak(NakCode::InvalidRequest));
        assert_eq!(nak.psn(), 0xff_fffe);
        assert_eq!(pair.nics[1].queue_pair(QPN).unwrap().state(), QueuePairState::Error);
    }
}

#[test]
fn a_first_packet_that_is_not_full_is_refused() {
    let mut pair = Pair::new(profile());
    let packet = Packet::new(Opcode::RcSendFirst, QPN, 0xff_fffe).with_payload_len(64);
    pair.nics[1].receive(pair.now, &packet, Telemetry::None);
    assert_eq!(pair.nics[1].queue_pair(QPN).unwrap().state(), QueuePairState::Error);
}

#[test]
fn strangers_are_counted() {
    let mut pair = Pair::new(profile());
    for dest_qp in [0, 1, QPN + 1, 0xff_ffff] {
        pair.nics[0].receive(
            pair.now,
            &Packet::new(Opcode::RcSendOnly, dest_qp, 0),
            Telemetry::None,
        );
    }
    assert_eq!(pair.nics[0].counters().unknown_qp, 4);
    let unknown = pair.nics[0].post_send(pair.now, QPN + 1, work(0, Operation::Send, 1));
    assert_eq!(unknown, Err(PostError::UnknownQueuePair { qpn: QPN + 1 }));
    let long = pair.nics[0].post_send(pair.now, QPN, work(0, Operation::Send, (1 << 31) + 1));
    assert_eq!(long, Err(PostError::TooLong { length: (1 << 31) + 1 }));
}

#[test]
fn a_destroyed_queue_pair_leaves_nothing_behind() {
    let mut pair = Pair::new(profile());
    pair.post(0, QPN, work(0, Operation::Write, 5000));
    assert!(pair.nics[0].is_ready(0));
    assert!(pair.nics[0].destroy_queue_pair(QPN));
    assert!(!pair.nics[0].is_ready(0) && !pair.nics[0].has_queue_pair(QPN));
    assert!(!pair.nics[0].destroy_queue_pair(QPN));
    pair.drive();
    assert!(pair.log.is_empty());
}
