//! The numbers of data packets that equal-cost multipath goes by.

use std::sync::Arc;

use rocelab_transport::{
    AddressHandle, Operation, PathEntropy, QueuePairConfig, QueuePairProfile, Recovery, Service,
};
use rocelab_units::SimTime;

use crate::pair::{Pair, QPN, ends, profile, work};

/// With three numbers in turns: 0xc000, 0xd001, 0xd002.
fn in_turns() -> QueuePairProfile {
    let path_entropy: PathEntropy =
        toml::from_str::<Text>("path_entropy = { round-robin = { numbers = 3 } }")
            .unwrap()
            .path_entropy;
    QueuePairProfile { path_entropy, recovery: Recovery::SelectiveRepeat, ..profile() }
}

#[derive(serde::Deserialize)]
struct Text {
    path_entropy: PathEntropy,
}

/// The numbers of what a side has sent, data or not.
fn sent(pair: &Pair, side: usize, is_data: bool) -> Vec<u32> {
    let departures = pair.log.iter().filter(|departure| departure.side == side);
    let packets = departures.map(|departure| departure.transmit);
    let opcode = |packet: &rocelab_transport::Packet| packet.opcode();
    let chosen = packets.filter(|transmit| {
        let opcode = opcode(&transmit.packet);
        is_data == (opcode.is_request() || opcode.is_rdma_read_response())
    });
    chosen.map(|transmit| transmit.entropy).collect()
}

#[test]
fn requests_and_read_data_take_turns_and_acknowledgements_do_not() {
    let mut pair = Pair::new(in_turns());
    pair.post(0, QPN, work(0, Operation::Write, 4 * 1024));
    pair.post(0, QPN, work(1, Operation::Read, 3 * 1024));
    pair.post(0, QPN, work(2, Operation::FetchAdd { add: 1 }, 8));
    pair.drive();
    pair.assert_all_succeeded(0, 0..3);
    assert_eq!(sent(&pair, 0, true), [0xc000, 0xd001, 0xd002, 0xc000, 0xd001, 0xd002]);
    assert_eq!(sent(&pair, 1, true), [0xc000, 0xd001, 0xd002]);
    assert!(sent(&pair, 1, false).iter().all(|&number| number == 0xc000));
}

#[test]
fn one_number_is_for_all() {
    let mut pair = Pair::new(profile());
    pair.post(0, QPN, work(0, Operation::Write, 4 * 1024));
    pair.drive();
    assert_eq!(sent(&pair, 0, true), [0xc000; 4]);
}

#[test]
fn datagrams_to_the_peer_take_turns() {
    let profile = QueuePairProfile { service: Service::UnreliableDatagram, ..in_turns() };
    let mut pair = Pair::without_queue_pairs(rocelab_units::Bandwidth::from_gbps(100));
    pair.connect(ends(&Arc::new(profile), 0).map(|end| QueuePairConfig { q_key: 5, ..end }));
    let to = AddressHandle { destination: 7, entropy: 0xc000, dest_qp: QPN, q_key: 5 };
    let elsewhere = AddressHandle { destination: 9, entropy: 0xe000, ..to };
    for (id, handle) in (0..).zip([to, to, elsewhere, to]) {
        let work = work(id, Operation::Send, 100);
        pair.nics[0].post_datagram(SimTime::ZERO, QPN, work, handle).unwrap();
    }
    pair.drive();
    assert_eq!(sent(&pair, 0, true), [0xc000, 0xd001, 0xe000, 0xd002]);
}
