//! Every operation, size and path MTU: delivered once, in order, without repetition.

use rocelab_transport::{Operation, PathMtu, QueuePairProfile, Recovery};
use rocelab_units::SimTime;
use rocelab_wire::{ImmDt, Opcode};

use crate::pair::{Pair, QPN, profile, work};

const OPERATIONS: [Operation; 5] = [
    Operation::Send,
    Operation::SendWithImmediate(0xaabb_ccdd),
    Operation::Write,
    Operation::WriteWithImmediate(0x1122_3344),
    Operation::Read,
];

fn sizes(mtu: u32) -> [u32; 8] {
    [0, 1, 3, mtu - 1, mtu, mtu + 1, 3 * mtu - 2, 33 * mtu]
}

#[track_caller]
fn check(mtu: u32, recovery: Recovery) {
    let path_mtu = PathMtu::try_from(mtu).unwrap();
    let mut pair = Pair::new(QueuePairProfile { path_mtu, recovery, ..profile() });
    let mut next_id = 0;
    let (mut written, mut read) = (Vec::new(), Vec::new());
    for operation in OPERATIONS {
        for length in sizes(mtu) {
            pair.post(0, QPN, work(next_id, operation, length));
            next_id += 1;
            let list = if operation.is_read() { &mut read } else { &mut written };
            list.push(u64::from(length));
        }
    }
    pair.drive();
    pair.assert_all_succeeded(0, 0..next_id);
    assert_eq!(pair.delivered[1], written);
    assert_eq!(pair.delivered[0], read);
    for nic in &pair.nics {
        let counters = nic.counters();
        assert_eq!(counters.retransmitted.packets, 0);
        assert_eq!([counters.out_of_order, counters.duplicates, counters.timeouts], [0; 3]);
        assert_eq!(nic.poll_timeout(), SimTime::NEVER, "no timer outlives the work");
    }
    let responder = pair.nics[1].queue_pair(QPN).unwrap();
    assert_eq!(u64::from(responder.msn()), next_id);
}

#[test]
fn all_are_delivered_once_in_order() {
    for mtu in PathMtu::SIZES {
        check(u32::from(mtu), Recovery::GoBackN);
        check(u32::from(mtu), Recovery::GoBackZero);
    }
}

#[test]
fn psn_zero_follows_the_largest() {
    // The connection's first PSN is 0xfffffe.
    let mut pair = Pair::new(profile());
    pair.post(0, QPN, work(0, Operation::Write, 5 * 1024));
    pair.drive();
    let psns: Vec<u32> = pair.requests(0).map(|sent| sent.transmit.packet.psn()).collect();
    assert_eq!(psns, [0xff_fffe, 0xff_ffff, 0, 1, 2]);
    let ack = pair.log.iter().find(|sent| sent.side == 1).unwrap().transmit.packet;
    assert_eq!(ack.psn(), 2);
    assert_eq!(ack.aeth().unwrap().msn, 1);
    pair.assert_all_succeeded(0, 0..1);
}

#[test]
fn ack_req_marks_every_nth_packet_and_the_last() {
    let mut pair = Pair::new(QueuePairProfile { ack_interval: 4, ..profile() });
    pair.post(0, QPN, work(0, Operation::Send, 10 * 1024));
    pair.drive();
    let asked: Vec<bool> = pair.requests(0).map(|sent| sent.transmit.packet.ack_req()).collect();
    let expected: Vec<bool> = (1..=10).map(|n| n % 4 == 0 || n == 10).collect();
    assert_eq!(asked, expected);
    assert_eq!(pair.nics[1].counters().acks_sent.packets, 3);
}

#[test]
fn immediate_data_and_addresses_travel() {
    let mut pair = Pair::new(profile());
    pair.post(0, QPN, work(0, Operation::WriteWithImmediate(0x1122_3344), 100));
    pair.post(0, QPN, work(1, Operation::SendWithImmediate(9), 2000));
    pair.drive();
    let packets: Vec<_> = pair.requests(0).map(|sent| sent.transmit.packet).collect();
    let reth = packets[0].reth().unwrap();
    assert_eq!((reth.virtual_address, reth.r_key, reth.dma_length), (0x1000, 5, 100));
    assert_eq!(packets[0].immdt(), Some(ImmDt(0x1122_3344)));
    assert_eq!(packets[2].opcode(), Opcode::RcSendLastWithImmediate);
    assert_eq!(packets[2].immdt(), Some(ImmDt(9)));
    assert_eq!(packets[1].immdt(), None);
}

/// The longest message at a path MTU of 512 has 2^22 packets; the PSNs turn four times over.
#[test]
fn longest_messages_wrap_the_psn() {
    let path_mtu = PathMtu::try_from(512).unwrap();
    let mut pair = Pair::new(QueuePairProfile { path_mtu, ack_interval: 1024, ..profile() });
    pair.keep_log = false;
    pair.post(0, QPN, work(0, Operation::Write, 1 << 31));
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    assert_eq!(pair.delivered[1], [1 << 31]);
    assert_eq!(pair.nics[0].counters().data_sent.packets, 1 << 22);
}
