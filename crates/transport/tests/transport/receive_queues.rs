//! Receive queues: what happens without a buffer, and with one that is too small.

use std::sync::Arc;

use rocelab_transport::{
    AckCoalescing, CompletionStatus, Operation, PostError, QueuePairProfile, QueuePairState,
    ReceiveQueueConfig, ReceiveRequest, StateError,
};
use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wire::{Opcode, Syndrome};

use crate::pair::{Pair, QPN, ends, profile, work};

const fn request(id: u64, length: u32) -> ReceiveRequest {
    ReceiveRequest { id, address: 0, length }
}

fn pair(profile: QueuePairProfile, receive_queue: ReceiveQueueConfig) -> Pair {
    let mut pair = Pair::without_queue_pairs(Bandwidth::from_gbps(100));
    let profile = Arc::new(profile);
    for index in 0..2 {
        let [near, mut far] = ends(&profile, index);
        far.receive_queue = receive_queue;
        pair.connect([near, far]);
    }
    pair
}

fn rnr_naks(pair: &Pair) -> Vec<(SimTime, u32)> {
    pair.log
        .iter()
        .filter_map(|departure| {
            let aeth = departure.transmit.packet.aeth()?;
            matches!(aeth.syndrome, Syndrome::RnrNak { .. })
                .then_some((departure.time, departure.transmit.packet.psn()))
        })
        .collect()
}

#[test]
fn a_send_without_a_buffer_waits_and_comes_again() {
    for operation in [Operation::Send, Operation::WriteWithImmediate(5)] {
        // Code 12 is 0.64 ms.
        let mut pair =
            pair(QueuePairProfile { rnr_timer: 12, ..profile() }, ReceiveQueueConfig::Own);
        pair.post(0, QPN, work(0, operation, 3000));
        pair.post(0, QPN, work(1, Operation::Write, 100));
        pair.drive_until(SimTime::from_ps(1_000_000_000));
        let naks = rnr_naks(&pair);
        assert_eq!(naks.len(), 2, "at once, and after the wait");
        let wait = naks[1].0.since(naks[0].0);
        assert!(wait > Duration::from_us(640) && wait < Duration::from_us(645), "{wait}");
        assert_eq!(pair.nics[0].counters().rnr_naks_received, 2);
        assert_eq!(pair.nics[0].counters().naks_received, 0, "no NAK for what was behind it");
        pair.nics[1].post_receive(QPN, request(9, 4000)).unwrap();
        pair.drive();
        pair.assert_all_succeeded(0, 0..2);
        let received: Vec<_> = pair.received[1].iter().map(|done| (done.id, done.bytes)).collect();
        assert_eq!(received, [(9, 3000)]);
    }
}

#[test]
fn rnr_retries_run_out_unless_they_are_for_ever() {
    for (rnr_retry, naks) in [(0, 1), (3, 4)] {
        let mut pair = pair(
            QueuePairProfile { rnr_retry, rnr_timer: 1, ..profile() },
            ReceiveQueueConfig::Own,
        );
        pair.post(0, QPN, work(0, Operation::Send, 10));
        pair.post(0, QPN, work(1, Operation::Send, 10));
        pair.drive();
        assert_eq!(rnr_naks(&pair).len(), naks);
        let statuses: Vec<_> = pair.completions[0].iter().map(|done| done.status).collect();
        assert_eq!(statuses, [CompletionStatus::RnrRetryExceeded, CompletionStatus::Flushed]);
    }
    let mut pair =
        pair(QueuePairProfile { rnr_retry: 7, rnr_timer: 1, ..profile() }, ReceiveQueueConfig::Own);
    pair.post(0, QPN, work(0, Operation::Send, 10));
    pair.drive_until(SimTime::from_ps(1_000_000_000));
    assert!(rnr_naks(&pair).len() > 50, "every 10 us and a bit for a millisecond");
    assert!(pair.completions[0].is_empty());
}

#[test]
fn a_buffer_that_is_too_small_ends_both_sides() {
    let mut pair = pair(profile(), ReceiveQueueConfig::Own);
    for id in 0..3 {
        pair.nics[1].post_receive(QPN, request(id, 2000)).unwrap();
    }
    pair.post(0, QPN, work(0, Operation::Send, 2000));
    pair.post(0, QPN, work(1, Operation::Send, 2001));
    pair.drive();
    let statuses: Vec<_> = pair.completions[0].iter().map(|done| done.status).collect();
    let success = CompletionStatus::Success;
    assert_eq!(statuses, [success, CompletionStatus::RemoteInvalidRequest]);
    let received: Vec<_> = pair.received[1].iter().map(|done| done.status).collect();
    assert_eq!(received, [success, CompletionStatus::LocalLength, CompletionStatus::Flushed]);
}

