//! Reads and verifies the frames of a capture: 1,082 bytes each, writes of 64 packets over eight
//! queue pairs, without and with FCS, in both formats.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rocelab_capture::{
    CaptureReader, CaptureWriter, Direction, Format, Interface, LinkType, Verifier,
};
use rocelab_units::{Bandwidth, SimTime};
use rocelab_wire::{Bth, Encapsulation, Gid, Opcode, RoceFrame, ZEROS};

const FRAMES: u32 = 50_000;
const QUEUE_PAIRS: u32 = 8;
/// Packets of a message.
const PACKETS: u32 = 64;
const PATH_MTU: usize = 1024;

/// A capture of messages that use the queue pairs in turn.
fn capture(format: Format, fcs: bool) -> Vec<u8> {
    let port = Interface {
        name: "host-0".into(),
        description: String::new(),
        link_type: LinkType::Ethernet,
        speed: Bandwidth::from_gbps(100),
        fcs,
        snap_length: 0,
    };
    let mut writer = CaptureWriter::new(format, Vec::new(), &[port]).expect("a capture");
    let mut buffer = [0; 1_200];
    for number in 0..FRAMES {
        let (message, packet) = (number / PACKETS, number % PACKETS);
        let opcode = match packet {
            0 => Opcode::RcSendFirst,
            last if last == PACKETS - 1 => Opcode::RcSendLast,
            _ => Opcode::RcSendMiddle,
        };
        let psn = message / QUEUE_PAIRS * PACKETS + packet;
        let frame = RoceFrame {
            sgid: Gid::from_ipv4([10, 0, 0, 1]),
            dgid: Gid::from_ipv4([10, 0, 0, 2]),
            payload: &ZEROS[..PATH_MTU],
            ..RoceFrame::new(
                Encapsulation::V2Ipv4,
                Bth::new(opcode, 0x11 + message % QUEUE_PAIRS, psn),
            )
        };
        let frame = frame.to_frame().expect("a frame");
        let frame = if fcs { frame.with_fcs() } else { frame };
        let len = frame.emit(&mut buffer).expect("room for it");
        let time = SimTime::from_ps(u64::from(number) * 88_160);
        let original = u32::try_from(len).expect("a short frame");
        writer
            .write_frame(0, time, Direction::Outbound, &buffer[..len], original)
            .expect("room for it");
    }
    writer.finish().expect("a capture")
}

fn verify(file: &[u8]) -> u64 {
    let mut reader = CaptureReader::new(file).expect("a capture");
    let mut verifier = Verifier::new();
    while let Some(frame) = reader.next_frame() {
        black_box(verifier.verify(&frame.expect("a whole frame")));
    }
    assert_eq!(verifier.totals().faults, 0);
    verifier.totals().frames
}

fn pcap_verify(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pcap_verify");
    group.throughput(Throughput::Elements(FRAMES.into()));
    for (name, format, fcs) in [
        ("pcap", Format::Pcap, false),
        ("pcapng", Format::PcapNg, false),
        ("pcap with FCS", Format::Pcap, true),
    ] {
        let file = capture(format, fcs);
        group.bench_function(name, |bencher| bencher.iter(|| verify(&file)));
    }
    group.finish();
}

criterion_group!(benches, pcap_verify);
criterion_main!(benches);
