//! Selective repeat: what is missing is sent again, and nothing else.

use rocelab_transport::{AckTimeout, Operation, QueuePairProfile, Recovery};
use rocelab_wire::Opcode;

use crate::pair::{Departure, Fate, Pair, QPN, profile, work};

fn pair(profile: QueuePairProfile) -> Pair {
    let mut pair = Pair::new(QueuePairProfile { recovery: Recovery::SelectiveRepeat, ..profile });
    pair.reorders = true;
    pair
}

/// Drops, once each, the frames of `side` that carry these PSNs, counted from its first.
fn drop_once(side: usize, first: u32, lost: &[u32]) -> Box<dyn FnMut(&Departure) -> Fate> {
    let mut lost = lost.to_vec();
    Box::new(move |departure| {
        let offset = departure.transmit.packet.psn().wrapping_sub(first) & 0xff_ffff;
        let opcode = departure.transmit.packet.opcode();
        let carries = opcode.has_payload() || opcode.is_rdma_read_request();
        match lost.iter().position(|&psn| psn == offset) {
            Some(place) if departure.side == side && carries => {
                lost.remove(place);
                Fate::Drop
            }
            _ => Fate::Deliver,
        }
    })
}

#[test]
fn as_many_are_repeated_as_were_lost() {
    for lost in [vec![5], vec![5, 6, 20], vec![0, 39], vec![3, 3, 3], (1..39).collect()] {
        let mut pair = pair(profile());
        pair.rule = drop_once(0, 0xff_fffe, &lost);
        pair.post(0, QPN, work(0, Operation::Write, 40 * 1024));
        pair.post(0, QPN, work(1, Operation::Send, 100));
        pair.drive();
        pair.assert_all_succeeded(0, 0..2);
        let counters = pair.nics[0].counters();
        // Only what is lost twice waits for the timeout, which repeats all that is unacknowledged.
        if lost.windows(2).all(|pair| pair[0] != pair[1]) {
            assert_eq!(counters.retransmitted.packets, lost.len() as u64, "{lost:?}");
            assert_eq!(counters.timeouts, 0);
        } else {
            assert_eq!(counters.timeouts, 2);
        }
        assert_eq!(pair.delivered[1].iter().sum::<u64>(), 40 * 1024 + 100);
    }
}

#[test]
fn missing_read_responses_are_requested_one_by_one() {
    let mut pair = pair(profile());
    pair.rule = drop_once(1, 0xff_fffe, &[3, 7, 8]);
    pair.post(0, QPN, work(0, Operation::Read, 20 * 1024));
    pair.post(0, QPN, work(1, Operation::Write, 100));
    pair.drive();
    pair.assert_all_succeeded(0, 0..2);
    let requests: Vec<_> = pair
        .requests(0)
        .map(|sent| sent.transmit.packet)
        .filter(|packet| packet.opcode() == Opcode::RcRdmaReadRequest)
        .map(|packet| {
            let reth = packet.reth().unwrap();
            let offset = packet.psn().wrapping_sub(0xff_fffe) & 0xff_ffff;
            (offset, reth.virtual_address - 0x1000, reth.dma_length)
        })
        .collect();
    // 7 and 8 go together where the loss of both is known when the request leaves.
    assert_eq!(requests[..2], [(0, 0, 20 * 1024), (3, 3 * 1024, 1024)]);
    let asked: u32 = requests[2..].iter().map(|request| request.2).sum();
    assert_eq!(asked, 2 * 1024);
    assert_eq!(pair.nics[1].counters().retransmitted.packets, 3);
    assert_eq!(pair.nics[0].counters().timeouts, 0);
}

#[test]
fn a_read_that_was_kept_is_not_forgotten_with_its_responses() {
    // The SEND is lost, the READ kept; then the SEND arrives and is acknowledged, and all that the
    // READ is answered with is lost.
    let mut pair = pair(profile());
    let mut sends = 0;
    let mut responses = 0;
    pair.rule = Box::new(move |departure| {
        let opcode = departure.transmit.packet.opcode();
        sends += u32::from(opcode == Opcode::RcSendOnly);
        responses += u32::from(opcode.is_rdma_read_response());
        let is_first_send = opcode == Opcode::RcSendOnly && sends == 1;
        let is_answer = opcode.is_rdma_read_response() && responses <= 4;
        if is_first_send || is_answer { Fate::Drop } else { Fate::Deliver }
    });
    pair.post(0, QPN, work(0, Operation::Send, 100));
    pair.post(0, QPN, work(1, Operation::Read, 4 * 1024));
    pair.drive();
    pair.assert_all_succeeded(0, 0..2);
    assert_eq!(pair.nics[0].counters().timeouts, 1, "one timeout for all of the READ");
}

