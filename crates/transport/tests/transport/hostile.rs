//! What a peer, or the network, should not do, and what becomes of the queue pair then.

use rocelab_transport::congestion_control::Telemetry;
use rocelab_transport::{
    CompletionStatus, Operation, Packet, QueuePairProfile, QueuePairState, Recovery,
    RetransmissionTimeouts,
};
use rocelab_units::{Duration, SimTime};
use rocelab_wire::{NakCode, Opcode, Syndrome};

use crate::pair::{Fate, Pair, QPN, profile, work};

#[test]
fn packets_of_other_services_are_dropped_without_a_word() {
    for opcode in [Opcode::UcSendOnly, Opcode::UdSendOnly, Opcode::XrcSendOnly] {
        let mut pair = Pair::new(profile());
        let packet = Packet::new(opcode, QPN, 0xff_fffe).with_ack_req(true);
        pair.nics[1].receive(SimTime::ZERO, &packet, Telemetry::None);
        assert_eq!(pair.nics[1].queue_pair(QPN).unwrap().state(), QueuePairState::ReadyToSend);
        assert_eq!(pair.nics[1].counters().discarded, 1);
        assert!(!pair.nics[1].is_ready(0));
    }
}

#[test]
fn a_refusal_of_what_was_not_sent_changes_nothing() {
    let mut pair = Pair::new(profile());
    let nak = Packet::new(Opcode::RcAcknowledge, QPN, 0x12_3456)
        .with_aeth(Syndrome::Nak(NakCode::RemoteAccessError), 0);
    pair.nics[1].receive(SimTime::ZERO, &nak, Telemetry::None);
    assert_eq!(pair.nics[1].queue_pair(QPN).unwrap().state(), QueuePairState::ReadyToSend);
}

#[test]
fn an_empty_last_packet_is_refused() {
    let mut pair = Pair::new(profile());
    let first = Packet::new(Opcode::RcSendFirst, QPN, 0xff_fffe).with_payload_len(1024);
    let last = Packet::new(Opcode::RcSendLast, QPN, 0xff_ffff).with_ack_req(true);
    for packet in [first, last] {
        pair.nics[1].receive(SimTime::ZERO, &packet, Telemetry::None);
    }
    assert_eq!(pair.nics[1].queue_pair(QPN).unwrap().state(), QueuePairState::Error);
}

#[test]
fn retries_run_out_with_every_recovery() {
    for recovery in Recovery::all() {
        let profile = QueuePairProfile { recovery, ack_interval: 1, retry_count: 2, ..profile() };
        let mut pair = Pair::new(profile);
        pair.rule = Box::new(|departure| {
            let lost = departure.side == 0 && departure.transmit.packet.opcode().is_last();
            if lost { Fate::Drop } else { Fate::Deliver }
        });
        pair.post(0, QPN, work(0, Operation::Write, 4 * 1024));
        pair.drive();
        assert_eq!(pair.completions[0][0].status, CompletionStatus::RetryExceeded, "{recovery:?}");
        assert_eq!(pair.nics[0].counters().timeouts, 3, "{recovery:?}");
    }
}

#[test]
fn a_long_read_with_a_hole_goes_on() {
    // 8 MB take 0.7 ms, several times the timeouts.
    let timeouts = RetransmissionTimeouts {
        low: Duration::from_us(100),
        high: Duration::from_us(150),
        low_packets: 3,
    };
    let recovery = Recovery::SelectiveRepeat;
    let mut pair = Pair::new(QueuePairProfile { recovery, timeouts: Some(timeouts), ..profile() });
    pair.keep_log = false;
    let mut responses = 0;
    pair.rule = Box::new(move |departure| {
        responses += u32::from(departure.transmit.packet.opcode().is_rdma_read_response());
        if responses == 5 {
            responses += 1;
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pair.post(0, QPN, work(0, Operation::Read, 8 << 20));
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    assert_eq!(pair.nics[0].counters().timeouts, 0);
    assert_eq!(pair.nics[1].counters().retransmitted.packets, 1);
}

#[test]
fn losses_do_not_make_too_many_reads_of_those_that_are_allowed() {
    for (limit, every) in [(4, 2), (4, 10), (16, 2), (16, 10)] {
        let mut pair = Pair::new(QueuePairProfile {
            recovery: Recovery::SelectiveRepeat,
            max_rd_atomic: limit,
            max_dest_rd_atomic: limit,
            ..profile()
        });
        pair.reorders = true;
        pair.keep_log = false;
        let mut responses = 0;
        pair.rule = Box::new(move |departure| {
            let counts = departure.transmit.packet.opcode().is_rdma_read_response();
            responses += u32::from(counts);
            let lost = counts && responses % every == 0 && responses < 8_000;
            if lost { Fate::Drop } else { Fate::Deliver }
        });
        for id in 0..100 {
            pair.post(0, QPN, work(id, Operation::Read, 64 * 1024));
        }
        pair.drive();
        pair.assert_all_succeeded(0, 0..100);
    }
}

#[test]
fn a_request_that_the_network_doubles_cancels_nothing() {
    for recovery in [Recovery::GoBackN, Recovery::SelectiveRepeat] {
        let mut pair = Pair::new(QueuePairProfile { recovery, ..profile() });
        pair.reorders = true;
        let mut sent = 0;
        pair.rule = Box::new(move |departure| {
            sent += u32::from(departure.side == 0);
            let doubled = departure.side == 0 && sent == 1;
            if doubled { Fate::Duplicate(Duration::from_us(20)) } else { Fate::Deliver }
        });
        for id in 0..16 {
            pair.post(0, QPN, work(id, Operation::Read, 64 * 1024));
        }
        pair.drive();
        pair.assert_all_succeeded(0, 0..16);
        assert_eq!(pair.nics[0].counters().timeouts, 0, "{recovery:?}");
    }
}
