//! RDMA READ: order against acknowledgements, loss of responses, sizes beyond the window.

use rocelab_transport::{Operation, PathMtu, QueuePairProfile, Recovery};
use rocelab_units::Duration;
use rocelab_wire::Opcode;

use crate::pair::{Fate, Pair, QPN, algorithm, profile, work};

#[test]
fn later_acknowledgements_wait_for_read_data() {
    let mut pair = Pair::new(profile());
    pair.post(0, QPN, work(0, Operation::Read, 10 * 1024));
    pair.post(0, QPN, work(1, Operation::Send, 64));
    pair.post(0, QPN, work(2, Operation::Send, 64));
    pair.drive();
    let answers: Vec<Opcode> = pair
        .log
        .iter()
        .filter(|sent| sent.side == 1)
        .map(|sent| sent.transmit.packet.opcode())
        .collect();
    assert_eq!(answers.len(), 11, "ten responses, and the two ACKs in one");
    assert_eq!(answers[0], Opcode::RcRdmaReadResponseFirst);
    assert_eq!(answers[9], Opcode::RcRdmaReadResponseLast);
    assert_eq!(answers[10], Opcode::RcAcknowledge);
    pair.assert_all_succeeded(0, 0..3);
}

/// Drops the `nth` READ response (from 0) and returns the lengths of the READ requests seen.
fn lose_response(nth: u32, recovery: Recovery) -> Vec<u32> {
    let mut pair = Pair::new(QueuePairProfile { recovery, ..profile() });
    let mut seen = 0;
    pair.rule = Box::new(move |sent| {
        let is_response = sent.transmit.packet.opcode().is_rdma_read_response();
        seen += u32::from(is_response);
        if is_response && seen == nth + 1 { Fate::Drop } else { Fate::Deliver }
    });
    pair.post(0, QPN, work(0, Operation::Read, 20 * 1024));
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    assert_eq!(pair.delivered[0], [20 * 1024]);
    let requests = pair.requests(0).map(|sent| sent.transmit.packet.reth().unwrap());
    requests.map(|reth| reth.dma_length).collect()
}

#[test]
fn a_gap_asks_for_the_rest() {
    assert_eq!(lose_response(7, Recovery::GoBackN), [20 * 1024, 13 * 1024]);
    assert_eq!(lose_response(0, Recovery::GoBackN), [20 * 1024, 20 * 1024]);
    // The last one is missed by the timeout only.
    assert_eq!(lose_response(19, Recovery::GoBackN), [20 * 1024, 1024]);
}

#[test]
fn go_back_zero_asks_for_all() {
    assert_eq!(lose_response(7, Recovery::GoBackZero), [20 * 1024, 20 * 1024]);
}

#[test]
fn an_ack_beyond_an_unfinished_read_asks_for_it_again() {
    let mut pair = Pair::new(profile());
    let mut responses = 0;
    pair.rule = Box::new(move |sent| {
        let is_response = sent.transmit.packet.opcode().is_rdma_read_response();
        responses += u32::from(is_response);
        if is_response && responses > 3 && responses <= 5 { Fate::Drop } else { Fate::Deliver }
    });
    // Five responses, of which the last two are lost; then the ACK of the SEND arrives.
    pair.post(0, QPN, work(0, Operation::Read, 5 * 1024));
    pair.post(0, QPN, work(1, Operation::Send, 64));
    pair.drive();
    pair.assert_all_succeeded(0, 0..2);
    assert_eq!(pair.nics[0].counters().timeouts, 0, "the ACK told, no timeout was needed");
    assert_eq!(pair.delivered[0], [5 * 1024]);
    assert_eq!(pair.delivered[1], [64]);
}

#[test]
fn a_lost_request_is_asked_for_by_nak_or_timeout() {
    for followed in [true, false] {
        let mut pair = Pair::new(profile());
        let mut first = true;
        pair.rule =
            Box::new(move |_| if std::mem::take(&mut first) { Fate::Drop } else { Fate::Deliver });
        pair.post(0, QPN, work(0, Operation::Read, 3000));
        if followed {
            pair.post(0, QPN, work(1, Operation::Send, 64));
        }
        pair.drive();
        pair.assert_all_succeeded(0, 0..1 + u64::from(followed));
        assert_eq!(pair.nics[0].counters().timeouts, u64::from(!followed));
        assert_eq!(pair.nics[1].counters().naks_sent.packets, u64::from(followed));
    }
}

#[test]
fn a_read_may_exceed_the_window() {
    let congestion_control = algorithm("none", "window = \"8KB\"");
    let mut pair = Pair::new(QueuePairProfile { congestion_control, ..profile() });
    for id in 0..3 {
        pair.post(0, QPN, work(id, Operation::Read, 100_000));
    }
    pair.drive();
    pair.assert_all_succeeded(0, 0..3);
}

#[test]
fn read_data_is_paced_like_any_other() {
    let congestion_control = algorithm("none", "rate = \"10Gbps\"");
    let mut pair = Pair::new(QueuePairProfile { congestion_control, ..profile() });
    pair.post(0, QPN, work(0, Operation::Read, 20 * 1024));
    pair.drive();
    let times: Vec<_> =
        pair.log.iter().filter(|sent| sent.side == 1).map(|sent| sent.time).collect();
    assert_eq!(times.len(), 20);
    // Middle packets: 1082 bytes, FCS, preamble and gap, at 10 Gb/s.
    let gap = Duration::from_ps((1086 + 20) * 800);
    assert!(times[1..19].windows(2).all(|pair| pair[1].since(pair[0]) == gap));
}

/// The longest READ at the smallest path MTU takes 2^23 PSNs, all that may be outstanding.
#[test]
fn the_longest_read_fills_the_psn_window() {
    let path_mtu = PathMtu::try_from(256).unwrap();
    let mut pair = Pair::new(QueuePairProfile { path_mtu, ..profile() });
    pair.keep_log = false;
    pair.post(0, QPN, work(0, Operation::Read, 1 << 31));
    pair.post(0, QPN, work(1, Operation::Send, 1));
    let before = pair.nics[0].counters().read_requests_sent.packets;
    assert_eq!(before, 0);
    pair.drive_until(rocelab_units::SimTime::from_ps(50_000_000));
    assert_eq!(pair.nics[0].counters().read_requests_sent.packets, 1);
    let sent = pair.nics[0].counters().data_sent.packets;
    let received = pair.nics[0].counters().data_received;
    assert!(received > 1, "responses arrive");
    assert_eq!(sent, 1, "the first response makes room for the SEND");
}
