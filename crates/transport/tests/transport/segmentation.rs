//! Segmentation as Linux's Soft-RoCE does it: messages captured between two of its nodes.

use rocelab_transport::{Operation, Packet, PathMtu, QueuePairConfig, QueuePairProfile};
use rocelab_units::Bandwidth;
use std::sync::Arc;

use crate::pair::{Pair, QPN, ends, profile, work};

const CAPTURED: &str = include_str!("data/softroce_segmentation.csv");

/// `message,operation,path_mtu,length` of a row, and its packet: `opcode,psn,...`.
fn split(row: &str) -> (&str, &str) {
    let at = row.match_indices(',').nth(3).unwrap().0;
    (&row[..at], &row[at + 1..])
}

fn describe(packet: &Packet) -> String {
    format!(
        "{},{},{},{},{}",
        packet.opcode(),
        packet.psn(),
        packet.payload_len(),
        packet.pad_count(),
        u8::from(packet.ack_req())
    )
}

fn operation(name: &str) -> Operation {
    match name {
        "send" => Operation::Send,
        "send-with-immediate" => Operation::SendWithImmediate(1),
        "write" => Operation::Write,
        "write-with-immediate" => Operation::WriteWithImmediate(1),
        "read" => Operation::Read,
        other => panic!("{other} is no operation"),
    }
}

/// The data packets that one message makes.
fn segment(operation: Operation, mtu: u32, length: u32, psn: u32) -> Vec<String> {
    // Soft-RoCE asks for an ACK on every 66th packet: the messages are shorter.
    let path_mtu = PathMtu::try_from(mtu).unwrap();
    let profile = Arc::new(QueuePairProfile { path_mtu, ack_interval: 0, ..profile() });
    let mut pair = Pair::without_queue_pairs(Bandwidth::from_gbps(100));
    let [a, b] = ends(&profile, 0);
    pair.connect([
        QueuePairConfig { initial_psn: psn, ..a },
        QueuePairConfig { remote_initial_psn: psn, ..b },
    ]);
    pair.post(0, QPN, work(0, operation, length));
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    pair.log
        .iter()
        .map(|sent| &sent.transmit.packet)
        .filter(|packet| packet.opcode().has_payload())
        .map(describe)
        .collect()
}

#[test]
fn messages_are_cut_like_soft_roce_cuts_them() {
    let rows: Vec<_> = CAPTURED.lines().skip(1).map(split).collect();
    let messages: Vec<_> = rows.chunk_by(|a, b| a.0 == b.0).collect();
    assert!(messages.len() > 50);
    for message in messages {
        let mut fields = message[0].0.split(',').skip(1);
        let operation = operation(fields.next().unwrap());
        let mtu = fields.next().unwrap().parse().unwrap();
        let length = fields.next().unwrap().parse().unwrap();
        let first_psn = message[0].1.split(',').nth(1).unwrap().parse().unwrap();
        let captured: Vec<_> = message.iter().map(|row| row.1).collect();
        assert_eq!(segment(operation, mtu, length, first_psn), captured, "{}", message[0].0);
    }
}
