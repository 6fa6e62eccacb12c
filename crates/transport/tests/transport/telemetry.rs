//! Telemetry in data packets, and back in the acknowledgements that answer them.

use rocelab_transport::{Operation, QueuePairProfile};
use rocelab_units::Duration;
use rocelab_wire::{IntHop, Opcode, TelemetryHeader, TelemetryKind};

use crate::pair::{Departure, Fate, Pair, QPN, algorithm, profile, work};

/// Full data frames without telemetry, middle packets: 14 + 20 + 8 + 12 + 1024 + 4 + 4.
const DATA_LEN: u16 = 1086;
/// Acknowledgements without telemetry: 14 + 20 + 8 + 12 + 4 + 4 + 4.
const ACK_LEN: u16 = 66;

fn pair_with(name: &str, ack_interval: u32) -> Pair {
    let congestion_control = algorithm(name, "");
    Pair::new(QueuePairProfile { congestion_control, ack_interval, ..profile() })
}

fn acks(pair: &Pair) -> impl Iterator<Item = &Departure> {
    pair.log.iter().filter(|sent| sent.transmit.packet.opcode() == Opcode::RcAcknowledge)
}

/// The switch writes the number of the packet.
fn count_packets(pair: &mut Pair) {
    pair.stamp = Box::new(|sent, header| {
        let index = sent.transmit.packet.psn().wrapping_sub(0xff_fffe) & 0xff_ffff;
        *header = TelemetryHeader::Pint(u16::try_from(index).unwrap());
    });
}

#[test]
fn frames_are_longer_by_their_header() {
    for (name, kind, len) in
        [("hpcc", TelemetryKind::Int, 44), ("hpcc-pint", TelemetryKind::Pint, 4)]
    {
        let mut pair = pair_with(name, 1);
        pair.post(0, QPN, work(0, Operation::Send, 10_240));
        pair.drive();
        pair.assert_all_succeeded(0, 0..1);
        for sent in pair.requests(0) {
            assert_eq!(sent.transmit.packet.telemetry(), Some(kind));
            assert_eq!(sent.telemetry, Some(TelemetryHeader::empty(kind)));
            assert_eq!(sent.transmit.frame_len, DATA_LEN + len);
        }
        assert_eq!(acks(&pair).count(), 10);
        assert!(acks(&pair).all(|sent| sent.transmit.frame_len == ACK_LEN + len));
        assert_eq!(pair.nics[0].counters().data_sent.bytes, 10 * u64::from(DATA_LEN + len));
        assert_eq!(pair.nics[1].counters().acks_sent.bytes, 10 * u64::from(ACK_LEN + len));
    }
}

#[test]
fn an_acknowledgement_brings_back_what_its_own_packet_collected() {
    let mut pair = pair_with("hpcc-pint", 4);
    count_packets(&mut pair);
    pair.post(0, QPN, work(0, Operation::Write, 10 * 1024));
    pair.drive();
    let brought: Vec<_> = acks(&pair).map(|sent| sent.telemetry).collect();
    // Every packet, though every fourth would do: an algorithm with a window hears of all.
    let expected: Vec<_> = (0..10).map(|index| Some(TelemetryHeader::Pint(index))).collect();
    assert_eq!(brought, expected);
}

#[test]
fn acknowledgements_that_wait_keep_theirs() {
    let mut pair = pair_with("hpcc-pint", 1);
    count_packets(&mut pair);
    // Data of the other side's own fills its port, so that acknowledgements queue up.
    pair.post(1, QPN, work(9, Operation::Write, 200_000));
    pair.post(0, QPN, work(0, Operation::Write, 100 * 1024));
    pair.drive();
    let brought: Vec<_> =
        acks(&pair).filter(|sent| sent.side == 1).map(|sent| sent.telemetry).collect();
    let expected: Vec<_> = (0..100).map(|index| Some(TelemetryHeader::Pint(index))).collect();
    assert_eq!(brought, expected);
}

#[test]
fn a_nak_brings_nothing_back() {
    let mut pair = pair_with("hpcc", 1);
    pair.rule = Box::new(|sent| match sent.transmit.packet.psn() {
        0 if sent.time.ps() < 1_000_000 => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.post(0, QPN, work(0, Operation::Write, 10_240));
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    assert_eq!(pair.nics[1].counters().naks_sent.packets, 1);
    assert_eq!(pair.nics[1].counters().naks_sent.bytes, u64::from(ACK_LEN));
}

#[test]
fn reads_carry_none() {
    let mut pair = pair_with("hpcc", 1);
    pair.post(0, QPN, work(0, Operation::Read, 10_240));
    pair.drive();
    pair.assert_all_succeeded(0, 0..1);
    assert_eq!(pair.log.len(), 11);
    assert!(pair.log.iter().all(|sent| sent.transmit.packet.telemetry().is_none()));
}

#[test]
fn the_rate_follows_what_comes_back() {
    let mut pair = pair_with("hpcc", 1);
    let mut packets = 0;
    // A port of 100 Gb/s that is always busy: 25 x 512 bytes in 1024 ns.
    pair.stamp = Box::new(move |_, header| {
        packets += 1;
        let hop = IntHop::new(1_024 * packets, 12_800 * packets, 0, 100_000_000_000, 4).unwrap();
        let TelemetryHeader::Int(records) = header else { panic!("{header}") };
        assert!(records.push(hop));
    });
    pair.post(0, QPN, work(0, Operation::Write, 3 * 1024));
    pair.drive();
    // Utilization 1: the line rate by 1/0.95, and 10 Mb/s x 100/25. The first record is only kept;
    // the second and third are answered from the same reference.
    let queue_pair = pair.nics[0].queue_pair(QPN).unwrap();
    let rate = queue_pair.rate().bits_per_second();
    assert!(rate.abs_diff(95_040_000_000) < 10, "{rate}");
    // 37.5 KB fill 3 us at the line rate.
    let window = queue_pair.window().unwrap();
    assert!(window.abs_diff(35_640) <= 1, "{window}");
}

#[test]
fn the_rate_follows_a_value() {
    // 1.05^128 / 512 = 1.0056 of the port is used, and 0.95 wanted.
    let mut pair = pair_with("hpcc-pint", 1);
    pair.latency = Duration::from_us(1);
    pair.stamp = Box::new(|_, header| *header = TelemetryHeader::Pint(128));
    pair.post(0, QPN, work(0, Operation::Write, 3 * 1024));
    pair.drive();
    let rate = pair.nics[0].queue_pair(QPN).unwrap().rate().bits_per_second();
    let utilization = (0..128).fold(1.0, |product, _| product * 1.05) / 512.0;
    let expected = 100e9 / (utilization / 0.95) + 40e6;
    assert!((rate as f64 - expected).abs() < 100.0, "{rate}, not {expected}");
}
