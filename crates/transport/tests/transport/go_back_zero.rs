//! The livelock of "RDMA over Commodity Ethernet at Scale" (SIGCOMM 2016), section 4.1: messages
//! of 4000 packets, and a switch that drops one packet in 256.

use rocelab_transport::{Operation, QueuePairProfile, Recovery};
use rocelab_units::SimTime;

use crate::pair::{Fate, Pair, QPN, profile, work};

const END: SimTime = SimTime::from_ps(20_000_000_000);

/// Goodput of 20 ms, and the link's use by data, as shares of the line rate.
fn run(operation: Operation, recovery: Recovery) -> (f64, f64) {
    let mut pair = Pair::new(QueuePairProfile { recovery, ..profile() });
    pair.keep_log = false;
    let mut identification = 0_u32;
    let data_side = usize::from(operation.is_read());
    pair.rule = Box::new(move |sent| {
        if sent.side != data_side {
            return Fate::Deliver;
        }
        identification += 1;
        if identification & 0xff == 0xff { Fate::Drop } else { Fate::Deliver }
    });
    for id in 0..100 {
        pair.post(0, QPN, work(id, operation, 4000 * 1024));
    }
    pair.drive_until(END);
    let line = 100e9 * END.as_secs_f64() / 8.0;
    let delivered: u64 = pair.delivered.iter().flatten().sum();
    let sent = pair.nics[data_side].counters().data_sent;
    (delivered as f64 / line, (sent.bytes + 20 * sent.packets) as f64 / line)
}

#[test]
fn go_back_zero_gets_nothing_done_on_a_busy_link() {
    for operation in [Operation::Send, Operation::Write, Operation::Read] {
        let (goodput, used) = run(operation, Recovery::GoBackZero);
        assert_eq!(goodput, 0.0, "{operation:?}");
        assert!(used > 0.9, "{operation:?} uses {used} of the link");
    }
}

#[test]
fn go_back_n_wastes_a_round_trip_for_each_loss() {
    for operation in [Operation::Send, Operation::Write, Operation::Read] {
        let (goodput, used) = run(operation, Recovery::GoBackN);
        // 1024 of 1106 bytes are payload. A loss costs about 2.4 us of every 255 packets' 22.5 us;
        // messages in progress at the end do not count.
        assert!((0.75..0.93).contains(&goodput), "{operation:?}: {goodput}");
        assert!(used > 0.9, "{operation:?} uses {used} of the link");
    }
}