#[test]
fn a_shared_receive_queue_serves_whoever_comes_first() {
    let mut pair = pair(profile(), ReceiveQueueConfig::Shared(0));
    assert_eq!(pair.nics[1].create_shared_receive_queue(), 0);
    for id in 0..3 {
        pair.nics[1].post_shared_receive(0, request(id, 4000)).unwrap();
    }
    for (id, qpn) in [(0, QPN), (1, QPN + 1), (2, QPN)] {
        pair.post(0, qpn, work(id, Operation::Send, 500));
    }
    pair.drive();
    let received: Vec<_> = pair.received[1].iter().map(|done| (done.qpn, done.id)).collect();
    // Round robin of the sender.
    assert_eq!(received, [(QPN, 0), (QPN + 1, 1), (QPN, 2)]);
    let own = pair.nics[1].post_receive(QPN, request(9, 1));
    assert_eq!(own, Err(PostError::NoReceiveQueue { qpn: QPN }));
    let unknown = pair.nics[1].post_shared_receive(1, request(9, 1));
    assert_eq!(unknown, Err(PostError::UnknownReceiveQueue { srqn: 1 }));
}

#[test]
fn states_follow_each_other() {
    use QueuePairState::{Error, Init, ReadyToReceive, ReadyToSend};
    let mut pair = Pair::without_queue_pairs(Bandwidth::from_gbps(100));
    let [near, mut far] = ends(&Arc::new(profile()), 0);
    pair.nics[0].create_queue_pair(near);
    far.receive_queue = ReceiveQueueConfig::Own;
    pair.nics[1].create_queue_pair_in(far, Init);
    let now = pair.now;
    let nic = &mut pair.nics[1];
    nic.post_receive(QPN, request(0, 100)).unwrap();
    let refused = nic.post_send(now, QPN, work(0, Operation::Send, 1));
    assert_eq!(refused, Err(PostError::WrongState { qpn: QPN }));
    let skipped = nic.modify_queue_pair(now, QPN, ReadyToSend);
    assert_eq!(skipped, Err(StateError::NoSuchTransition { from: Init, to: ReadyToSend }));

    // Dropped while the state is Init; answered, with a timeout's help, from ReadyToReceive on.
    pair.post(0, QPN, work(0, Operation::Send, 50));
    pair.drive_until(SimTime::from_ps(100_000_000));
    assert_eq!(pair.nics[1].counters().discarded, 1);
    pair.nics[1].modify_queue_pair(pair.now, QPN, ReadyToReceive).unwrap();
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    pair.nics[1].modify_queue_pair(pair.now, QPN, ReadyToSend).unwrap();
    pair.nics[1].post_receive(QPN, request(1, 100)).unwrap();
    pair.post(1, QPN, work(0, Operation::Send, 1_000_000));
    pair.nics[1].modify_queue_pair(pair.now, QPN, Error).unwrap();
    pair.nics[1].post_receive(QPN, request(2, 100)).unwrap();
    pair.drive();
    let flushed = CompletionStatus::Flushed;
    let statuses: Vec<_> = pair.completions[1].iter().map(|done| done.status).collect();
    assert_eq!(statuses, [flushed]);
    let received: Vec<_> = pair.received[1].iter().map(|done| (done.id, done.status)).collect();
    assert_eq!(received, [(0, CompletionStatus::Success), (1, flushed), (2, flushed)]);
}

#[test]
fn acknowledgements_can_be_saved() {
    let coalesced = |packets, delay| {
        let ack_coalescing = Some(AckCoalescing { packets, delay: Duration::from_us(delay) });
        let mut pair = Pair::new(QueuePairProfile { ack_interval: 1, ack_coalescing, ..profile() });
        for id in 0..4 {
            pair.post(0, QPN, work(id, Operation::Write, 5 * 1024));
        }
        pair.drive();
        pair.assert_all_succeeded(0, 0..4);
        let acks = pair.log.iter().filter(|departure| departure.side == 1);
        let psns: Vec<_> =
            acks.map(|ack| ack.transmit.packet.psn().wrapping_sub(0xff_fffe)).collect();
        psns.into_iter().map(|psn| psn & 0xff_ffff).collect::<Vec<_>>()
    };
    // 20 packets, one after the other, 86 ns apart.
    assert_eq!(coalesced(1, 1), (0..20).collect::<Vec<_>>());
    assert_eq!(coalesced(8, 100), [7, 15, 19]);
    // 200 ns after the first that waits come two more.
    assert_eq!(coalesced(8, 0), (0..20).collect::<Vec<_>>());
}

#[test]
fn every_opcode_of_a_message_with_extras() {
    for (operation, length, expected) in [
        (
            Operation::SendWithImmediate(1),
            3000,
            vec![Opcode::RcSendFirst, Opcode::RcSendMiddle, Opcode::RcSendLastWithImmediate],
        ),
        (Operation::SendWithInvalidate(1), 10, vec![Opcode::RcSendOnlyWithInvalidate]),
        (
            Operation::WriteWithImmediate(1),
            2000,
            vec![Opcode::RcRdmaWriteFirst, Opcode::RcRdmaWriteLastWithImmediate],
        ),
        (Operation::CompareSwap { compare: 1, swap: 2 }, 0, vec![Opcode::RcCompareSwap]),
        (Operation::FetchAdd { add: 2 }, 0, vec![Opcode::RcFetchAdd]),
    ] {
        let mut pair = Pair::new(profile());
        pair.post(0, QPN, work(0, operation, length));
        pair.drive();
        pair.assert_all_succeeded(0, 0..1);
        let opcodes: Vec<_> = pair.requests(0).map(|sent| sent.transmit.packet.opcode()).collect();
        assert_eq!(opcodes, expected);
    }
}