#[test]
fn a_read_that_the_responder_holds_is_not_asked_for_in_part() {
    // The timer repeats everything, and meanwhile a late acknowledgement says that the READ is held: whenever it
    // comes, no part of the READ alone is asked for before the responder has executed it.
    for delay in (0..160).map(|step| rocelab_units::Duration::from_ps(step * 100_000)) {
        let mut pair = pair(QueuePairProfile {
            ack_timeout: AckTimeout::try_from(1).unwrap(),
            retry_count: 200,
            ..profile()
        });
        let mut first_is_lost = false;
        pair.rule = Box::new(move |Departure { side, transmit, .. }| match side {
            0 if !first_is_lost => {
                first_is_lost = true;
                Fate::Drop
            }
            1 if transmit.packet.opcode() == Opcode::RcSelectiveAcknowledge => Fate::Delay(delay),
            _ => Fate::Deliver,
        });
        pair.post(0, QPN, work(0, Operation::Write, 20 * 1024));
        pair.post(0, QPN, work(1, Operation::Read, 20 * 1024));
        pair.drive();
        pair.assert_all_succeeded(0, 0..2);
        let parts = pair.requests(0).map(|sent| sent.transmit.packet).filter(|packet| {
            packet.opcode() == Opcode::RcRdmaReadRequest
                && packet.reth().unwrap().dma_length != 20 * 1024
        });
        assert_eq!(parts.count(), 0, "{delay:?}");
    }
}

#[test]
fn what_is_in_flight_is_bounded() {
    let mut pair = pair(QueuePairProfile { max_outstanding: 8, ..profile() });
    pair.latency = rocelab_units::Duration::from_us(50);
    pair.post(0, QPN, work(0, Operation::Write, 80 * 1024));
    pair.drive_until(rocelab_units::SimTime::from_ps(49_000_000));
    assert_eq!(pair.requests(0).count(), 8);
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    assert_eq!(pair.nics[0].counters().retransmitted.packets, 0);
}

/// With `reordering` in its defaults: 32 packets.
fn tolerant() -> Recovery {
    let mut all = Recovery::all().into_iter();
    all.find(|recovery| recovery.name() == "reordering").unwrap()
}

/// How many packets are sent again if every fifth data packet is overtaken by `overtaking` others.
fn repeated(recovery: Recovery, operation: Operation, overtaking: u64) -> u64 {
    let mut pair = Pair::new(QueuePairProfile { recovery, ..profile() });
    pair.reorders = true;
    // A frame with 1024 bytes of payload takes 88.48 ns.
    let delay = rocelab_units::Duration::from_ps(overtaking * 88_480 + 40_000);
    let mut count = 0;
    pair.rule = Box::new(move |departure| {
        count += u32::from(departure.transmit.packet.opcode().has_payload());
        if count % 5 == 3 { Fate::Delay(delay) } else { Fate::Deliver }
    });
    pair.post(0, QPN, work(0, operation, 100 * 1024));
    pair.post(0, QPN, work(1, Operation::FetchAdd { add: 3 }, 8));
    pair.post(0, QPN, work(2, Operation::Write, 1024));
    pair.drive();
    pair.assert_all_succeeded(0, 0..3);
    assert_eq!(pair.nics[0].counters().timeouts, 0);
    pair.nics.iter().map(|nic| nic.counters().retransmitted.packets).sum()
}

#[test]
fn what_is_overtaken_by_few_is_not_sent_again() {
    for operation in [Operation::Write, Operation::Send, Operation::Read] {
        assert!(repeated(Recovery::SelectiveRepeat, operation, 20) > 0, "{operation:?}");
        assert_eq!(repeated(tolerant(), operation, 20), 0, "{operation:?}");
        assert!(repeated(tolerant(), operation, 60) > 0, "{operation:?}");
    }
}

#[test]
fn what_is_lost_is_sent_again_though_others_may_overtake() {
    let mut pair = Pair::new(QueuePairProfile { recovery: tolerant(), ..profile() });
    pair.reorders = true;
    pair.rule = drop_once(0, 0xff_fffe, &[5, 6, 20, 60]);
    pair.post(0, QPN, work(0, Operation::Write, 100 * 1024));
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    assert_eq!(pair.nics[0].counters().retransmitted.packets, 4);
    assert_eq!(pair.nics[0].counters().timeouts, 0);
}
