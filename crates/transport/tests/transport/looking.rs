//! What a queue pair says of itself to who looks: what it has posted, and what has come.

use rocelab_transport::{Operation, OutstandingWork, QueuePairProfile, Recovery};
use rocelab_units::{Duration, SimTime};

use crate::pair::{Fate, Pair, QPN, profile, work};

/// The first PSN of side 0; the next but one is 0.
const FIRST: u32 = 0xff_fffe;

/// Four packets at once, of which the third is lost and never sent again; looked at when the others
/// have arrived.
fn third_lost(recovery: Recovery) -> Pair {
    let mut pair = Pair::new(QueuePairProfile { recovery, ..profile() });
    pair.reorders = recovery.is_selective();
    pair.latency = Duration::from_us(10);
    pair.rule = Box::new(|departure| {
        let is_third = departure.side == 0 && departure.transmit.packet.psn() == 0;
        if is_third { Fate::Drop } else { Fate::Deliver }
    });
    pair.post(0, QPN, work(7, Operation::Send, 2 * 1024));
    pair.post(0, QPN, work(8, Operation::Write, 2 * 1024));
    pair.drive_until(SimTime::from_ps(15_000_000));
    pair
}

#[test]
fn requests_that_came_are_told_from_those_that_did_not() {
    for (recovery, last) in [(Recovery::GoBackN, false), (Recovery::SelectiveRepeat, true)] {
        let pair = third_lost(recovery);
        let responder = pair.nics[1].queue_pair(QPN).expect("a queue pair");
        let has = [FIRST - 1, FIRST, 0xff_ffff, 0, 1, 2].map(|psn| responder.has_request(psn));
        assert_eq!(has, [true, true, true, false, last, false], "{recovery:?}");
    }
}

#[test]
fn outstanding_work_has_its_packets() {
    let mut pair = third_lost(Recovery::GoBackN);
    let outstanding = |pair: &Pair| {
        let requester = pair.nics[0].queue_pair(QPN).expect("a queue pair");
        let all: Vec<_> = requester.outstanding().collect();
        (all, [FIRST, 0xff_ffff, 0].map(|psn| requester.is_done_with(psn)))
    };
    let first = OutstandingWork { id: 7, first_psn: FIRST, end_psn: 0 };
    let second = OutstandingWork { id: 8, first_psn: 0, end_psn: 2 };
    assert_eq!(outstanding(&pair), (vec![first, second], [false; 3]));
    // The acknowledgement of the first is there.
    pair.drive_until(SimTime::from_ps(25_000_000));
    assert_eq!(outstanding(&pair), (vec![second], [true, true, false]));
}
